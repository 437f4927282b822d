"""Sentences of a board: helps, harms, and where nothing is told apart."""

import dataclasses
import re

import pytest

from tests.workflow.board_example import GAPS, UNSURE, made_board, tuned_view
from workflow.lib.report.board_answer import _one_way, _p_of_all, answers
from workflow.lib.report.board_page import board_of
from workflow.lib.report.tables.board import chooser_in_words
from workflow.lib.report.tables.board_choices import choices_table
from workflow.lib.results.best_way import attainable
from workflow.lib.results.sensitivity import gains_picked_elsewhere
from workflow.lib.results.text import interval, p_text, percent, signed
from workflow.lib.results.tuning_alone import tuning_alone
from workflow.lib.results.untouched import compare_untouched

pytestmark = pytest.mark.whole_run


def told(board):
    return dict(answers(board))


def test_alignment_that_helps():
    board = made_board()
    found = told(board)
    base, best = (
        next(row for row in board.rows if row.method == name) for name in ("source_only", "coral")
    )
    first = found["Does alignment help, when everything is tuned alike?"]
    assert first.startswith(
        "Surely: over 9 tasks of 3 data sets, aligning methods above the best tuned baseline, No "
        "adaptation"
    )
    told_of_base = f"({percent(base.scores['accuracy'])} %): 1 of 2, 1 surely; surely below it: 1."
    assert told_of_base in first
    assert f"CORAL: {signed(100 * best.effect.effect)} points" in first
    assert found["Which method?"] == "CORAL: it alone is in the first tier."
    assert found["Which never harms?"].startswith("CORAL: on none of 9 tasks")
    as_few = 1 - (1 - (1 - board.comparison.harmed_by_chance) ** 9) ** 2
    assert found["Which never harms?"].endswith(
        "the error (0.0 %; by chance 21.1 %, of a method equal to it on every task; one of 2 such "
        f"methods, were they independent, does as well in {percent(as_few)} % of repetitions)."
    )


def test_whether_it_hangs_on_the_choice_of_settings():
    question = "Does that hang on the choice of settings?"
    board = made_board()
    others = [choice for choice in board.choices if choice != board.chosen_by]
    said = told(board)[question]
    ways = [way for way in attainable(board) if way != board.chosen_by]
    effects = [e for way in ways for e in board.aligning(board.compared_by(way))]
    assert {e.method for e in effects if e.surely_above} == {"coral"}
    n_ways = len(ways) + 1  # the board's own too
    n_also = sum(e.surely_above and n_ways * e.p_holm < 0.05 for e in effects)
    assert said.startswith("In part: in "), "the board's own has some too"
    assert f" each way by itself, in {n_also} also corrected for all {n_ways} ways: " in said
    effect = board.aligning(board.compared_by("default"))[0]
    alone, for_all = p_text(effect.p_holm), p_text(min(1, n_ways * effect.p_holm))
    assert (
        f"CORAL {signed(100 * effect.effect)} points (untuned; p = {alone}, for all ways " in said
    )
    assert f"for all ways {for_all})" in said
    assert "yet below" not in said
    gone = {("coral", None, choice): range(3) for choice in others}
    alone = told(made_board(lacking=gone))[question]
    assert re.match(
        r"Yes: of \d+ other ways of choosing none has .* surely above, as .* has\.", alone
    )
    harms = told(made_board(gains={"source_only": 0.0, "coral": -0.1}))[question]
    assert re.match(r"No: of \d+ other ways of choosing none has", harms)


def test_alignment_that_harms():
    found = told(made_board(gains={"source_only": 0.0, "coral": -0.1, "tca": -0.2}))
    first = found["Does alignment help, when everything is tuned alike?"]
    assert ": 0 of 2, 0 surely; surely below it: 2." in first
    assert first.startswith("Surely not: over ")
    assert found["Which method?"].startswith("No adaptation")
    assert found["Which never harms?"].startswith("None; CORAL")
    by_chance = (
        "harm least, on 9 of 9 tasks (100.0 %; by chance 21.1 %, of a method equal to it on every "
        "task)."
    )
    assert by_chance in found["Which never harms?"]
    alone = told(made_board(gains={"source_only": 0.0, "coral": -0.1}))
    assert alone["Which never harms?"].startswith("None; CORAL harms least")


def test_nothing_told_apart():
    board = made_board(gains=dict.fromkeys(("source_only", "coral", "tca"), 0.0), noise=0.05)
    found, means = told(board), sorted(row.scores["accuracy"] for row in board.rows)
    first = found["Does alignment help, when everything is tuned alike?"]
    assert first.startswith("Not shown: over ")
    assert " 0 surely; surely below it: 0." in first
    assert found["Which method?"] == (
        "Cannot be told: all 3 share the first tier, where none is shown to be worse than another: "
        "2 that align (TCA † and CORAL) and 1 baseline (No adaptation (source)). Their accuracies "
        f"go from {percent(means[-1])} to {percent(means[0])} % (CORAL)."
    )


def test_no_aligning_method():
    found = told(made_board(gains={"source_only": 0.0, "pca": 0.1}))
    assert "Which method?" not in found
    assert found["Does alignment help, when everything is tuned alike?"] == (
        "No aligning method could be compared."
    )


UNTOUCHED = "And on data that no setting was searched on?"


def test_data_that_settings_were_searched_on_are_left_out_of_a_gain_of_its_own():
    """CORAL gains on Office–Caltech10 alone, whose scores settings were searched by."""
    gains = {"source_only": 0.0, "coral": -0.05, "tca": -0.1}
    board = made_board(gains=gains, by_dataset={("coral", "office_caltech_surf"): 0.5})
    rest = compare_untouched(board)
    first = "Does alignment help, when everything is tuned alike?"
    assert told(board)[first].startswith("Surely: over 9 tasks of 3 data sets")
    assert board.comparison.effects[0].effect > 0
    best = rest.effects[0]
    assert (best.method, best.effect < 0) == ("coral", True)
    assert told(board)[UNTOUCHED] == (
        "Without Office–Caltech10 (SURF), on which settings of methods were searched, here or to "
        "match a paper: over 5 tasks of 2 data sets the best, CORAL: "
        f"{signed(100 * best.effect)} points ({interval(best.low, best.high)}; "
        f"p = {p_text(best.p_holm)}) over No adaptation (source); 0 of 2 surely above it."
    )


def test_a_board_of_no_other_data_says_so():
    board = made_board("several_sources", "tuned_several_sources")
    assert told(board)[UNTOUCHED].startswith(
        "Cannot be told: all that could be compared is of Office–Caltech10 (SURF), on which "
    )
    gas = made_board("no_target_labels", "tuned_no_labels_gas")
    assert UNTOUCHED not in told(gas)


def test_one_trial_cannot_tell_harm():
    assert told(made_board(trials=1))["Which never harms?"].startswith("Cannot be told")


def test_what_tuning_alone_gives():
    """The best of each, though the two are different baselines."""
    question, view = "What does tuning alone give?", tuned_view()
    untuned = (view.records["method"] == "pca") & (view.records["classifier"] == "default")
    view.records.loc[untuned, "accuracy"] += 0.05
    board = board_of("quick", [view])
    row = {row.method: row for row in board.rows}
    mine, own = row["source_only"].scores["accuracy"], row["pca"].by_choice["default"]
    found, effect = told(board)[question], tuning_alone(board).effect
    assert (
        "The best untuned baseline (with its entry's settings and classifier), PCA, has "
        f"{percent(own)} %, the best tuned one, No adaptation (source), {percent(mine)} %: "
        f"{signed(100 * (mine - own))} points ({interval(effect.low, effect.high)}). Tuned: "
        "scaling, classifier, and settings of the baseline such as the components of PCA."
    ) == found
    lacking = {(name, None, "default"): range(9) for name in ("source_only", "pca")}
    assert "Cannot be told" in told(made_board(lacking=lacking))[question]


def test_what_to_choose_by():
    found = told(made_board())["What should choose the settings?"]
    assert found.startswith("Class AMI is nearest to the oracle")
    farther = ". Farther: circular validation 3.9 (the board's own, number 2 of 11), untuned 7.9 "
    assert f"{farther}and average candidate" in found
    late = told(made_board(gaps={**GAPS, "circular": 0.1}))["What should choose the settings?"]
    assert re.search(r"Farther: untuned 7.*, circular validation .*number \d+ of 11\) and av", late)
    mine = told(made_board(gaps={**GAPS, "circular": 0.0}))["What should choose the settings?"]
    assert mine.startswith("Circular validation is nearest to the oracle")
    assert mine.count("ircular validation") == 1
    untuned = made_board(gaps={**GAPS, "fixed_logistic": 0.01})
    nearer = told(untuned)["What should choose the settings?"]
    assert nearer.startswith("Of the selectors class AMI is nearest to the oracle, ")
    gap = next(e for e in untuned.selection.comparison.effects if e.method == "fixed_logistic")
    words = "Nearer, without any selector: untuned, with logistic regression "
    assert f". {words}{-100 * gap.effect:.1f}. Farther: circular" in nearer
    words = chooser_in_words(made_board())
    assert (words("class_ami"), words("average")) == ("class AMI", "average candidate")


def test_no_selector_that_is_defined():
    board = made_board()
    lacking = {(m, None, s): range(9) for m in board.methods for s in board.selectors[1:]}
    lacking |= {(m, None, board.chosen_by): range(9) for m in board.methods[2:]}
    found = made_board(lacking={**lacking, ("pca", None, board.chosen_by): range(9)})
    assert not [e for e in found.selection.comparison.effects if e.method in board.selectors]


def test_what_gains_the_trials_find_is_told_of_all_methods():
    first = "Does alignment help, when everything is tuned alike?"
    board = made_board("no_target_labels", "tuned_no_labels_coil", noise=0.2)
    sizes = [effect.detectable for effect in board.aligning()]
    assert max(sizes) > 1
    said = told(board)[first]
    assert "in 80 % of repetitions from" in said
    assert "more than 100 over all)." in said
    assert "left out" not in said, "of one data set there are no others to pick by"
    several = made_board()
    gains = sorted(gains_picked_elsewhere(several).values())
    words = "Method and baseline picked on the other data sets, on the one left out: "
    least, most = (signed(100 * gains[place]) for place in (0, -1))
    ends = f"from {least} on one data set to {most} on another"
    mean = signed(100 * sum(gains) / 3)
    assert f"{words}{mean} points on average ({ends})." in told(several)[first]


def test_selectors_that_are_equally_near_are_all_named():
    equal = dict.fromkeys(("oracle", "circular", "class_ami", "entropy"), 0.0)
    said = told(made_board(gaps={**GAPS, **equal}, noise=0))
    (first,) = (text for text in said.values() if "nearest to the oracle" in text)
    assert " are nearest to the oracle, 0.0 points below" in first
    assert "ircular validation" in first
    assert "class AMI" in first


def test_methods_above_are_counted_also_where_not_surely():
    board = made_board(**UNSURE)
    effects = board.aligning()
    above = sum(effect.effect > 0 for effect in effects)
    assert above > sum(effect.surely_above for effect in effects)
    first = dict(answers(board))["Does alignment help, when everything is tuned alike?"]
    assert f": {above} of 2, 0 surely; surely below it: 0." in first


def test_on_untouched_data_only_sure_gains_are_sure():
    board = made_board(**UNSURE)
    effects = board.aligning(compare_untouched(board))
    assert effects[0].effect > 0
    assert not any(effect.surely_above for effect in effects)
    found = dict(answers(board))["And on data that no setting was searched on?"]
    assert found.endswith("; 0 of 2 surely above it.")


def test_the_oracle_and_the_average_are_no_ways_of_choosing_that_a_user_has():
    board = made_board()
    others = len(attainable(board)) - 1
    found = dict(answers(board))["Does that hang on the choice of settings?"]
    assert f" of {others} other ways of choosing" in found
    assert "oracle" not in found


def test_other_choices_name_sure_gains_alone():
    board = made_board(**UNSURE)
    ways = [board.aligning(board.compared_by(name)) for name in attainable(board)]
    assert any(effect.effect > 0 for effects in ways for effect in effects)
    assert not any(effect.surely_above for effects in ways for effect in effects)
    found = dict(answers(board))["Does that hang on the choice of settings?"]
    assert found.startswith("No: of ")


def test_what_is_as_near_as_the_nearest_selector_is_no_farther():
    view = tuned_view(gaps={**GAPS, "class_ami": 0.02})
    records, key = view.records, ["task", "method", "trial"]
    chosen = records[records["classifier"] == "class_ami"].set_index(key)["accuracy"]
    untuned = records["classifier"] == "default"  # which class AMI always takes
    places = records.loc[untuned, key].itertuples(index=False, name=None)
    records.loc[untuned, "accuracy"] = [chosen[place] for place in places]
    found = dict(answers(board_of("quick", [view])))["What should choose the settings?"]
    assert found.startswith("Of the selectors class AMI is nearest to the oracle, 2.0 points below")
    assert "As near, without any selector: untuned. Farther: circular validation " in found


def test_a_gain_over_a_lower_bar_says_that_it_is_below_the_board_s_own():
    board = made_board(gaps={**GAPS, "entropy": 0.16})
    bar = board.mean(board.comparison.reference, board.chosen_by)
    for choice, below in (("entropy", True), ("class_ami", False)):
        sure = board.aligning(board.compared_by(choice))[:1]
        assert sure[0].surely_above
        assert (board.mean("coral", choice) < bar) == below
        said = _one_way(board, choice, sure, n_ways=12)
        assert ("yet below the board's own bar" in said) == below


def test_ways_that_no_aligning_method_has_are_not_counted():
    lacking = {(name, None, "class_ami"): range(9) for name in ("coral", "tca")}
    whole, fewer = made_board(), made_board(lacking=lacking)
    question = "Does that hang on the choice of settings?"
    counts = [re.search(r" of (\d+) other ways", told(one)[question])[1] for one in (whole, fewer)]
    assert int(counts[0]) == int(counts[1]) + 1
    (row,) = (row for row in choices_table(fewer).rows if row[0].text.lower().endswith("class ami"))
    assert [cell.text for cell in row[6:8]] == ["", ""]


def test_whether_any_method_of_a_way_is_above_after_all_corrections():
    """The largest gain of a way need not be the surest."""
    board = made_board(gains={"source_only": 0.0, "coral": 0.05, "tca": 0.1})
    effects = board.aligning(board.compared_by("class_ami"))
    unsure = dataclasses.replace(effects[0], p_holm=0.04)
    assert _p_of_all([unsure, effects[1]], 12) == min(1.0, 12 * effects[1].p_holm)
    assert _p_of_all([unsure], 12) == pytest.approx(0.48)


def test_methods_that_differ_by_no_digit_have_no_span():
    board = made_board(gains=dict.fromkeys(("source_only", "coral", "tca"), 0.0), noise=0.0)
    assert re.search(r" All have \d+\.\d %\.$", told(board)["Which method?"])
