"""All benches beside their bounds: what is missed, or fails, is told and ends with an error."""

import csv
import json

import bounds
import pytest

KEPT = "from bounds import Bounds\nfound = Bounds()\nfound.at_most('share', 0.25, 0.5)\n"
ENDED = "raise SystemExit(found.status())\n"


@pytest.fixture
def benches(tmp_path, monkeypatch):
    """Two benches in place of the project's; the second is as its text says."""

    def made(second):
        folder = tmp_path / "bench"
        folder.mkdir()
        here = f"import sys\nsys.path.insert(0, {str(bounds.ROOT / 'tests/bench')!r})\n"
        (folder / "bench_one.py").write_text(here + KEPT + ENDED, encoding="utf-8")
        (folder / "bench_two.py").write_text(here + second, encoding="utf-8")
        monkeypatch.setattr(bounds, "__file__", str(folder / "bounds.py"))
        return tmp_path

    return made


def test_kept_bounds_of_several_runs(benches):
    folder = benches(KEPT + "found.at_least('ratio', 12, 10)\n" + ENDED)
    assert bounds.main(["--runs", "2", "--folder", str(folder)]) == 0
    page = (folder / "bounds.md").read_text(encoding="utf-8")
    assert "in 2 runs on one thread of " in page
    assert "all 6 kept" in page
    assert "| ratio | >= 10 | 12 | 12 |" in page
    with (folder / "bounds.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["what"] for row in rows] == 2 * ["share", "share", "ratio"]
    assert bounds.page(rows) == page  # from the file as well


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (KEPT + "found.at_least('ratio', 9, 10)\n" + ENDED, "| ratio | >= 10 | 9 MISSED |"),
        (
            KEPT + "found.at_most('error', float('nan'), 1)\n" + ENDED,
            "| error | <= 1 | nan MISSED |",
        ),
        (KEPT + "raise ValueError('no data')\n", "| it failed |  | failed |"),
        (KEPT, "| it failed |  | failed |"),  # never judged
        (KEPT + "found.status()\nraise ValueError\n", "| it failed |  | failed |"),
    ],
)
def test_what_is_missed_or_fails_is_an_error_and_stands_on_the_page(second, told, benches, capfd):
    folder = benches(second)
    assert bounds.main(["--folder", str(folder)]) == 1
    page = (folder / "bounds.md").read_text(encoding="utf-8")
    assert "1 of " in page
    assert told in page


def test_some_benches_alone(benches):
    folder = benches("raise ValueError\n")
    assert bounds.main(["bench_one"]) == 0
    for unknown in (["bench_three"], ["bench_one", "--folder", str(folder)]):
        with pytest.raises(SystemExit):
            bounds.main(unknown)


def test_a_bench_that_judges_nothing_has_not_kept_its_bounds(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(bounds.FILE, str(tmp_path / "left.json"))
    assert bounds.Bounds().status() == 1
    assert json.loads((tmp_path / "left.json").read_text(encoding="utf-8")) == []


def test_the_kept_page_is_that_of_its_file_and_names_every_bench():
    folder = bounds.ROOT / "reports/reference"
    with (folder / "bounds.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert bounds.page(rows) == (folder / "bounds.md").read_text(encoding="utf-8")
    scripts = {path.stem for path in (bounds.ROOT / "tests/bench").glob(bounds.NAME)}
    assert {row["bench"] for row in rows} == scripts
    assert {row["run"] for row in rows} == {"1", "2", "3"}
    assert {row["kept"] for row in rows} == {"True"}
