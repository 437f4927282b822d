"""Numbers of findings in words: what they are about, in their units, with their intervals."""

from tests.workflow.board_example import made_board
from tests.workflow.report_example import shared_curves, undefined_curves
from tests.workflow.results.test_findings import material, one
from tests.workflow.shift_example import EQUAL, shift_view
from workflow.lib.report.findings_names import Names, about_text, interval_text, value_text
from workflow.lib.report.tables.board import chooser_in_words
from workflow.lib.results.best_way import best_way
from workflow.lib.results.material import CORRELATION, SECONDS, SHARE, SIZE, Material, Number
from workflow.lib.results.shifts import Shifts


def about(name, of):
    found = one(name, of)
    return [about_text(found, number, Names(of)) for number in found.numbers]


def test_a_number_of_labels_is_named_with_the_criterion_that_stands_in():
    curve = Material((), (), (shared_curves(trials=5),))
    assert about("labels_end_the_gain", curve)[0] == "FMA-F, labels per class: 0.1"
    assert about("labels_end_the_gain", Material((), (), (undefined_curves(),))) == [
        "FMA-I, labels per class: 1, chosen by CV accuracy (source)",
        "FMA-I, labels per class: 3",
    ]


def test_a_pair_of_a_method_and_a_way_of_choosing_is_named_with_the_one_that_it_is_over():
    board = made_board()
    found, label = best_way(board), chooser_in_words(board)
    base = f"{board.label(found.baseline)} ({label(found.baseline_choice)})"
    assert about("alignment_helps", material()) == [
        "CORAL over No adaptation (source)",
        "CORAL over No adaptation (source), untuned",
        f"CORAL (class AMI) over {base}, of {found.n_pairs} pairs",
    ]


def test_a_gain_under_a_shift_is_named_with_the_baseline_that_it_is_over():
    of = Material((), (Shifts(shift_view(shares=EQUAL)),))
    assert about("shifts_without_remedy", of)[0] == "rotation: SMA over PCA"


def test_a_gain_on_a_data_set_is_named_with_its_place_and_degrees_of_freedom():
    gained = {("coral", "office_caltech_surf"): 0.4}
    assert about("data_sets_differ", material(by_dataset=gained)) == [
        "Office–Caltech10 (SURF): CORAL (largest; surely more; 3 degrees of freedom)",
        "MNIST–USPS: CORAL (surely less; 1 degree of freedom)",
        "Gas sensor drift: CORAL (smallest; 2 degrees of freedom)",
    ]


def test_what_is_no_gain_is_not_told_as_one():
    """A loss, and the gain that such trials could find, which is not what they found."""
    lost, _ = about("choice_costs_more_than_alignment_gains", material())
    assert lost == "lost by circular validation"
    assert about("fixed_selector_is_nearest", material()) == ["lost by class AMI"]
    for name in ("choice_costs_more_than_alignment_gains", "fixed_selector_is_nearest"):
        for number in one(name, material()).numbers:
            assert "+" not in value_text(number) + interval_text(number)
    (hidden,) = one("small_gains_stay_hidden", material()).numbers
    assert "+" not in value_text(hidden) + interval_text(hidden)
    assert about("small_gains_stay_hidden", material()) == [
        "gain that would be found in 80 % of repetitions: TCA †"
    ]


def test_numbers_in_their_units():
    assert value_text(Number("", (), 0.1234)) == "+12.3 points"
    assert value_text(Number("", (), 0.1234, unit=SIZE)) == "12.3 points"
    assert interval_text(Number("", (), 0.1, -0.045, 0.15, unit=SIZE)) == "−4.5 to 15.0"
    assert value_text(Number("", (), -0.5, unit=CORRELATION)) == "−0.50"
    assert value_text(Number("", (), 0.25, unit=SHARE)) == "25.0 %"
    assert value_text(Number("", (), 12.34, unit=SECONDS)) == "12.3 s"
    assert interval_text(Number("", (), 12.34, unit=SECONDS)) == "none: timed once"
    assert interval_text(Number("", (), 0.1)) == ""
    assert interval_text(Number("", (), 0.1, 0.05, 0.15)) == "+5.0 to +15.0"
    assert interval_text(Number("", (), 0.1, -0.2, 0.4, unit=CORRELATION)) == "−0.20 to +0.40"
    assert interval_text(Number("", (), 0.0, 0.0, 0.3, unit=SHARE)) == "0.0 to 30.0"
