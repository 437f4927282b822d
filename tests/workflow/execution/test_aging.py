"""Time stamps that are changed for a plan, and put back."""

import os
import subprocess
import sys

import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.execution import aging


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        (["--list"], True),
        (["-l"], True),
        (["--report=page.html", "small"], True),
        (["small", "--detailed-s"], True),
        (["--cores", "2", "--unlock"], True),
        (["--cores", "2", "small"], False),
        (["-n", "small"], False),
        (["--report-after-run", "small"], False),
        (["--config", "a=1", "--", "list"], False),
    ],
)
def test_what_only_shows_is_known_by_its_options(line, shows):
    assert aging.only_shows(["snakemake", *line]) == shows


# In a process of its own: one that has imported it dies with OSQP's first problem.
KNOWN = """
from snakemake.cli import get_argument_parser
for action in get_argument_parser()._actions:
    print(*action.option_strings, sep="\\n")
"""


def test_the_options_are_snakemakes_and_no_other_is_taken_for_one_of_them():
    line = [sys.executable, "-c", KNOWN]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    known = {*said.split()}
    showing = {*aging._SHOWING, *aging._SHOWING_SHORT}
    assert showing <= known
    assert {name for name in known if aging.only_shows(["snakemake", name])} == showing


AGED = """
import os, sys
from workflow.lib.execution import aging
aging.make_old("a", for_good={for_good})
assert os.stat("a").st_mtime == 1
os.makedirs("elsewhere")
os.chdir("elsewhere")
if {made_again}:
    os.utime("../a", (50, 50))
if os.fork() == 0:
    sys.exit()
os.wait()
assert os.stat("../a").st_mtime in (1, 50)
"""


@pytest.mark.parametrize(
    ("for_good", "made_again", "stamp"), [(False, False, 20), (True, False, 1), (False, True, 50)]
)
def test_a_stamp_is_put_back_when_the_process_ends(tmp_path, for_good, made_again, stamp):
    (tmp_path / "a").touch()
    os.utime(tmp_path / "a", (20, 20))
    text = AGED.format(for_good=for_good, made_again=made_again)
    known = {**os.environ, "PYTHONPATH": str(PROJECT)}
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=known, check=True)
    assert (tmp_path / "a").stat().st_mtime == stamp


def test_a_file_of_another_user_is_named_with_what_to_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a").touch()
    monkeypatch.setattr(aging.os, "utime", refuse)
    with pytest.raises(PermissionError, match=r"a: .*delete the file .*--directory FOLDER"):
        aging.make_old(tmp_path / "a", for_good=True)
