"""What a new run has that the reference has not, and what the bound allows."""

import csv
import shutil

import pytest

from workflow.lib.results.records import FILES
from workflow.lib.results.reference import compare, main
from workflow.lib.storage.artifacts import results_sum, write_json, write_records, write_sums

HEAD = ["task", "method", "classifier", "setting", "n_asked", "n_ok"]
HEAD += ["accuracy_mean", "accuracy_standard_error"]
HEAD += ["accuracy_entire_target_mean", "accuracy_entire_target_standard_error"]
HEAD += ["macro_f1_mean", "log_loss_mean", "seconds_median", "accuracy_partial_mean"]
ROWS = [
    row.split(",")
    for row in (
        "amazon-caltech,fma_i,logistic,,20,20,0.334,0.01,0.34,0.02,0.3,1.2,0.5,",
        "amazon-dslr,fma_i,logistic,,20,20,0.569,0.01,0.57,0.02,0.5,1.1,0.5,",
        "amazon-dslr,gfk,own,,1,1,0.363,,0.37,,0.3,,0.5,",
    )
]
AUDITED = ["Published column", "Verdict", "Published", "Ours", "SE"]
VERDICTS = [AUDITED, ["FMA-I", "matched after search", "51.6", "51.5", "0.4"]]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows(rows)


def write_run(folder, rows=ROWS, verdicts=VERDICTS):
    """Small files of a new run."""
    write(folder / "summary.csv", [HEAD, *rows])
    write(folder / "tables/audit_summary.csv", verdicts)
    for name in ("records.csv", "records.parquet"):
        (folder / name).write_text("records")
    write_sums(folder, FILES)


@pytest.fixture
def folders(tmp_path):
    """A reference of one experiment and of one study, and a run that equals it."""
    reference, results = tmp_path / "reference", tmp_path / "results"
    write(reference / "table/summary.csv", [HEAD, *ROWS])
    write(reference / "table/audit_summary.csv", VERDICTS)
    write(reference / "study/errors.csv", [["n", "Error"], ["50", "2.0"]])
    write_run(results / "table")
    shutil.copytree(reference / "study", results / "study/tables")
    write_records(results / "study/study.jsonl", [{"n": 50}], {"status": "ok"})
    return reference, results


def told(folders, name="table"):
    return compare(*folders)[name]


def changed(row, column, value):
    rows = [list(one) for one in ROWS]
    rows[row][HEAD.index(column)] = value
    return rows


def test_nothing_changed(folders, tmp_path, capsys):
    assert compare(*folders) == {"study": [], "table": []}
    runs = "| 2026-11-27 10:03 UTC | x |\n| 2026-11-26 21:21 UTC | y |\n"
    (folders[0] / "README.md").write_text(runs)
    page = tmp_path / "page.md"
    assert main([str(folders[1]), "--reference", str(folders[0]), "--page", str(page)]) == 0
    said = "study: nothing changed\ntable: nothing changed\n"
    assert capsys.readouterr().out == said
    assert said in page.read_text("utf-8")
    assert (
        "the reference as it was then (of runs that ended 2026-11-27 10:03 UTC and 2026-11-26 "
        "21:21 UTC), after it the new results."
    ) in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("row", "mean", "words", "beyond"),
    [
        (0, "0.336", "33.40 -> 33.60, +0.20 points, 0.2 standard errors", False),
        (0, "0.328", "33.40 -> 32.80, -0.60 points, 0.6 standard errors", True),
        (2, "0.367", "36.30 -> 36.70, +0.40 points", False),
        (2, "0.357", "36.30 -> 35.70, -0.60 points", True),
    ],
)
def test_a_mean_that_moved_is_told_in_standard_errors(folders, row, mean, words, beyond):
    write_run(folders[1] / "table", changed(row, "accuracy_mean", mean))
    (one,) = told(folders)
    assert one.words == f"{', '.join(ROWS[row][:3])}, Accuracy: {words}"
    assert one.beyond == beyond


@pytest.mark.parametrize(
    ("column", "mean", "words", "beyond"),
    [
        (
            "accuracy_entire_target",
            "0.36",
            "Accuracy, entire target: 34.00 -> 36.00, +2.00 points, 1.0 standard errors",
            True,
        ),
        ("macro_f1", "0.304", "Macro F1: 30.00 -> 30.40, +0.40 points", False),
        ("macro_f1", "0.31", "Macro F1: 30.00 -> 31.00, +1.00 points", True),
        ("log_loss", "1.25", "Log loss: 1.2 -> 1.25", False),
        ("log_loss", "1.3", "Log loss: 1.2 -> 1.3", True),
        ("log_loss", "", "Log loss: 1.2 -> none", True),
    ],
)
def test_every_mean_of_a_score_is_compared(folders, column, mean, words, beyond):
    """Some experiments are audited on the entire target, where the accuracy of the rest stays."""
    write_run(folders[1] / "table", changed(0, f"{column}_mean", mean))
    (one,) = told(folders)
    assert one.words == f"amazon-caltech, fma_i, logistic, {words}"
    assert one.beyond == beyond


def test_times_are_not_compared_and_a_cell_without_scores_says_so_once(folders):
    rows = changed(0, "seconds_median", "9")
    rows[1] = [*ROWS[1][:5], "0", *("" for _ in HEAD[6:])]
    write_run(folders[1] / "table", rows)
    (one,) = told(folders)
    assert "trials that ended well 20 of 20 -> 0 of 20" in one.words


@pytest.mark.parametrize(("mean", "words"), [("0.5", ()), ("0.52", ("50.00 -> 52.00",))])
def test_of_a_cell_that_lacks_trials_its_partial_mean_is_compared(folders, mean, words):
    for folder, partial in zip(folders, ("0.5", mean), strict=True):
        rows = [[*ROWS[0][:5], "18", *("" for _ in HEAD[6:-1]), partial], *ROWS[1:]]
        write_run(folder / "table", rows)
    found = told(folders)
    assert len(found) == len(words)
    assert all("accuracy of 18 of 20 trials: 50.00 -> 52.00" in one.words for one in found)


def test_a_flipped_sign_in_one_method_is_beyond_the_bound(folders, capsys):
    """With one domain mirrored a classifier of the other is near chance."""
    write_run(folders[1] / "table", changed(1, "accuracy_mean", "0.12"))
    assert main([str(folders[1]), "--reference", str(folders[0]), "--only", "table"]) == 1
    assert "amazon-dslr, fma_i, logistic, Accuracy: 56.90 -> 12.00" in capsys.readouterr().out


def test_of_a_tuned_experiment_only_the_way_that_is_kept_is_compared(folders):
    """Another classifier of an experiment that is not tuned is told."""
    another = [row.replace("logistic", "one_nn").split(",") for row in map(",".join, ROWS[:1])]
    write_run(folders[1] / "table", [*ROWS, *another])
    (one,) = told(folders)
    assert str(one) == "amazon-caltech, fma_i, one_nn: not in the reference"
    best = [row.replace("logistic", "oracle").split(",") for row in map(",".join, ROWS[:1])]
    write_run(folders[1] / "table", [*ROWS, *another, *best])
    assert told(folders) == []


def test_a_damaged_record_is_told(folders):
    (folders[1] / "table/records.csv").write_text("recordS")
    (one,) = told(folders)
    assert one.beyond
    assert "damaged" in one.words
    assert "records.csv: it does not fit its line in SHA256SUMS" in one.words


def test_a_damaged_study_is_told(folders):
    path = folders[1] / "study/study.jsonl"
    path.write_text(path.read_text().replace("50", "51"))
    (one,) = told(folders, "study")
    assert "damaged" in one.words


@pytest.mark.parametrize(
    ("rows", "words", "beyond"),
    [
        (changed(0, "n_ok", "19"), "trials that ended well 20 of 20 -> 19 of 20", True),
        (ROWS[1:], "amazon-caltech, fma_i, logistic: not in the new run", True),
        ([*ROWS, ["a-b", *ROWS[0][1:]]], "a-b, fma_i, logistic: not in the reference", False),
    ],
)
def test_missing_and_failed_trials_are_told(folders, rows, words, beyond):
    write_run(folders[1] / "table", rows)
    (one,) = told(folders)
    assert words in one.words
    assert one.beyond == beyond


def test_as_many_trials_that_ended_otherwise_are_told(folders):
    head = [*HEAD, "n_error", "n_not_applicable"]
    lacking = [[*row[:5], "15", *row[6:], "0", "5"] for row in ROWS[:1]]
    write(folders[0] / "table/summary.csv", [head, *lacking])
    failing = [[*lacking[0][:-2], "5", "0"]]
    write(folders[1] / "table/summary.csv", [head, *failing])
    write_sums(folders[1] / "table", FILES)
    (difference,) = told(folders)
    assert difference.beyond
    assert "ended otherwise: error 0 -> 5, not_applicable 5 -> 0" in str(difference)


def test_a_study_that_failed_is_told_though_it_measures_times_alone(folders):
    write_records(folders[1] / "study/study.jsonl", [], {"status": "timeout", "error": "300 s"})
    (folders[0] / "study/errors.csv").unlink()
    (difference,) = told(folders, "study")
    assert "it ended with timeout: 300 s" in str(difference)


def test_tables_of_earlier_results_are_not_compared(folders):
    for name in ("table", "study"):
        write_json(folders[1] / name / "card.json", {"of": "another sum"})
        (difference,) = told(folders, name)
        assert f"of earlier results; run snakemake {name}" in str(difference)
        write_json(folders[1] / name / "card.json", {"of": results_sum(folders[1] / name)})
        assert told(folders, name) == []


def test_another_verdict_is_beyond_the_bound(folders):
    audited = [AUDITED, ["FMA-I", "rows disagree", *VERDICTS[1][2:]]]
    write_run(folders[1] / "table", verdicts=audited)
    (one,) = told(folders)
    assert one.words == "audit of FMA-I, Verdict: matched after search -> rows disagree"
    assert one.beyond


@pytest.mark.parametrize(
    ("column", "value", "words", "beyond"),
    [
        ("Published", "51.9", "51.6 -> 51.9", True),
        ("Published", "", "51.6 -> none", True),
        ("Ours", "51.6", "51.50 -> 51.60, +0.10 points, 0.3 standard errors", False),
        ("Ours", "52", "51.50 -> 52.00, +0.50 points, 1.2 standard errors", True),
        ("Ours", "", "51.5 -> none", True),
    ],
)
def test_numbers_of_the_audit_that_moved_under_the_same_verdict(
    folders, column, value, words, beyond
):
    audited = list(VERDICTS[1])
    audited[AUDITED.index(column)] = value
    write_run(folders[1] / "table", verdicts=[AUDITED, audited])
    (one,) = told(folders)
    assert one.words == f"audit of FMA-I, {column}: {words}"
    assert one.beyond == beyond


def test_a_column_that_is_gone_from_the_audit_is_told_once(folders):
    write_run(folders[1] / "table", verdicts=[AUDITED])
    assert [one.words for one in told(folders)] == ["audit of FMA-I: not in the new run"]


@pytest.mark.parametrize(("value", "beyond"), [("2.05", False), ("2.2", True), ("none", True)])
def test_numbers_of_a_study(folders, value, beyond):
    write(folders[1] / "study/tables/errors.csv", [["n", "Error"], ["50", value]])
    (one,) = told(folders, "study")
    assert one.words == f"errors, row 1, Error: 2.0 -> {value}"
    assert one.beyond == beyond


def test_a_study_of_times_has_nothing_to_compare(folders, capsys):
    """The reference keeps pictures of measured times, and no table."""
    (folders[0] / "study/errors.csv").unlink()
    arguments = [str(folders[1]), "--reference", str(folders[0]), "--only", "study"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "study: nothing to compare (measured times)\n"


def test_a_run_without_any_of_its_experiments_is_an_error(folders, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path / "nowhere"), "--reference", str(folders[0])])
    assert "run one first" in capsys.readouterr().err


def test_a_method_that_a_board_has_no_more_is_told(tmp_path):
    rows = [["Method", "Accuracy"], ["CORAL", "50"], ["TCA", "40"]]
    write(tmp_path / "old/board_quick/board.csv", rows)
    write(tmp_path / "new/board_quick/board.csv", rows[:2])
    (one,) = compare(tmp_path / "old", tmp_path / "new")["board_quick"]
    assert one.words == "board.csv, TCA: not in the new run"
    assert one.beyond


def test_tables_that_a_run_has_no_more_are_told(folders):
    reference, results = folders
    (reference / "study/errors.csv").write_text("n,Error\n50,-2.0\n")
    (results / "study/tables/errors.csv").write_text("n,Error\n50,-2.05\n")
    (near,) = told(folders, "study")
    assert (near.words, near.beyond) == ("errors, row 1, Error: -2.0 -> -2.05", False)
    (results / "study/tables/errors.csv").write_text("n\n50\n")
    (shape,) = told(folders, "study")
    assert (shape.words, shape.beyond) == ("errors: another number of rows or columns", True)
    (results / "study/tables/errors.csv").unlink()
    (gone,) = told(folders, "study")
    assert (gone.words, gone.beyond) == ("errors: not in the new run", True)
    (results / "table/tables/audit_summary.csv").unlink()
    (gone,) = told(folders)
    assert (gone.words, gone.beyond) == ("audit of FMA-I: not in the new run", True)
