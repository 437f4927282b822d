"""What the board of growth says of how a series ended, whatever limits its run had."""

import re

import growth
import numpy as np
import pytest
from growth_bounds import REASONS, UNEXPLAINED, reason

pytestmark = pytest.mark.whole_run

PROJECT = growth.ROOT
MEASURED = {
    **{"status": "ok", "seconds": 1.0, "bytes": 1, "products": 1.0, "passes": 1.0},
    **{"flops": 10**10, "read": 10**10, "fresh": 10**9, "fits": 1},
}


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({"status": "ok", "seconds": 3.0, "bytes": 9}, "none"),
        ({"status": "time", "seconds": 120.0, "bytes": None}, "120 s or more at 8,000"),
        ({"status": "time", "seconds": 17.05, "bytes": 9}, "17 s at 8,000"),
        ({"status": "memory", "seconds": None, "bytes": 8 * 2**30}, "8 GB or more at 8,000"),
        ({"status": "refused", "why": "E: too large"}, "refuses 8,000: E: too large"),
    ],
)
def test_the_end_of_a_series(last, words):
    assert growth.ending([{"status": "ok", "samples": 4000}, {"samples": 8000, **last}]) == words


def test_the_page_begins_with_how_many_get_through():
    def points(entry, *statuses):
        sizes = [500 * 2**k for k in range(len(statuses))]
        return {
            (entry, 200, "dense", n): {"status": status}
            for n, status in zip(sizes, statuses, strict=True)
        }

    measured = points("pca", "ok", "ok", "ok") | points("tkl", "ok", "memory")
    measured |= points("ot_exact", "refused") | points("gone", "ok")
    assert list(growth.reached(measured, {"pca": ["pca"], "tkl": ["tkl"], "ot_exact": []})) == [
        "- 200 dense features: 1 of 3 methods fit 2,000 samples of both domains together within "
        "the limits; the others, and how many they fit: tkl (500), ot_exact (none)."
    ]


def test_every_series_that_was_measured_has_a_line():
    folder = growth.ROOT / "reports/reference"
    points = growth.read(folder / "growth.csv")
    made = growth.page(points, growth.load_suite(growth.ROOT).methods)
    series = {key[:3] for key in points}
    assert {entry for entry, *_ in series} == set(
        growth.groups(growth.load_suite(growth.ROOT).methods)
    )
    assert "found by searching against printed or scored numbers" in made
    assert "only what they cost stands here: fma_f, fma_f_selected, fma_i," in made
    for page in (made, (folder / "growth.md").read_text(encoding="utf-8")):
        assert page.count("\n| ") == 1 + len(series)


def test_what_the_page_names_as_above_its_claims_is_known():
    page = (growth.ROOT / "reports/reference/growth.md").read_text(encoding="utf-8")
    told = [line for line in page.splitlines() if line.startswith("- More than ")]
    assert len(told) == 2
    named = set(re.findall(r"(\w+) \((\d+ (?:dense|sparse)): ", " ".join(told)))
    explained = [
        (entry, shape)
        for entries in REASONS.values()
        for entry, shapes in entries.items()
        for shape in shapes
    ]
    assert sorted(named) == sorted(explained)  # what is above no more needs no reason
    assert all(why in page for why in REASONS)
    assert UNEXPLAINED not in page
    assert reason("pca", "200 dense") == UNEXPLAINED


def test_a_point_says_by_which_code_and_is_measured_again_when_that_has_changed(
    tmp_path, monkeypatch
):
    measured, code = [], ["first"]
    monkeypatch.setattr(growth, "code_of", lambda entry: code[0])
    monkeypatch.setattr(
        growth,
        "guarded",
        lambda point, *limits: measured.append(point) or dict(MEASURED),
    )
    asked = ["pca", "--features", "200", "--kinds", "dense", "--largest", "1000"]
    page = tmp_path / "growth.md"
    for change, times, said in (
        ("first", 2, "All by the code that stands here."),
        ("first", 0, "All by the code that stands here."),
        ("other", 2, "All by the code that stands here."),
    ):
        code[0] = change
        measured.clear()
        growth.main([*asked, "--changed", "--folder", str(tmp_path)])
        assert len(measured) == times
        assert said in page.read_text(encoding="utf-8")
    code[0] = "third"
    growth.main([*asked, "--folder", str(tmp_path)])
    assert "By other code than today's: pca." in page.read_text(encoding="utf-8")


def test_the_code_of_a_method_is_what_it_runs_not_how_it_is_described(tmp_path, monkeypatch):
    path = tmp_path / "methods" / "mine.py"
    path.parent.mkdir()
    text = '"""Mine."""\n\n\ndef f(x):\n    """Twice."""\n    return 2 * x  # why\n'
    monkeypatch.setattr(growth, "ROOT", tmp_path)
    monkeypatch.setattr(growth, "sources", lambda *asked: ["methods/mine.py"])
    entry = growth.load_suite(PROJECT).methods["pca"]
    found = []
    for one in (
        text,
        text.replace("Twice", "Double").replace("  # why", ""),
        text.replace("2", "3"),
    ):
        path.write_text(one)
        found.append(growth.code_of(entry))
    assert found[0] == found[1] != found[2]
    others = entry | {"params": {"n_components": 7}}, entry | {"sees_labels": "source+target"}
    assert len({found[2], *map(growth.code_of, others)}) == 3


def test_a_short_fit_counts_with_the_least_of_three():
    assert growth.least(iter([(0.5, 9, 7), (0.2, 1, 7), (0.3, 1, 7)])) == (0.2, 9, 7, 3)
    assert growth.least(iter([(1.5, 9, 7)])) == (1.5, 9, 7, 1)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_domains_are_the_same_from_files(tmp_path, kind):
    drawn, ys = growth.domains(600, 30, kind)
    for _ in range(2):  # written, and read again
        read, labels = growth.read_domains(tmp_path, 600, 30, kind)
        for one, other in zip(drawn, read, strict=True):
            assert abs(one - other).max() == 0
        np.testing.assert_array_equal(labels, ys)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_point_is_measured_in_a_process_that_its_limits_end(tmp_path):
    point = ("pca", 1000, 50, "dense")
    found = growth.guarded(point, 60, 8e9, tmp_path)
    assert found["status"] == "ok"
    assert growth.guarded(point, 60, 2**20, tmp_path) == {"status": "memory", "bytes": 2**20}
    slow = ("kernel_pca", 8000, 200, "dense")
    assert growth.guarded(slow, 0, 8e9, tmp_path)["status"] == "time"
    with pytest.raises(RuntimeError, match=r"gone.*its process ended with 1"):
        growth.guarded(("gone", *point[1:]), 60, 8e9, tmp_path)


def test_a_point_says_how_fast_its_process_was(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "end_after", lambda seconds: None)  # it would end this process
    found = growth.measure("source_only", 1000, 50, "dense", 60, tmp_path)
    assert found["status"] == "ok"
    assert found["fits"] == growth.REPEATS
    assert found["flops"] > 1e8
    assert found["read"] > found["fresh"] / 2 > 1e6
    assert set(found) <= set(growth.FIELDS)


def test_the_page_says_which_points_are_of_one_run():
    def points(entry, when, began, jobs=2, **more):
        row = {"samples": 500, "features": 200, "when": when, "began": began, "jobs": jobs}
        return {(entry, 200, "dense", 500): row | more}

    began = "2026-11-24 02:54"
    one = points("pca", "2026-11-24 02:55", began) | points("tkl", "2026-11-24 03:05", began)
    assert growth.told_runs(one) == (
        "2 points, of one run: 2 from 2026-11-24 02:55 to 03:05 UTC, 2 at a time."
    )
    # However soon after: it may be of another code, and was asked for with another purpose.
    later = points("sma", "2026-11-24 03:06", "2026-11-24 03:06")
    later |= points("gfk", "2026-11-25 00:04", "2026-11-25 00:04", 1)
    assert growth.told_runs(one | later) == (
        "4 points, not of one run: 2 from 2026-11-24 02:55 to 03:05 UTC, 2 at a time; 1 (sma) from "
        "2026-11-24 03:06 to 03:06 UTC, 2 at a time; 1 (gfk) from 2026-11-25 00:04 to 00:04 UTC, 1 "
        "at a time."
    )
    again = {("tkl", 200, "sparse", 500): {"when": "2026-11-26 02:55", "began": "2026-11-26 02:55",
                                           "jobs": 2}}  # fmt: skip
    assert "1 (tkl with 200 sparse features) from" in growth.told_runs(one | again)
    told = growth.told_when(points("pca", "2026-11-24 02:55", began, fits=3))
    assert told.endswith("Each is the least of 3 fits where one takes less than 1 s.")


def test_the_page_is_written_again_without_measuring(tmp_path, monkeypatch):
    reference = (growth.ROOT / "reports/reference/growth.csv").read_text(encoding="utf-8")
    (tmp_path / "growth.csv").write_text(reference, encoding="utf-8")
    monkeypatch.setattr(growth, "guarded", lambda *point: pytest.fail("it was measured"))
    growth.main(["--page", "--again", "--folder", str(tmp_path)])
    assert (tmp_path / "growth.csv").read_text(encoding="utf-8") == reference
    assert (tmp_path / "growth.md").exists()


def test_again_measures_the_series_that_are_asked_for_and_keeps_the_others(tmp_path, monkeypatch):
    reference = (growth.ROOT / "reports/reference/growth.csv").read_text(encoding="utf-8")
    (tmp_path / "growth.csv").write_text(reference, encoding="utf-8")
    measured = []

    def ended(point, *limits):
        measured.append(point)
        return {"status": "time", "seconds": limits[0]}

    monkeypatch.setattr(growth, "guarded", ended)
    before = growth.read(tmp_path / "growth.csv")
    asked = ["pca", "--again", "--features", "200", "--kinds", "sparse"]
    growth.main([*asked, "--folder", str(tmp_path)])
    assert measured == [("pca", growth.SMALLEST, 200, "sparse")]
    after = growth.read(tmp_path / "growth.csv")
    asked_for = ("pca", 200, "sparse")
    kept = {key: row for key, row in before.items() if key[:3] != asked_for}
    assert {key: row for key, row in after.items() if key[:3] != asked_for} == kept


def test_again_keeps_every_point_until_it_is_measured(tmp_path, monkeypatch):
    reference = (growth.ROOT / "reports/reference/growth.csv").read_text(encoding="utf-8")
    (tmp_path / "growth.csv").write_text(reference, encoding="utf-8")
    before = growth.read(tmp_path / "growth.csv")
    series = [key for key in before if key[:3] == ("pca", 200, "sparse")]
    asked = ["pca", "--again", "--features", "200", "--kinds", "sparse", "--folder", str(tmp_path)]

    def interrupted(point, *limits):
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "guarded", interrupted)
    with pytest.raises(KeyboardInterrupt):
        growth.main(asked)
    assert growth.read(tmp_path / "growth.csv") == before

    monkeypatch.setattr(growth, "guarded", lambda point, *limits: MEASURED | {"seconds": 7.5})
    growth.main([*asked, "--largest", str(2 * growth.SMALLEST)])
    after = growth.read(tmp_path / "growth.csv")
    again = [key for key in series if after[key]["seconds"] == 7.5]
    assert [key[3] for key in again] == [growth.SMALLEST, 2 * growth.SMALLEST]
    assert all(after[key] == before[key] for key in before if key not in again)
