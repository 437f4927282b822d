"""What a candidate is judged by: its own fit, and the labels and rows that its trial shows."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from tests.workflow.trials import test_tuning
from tests.workflow.trials.test_tuning import SEEN, Spy, made, two_trials
from tests.workflow.trials.tuned_block import labels_of
from workflow.lib.trials import candidate_fits, tuning
from workflow.lib.trials.protocols import HIDDEN

block = test_tuning.block

LOGISTIC = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}, "fixed": None}


class Remembers(Spy):
    """Noise, of many features: a classifier knows by heart every label that trains it."""

    def _embedded(self, X, y):
        return np.random.default_rng(len(y)).normal(size=(len(y), 80))

    def _transform(self, X, domain):
        return self._embedded(X, X)


class LearnsFromSource(Spy):
    capabilities = dataclasses.replace(Spy.capabilities, labels="source")


def seen_from(opened, first):
    """The trial with the target's rows from a place on."""
    trial = opened.trials[0]
    rows = (*trial.rows[:-1], trial.rows[-1][first:])
    labels = (*trial.labels[:-1], trial.labels[-1][first:])
    opened.trials[0] = dataclasses.replace(trial, rows=rows, labels=labels)


def seen_evidence(monkeypatch):
    found, wrapped = [], tuning._scores
    monkeypatch.setattr(tuning, "_scores", lambda e, s: found.append(e) or wrapped(e, s))
    return found


def opened_fits(block, entry, reduce=None, **changed):
    opened = block(entry, budget=1, **changed)
    return opened, {**opened.spec["tuning"]["alignments"][0], "reduce": reduce}


def test_no_row_is_held_out_by_a_classifier_that_its_label_trained(block):
    records, _ = tuning.run_trial(block(made(Remembers, search={})), 0)
    assert all(r["status"] == "ok" for r in records), records
    for record in records:
        assert record["selectors"]["source_accuracy"] < 0.6


@pytest.mark.parametrize("name", ["source_only", "meda"])
def test_selectors_see_the_predictions_of_the_visible_rows(block, name, monkeypatch):
    opened = block(name, few=False, budget=3)
    seen_from(opened, 11)
    found = seen_evidence(monkeypatch)
    _, arrays = tuning.run_trial(opened, 0)
    rows = opened.trials[0].rows[-1]
    assert rows[0] == 11
    asked = 0
    for number, evidence in enumerate(found):
        np.testing.assert_array_equal(evidence.target_predicted, arrays[str(number)][rows])
        if evidence.target_probabilities is not None:
            best = evidence.classes[evidence.target_probabilities.argmax(axis=1)]
            np.testing.assert_array_equal(best, evidence.target_predicted)
            asked += 1
    assert asked


def test_log_ratios_are_kept_sources_first(block, monkeypatch):
    opened = block("source_only", few=False, budget=1)
    opened.spec["tuning"]["answer"] = True
    found = seen_evidence(monkeypatch)
    _, arrays = tuning.run_trial(opened, 0)
    source, target = found[0].embedded.log_ratios
    np.testing.assert_allclose(arrays["0/log_ratios"], np.r_[source, target], rtol=1e-6)
    assert abs(source.mean() - target.mean()) > 1e-3


def test_classes_that_the_target_alone_shows_are_classes(block, monkeypatch):
    opened, found = block("source_and_target", budget=4), seen_evidence(monkeypatch)
    trial = opened.trials[0]
    labels = (np.where(trial.labels[0] == 2, HIDDEN, trial.labels[0]), trial.labels[1])
    opened.trials[0] = dataclasses.replace(trial, labels=labels)
    records, _ = tuning.run_trial(opened, 0)
    assert {record["status"] for record in records} == {"ok"}, records
    assert all(evidence.classes.tolist() == [0, 1, 2] for evidence in found)


def test_a_baseline_of_the_target_is_judged_on_the_target(block):
    opened = block("target_only", budget=4)
    opened.spec["tuning"]["answer"] = True
    records, arrays = tuning.run_trial(opened, 0)
    n_source, y = len(opened.trials[0].rows[0]), opened.trials[0].labels[-1]
    differ = 0
    for record in records:
        both = arrays[f"{record['candidate']}/held_out"]
        of_source = np.mean(both[:n_source] == opened.trials[0].labels[0])
        of_target = np.mean((both[n_source:] == y)[y != HIDDEN])
        assert record["selectors"]["labelled_accuracy"] == pytest.approx(of_target)
        differ += of_source != of_target
    assert differ


def test_critics_disagree_about_all_predictions_of_the_target(block, monkeypatch):
    opened, found, asked = block("tca", budget=1), seen_evidence(monkeypatch), []
    opened.spec["tuning"]["answer"] = True
    wrapped = tuning.disagreement
    monkeypatch.setattr(
        tuning, "disagreement", lambda *given: asked.append(given[1:]) or wrapped(*given)
    )
    tuning.run_trial(opened, 0)
    assert len(asked) == 2
    for source, target in asked:
        np.testing.assert_array_equal(source, found[0].source_held_out)
        np.testing.assert_array_equal(target, found[0].target_predicted)


def test_confidence_is_of_the_predicted_class(block, monkeypatch):
    opened, found = block("source_only", few=False, budget=4), seen_evidence(monkeypatch)
    opened.spec["tuning"]["answer"] = True
    _, arrays = tuning.run_trial(opened, 0)
    told = [name for name in arrays if name.endswith("/confidence")]
    assert told
    for name in told:
        evidence = found[int(name.split("/")[0])]
        own = [
            row[list(evidence.classes).index(c)]
            for row, c in zip(evidence.target_probabilities, evidence.target_predicted, strict=True)
        ]
        np.testing.assert_allclose(arrays[name], own, rtol=1e-6)


def test_a_classifier_that_fails_in_one_fold_has_no_held_out_predictions(block, monkeypatch):
    opened = block(made(Spy, search={"params": {}}), budget=2)
    calls, wrapped = [], tuning.train

    def train(classifier, aligned, visible, labels, roles):
        calls.append(sum((y == HIDDEN).sum() for y in labels))
        if len(calls) == 1:  # the first classifier, in the first fold
            raise FloatingPointError("no solution")
        return wrapped(classifier, aligned, visible, labels, roles)

    monkeypatch.setattr(tuning, "train", train)
    records, _ = tuning.run_trial(opened, 0)
    assert [record["status"] for record in records] == ["ok", "ok"]
    assert records[0]["selectors"]["source_accuracy"] is None
    assert "no solution" in records[0]["troubles"]["source_accuracy"]
    assert records[1]["selectors"]["source_accuracy"] is not None


def test_an_alignment_that_reduces_is_fitted_to_components(block):
    opened, alignment = opened_fits(block, made(Spy), reduce=5)
    fits = candidate_fits.Fits(opened, opened.trials[0], alignment)
    assert {X.shape[1] for X in (*fits.features.visible, fits.features.target)} == {5}


def test_selectors_see_the_visible_rows_of_a_target_that_stays_sparse(block):
    opened, alignment = opened_fits(block, "coral_kernel", few=False, kinds=("sparse_counts",) * 2)
    seen_from(opened, 11)
    fits = candidate_fits.Fits(opened, opened.trials[0], alignment)
    fits.keeps_sparse = True
    both = candidate_fits.embedded_domains(fits.aligned(opened.trials[0].labels), opened.trials[0])
    assert sparse.issparse(both.target)
    assert (both.target != fits.features.visible[-1]).nnz == 0


def test_a_candidate_turned_round_is_handed_no_true_label(block):
    entry = made(LearnsFromSource, sees_labels="source", search={})
    opened = block(entry, few=False, budget=1, ys=labels_of((36, 30)))
    records, arrays = tuning.run_trial(opened, 0)
    assert records[0]["selectors"]["circular"] is not None
    turned = [call[2] for call in SEEN if call[0] == "fit" and len(call[2][0]) == 30]
    assert len(turned) == 1
    np.testing.assert_array_equal(turned[0][0], arrays["0"])
    assert (turned[0][1] == HIDDEN).all()


def test_a_candidate_of_several_sources_is_turned_round(block):
    """No model of one source is that of all of them, stacked."""
    entry = made(LearnsFromSource, sees_labels="source", search={})
    several = {"kinds": ("real",) * 3, "ys": labels_of((24, 21, 30))}
    opened = block(entry, few=False, budget=1, **several)
    records, _ = tuning.run_trial(opened, 0)
    assert records[0]["status"] == "ok"
    assert records[0]["selectors"]["circular"] is not None, records[0]["warnings"]


@pytest.mark.parametrize(
    "search",
    [{"scalings": ["raw", "standard"]}, {"scalings": ["raw"], "params": {"width": [1, 2]}}],
    ids=["scalings", "parameters"],
)
def test_alignments_do_not_share_a_fit_without_labels(block, search, monkeypatch):
    """Of other scalings or parameters, also in the next trial of the same rows."""
    entry = made(Spy, sees_labels="none", search=search)
    opened, found = block(entry, budget=8), []
    assert len(opened.spec["tuning"]["alignments"]) == 2
    init = tuning._Judge.__init__
    monkeypatch.setattr(
        tuning._Judge,
        "__init__",
        lambda self, *given: init(self, *given) or found.append((self.fits, self.embedded)),
    )
    two_trials(opened)
    assert len(found) == 4
    for fits, embedded in found:
        width = fits.estimator.width
        np.testing.assert_array_equal(embedded.source, fits.features.visible[0][:, :width])
        np.testing.assert_array_equal(embedded.target, fits.features.visible[1][:, :width])


def test_trials_of_other_rows_do_not_share_a_fit_without_labels(block, monkeypatch):
    """As many rows of either domain, and features of which only raw ones are the same."""
    opened = block(made(Spy, sees_labels="none", search={"scalings": ["raw"]}), budget=1)
    trial, found = opened.trials[0], []
    opened.trials[:] = [
        dataclasses.replace(
            trial,
            rows=tuple(rows[first : first + 20] for rows in trial.rows),
            labels=tuple(y[first : first + 20] for y in trial.labels),
            scored=trial.scored[:0],
        )
        for first in (0, 6)
    ]
    init = tuning._Judge.__init__
    monkeypatch.setattr(
        tuning._Judge,
        "__init__",
        lambda self, *given: init(self, *given) or found.append((self.trial, self.embedded)),
    )
    for number in range(2):
        tuning.run_trial(opened, number)
    assert len(found) == 2
    for trial, embedded in found:
        rows = opened.features[0][trial.rows[0], :2]
        np.testing.assert_array_equal(embedded.source, rows)


def test_one_classifier_that_takes_one_kind_makes_the_target_dense(block):
    svm = {"estimator": "sklearn.svm:SVC", "params": {"kernel": "rbf"}, "fixed": None}
    opened = block("coral", kinds=("sparse_counts",) * 2, budget=1)
    alignment = {**opened.spec["tuning"]["alignments"][0], "classifiers": [LOGISTIC, svm]}
    opened.spec["tuning"]["alignments"] = [alignment]
    records, _ = tuning.run_trial(opened, 0)
    assert [record["status"] for record in records] == ["ok", "ok"], records[1]
