"""What the page on model selection says of the boards, against the boards of the reference run."""

import csv
import re

import yaml

from tests.manual.test_manual import ROOT, SOURCES

PAGE = " ".join((SOURCES / "guide/model_selection.md").read_text("utf-8").split())
TUNING = yaml.safe_load((ROOT / "config/tuning.yaml").read_text("utf-8"))
LABELS = {name: f"Chosen by {entry['label']}" for name, entry in TUNING["selectors"].items()}
BOTH, SOURCE = LABELS["labelled_accuracy"], LABELS["source_accuracy"]


def ranked(board):
    """Selectors of a board from the nearest to the oracle on, with their tiers."""
    path = ROOT / f"reports/reference/board_{board}/selectors.csv"
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    mine = [row for row in rows if row["Chosen by"] in LABELS.values()]
    mine.sort(key=lambda row: float(row["Gap to the oracle"]))
    return {row["Chosen by"]: row["Tier"] for row in mine}


def test_no_selector_is_nearer_with_few_target_labels_and_with_different_features():
    assert "With few target labels, and between domains of different features, no other" in PAGE
    for board in ("few_target_labels", "heterogeneous"):
        assert next(iter(ranked(board))) == BOTH, board


def test_with_several_sources_the_source_alone_is_a_little_nearer():
    assert "with several sources the source's labels alone came a little nearer, not surely" in PAGE
    found = ranked("several_sources")
    assert list(found)[:2] == [SOURCE, BOTH]
    assert found[SOURCE] == found[BOTH] == "1", "of one tier"


def test_the_benchmark_chooses_so_wherever_the_target_has_labels():
    assert "The benchmark chooses so wherever the target has labels" in PAGE
    for name, board in TUNING["boards"].items():
        labels = name not in ("no_target_labels", "quick")
        assert (board["chosen_by"] == "labelled_accuracy") == labels, name


def gaps(board):
    """Points to the oracle of every way of choosing on a board."""
    path = ROOT / f"reports/reference/board_{board}/selectors.csv"
    with open(path, newline="", encoding="utf-8") as stream:
        return {row["Chosen by"]: float(row["Gap to the oracle"]) for row in csv.DictReader(stream)}


def test_without_target_labels_no_selector_is_near():
    assert (
        "none comes as near to the oracle as `labelled_accuracy` does on the board with few" in PAGE
    )
    assert "Circular validation, fixed in advance, was second of ten; source accuracy was" in PAGE
    assert "Prediction entropy and soft neighbourhood density were no nearer than the" in PAGE
    found = ranked("no_target_labels")
    assert len(found) == 10
    nearest, second, *_ = found
    assert nearest == SOURCE
    assert second == LABELS[TUNING["boards"]["no_target_labels"]["chosen_by"]]
    points = gaps("no_target_labels")
    assert min(points[name] for name in found) > gaps("few_target_labels")[BOTH]
    assert "The untuned settings were no farther, with a logistic regression a little" in PAGE
    assert points["Untuned"] <= points[SOURCE]
    assert 0 < points[SOURCE] - points["Untuned, with logistic regression"] < 1
    assert found[SOURCE] == "1", "not surely: none beats it"
    for name in ("entropy", "neighborhood_density"):
        assert points[LABELS[name]] > points["Average candidate"]


def test_with_its_own_settings_one_method_is_above_the_best_baseline():
    guide = " ".join((SOURCES / "guide/index.md").read_text("utf-8").split())
    assert "MEDA with its own settings, nothing tuned, is surely above the best baseline" in guide
    board = (ROOT / "reports/reference/board_no_target_labels/README.md").read_text("utf-8")
    assert "Surely above that baseline: MEDA (untuned) +" in board
    assert re.search(r"above the best tuned baseline.*, 0 surely; surely below it: 0\.", board)


def test_no_selector_looks_at_target_labels_alone():
    assert "No selector of the boards looks at labelled target rows alone" in PAGE
    assert {entry["sees_labels"] for entry in TUNING["selectors"].values()} == {
        "none",
        "source",
        "source+target",
    }


def test_the_page_that_it_links_to_has_what_the_boards_say():
    assert "[what the boards say](index.md)" in PAGE
    assert "generated/boards.md" in (SOURCES / "guide/index.md").read_text("utf-8")
    findings = (ROOT / "reports/reference/findings.md").read_text("utf-8")
    (question,) = re.findall(r'under "([^"]+)" of \[what', PAGE)
    assert f". {question}\n" in findings


def test_hours_of_the_leaderboard_are_those_of_the_page_of_boards():
    """The manual gives none of its own, which would be those of another day."""
    text = (SOURCES / "benchmark/index.md").read_text("utf-8")
    (line,) = re.findall(r"^snakemake .* leaderboard  .*$", text, flags=re.MULTILINE)
    assert (
        ": hours, which reports/reference/boards.md counts; kinds of shift and the curve " in line
    )
    boards = (ROOT / "reports/reference/boards.md").read_text("utf-8")
    (told,) = re.findall(r"^All boards listed.*: .*", boards, re.M)
    assert re.search(r" took [\d.]+ h by the clock, pauses left out\.", told)
