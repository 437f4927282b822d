"""The sentences of an answer."""

import dataclasses

import pytest

from tests.workflow.own_example import heterogeneous, own
from workflow.lib.report.own_words import (
    accuracy_words,
    check_words,
    diagnosis,
    interval_words,
    points,
    saved_words,
    sentence,
)
from workflow.lib.results.accuracy_estimates import Interval
from workflow.lib.results.own_answer import UNKNOWN


def test_three_verdicts_three_sentences():
    assert sentence(own()).startswith(
        "Adapt: use CORAL. The gain is separated from zero. Settings: standard; logistic"
    )
    kept = sentence(own(gain=False))
    assert kept.startswith(
        "Do not adapt: use No adaptation (source). The best method that adapts gives"
    )
    assert unknown(1).startswith(
        "It cannot be told yet whether to adapt. The gain is separated from zero. About 1 more "
        "target label, of samples drawn at random, would tell. Best guess: adapt with CORAL (stand"
    )


def unknown(n_more, found=None):
    found = found or own()
    answer = dataclasses.replace(found.answer, verdict=UNKNOWN, n_more=n_more)
    return sentence(dataclasses.replace(found, answer=answer))


def test_where_no_number_of_labels_would_tell_it_is_said():
    assert "Even labels of all 90 target samples would not surely tell." in unknown(None)
    assert "A gain of 5 points would have shown with the labels at hand." in unknown(0)


def test_an_accuracy_on_few_labels_is_told_as_their_number():
    """10 of 10 is no accuracy of 100 %."""
    found = own()
    best = found.answer.best
    judged = dataclasses.replace(best.estimates[0], n_right=10, n_judged=10)
    best = dataclasses.replace(best, estimates=(judged, *best.estimates[1:]))
    answer = dataclasses.replace(found.answer, best=best, n_labels=10)
    told = accuracy_words(dataclasses.replace(found, answer=answer), best)
    assert told.startswith("10 of 10 held-out target labels right, so ")
    assert told.endswith(" to 100.0 % to be expected")
    low = float(told.split(" so ")[1].split()[0])
    assert low == pytest.approx(100 * answer.accuracy_of(best).low, abs=0.05)
    assert low < 75
    assert accuracy_words(found, found.answer.best).endswith("expected, without a target label")


@pytest.mark.parametrize(
    ("n_alone", "words"),
    [(1, "(1 other is the only one of its class"), (7, "(7 others are each the only one of")],
)
def test_labels_that_are_not_held_out_are_told(n_alone, words):
    found = own()
    best = found.answer.best
    judged = dataclasses.replace(best.estimates[0], n_right=9, n_judged=10, n_alone=n_alone)
    best = dataclasses.replace(best, estimates=(judged, *best.estimates[1:]))
    answer = dataclasses.replace(found.answer, best=best, n_labels=10)
    told = accuracy_words(dataclasses.replace(found, answer=answer), best)
    assert f"9 of 10 held-out target labels right {words}" in told


def test_numbers_in_words():
    assert interval_words(Interval(0.5, 0.25, 1.0)) == "50.0 % (25.0 to 100.0)"
    assert points(Interval(0.05, -0.1, 0.2)) == "+5.0 points (−10.0 to +20.0)"


def test_the_check_is_there_where_labels_are():
    assert "98.9 % accurate" in check_words(own())
    assert check_words(own(known=False)) == ""


def test_the_diagnosis_names_what_was_found_or_why_not():
    told = dict(diagnosis(own()))
    assert "can tell them apart" in told["Is there a shift?"]
    assert "1 of 4 features differ" in told["Of single features?"]
    assert "principal angles" in told["Of directions?"]
    other = dict(diagnosis(heterogeneous(own())))
    assert "different features" in other["Are there two domains?"]
    assert "Of single features?" not in other


def test_a_model_that_is_not_the_best_is_explained():
    found = own()
    assert saved_words(found) == "CORAL (standard; logistic regression (C = 1.0)), " + (
        f"{interval_words(found.answer.expected)} expected, without a target label."
    )
    best = dataclasses.replace(found.answer.best, embeds=False)
    answer = dataclasses.replace(found.answer, best=best, saved=found.answer.baseline)
    told = saved_words(dataclasses.replace(found, answer=answer))
    assert told.startswith("CORAL predicts no samples but those that it was fitted on. Kept is the")
    assert "No adaptation (source) (standard;" in told


def test_what_is_rounded_to_zero_has_no_sign():
    assert points(Interval(-0.0002, -0.00002, 0.00002)) == "0.0 points (0.0 to 0.0)"
    # But for the side on which an end of the interval lies.
    assert points(Interval(-0.0002, -0.0002, 0.0002)) == "0.0 points (−0.02 to +0.02)"
