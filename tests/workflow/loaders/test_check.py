"""What a loader returned against what its entry says."""

import numpy as np
import pytest
from scipy import sparse

from workflow.loaders._check import check_domain


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            np.eye(2),
            [0, 1],
            r"'two': expected 3 samples, got 2 \(shape 2 x 2\)\. Correct the entry",
        ),
        (np.ones((3, 4)), [0, 1, 0], r"expected 2 features, got 4"),
        (np.ones((2, 3)), [0, 1], r"expected 3 samples, got 2 .*swapped: samples are rows"),
        (np.ones((3, 2)), [0, 1], r"expected 3 labels, got shape \(2,\)"),
        (np.ones((3, 2)), [0.0, 1, 0], r"labels must be integers, got float64"),
        (
            np.ones((3, 2)),
            [0, 1, 2],
            r"expected labels 0\.\.1 \(2 classes\), got 0\.\.2 \(first .* 2",
        ),
        (np.ones((3, 2)), [0, -1, 1], r"got -1\.\.1 \(first out of range at row 1: -1\)"),
        (np.ones(3), [0, 1, 0], r"got an array of 1 dimension\(s\)"),
        ([[1.0]], [0], r"got a list"),
        (np.ones((3, 2), np.float32), [0, 1, 0], r"X must be float64, got float32"),
        (sparse.csc_array(np.ones((3, 2))), [0, 1, 0], r"got a sparse matrix of format csc"),
        (
            np.array([[1, 2], [3, np.inf], [5, 6]]),
            [0, 1, 0],
            r"1 of 3 samples .* \(first at row 1\)",
        ),
        (sparse.csr_array([[0, 1], [0, 0], [0, np.nan]]), [0, 1, 0], r"\(first at row 2\)"),
    ],
)
def test_domain_that_differs_from_its_entry_is_refused(X, y, message):
    with pytest.raises(ValueError, match="dataset 'set', domain 'two': ") as caught:
        check_domain("set.two", X, np.array(y), {"samples": 3, "features": 2}, 2)
    assert caught.match(message)


def test_domain_as_its_entry_says_is_accepted():
    for X in (np.ones((3, 2)), sparse.csr_array(np.eye(3, 2))):
        check_domain("set.two", X, np.array([0, 1, 1]), {"samples": 3, "features": 2}, 2)
        check_domain("set.two", X, np.array([0, 1, 1], np.uint8), {}, 5)
    with pytest.raises(ValueError, match="no samples"):
        check_domain("set.two", np.ones((0, 2)), np.array([], int), {}, 2)


@pytest.mark.parametrize(
    ("X", "values", "message"),
    [
        (sparse.csr_array(np.eye(2)), "counts", "are sparse, which `values: counts` does not say"),
        (-np.eye(2), "sparse_counts", "no feature is negative; the least is -1"),
        (-np.eye(2), "non_negative", "no feature is negative; the least is -1"),
        (sparse.csr_array(-np.eye(2)), "sparse_counts", "no feature is negative; the least is -1"),
    ],
)
def test_features_of_another_kind_than_the_entry_says_are_refused(X, values, message):
    with pytest.raises(ValueError, match=message):
        check_domain("set.two", X, np.array([0, 1]), {}, 2, values=values)
    check_domain("set.two", X, np.array([0, 1]), {}, 2)


def test_a_dense_domain_may_stand_beside_sparse_ones():
    check_domain("set.two", np.eye(2), np.array([0, 1]), {}, 2, values="sparse_counts")
