import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._answers import (
    check_answer,
    check_magnitude,
    decompositions_of,
    unshared,
)
from scipy import sparse

KINDS = pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])


@KINDS
def test_the_range_within_which_squares_are_normal_numbers(convert):
    for value, message in ((1.4e154, "too large"), (1.4e-154, "too small")):
        X = convert(np.array([[0.0, -value]]))
        with pytest.raises(AlignmentError, match=rf"X: the squares .* {message} .*1\.4e"):
            check_magnitude(X, "X")
    for value in (1.3e154, 1.5e-154, 0.0):
        check_magnitude(convert(np.array([[0.0, -value]])), "X")
    check_magnitude(convert(np.array([[1e-160]])), "X", fitted=False)


def test_only_a_failed_decomposition_is_renamed():
    named = pytest.raises(AlignmentError, match=r"list: .* \(Singular matrix\); .* standardise")
    with named, decompositions_of([]):
        np.linalg.solve(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="no such domain"), decompositions_of([]):
        raise ValueError("no such domain")


@KINDS
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_an_answer_is_finite(convert, wrong):
    check_answer(convert(np.eye(2)), "X")
    with pytest.raises(AlignmentError, match="domain 0: its embedding holds NaN or infinity"):
        check_answer(convert(np.array([[1.0, wrong]])), "domain 0: its embedding")


@KINDS
def test_a_copy_only_where_memory_is_shared(convert):
    X, other = convert(np.eye(2)), convert(np.eye(2))
    assert unshared(X, [other]) is X
    assert unshared(X, [other, X]) is not X
    part = X[:1] if isinstance(X, np.ndarray) else X.copy()
    np.testing.assert_array_equal(abs(unshared(part, [X]) - part).max(), 0)
    rows = np.eye(3)
    assert not np.shares_memory(unshared(rows[1:], [rows]), rows)


def test_a_finite_answer_may_have_no_finite_sum():
    check_answer(np.full(3, 1e308), "X")
