"""Which cells share a job of a cluster, where Snakemake puts them together more than once."""

import sys
from collections import Counter

import pytest

from tests.workflow.conftest import ROOT

sys.path.append(str(ROOT / "tests/bench"))
import many_cells

# Notes what each job makes before it does.
NOTE = """\
cells=0
for path; do
    case $path in *.align.jsonl) cells=$((cells + 1)) ; echo "$path" >>"${0%/*}/cells" ;; esac
done
echo $cells >>"${0%/*}/sizes"
"""


@pytest.mark.whole_run
def test_a_job_has_no_more_cells_than_asked_and_none_runs_twice(tmp_path):
    """Once before a run whose data are there, and again at its start."""
    many_cells.write_experiment(tmp_path, 120)
    simulated = many_cells.simulated(tmp_path)
    script = tmp_path / "submit.sh"
    shebang, _, rest = script.read_text().partition("\n")
    script.write_text(f"{shebang}\n{NOTE}{rest}")
    many_cells.snakemake(tmp_path, "many_cells", "--cores", "2", *many_cells.ONLY_DATA)
    together = ("--groups", "align=cells", "--group-components", "cells=7", "--cores", "1")
    many_cells.snakemake(tmp_path, "many_cells", *simulated, *together)
    cells = Counter((tmp_path / "cells").read_text().split())
    assert len(cells) == 120
    assert set(cells.values()) == {1}
    sizes = [int(size) for size in (tmp_path / "sizes").read_text().split() if size != "0"]
    assert sorted(sizes) == [1] + [7] * 17
