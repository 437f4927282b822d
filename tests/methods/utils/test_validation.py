from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from domain_alignment.utils.validation import (
    check_domains,
    check_equal_features,
    check_labels,
    check_linked_by_labels,
    check_matrix,
    check_prepared,
    dense,
    require_labelled,
)
from scipy import sparse


def test_a_float64_array_is_not_copied():
    X = np.ones((3, 2))
    assert check_matrix(X) is X


@pytest.mark.parametrize("given", [[[1, 2], [3, 4]], np.ones((2, 2), np.float32)])
def test_numbers_become_float64(given):
    assert check_matrix(given).dtype == np.float64


DAYS = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]")


@pytest.mark.parametrize(
    ("given", "held"),
    [
        (np.array([["1", "2"], ["3", "4"]]), "'1' in row 0, column 0"),
        ([[1, 2.0], [3, "4"]], "'4' in row 1, column 1"),
        (np.array([[b"1"], [b"2"]]), "b'1' in row 0, column 0"),
        (np.array([[1, 2], [3, "4"]], dtype=object), "'4' in row 1, column 1"),
        (pd.DataFrame({"a": [1, 2], "b": ["1", "2"]}), "'1' in row 0, column 1"),
        (pd.DataFrame({"a": ["1", "2"]}, dtype="string"), "'1' in row 0, column 0"),
        (pd.DataFrame({"a": ["1", "2"]}, dtype="category"), "'1' in row 0, column 0"),
        (DAYS[:, None], r"dates or times, datetime64\[ns\]"),
        (np.diff(DAYS)[:, None], r"dates or times, timedelta64\[ns\]"),
        (pd.DataFrame({"a": DAYS}), "dates or times"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": DAYS}), r"Timestamp\(.* in row 0, column 1"),
        (np.array([[1, DAYS[0]]], dtype=object), r"np\.datetime64.* in row 0, column 1"),
    ],
)
def test_text_and_dates_are_no_numbers(given, held):
    words = rf"domain 1: is not a matrix of real numbers \(it holds {held}.*; give real numbers"
    with pytest.raises(ValueError, match=words):
        check_matrix(given, "domain 1")


@pytest.mark.parametrize(
    "given",
    [
        np.array([[True, False]]),
        np.array([[1, 2.5, True, np.float32(3)]], dtype=object),
        pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]}),
        pd.DataFrame({"a": [1, 2]}, dtype="Int64"),
        pd.DataFrame({"a": [1, 2]}, dtype="category"),
        np.array([[Decimal("0.5"), Fraction(1, 3)]], dtype=object),
    ],
)
def test_numbers_of_any_type_are_numbers(given):
    X = check_matrix(given)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, np.asarray(given, dtype=object).astype(float))


@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.coo_matrix, sparse.csr_array])
def test_sparse_becomes_csr_and_is_not_densified(kind):
    X = check_matrix(kind(np.eye(3, dtype=np.float32)))
    assert sparse.issparse(X)
    assert X.format == "csr"
    assert X.dtype == np.float64


def test_duplicate_entries_are_summed_in_a_copy():
    X = sparse.csr_array((np.ones(2), np.zeros(2, int), [0, 2, 2]), shape=(2, 1))
    assert check_matrix(X).toarray().tolist() == [[2.0], [0.0]]
    assert X.nnz == 2


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_indices_of_64_bits_become_32_where_they_fit(kind):
    given = kind(np.eye(3))
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    X = check_matrix(given)
    assert (X.indices.dtype, X.indptr.dtype) == (np.int32, np.int32)
    assert given.indices.dtype == np.int64
    np.testing.assert_array_equal(X.toarray(), np.eye(3))


@pytest.mark.parametrize("convert", [lambda X: X, list])
def test_masked_values_are_refused(convert):
    X = np.ma.array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match=r"domain 1: 1 of its values .* masked; impute .* or drop"):
        check_matrix(convert(X), "domain 1")


def test_a_mask_that_hides_nothing_does_no_harm():
    assert type(check_matrix(np.ma.array(np.ones((3, 2))))) is np.ndarray
    assert check_labels(np.ma.array([0, 1]), 2).tolist() == [0, 1]


def test_masked_labels_are_refused():
    with pytest.raises(ValueError, match=r"y: 1 of its labels .* masked; .* -1"):
        check_labels(np.ma.array([0, 1, 2], mask=[0, 1, 0]), 3)


def test_a_finite_matrix_whose_sum_overflows_is_accepted():
    assert check_matrix(np.full((2, 2), 1e308)).shape == (2, 2)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_nan_is_named_with_its_place(convert):
    X = np.ones((295, 3))
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"domain 1: 1 of 295 samples holds NaN or infinity "):
        check_matrix(convert(X), "domain 1")
    X[9, 0] = np.inf
    with pytest.raises(ValueError, match=r"2 of 295 .* \(first at row 4\); impute or drop them"):
        check_matrix(convert(X), "domain 1")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"X: has 1 dimension\(s\) .*; give a matrix"),
        (np.ones((0, 3)), r"X: has shape \(0, 3\)"),
        ([["a"]], "X: is not a matrix of real numbers .* give real numbers"),
        (np.ones((2, 2)) * 1j, "X: .* holds complex numbers"),
        (sparse.coo_array(np.ones(3)), r"X: has 1 dimension\(s\)"),
    ],
)
def test_what_is_no_matrix(X, message):
    with pytest.raises(ValueError, match=message):
        check_matrix(X)


def test_labels_without_a_sign_are_labels():
    labels = check_labels(np.array([0, 2**63 - 1], dtype="u8"), 2)
    assert labels.tolist() == [0, 2**63 - 1]
    assert labels.dtype == np.int64


def test_no_labels_means_unlabelled():
    assert check_labels(None, 3).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], r"domain 0: labels have shape \(2,\) for 3 samples; .* -1 where"),
        ([0.0, 1.0, 2.0], "domain 0: labels are of type float64; give integers .*LabelEncoder"),
        (["a", "b", "c"], "domain 0: labels are of type <U1; give integers .*LabelEncoder"),
        ([0, -2, 1], "domain 0: label -2 at row 1; labels count from 0, -1 is unlabelled"),
        (
            np.array([0, 2**64 - 1, 1], dtype="u8"),
            "domain 0: label 18446744073709551615 at row 1 is above 9223372036854775807, .*int64",
        ),
    ],
)
def test_wrong_labels(y, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, 3, "domain 0")


@pytest.mark.parametrize(
    ("Xs", "ys", "message"),
    [
        (np.ones((2, 3, 4)), None, "Xs is a ndarray; give a list with one matrix per domain"),
        ([np.ones((2, 2))], None, r"Xs holds 1 domain\(s\); alignment needs at least two"),
        ([np.ones((2, 2))] * 2, [None], r"ys \(1 entries\) must be a list as long as Xs \(2"),
        ([np.ones((2, 2))] * 2, np.zeros((2, 2), int), r"ys \(ndarray\) must be a list"),
        ([np.ones((2, 2)), [[np.nan]]], None, "domain 1: 1 of 1 samples holds NaN"),
    ],
)
def test_wrong_lists(Xs, ys, message):
    with pytest.raises(ValueError, match=message):
        check_domains(Xs, ys)


def test_equal_features():
    with pytest.raises(ValueError, match="domain 1: has 3 features, domain 0 has 2; because"):
        check_equal_features([np.ones((1, 2)), np.ones((1, 3))], "because")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_dense_is_an_array(kind):
    X = np.diag([1.0, 2.0])
    assert dense(X) is X
    assert type(dense(kind(X))) is np.ndarray
    np.testing.assert_array_equal(dense(kind(X)), X)


def test_labels_that_are_required():
    rows = require_labelled(np.array([-1, 3, -1, 0]), 0, "why")
    np.testing.assert_array_equal(rows, [1, 3])
    with pytest.raises(
        ValueError, match=r"^domain 1: none of its 2 samples is labelled, and why; label some$"
    ):
        require_labelled(np.array([-1, -1]), 1, "why")


class Model:
    params, shape = ("rbf", 5), (3, 2)


@pytest.mark.parametrize(
    ("model", "params", "shape", "message"),
    [
        ("a model", ("rbf", 5), (3, 2), r"prepared model is a str, not a Model; "),
        (
            Model(),
            ("rbf", 6),
            (3, 2),
            r"was prepared with \('rbf', 5\), this ",
        ),
        (
            Model(),
            ("rbf", 5),
            (4, 2),
            r"has shape \(4, 2\), its prepared model \(3, 2\)",
        ),
    ],
)
def test_a_prepared_model_is_of_its_class_parameters_and_domain(model, params, shape, message):
    check_prepared(Model(), Model, ("rbf", 5), (3, 2), "domain 1", "Method")
    with pytest.raises(ValueError, match=f"^domain 1: {message}"):
        check_prepared(model, Model, params, shape, "domain 1", "Method")


def test_a_prepared_model_may_depend_on_no_parameter():
    class Mean:
        shape = (3, 2)

    check_prepared(Mean(), Mean, None, (3, 2), "domain 1", "Method")


def test_domains_may_be_linked_through_others():
    check_linked_by_labels([np.array(y) for y in ([0], [2, 3], [1, 2], [0, 1, -1])])


def test_a_domain_without_labels_is_named():
    with pytest.raises(ValueError, match=r"domain 1 \(the target\): none of its 2 samples"):
        check_linked_by_labels([np.array([0, 1]), np.array([-1, -1])])
    with pytest.raises(ValueError, match="domain 0: none of its 1 samples is labelled"):
        check_linked_by_labels([np.array([-1]), np.array([0])])


def test_domains_without_a_common_class_are_named():
    with pytest.raises(ValueError, match=r"domain 1: shares no labelled class .* \[2\].* \[0\]"):
        check_linked_by_labels([np.array([0, -1]), np.array([2, -1])])
