"""The sentences of an answer."""

import dataclasses

from tests.workflow.own_example import heterogeneous, own
from workflow.lib.report.own_words import (
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
    assert sentence(own()).startswith("Use CORAL with these settings: standard; logistic")
    kept = sentence(own(gain=False))
    assert kept.startswith("Do not adapt: the best method that adapts gives")
    assert "Use No adaptation (source)" in kept
    found = own()
    unknown = dataclasses.replace(found.answer, verdict=UNKNOWN, n_more=1)
    told = sentence(dataclasses.replace(found, answer=unknown))
    assert told.startswith("Cannot be told from the labels at hand: label about 1 more target sam")


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
    assert saved_words(found) == "CORAL (standard; logistic regression (C = 1.0)), expected " + (
        f"accuracy {interval_words(found.answer.expected)}."
    )
    best = dataclasses.replace(found.answer.best, embeds=False)
    answer = dataclasses.replace(found.answer, best=best, saved=found.answer.baseline)
    told = saved_words(dataclasses.replace(found, answer=answer))
    assert told.startswith("CORAL predicts no samples but those that it was fitted on. Kept is the")
    assert "No adaptation (source) (standard;" in told


def test_what_is_rounded_to_zero_has_no_sign():
    assert points(Interval(-0.0002, -0.0002, 0.0002)) == "0.0 points (0.0 to 0.0)"
