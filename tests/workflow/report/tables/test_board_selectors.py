"""Tables of the ways of choosing: the gaps of slow loops, on the whole and one by one."""

import pytest
from domain_alignment.model_selection import SELECTORS

from tests.workflow.board_example import GAINS, GAPS, made_board
from tests.workflow.report.tables.test_board import ALL, lines
from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.report.tables.board_selectors import (
    selectors_datasets_table,
    selectors_methods_table,
    selectors_table,
)


def test_an_order_that_is_not_that_of_the_tiers_is_explained_at_the_table():
    apart = {name: 0.05 * place for place, name in enumerate(["oracle", *made_board().choices])}
    found = []
    for board in (made_board(gaps=apart, noise=0.0), made_board()):
        table = selectors_table(board)
        tiers = [row[2].value for row in table.rows if row[2].value is not None]
        told = any(note.startswith("The order is that of the gaps.") for note in table.notes)
        assert told == (tiers != sorted(tiers))
        found.append(told)
    assert found == [False, True]


def test_criteria_of_probabilities_choose_among_one_classifier():
    tuning = made_board().suite.tuning
    named = {name for name, entry in tuning["classifiers"].items() if _is_model(entry)}
    assert named == {"logistic"}
    (told,) = [note for note in selectors_table(made_board()).notes if "read probab" in note]
    first = told.partition(" read ")[0].lower()
    reads = {n for n, one in SELECTORS.items() if "target_probabilities" in one.needs}
    for name, entry in tuning["selectors"].items():
        assert (entry["label"].lower() in first) == (name in reads)


def _is_model(entry):
    """Nearest neighbours have shares of votes, which are no degrees of belief."""
    made = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
    return hasattr(made, "predict_proba") and not entry["estimator"].endswith("NeighborsClassifier")


def test_how_often_a_criterion_takes_the_first_candidate():
    board = made_board()
    others = (board.records["classifier"] == "bnm") & (board.records["trial"] == 0)
    board.records.loc[others, "candidate"] = 1
    shares = {
        row[0].text: row[-1].text
        for row in selectors_table(board).rows
        if row[0].kind != "baseline"  # no criterion
    }
    n_trials = board.records["trial"].nunique()
    label = board.suite.label_of_classifier
    assert shares.pop(label("bnm")) == f"{100 - 100 / n_trials:.0f}"
    assert set(shares.values()) == {"100"}


def test_selectors_by_their_gap():
    board = made_board()
    found = lines(selectors_table(board))
    gaps = {e.method: -100 * e.effect for e in board.selection.comparison.effects}
    assert len(found) == len(gaps)
    first = next(iter(found.values()))
    assert float(first["Gap to the oracle"]) == pytest.approx(min(gaps.values()))
    few = made_board(lacking={("tca", None, "bnm"): ALL})
    told = "9 further pairs left out: some criterion is undefined there; of TCA † all."
    assert told in selectors_table(few).notes
    most = made_board(lacking={(m, None, "bnm"): ALL for m in ("source_only", "pca", "coral")})
    assert any(
        note.startswith("Undefined for too many methods") for note in selectors_table(most).notes
    )


def slow_gaps(board, column, value, choice):
    """Accuracy of the oracle less that of a choice, trial by trial, averaged over each task."""
    mine = board.records[board.records[column] == value]
    wide = mine.pivot(index=["task", "method", "trial"], columns="classifier", values="accuracy")
    gaps = (wide["oracle"] - wide[choice]).groupby("task").mean()
    datasets = mine.drop_duplicates("task").set_index("task")["dataset"]
    return gaps.groupby(datasets).mean().mean()


@pytest.mark.parametrize(
    ("table_of", "column"),
    [(selectors_methods_table, "method"), (selectors_datasets_table, "dataset")],
)
def test_one_by_one_the_gaps_are_those_of_slow_loops(table_of, column):
    board = made_board()
    found = lines(table_of(board))
    labels = {"method": board.label, "dataset": board.suite.label_of_dataset}[column]
    assert len(found) == board.records[column].nunique()
    shown = {"The board's own": board.chosen_by, "Untuned": "default", "Average": "average"}
    for value in board.records[column].unique():
        line = found[labels(value)]
        for head, choice in shown.items():
            expected = 100 * slow_gaps(board, column, value, choice)
            assert float(line[head]) == pytest.approx(expected)
        gaps = {name: slow_gaps(board, column, value, name) for name in board.selectors}
        nearest = min(gaps, key=gaps.get)
        label = board.suite.tuning["selectors"][nearest]["label"]
        assert line["Nearest criterion"].lower() == label.lower()
        assert float(line["Its gap"]) == pytest.approx(100 * gaps[nearest])


def test_the_interval_of_a_gap_is_that_of_the_effect_turned():
    board = made_board()
    found = lines(selectors_methods_table(board))
    for method, selection in board.selections("method").items():
        effects = {effect.method: effect for effect in selection.comparison.effects}
        own = effects[board.chosen_by]
        line = found[board.label(method)]
        ends = [float(line[f"The board's own 95 % interval {end}"]) for end in ("low", "high")]
        assert ends == pytest.approx([-100 * own.high, -100 * own.low])
        assert -own.high < -own.effect < -own.low


def test_the_first_tier_is_of_criteria_and_its_share_is_told():
    board = made_board(gaps={**GAPS, "class_ami": 0.04})
    table = selectors_methods_table(board)
    for row, ordered in zip(table.rows, board.rows, strict=True):
        first = {*board.selections("method")[ordered.method].tiers[0]} & {*board.selectors}
        assert {"circular", "labelled_accuracy", "class_ami"} <= first
        assert len(first) < len(board.selectors)
        assert row[3].text == str(len(first))
    assert f"in the first tier for {len(GAINS)} of {len(GAINS)} methods." in table.notes[0]
    far = made_board(gaps={**GAPS, "circular": 0.2})
    assert f"for 0 of {len(GAINS)} methods." in selectors_methods_table(far).notes[0]


def test_criteria_that_are_equal_are_all_named():
    equal = made_board(gaps={**GAPS, "class_ami": 0.04}, noise=0.0)
    for line in lines(selectors_methods_table(equal)).values():
        told = "Circular validation, class AMI and CV accuracy (source and target)"
        assert line["Nearest criterion"] == told


def test_a_criterion_that_a_method_lacks_is_named_and_its_row_counts_the_others():
    board = made_board(lacking={("pca", None, "circular"): ALL})
    table = selectors_methods_table(board)
    found = lines(table)
    assert found[board.label("pca")]["The board's own"] == ""
    assert found[board.label("coral")]["The board's own"] != ""
    told = " ".join(table.notes)
    assert "in the first tier for 1 of 3 methods." in told  # class AMI is nearer
    assert f"Undefined on most tasks: circular validation ({board.label('pca')})." in told


def test_a_method_without_a_score_has_no_row_and_is_named():
    board = made_board(lacking={("tca", None, None): ALL})
    table = selectors_methods_table(board)
    assert set(lines(table)) == {board.label(name) for name in GAINS if name != "tca"}
    told = " ".join(table.notes)
    assert told.endswith(f"ways of choosing could be compared: {board.label('tca')}.")


def test_a_row_counts_the_tasks_that_a_criterion_leaves_it():
    tasks = [task.name for task in made_board().views[0].experiment.tasks]
    board = made_board(lacking={("pca", name, "bnm"): [0] for name in tasks[:2]})
    found = {row[0].text: row[-1] for row in selectors_methods_table(board).rows}
    cell = found[board.label("pca")]
    assert (cell.text, cell.value) == (f"7 of {len(tasks)}", 7)
    assert found[board.label("coral")].text == str(len(tasks))


def test_ways_that_the_board_lacks_are_compared_nowhere():
    """One method alone has them: a row of its own must not be of other ways than the others'."""
    lacking = {(method, None, "bnm"): ALL for method in ("source_only", "pca", "coral")}
    board = made_board(lacking=lacking)
    assert board.selection.undefined == ("bnm",)
    for selection in board.selections("method").values():
        assert "bnm" not in {effect.method for effect in selection.comparison.effects}
    note = selectors_methods_table(board).notes[0]
    assert f"picked by the scored labels, of {len(board.selectors) - 1} criteria:" in note
