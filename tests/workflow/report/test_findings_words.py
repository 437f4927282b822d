"""Findings in sentences: both ways, with the names that the configuration gives."""

import dataclasses
import re

import pytest

from tests.workflow.board_example import GAPS, UNSURE, made_board
from tests.workflow.report_example import shared_curves, undefined_curves
from tests.workflow.results.test_findings import HARMS, HELPS, SAME, labelled, material, one
from tests.workflow.shift_example import BARRED, shift_view
from workflow.lib.report.findings_names import Names, about_text
from workflow.lib.report.findings_words import NOT_DECIDED, QUESTIONS, sentence
from workflow.lib.results.findings import findings
from workflow.lib.results.material import Material
from workflow.lib.results.sensitivity import detectable, gains_picked_elsewhere
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.text import fixed, signed

pytestmark = pytest.mark.whole_run


def told(name, of):
    return sentence(one(name, of), Names(of))


def test_every_finding_has_a_question_and_a_sentence():
    full = Material(material().boards, (Shifts(shift_view()),))
    names = Names(full)
    assert [finding.name for finding in findings(full)] != []
    assert {finding.name for finding in findings(full)} == set(QUESTIONS)
    for finding in findings(full):
        text = sentence(finding, names)
        assert text.endswith(".")
        for number in finding.numbers:
            assert about_text(finding, number, names)


def test_what_was_not_run_is_said():
    for finding in findings(Material(())):
        assert sentence(finding, Names(Material(()))) == NOT_DECIDED


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("alignment_helps", {}, "best tuned baseline on every board. The best: CORAL +"),
        ("alignment_helps", {"gains": HARMS}, "best tuned baseline on no board"),
        (
            "alignment_helps",
            {},
            "label, some method is surely above the best baseline on every board: CORAL (class AMI",
        ),
        (
            "alignment_helps",
            {"gains": HARMS},
            "read no scored label, some method is surely above the best baseline on no board.",
        ),
        (
            "data_sets_differ",
            {"gains": {"source_only": 0, "coral": -0.2}},
            " and above 0 on none of 3 data sets.",
        ),
        ("tuning_alone_helps", {}, "settings and classifier) on every board: No a"),
        ("tuning_alone_helps", {"gaps": {**GAPS, "default": 0.0}}, "on no board"),
        (
            "data_sets_differ",
            {"gains": SAME, "noise": 0.05},
            "Two data sets are surely apart on no board.",
        ),
        (
            "never_harms",
            {},
            "harms on no task is found on every board. Least often: CORAL on none of 9 tasks of No",
        ),
        (
            "never_harms",
            {"gains": HARMS},
            "harms on no task is found on no board. Least often: ",
        ),
        (
            "choice_costs_more_than_alignment_gains",
            {},
            "no more than the best alignment gains on",
        ),
        ("fixed_selector_is_nearest", {}, "The nearest is class AMI, "),
        (
            "fixed_selector_is_nearest",
            {"gaps": {**GAPS, "default": 0.0}},
            " of 11. Nearer, without any selector: untuned, ",
        ),
        ("selectors_below_untuned", {}, "Surely worse than leaving every method as it is: pred"),
        ("untuned_order_differs", {}, "CORAL leads untuned and is number 1 of 4 tuned, in tier 1"),
        (
            "seconds_buy_accuracy",
            {},
            "of a trial and gain over the best baseline: CORAL, 4.0 s, +9.9 points.",
        ),
        ("small_gains_stay_hidden", {"gains": SAME, "noise": 0.05}, "best gains are smaller"),
    ],
)
def test_sentences(name, changed, words):
    assert words in told(name, material(**changed))


def test_labels_of_the_target():
    ended = told("labels_end_the_gain", labelled(HELPS, HARMS))
    assert ended.startswith("With few target labels no aligning method is surely above")
    assert "where some were without" in ended
    kept = told("labels_end_the_gain", labelled(HELPS, HELPS))
    assert kept.startswith("1 aligning method surely above")


def test_numbers_of_labels():
    of = Material((), (), (shared_curves(trials=5),))
    text = told("labels_end_the_gain", of)
    assert text.startswith(
        "By labels per class of the target, the best gain of 2 aligning methods on 2 tasks of "
        "1 data set is FMA-F +2.8"
    )
    assert text.endswith(" points with 1; it is surely above 0 with 1.")
    boards = labelled(HELPS, HARMS)
    both = told("labels_end_the_gain", dataclasses.replace(boards, curves=of.curves))
    assert both == f"{told('labels_end_the_gain', boards)} {text}"


def test_of_losses_the_largest_gain_is_the_smallest_loss():
    """On one of three data sets as much is lost as on none, on another all but everything."""
    lost = {("coral", "mnist_usps"): -0.3, ("coral", "gas_drift"): -0.1}
    several = {"gains": {"source_only": 0.0, "coral": -0.02}, "by_dataset": lost}
    found = one("data_sets_differ", material(**several))
    assert found.holds
    assert max(number.value for number in found.numbers) < 0
    text = told("data_sets_differ", material(**several))
    assert text == (
        "Two data sets are surely apart on every board. "
        "The gain of CORAL is largest on Office–Caltech10 (SURF) (−3.3 points), smallest on "
        "MNIST–USPS (−33.5 points), above 0 on none of 3 data sets and surely larger on "
        "Office–Caltech10 (SURF) than on MNIST–USPS."
    )


def test_the_criterion_that_stands_in_is_named_beside_its_number():
    of = Material((), (), (undefined_curves(),))
    assert told("labels_end_the_gain", of).endswith(
        "At 1, CV accuracy (both) is undefined for every method; there candidates are chosen by CV "
        "accuracy (source)."
    )


def test_shifts():
    of = Material((), (Shifts(shift_view()),))
    text = told("shifts_without_remedy", of)
    assert text.startswith(
        "No aligning method is surely above the best baseline under moved concept (the best, FMA-I:"
    )
    assert " points against No adaptation; " in text
    lacking = Shifts(shift_view())
    lacking.view.suite.methods.update(shift_view(shares=BARRED).suite.methods)
    assert told("shifts_without_remedy", Material((), (lacking,))).endswith(
        " Not run, and so not among the baselines: PCA (Bent <data>)."
    )


def test_harm_is_told_beside_chance_with_the_boards_that_it_is_of():
    """Of three trials a method equal to the baseline harms on P(t < -1) = 21.1 % of the tasks."""
    harms = told("never_harms", material(gains=HARMS))
    nine = (
        "9 of 9 tasks of No target label, quick form (100.0 %, above, by a test for independent "
        "tasks, the 21.1 % by chance)"
    )
    assert harms == (
        "A method that harms on no task is found on no board. Least often: CORAL and TCA † on "
        f"{nine}. Harm: below the best tuned baseline by more than the error. By chance: the share "
        "of a method that is equal to that baseline on every task; one that is equal to it on "
        "average, or to the best of several, is below it far more often."
    )
    said = "(0.0 %, not surely below the 21.1 % by chance; one of 2 such methods, were they "
    said += "independent, does as well in 22.2 % of repetitions)"
    assert said in told("never_harms", material())
    boards = (made_board(), made_board("no_target_labels", "tuned_no_labels_coil", gains=HARMS))
    text = told("never_harms", Material(boards))
    assert "on 1 of 2 boards. Least often: CORAL on none of 9 tasks of No target label, " in text
    assert "; CORAL and TCA † on 2 of 2 tasks of No target label (100.0 %" in text


def test_boards_on_which_the_choice_loses_no_more_than_alignment_gains_are_named():
    costly = {"gains": {"source_only": 0, "coral": 0.02}, "gaps": {**GAPS, "circular": 0.2}}
    name = "choice_costs_more_than_alignment_gains"
    alone = told(name, material(**costly))
    assert alone.startswith("Against the oracle, choosing without scored labels loses 19.6 points")
    assert "by blind choice: more than the best alignment gains, compared without" in alone
    boards = (made_board(), made_board("no_target_labels", "tuned_no_labels_coil", **costly))
    less = "no more than the best alignment gains on No target label, quick form, more on every "
    assert f"{less}other board, compared without a test." in told(name, Material(boards))


def test_several_boards_are_named():
    boards = (made_board(), made_board("no_target_labels", "tuned_no_labels_coil", gains=HARMS))
    text = told("alignment_helps", Material(boards))
    assert "on 1 of 2 boards" in text
    assert "(No target label, quick form)" in text
    assert "(No target label)." in text


def test_a_gain_that_is_not_sure_is_on_no_board():
    of = material(**UNSURE)
    (effects,) = (board.aligning() for board in of.boards)
    assert effects[0].effect > 0
    assert not any(effect.surely_above for effect in effects)
    start = "An aligning method is surely above the best tuned baseline on no board."
    assert told("alignment_helps", of).startswith(start)


def test_a_leader_in_the_first_tier_is_below_it_on_no_board():
    assert "is below the first tier on no board: CORAL leads" in told(
        "untuned_order_differs", material()
    )


def test_boards_are_counted_of_those_that_have_the_numbers_of_the_sentence():
    lacking = {(m, None, "default"): range(9) for m in ("source_only", "pca")}
    boards = (made_board(), made_board("no_target_labels", "tuned_no_labels_coil", lacking=lacking))
    told_alone, told_of = (
        told(name, Material(boards)) for name in ("tuning_alone_helps", "alignment_helps")
    )
    assert "and classifier) on each board of the 1 that can tell: " in told_alone
    assert "the methods alone, on each board of the 1 that can tell: CORAL" in told_of
    assert told_of.startswith(
        "An aligning method is surely above the best tuned baseline on 1 of 2 boards."
    )


def test_a_selector_that_ties_with_the_fixed_one_is_not_taken_for_it():
    equal = {**GAPS, "bnm": 0.0, "circular": 0.0}
    text = told("fixed_selector_is_nearest", material(gaps=equal, noise=0))
    assert "was fixed in advance" not in text
    assert re.search(r"while circular validation, fixed in advance, is number 1 of 11", text)


def test_a_correlation_that_is_not_sure_is_on_no_board():
    of = material(gains={"source_only": 0.0, "coral": 0.0, "tca": 0.1})  # of two methods p is 1
    (number, *_) = one("seconds_buy_accuracy", of).numbers
    assert (number.value, number.p) == (1, 1)
    assert "by a test over methods, on no board (rank" in told("seconds_buy_accuracy", of)


def test_what_the_best_gains_elsewhere_and_what_the_trials_find_stand_beside_it():
    whole = material()
    (board,) = whole.boards
    gains, found = gains_picked_elsewhere(board), detectable(board)
    assert (
        "Where method and baseline are picked on the other data sets, the gain on the one left out "
        f"is {signed(100 * sum(gains.values()) / 3)} points on average ("
        in told("alignment_helps", whole)
    )
    sizes = [fixed(100 * size, 1) for size in (found.median, found.least, found.most)]
    words = "of the method in the middle would have to be {} points ({} to {} over all), where the "
    assert words.format(*sizes) in told("small_gains_stay_hidden", whole)
