"""The configuration in sentences."""

import dataclasses
import re

import pytest

from tests.workflow.report_example import (
    make_experiment,
    make_suite,
    rich_curves,
    shared_curves,
    view_of,
)
from workflow.lib.report import wording
from workflow.lib.report.wording import figure_captions, protocol_sentences, record_sentences


def test_a_varied_protocol_in_words():
    words = " ".join(protocol_sentences(shared_curves(2)))
    assert "(target_share of the protocol): 0.1, 0.2, 0.4, 0.6, 0.8 and 1." in words
    assert "they see 10, 20, 40, 60, 80 or 100 % of the samples" in words
    assert "the others are embedded afterwards as new samples" in words
    view = shared_curves(2)
    vary = {**view.experiment.vary, "parameter": "source_per_class", "values": [2, 4]}
    experiment = dataclasses.replace(view.experiment, vary=vary)
    other = " ".join(protocol_sentences(dataclasses.replace(view, experiment=experiment)))
    assert "2 or 4 samples per class of every source domain" in other
    limited = {**view.experiment.vary, "parameter": "unlabelled_per_domain", "values": [50, 100]}
    experiment = dataclasses.replace(view.experiment, vary=limited)
    other = " ".join(protocol_sentences(dataclasses.replace(view, experiment=experiment)))
    assert "50 or 100 unlabelled samples of each domain" in other


def sentences(kind, **changed):
    experiment = make_experiment([("amazon", "dslr")], ("plain", "fma_i"))
    suite = make_suite(experiment, 20, kind)
    suite.protocols["official"].update(changed)
    view = view_of(experiment, {("amazon-dslr", m): [0.5] * 20 for m in experiment.methods}, 20)
    return " ".join(protocol_sentences(dataclasses.replace(view, suite=suite)))


def test_protocols_in_words():
    official = sentences("official")
    assert "dataset office_splits (Hoffman et al. 2013): 20 trials per task" in official
    assert "mean 0 and standard deviation 1" in official
    assert "trained on the labelled source samples" in official
    drawn = sentences("random", unlabelled_per_domain=100, preprocess=[])
    assert "8 samples per class (20 for office.amazon) of every source domain" in drawn
    assert "Seed 3" in drawn
    assert "100 unlabelled samples of each domain" in drawn
    assert "Features are used as they are." in drawn
    full = sentences("full_source", preprocess=["l1_rows", "zscore"])
    assert "Scored: the entire target." in full
    assert "sum of its absolute values; then each feature" in full


def test_protocols_without_target_labels_in_words():
    drawn = sentences("random", target_per_class=0, unlabelled_per_domain=800, scored_rows="seen")
    assert "every source domain and none of the target keep their label." in drawn
    assert "Scored: the target samples whose label is hidden and that the methods saw." in drawn
    new = sentences("random", unlabelled_per_domain=800, scored_rows="test")
    assert "drawn from the data's own training samples. Scored: all test samples of the" in new
    every = sentences("random", scored_rows="test")
    assert "Methods see all training samples of the domains" in every
    every = sentences("random", scored_rows="test", source_rows="labelled")
    assert "and all training samples of the target" in every
    divided = sentences("training_test")
    assert "The data's own division into training and test samples: all training" in divided
    assert "Scored: the test samples of the target, which are new to the methods." in divided
    assert "Methods see the training samples of every domain" in divided


def test_a_method_with_rows_of_its_own_is_named():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "fma_i"))
    view = view_of(experiment, {("amazon-dslr", m): [0.5] for m in experiment.methods}, 1)
    view.suite.methods["plain"]["params"] = {"domains": "both"}
    words = " ".join(protocol_sentences(view))
    assert "On the labelled samples of the source and the target instead: No adaptation." in words


def test_record_sentences_without_failures():
    experiment = make_experiment([("amazon", "dslr")], ("plain",))
    view = view_of(experiment, {("amazon-dslr", "plain"): [0.5] * 2}, 2)
    assert record_sentences(view)[-1] == "No trial failed."


def test_bars_are_explained_where_there_are_some(monkeypatch):
    experiment = make_experiment(
        [("amazon", "dslr")], ("plain", "sma", "fma_i"), ("logistic", "one_nn")
    )
    view = view_of(experiment, {("amazon-dslr", m): [0.5] for m in experiment.methods}, 1)
    assert "joined by a bar" in figure_captions(view, "critical_difference_one_nn")
    monkeypatch.setattr(wording, "MOST_RANKED", 2)
    caption = figure_captions(view, "critical_difference_one_nn")
    assert "joined" not in caption
    assert "more than 2 methods" in caption


def test_one_trial_has_no_deviation_over_trials(monkeypatch):
    experiment = make_experiment([("amazon", "dslr")], ("plain", "fma_i"))
    for trials, words in ((1, "in one trial, task by task"), (2, "Mean and standard deviation")):
        scores = {("amazon-dslr", m): [0.5] * trials for m in experiment.methods}
        view = view_of(experiment, scores, trials)
        assert words in figure_captions(view, "accuracy")
        monkeypatch.setattr(type(view), "too_many", True)
        assert ("mean over trials" in figure_captions(view, "accuracy")) == (trials > 1)
        monkeypatch.undo()


def test_cells_that_are_drawn_hollow_are_named_below_the_picture():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "fma_i"))
    late = {"status": "timeout", "error": "late"}
    scores = {("amazon-dslr", "plain"): [0.5, 0.4], ("amazon-dslr", "fma_i"): [0.5, late]}
    caption = figure_captions(view_of(experiment, scores, 2), "accuracy")
    told = "Drawn hollow, with the trials that have a score: FMA-I on A→D (1 of 2)."
    assert caption.endswith(f"task by task. {told}")
    assert figure_captions(view_of(experiment, scores, 2), "trials").endswith(f"tasks. {told}")
    scores["amazon-dslr", "fma_i"] = [0.5, 0.6]
    for name in ("accuracy", "trials"):
        assert "hollow" not in figure_captions(view_of(experiment, scores, 2), name)


@pytest.mark.parametrize("name", ["curve", "curve_by_task"])
def test_points_that_are_drawn_hollow_are_named_with_their_setting(name):
    caption = figure_captions(rich_curves(trials=4), name)
    assert re.search(r"Drawn hollow, .*: FMA-I on \S+ at 20 \(\d of 4\)", caption)
