"""What the board of growth says of how a series ended, whatever limits its run had."""

import growth
import pytest

PROJECT = growth.ROOT


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
        "- 200 dense features: 1 of 3 methods fit 2,000 samples; the others, and how many they "
        "fit: tkl (500), ot_exact (none)."
    ]


def test_every_series_that_was_measured_has_a_line():
    folder = growth.ROOT / "reports/reference"
    points = growth.read(folder / "growth.csv")
    made = growth.page(points, growth.load_suite(growth.ROOT).methods)
    series = {key[:3] for key in points}
    for page in (made, (folder / "growth.md").read_text(encoding="utf-8")):
        assert page.count("\n| ") == 1 + len(series)


def test_a_point_says_by_which_code_and_is_measured_again_when_that_has_changed(
    tmp_path, monkeypatch
):
    measured, code = [], ["first"]
    monkeypatch.setattr(growth, "code_of", lambda entry: code[0])
    monkeypatch.setattr(
        growth,
        "guarded",
        lambda point, *limits: (
            measured.append(point)
            or {"status": "ok", "seconds": 1.0, "bytes": 1, "products": 1.0, "passes": 1.0}
        ),
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
    assert "by other code than today's: pca." in page.read_text(encoding="utf-8")
    for row in (points := growth.read(tmp_path / "growth.csv")).values():
        row["code"] = ""
    methods = growth.load_suite(growth.ROOT).methods
    assert growth.by_code(points, methods) == "2 of them do not say by which code."


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

    one = {"status": "ok", "seconds": 7.5, "bytes": 1}
    monkeypatch.setattr(growth, "guarded", lambda point, *limits: dict(one))
    growth.main([*asked, "--largest", str(2 * growth.SMALLEST)])
    after = growth.read(tmp_path / "growth.csv")
    again = [key for key in series if after[key]["seconds"] == 7.5]
    assert [key[3] for key in again] == [growth.SMALLEST, 2 * growth.SMALLEST]
    assert all(after[key] == before[key] for key in before if key not in again)
