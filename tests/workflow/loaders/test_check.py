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
            r"'two': 3 samples expected, 2 came \(shape 2 x 2\)\. Correct the entry",
        ),
        (np.ones((3, 4)), [0, 1, 0], r"2 features expected, 4 came"),
        (np.ones((2, 3)), [0, 1], r"3 samples expected, 2 came .*exchanged: samples are rows"),
        (np.ones((3, 2)), [0, 1], r"3 labels expected, shape \(2,\) came"),
        (np.ones((3, 2)), [0.0, 1, 0], r"labels must be integers; float64 came"),
        (
            np.ones((3, 2)),
            [0, 1, 2],
            r"labels 0\.\.1 expected \(2 classes\), 0\.\.2 came \(first .* 2",
        ),
        (np.ones((3, 2)), [0, -1, 1], r"-1\.\.1 came \(first outside at row 1: -1\)"),
        (np.ones(3), [0, 1, 0], r"an array of 1 dimension\(s\) came"),
        ([[1.0]], [0], r"a list came"),
        (np.ones((3, 2), np.float32), [0, 1, 0], r"X must be float64; float32 came"),
        (sparse.csc_array(np.ones((3, 2))), [0, 1, 0], r"a sparse matrix of format csc came"),
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
    with pytest.raises(ValueError, match="there are no samples"):
        check_domain("set.two", np.ones((0, 2)), np.array([], int), {}, 2)
