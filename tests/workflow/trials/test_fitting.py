"""What the trials and settings of a block share, and what they must not."""

import dataclasses
import warnings

import numpy as np
import pytest
from domain_alignment import CORAL, KEMA, PCAAligner
from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import NonfiniteAnswerError
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from workflow.lib.trials.fitting import (
    Block,
    failure,
    fit_aligned,
    not_applicable,
    preprocessed_features,
    reduced_features,
    sees_only_rows,
    stacked,
    warned,
)
from workflow.lib.trials.protocols import HIDDEN, Trial

RNG = np.random.default_rng(0)
X = [RNG.normal(size=(12, 6)) @ np.diag([5, 4, 3, 2, 1, 1]), RNG.normal(size=(10, 6)) + 1]
PREPARED = []


class Sums(Aligner):
    """Its label-free part of a domain is a sum; the embedding of a source may stay sparse."""

    capabilities = Capabilities("source", 2, False, False, False, True, False)

    def __init__(self, source_dense=True):
        self.source_dense = source_dense

    def _prepare(self, X, name):
        PREPARED.append(X)
        return float(X.sum())

    def _check_model(self, model, X, name):
        pass

    def _fit(self, Xs, ys, models):
        self.sums_ = models
        dense = Xs[0].toarray() if self.source_dense and sparse.issparse(Xs[0]) else Xs[0]
        return [dense, *Xs[1:]]

    def _transform(self, X, domain):
        return X


def trial(n_seen=10, n_labelled=2):
    seen = np.arange(n_seen)
    labels = (np.arange(12) % 2, np.where(seen < n_labelled, seen % 2, HIDDEN))
    return Trial((np.arange(12), seen), labels, np.arange(2, 10))


def block(features=X):
    PREPARED.clear()
    return Block({"preprocess_rows": "seen"}, list(features), [])


RAW, SCALED = [[], []], [[], ["zscore"]]


def test_each_domain_has_its_own_steps_fitted_on_what_the_trial_shows():
    features = preprocessed_features(block(), trial(8), SCALED)
    np.testing.assert_array_equal(features.visible[0], X[0])
    scaler = StandardScaler().fit(X[1][:8])
    np.testing.assert_allclose(features.visible[1], scaler.transform(X[1][:8]))
    np.testing.assert_allclose(features.target, scaler.transform(X[1]))


def test_scaled_features_are_made_once_per_steps_and_rows():
    shared = block()
    first = preprocessed_features(shared, trial(), SCALED)
    again = preprocessed_features(shared, trial(n_labelled=4), SCALED)
    assert all(a is b for a, b in zip(first.visible, again.visible, strict=True))
    assert first.key == again.key
    others = [
        preprocessed_features(shared, trial(), RAW),
        preprocessed_features(shared, trial(8), SCALED),
    ]
    for other in others:
        assert other.visible[0] is first.visible[0]  # the source is as it was
        assert other.visible[1] is not first.visible[1]
        assert other.key[0] == first.key[0]
        assert other.key[1] != first.key[1]


def test_reduced_features_are_the_components_of_all_visible_rows():
    features = preprocessed_features(block(), trial(8), RAW)
    reduced = reduced_features(features, 2)
    rows = np.vstack([X[0], X[1][:8]])
    expected = PCA(2, svd_solver="full").fit(rows)
    np.testing.assert_allclose(np.vstack(reduced.visible), expected.transform(rows))
    np.testing.assert_allclose(reduced.target, expected.transform(X[1]))


@pytest.mark.parametrize("seen", [8, 10], ids=["some rows are new", "all rows are seen"])
def test_sparse_features_reduce_to_those_of_dense_ones(seen):
    dense = reduced_features(preprocessed_features(block(), trial(seen), RAW), 3)
    rows = block([sparse.csr_array(part) for part in X])
    found = reduced_features(preprocessed_features(rows, trial(seen), RAW), 3)
    for one, other in zip(
        [*dense.visible, dense.target], [*found.visible, found.target], strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_domains_with_different_features_are_reduced_each_by_itself():
    features = preprocessed_features(block([X[0], X[1][:, :4]]), trial(), RAW)
    reduced = reduced_features(features, 2)
    expected = PCA(2, svd_solver="full").fit_transform(X[1][:, :4])
    np.testing.assert_allclose(reduced.visible[1], expected)


def test_components_of_other_rows_share_no_prepared_model():
    """The source's components move with the target's rows, though its own rows stay."""
    shared = block()
    for one in (trial(8), trial(10)):
        features = reduced_features(preprocessed_features(shared, one, RAW), 2)
        fit = fit_aligned(shared, features, one, Sums(), list(one.labels))
        assert fit.aligner.sums_[0] == features.visible[0].sum()
    assert len(PREPARED) == 4


def test_prepared_models_are_shared_by_trials_with_the_same_rows():
    shared = block()
    for one in (trial(), trial(n_labelled=4), trial(8)):
        features = preprocessed_features(shared, one, SCALED)
        fit_aligned(shared, features, one, Sums(), list(one.labels))
    assert len(PREPARED) == 3  # the source, the target, eight rows of it


def test_the_whole_target_is_embedded_where_it_is_asked_for():
    shared, one = block(), trial(8)
    features = preprocessed_features(shared, one, RAW)
    estimator = PCAAligner(n_components=2)
    fit = fit_aligned(shared, features, one, estimator, list(one.labels))
    np.testing.assert_allclose(fit.embedded_target[8:], fit.aligner.transform(X[1][8:], domain=1))
    np.testing.assert_array_equal(fit.embedded_target[:8], fit.embeddings[1])
    assert fit.finite
    brief = fit_aligned(shared, features, one, estimator, list(one.labels), whole_target=False)
    assert brief.embedded_target is None
    assert brief.finite


@pytest.mark.parametrize("dense", [False, True])
def test_embeddings_are_all_sparse_or_all_dense(dense):
    shared, one = block([sparse.csr_array(part) for part in X]), trial(8)
    features = preprocessed_features(shared, one, RAW)
    fit = fit_aligned(shared, features, one, Sums(dense), list(one.labels))
    kinds = {sparse.issparse(Z) for Z in (*fit.embeddings, fit.embedded_target)}
    assert kinds == {not dense}


@pytest.mark.parametrize("n_seen", [8, X[1].shape[0]])
def test_a_target_that_does_not_move_may_stay_sparse(n_seen):
    shared, one = block([sparse.csr_array(part) for part in X]), trial(n_seen)
    features = preprocessed_features(shared, one, RAW)

    def target(estimator):
        fit = fit_aligned(shared, features, one, estimator, list(one.labels), keeps_sparse=True)
        assert not any(map(sparse.issparse, fit.embeddings))
        return fit.embedded_target

    assert target(CORAL()) is features.target
    assert not sparse.issparse(target(PCAAligner(n_components=2)))


def test_stacked_rows_stay_sparse_where_all_are():
    parts = [sparse.csr_array(part) for part in X]
    assert sparse.issparse(stacked(parts))
    for mixed in ([X[0], parts[1]], [parts[0], X[1]], X):
        np.testing.assert_array_equal(stacked(mixed), np.vstack(X))


@pytest.mark.parametrize(
    ("features", "hidden", "expected"),
    [
        (X, False, None),
        ([X[0], *X], False, "aligns at most 2 domains, the task has 3"),
        ([X[0], X[1][:, :5]], False, "needs equal numbers of features; this task has 6 and 5"),
    ],
)
def test_why_a_method_does_not_apply(features, hidden, expected):
    assert not_applicable(Sums(), features, trial()) == expected


def test_methods_on_target_labels_need_some():
    one = trial()
    hidden = dataclasses.replace(one, labels=(one.labels[0], np.full(10, HIDDEN)))

    class OnTarget(Sums):
        capabilities = Capabilities("source+target")

    assert not_applicable(OnTarget(), X, one) is None
    assert not_applicable(Sums(), X, hidden) is None
    assert "learns from labels of the target" in not_applicable(OnTarget(), X, hidden)


def test_warnings_are_told_once():
    with warned() as told:
        for _ in range(2):
            warnings.warn("slow", UserWarning, stacklevel=1)
    assert told == ["UserWarning: slow"]


def test_failures_have_a_status():
    assert failure(NonfiniteAnswerError("infinite"))["status"] == "nonfinite"
    assert failure(KeyError("k")) == {"status": "error", "error": "KeyError: 'k'"}


def test_a_fit_is_shared_that_sees_no_label_and_draws_nothing():
    hidden, shown = np.full(3, HIDDEN), np.array([HIDDEN, 0, 1])
    assert sees_only_rows(CORAL(), [hidden, hidden])
    assert not sees_only_rows(CORAL(), [shown, hidden])
    assert sees_only_rows(KEMA(random_state=0), [hidden, hidden])
    assert not sees_only_rows(KEMA(), [hidden, hidden])
