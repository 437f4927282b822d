"""Toys as training sets, aligners as the toolbox sets them, errors in the latent space."""

import warnings

import numpy as np
import pytest

from workflow.loaders.kema_toys import realisation
from workflow.studies.kema import _aligners


def test_a_training_set_shows_the_labels_of_the_labelled_rows_alone():
    domains = realisation(1, 0)
    for domain, X, y in zip(domains, *_aligners.training_set(domains), strict=True):
        n_labelled = len(domain.labelled.y)
        np.testing.assert_array_equal(X[:n_labelled], domain.labelled.X)
        np.testing.assert_array_equal(X[n_labelled:], domain.unlabelled.X)
        np.testing.assert_array_equal(y[:n_labelled], domain.labelled.y)
        assert set(y[n_labelled:]) == {-1}


def test_labelled_rows_of_all_domains_are_stacked_with_their_classes():
    Zs = [np.arange(6.0).reshape(3, 2), 10 + np.arange(4.0).reshape(2, 2)]
    Z, y = _aligners.labelled_rows([np.array([1, -1, 0]), np.array([-1, 2])], Zs)
    np.testing.assert_array_equal(Z, [[0, 1], [4, 5], [12, 13]])
    np.testing.assert_array_equal(y, [1, 0, 2])


@pytest.mark.parametrize("method", [name for name in _aligners.METHODS if name != "baseline"])
def test_fewer_dimensions_than_asked_for_are_no_warning(method):
    Xs, ys = _aligners.training_set(realisation(1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aligner = _aligners.fit(_aligners.make_aligner(method, 500), Xs, ys)
    assert 0 < aligner.n_components_ < 500
    assert (aligner.n_neighbors, aligner.mu) == (10, 1.0)


def test_widths_are_15_times_and_once_the_mean_distance_of_the_labelled_samples():
    from domain_alignment.kernels._bandwidth import kernel_width
    from scipy.spatial.distance import pdist

    (domain, _) = realisation(1, 0)
    (X, *_), (y, *_) = _aligners.training_set([domain])
    mean = pdist(domain.labelled.X).mean()
    for method, factor in (("rbf_15", 15), ("rbf_1", 1)):
        sigma = _aligners.make_aligner(method, 2).sigma
        assert kernel_width(sigma, X, np.flatnonzero(y >= 0), "rbf", "d") == pytest.approx(
            factor * mean
        )


@pytest.mark.parametrize("name", ["lda", "one_nn", "linear_svm", "rbf_svm"])
def test_errors_are_percent(name):
    X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1])
    classifier = _aligners.make_classifier(name).fit(X, y)
    assert _aligners.error_percent(classifier, X, y) == 0
    assert _aligners.error_percent(classifier, X, np.array([0, 0, 1, 0])) == 25
