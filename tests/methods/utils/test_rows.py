import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import _rows
from domain_alignment.utils._rows import (
    centred_gram,
    check_spread,
    column_products,
    in_place_of,
    map_rows,
    near_zero,
    row_basis,
    row_blocks,
    row_marks,
    row_products,
    stacked,
    times_map,
    unit_rows,
)
from scipy import sparse

FORMS = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize(
    "equal", [np.tile([0.1, 0.7, 1e3], (7, 1)), np.full((5, 3), 1 / 3), np.zeros((2, 2))]
)
def test_samples_that_are_all_equal_are_refused(equal):
    with pytest.raises(AlignmentError, match="both: all are equal"):
        check_spread(equal, "both")


def test_samples_that_are_close_are_not_equal():
    check_spread(np.array([[0.0, 1.0], [0.0, 1.001]]), "both")
    check_spread(np.array([[1e6, 0.0], [1e6 + 1, 0.0]]), "both")


def test_a_mean_is_taken_off_where_it_is_far_alone():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 4))
    assert near_zero(X, Y + 20)[0] is X  # a square of 1600, and a spread of 4
    both = X + 1e6, Y + 1e6
    moved, centred = near_zero(*both)
    np.testing.assert_allclose(moved[:, None] - centred, both[0][:, None] - both[1], atol=1e-9)
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-9)
    one, same = near_zero(both[0], both[0])
    assert one is same  # whose distance to itself is zero
    thin = sparse.csr_array(both[0])
    assert near_zero(thin, both[1])[0] is thin


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_one_row_elsewhere_hides_no_offset_of_the_others(offset):
    X = np.random.default_rng(0).normal(size=(60, 5))
    far = X + offset
    far[0] = 0.0  # a missing row written as zeros
    centred, _ = near_zero(far, far)
    expected = (far - far[1])[1:]
    np.testing.assert_allclose((centred - centred[1])[1:], expected, atol=1e-16 * offset)
    assert abs(centred[1:]).max() < 10
    X[0] = 1e9  # and alone it takes no digit of the others
    assert near_zero(X, X)[0] is X


@pytest.mark.parametrize("form", FORMS)
def test_unit_rows_keep_rows_of_zeros_and_their_input(form):
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    given = form(X.copy())
    scaled = unit_rows(given)
    assert sparse.issparse(scaled) == sparse.issparse(given)
    np.testing.assert_allclose(scaled @ np.eye(2), [[0.6, 0.8], [0, 0]])
    np.testing.assert_array_equal(given @ np.eye(2), X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-20, 1e160, 1e300])
def test_unit_rows_of_any_scale(form, scale):
    X = np.array([[3.0, 4.0], [0.0, 0.0]]) * scale
    np.testing.assert_allclose(unit_rows(form(X)) @ np.eye(2), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_samples_without_squares_are_not_called_equal(scale):
    with pytest.raises(AlignmentError, match=r"both: .* double precision; standardise"):
        check_spread(np.array([[0.0, 1.0], [1.0, 0.0]]) * scale, "both")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by_samples", [True, False])
@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
def test_a_centred_gram_matrix_is_that_of_centred_rows(shape, by_samples, form):
    X = np.random.default_rng(0).poisson(0.7, size=shape).astype(float)
    centred = X - X.mean(axis=0)
    expected = centred @ centred.T if by_samples else centred.T @ centred
    found = centred_gram(form(X), X.mean(axis=0), by_samples)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_stacked_matrices_keep_their_form(form):
    parts = [form(np.eye(2)), form(np.ones((1, 2)))]
    whole = stacked(parts)
    assert isinstance(whole, type(parts[0]))
    dense = whole if isinstance(whole, np.ndarray) else whole.toarray()
    np.testing.assert_array_equal(dense, [[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("by_samples", [True, False])
def test_sparse_columns_far_from_zero_keep_their_deviations(by_samples, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.7)
    X[:, 1] = 1e9
    X[:, 3] = 1e8 + rng.normal(size=20)
    X[:, 4] = 1e5 + 1e-2 * X[:, 3]
    dense = centred_gram(X, X.mean(axis=0), by_samples)
    for values in (2**24, 30):  # in one block, and in several
        monkeypatch.setattr(_rows, "BLOCK_VALUES", values)
        found = centred_gram(sparse.csr_array(X), X.mean(axis=0), by_samples)
        np.testing.assert_allclose(found, dense, rtol=1e-6, atol=1e-6)
        if not by_samples:
            np.testing.assert_array_equal(found[1], 0.0)


def test_a_row_basis_keeps_inner_products_and_is_of_many_features_alone(monkeypatch):
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(4, 12)), np.repeat(rng.normal(size=(1, 12)), 3, axis=0)]
    basis = row_basis(Xs)
    np.testing.assert_allclose(basis.T @ basis, np.eye(7), atol=1e-12)
    X = np.concatenate(Xs)  # of rank 5
    np.testing.assert_allclose((X @ basis) @ (X @ basis).T, X @ X.T, atol=1e-12)
    np.testing.assert_allclose(X @ basis @ basis.T, X, atol=1e-12)
    assert row_basis([X[:, :7]]) is None
    assert row_basis([X, rng.normal(size=(2, 13))]) is None
    mixed = row_basis([X[:4], sparse.csr_array(X[4:])])
    np.testing.assert_array_equal(mixed, basis)
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 7 * 12 - 1)
    assert row_basis([sparse.csr_array(X)]) is None, "a large matrix in place of a sparse one"
    np.testing.assert_array_equal(row_basis([sparse.csr_array(X)], limit=np.inf), basis)
    assert row_basis([X]) is not None


@pytest.mark.parametrize("form", FORMS)
def test_blocks_hold_so_many_values(form, monkeypatch):
    X = form(np.arange(35.0).reshape(7, 5) + 1)
    assert [rows.stop - rows.start for rows in row_blocks(X)] == [7]
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 11)
    assert [rows.stop - rows.start for rows in row_blocks(X)] == [2, 2, 2, 1]
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 3)
    assert [rows.stop - rows.start for rows in row_blocks(X)] == [1] * 7


def test_a_function_of_rows_is_the_same_in_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(7, 5))
    sizes = []

    def doubled(rows):
        sizes.append(len(rows))
        return 2 * rows[:, :3]

    np.testing.assert_array_equal(map_rows(doubled, X), 2 * X[:, :3])
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 15)
    np.testing.assert_array_equal(map_rows(doubled, X), 2 * X[:, :3])
    assert sizes == [7, 3, 3, 1]
    for most, expected in ((10, [2, 2, 2, 1]), (99, [3, 3, 1])):
        sizes.clear()
        np.testing.assert_array_equal(map_rows(doubled, X, most), 2 * X[:, :3])
        assert sizes == expected


@pytest.mark.parametrize("form", FORMS)
def test_no_block_of_mapped_rows_is_large_when_it_is_dense(form, monkeypatch):
    X = form(np.eye(6))
    sizes = []

    def counted(rows):
        sizes.append(rows.shape[0])
        return rows if isinstance(rows, np.ndarray) else rows.toarray()

    monkeypatch.setattr(_rows, "FEW_IN_CACHE", 12)
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 12)
    np.testing.assert_array_equal(map_rows(counted, X), np.eye(6))
    assert sizes == [2, 2, 2]


class NeverMultiplied(sparse.csr_array):
    """Rows whose sparse product takes too long."""

    def __matmul__(self, other):
        raise AssertionError("a sparse product of many values")


def some_values(n_rows, n_columns, share, form=sparse.csr_array, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < share)
    return X, form(X)


@pytest.mark.parametrize("block", [2**24, 60])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_products_of_sparse_rows_are_those_of_dense_ones(share, block, monkeypatch):
    monkeypatch.setattr(_rows, "BLOCK_VALUES", block)
    (X, X_sparse), (Y, Y_sparse) = some_values(30, 20, share), some_values(9, 20, share, seed=1)
    np.testing.assert_allclose(row_products(X_sparse, Y_sparse), X @ Y.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(row_products(X_sparse, Y), X @ Y.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(row_products(X, Y_sparse), X @ Y.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(column_products(X_sparse), X.T @ X, rtol=1e-13, atol=1e-13)


def test_rows_of_many_values_are_multiplied_dense_and_in_their_precision(monkeypatch):
    X, many = some_values(30, 20, 0.5, NeverMultiplied)
    np.testing.assert_allclose(row_products(many, many), X @ X.T, rtol=1e-13, atol=1e-13)
    assert row_products(many.astype(np.float32), many.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        centred_gram(many, X.mean(axis=0), False)[0, 0], 29 * X[:, 0].var(ddof=1)
    )
    monkeypatch.setattr(_rows, "FEW_IN_CACHE", 20 * 3 - 1)
    made_dense = times_map(many, np.ones((20, 3)))  # two rows at a time
    np.testing.assert_allclose(made_dense, X @ np.ones((20, 3)), rtol=1e-13, atol=1e-13)
    with pytest.raises(AssertionError, match="sparse product"):  # narrow: it stays in a cache
        times_map(many, np.ones((20, 2)))
    _, few = some_values(30, 20, 0.02, NeverMultiplied)
    with pytest.raises(AssertionError, match="sparse product"):
        row_products(few, few)


@pytest.mark.parametrize("first", FORMS)
def test_dense_and_sparse_parts_are_stacked_in_any_order(first):
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    second = FORMS[1 - FORMS.index(first)]
    both = stacked([first(X), second(X)])
    np.testing.assert_array_equal(both, np.vstack([X, X]))
    assert sparse.issparse(stacked([sparse.csr_array(X)] * 2))


def test_parts_come_back_to_the_places_of_their_rows():
    members, parts = (
        [np.array([2, 0]), np.array([1])],
        [np.array([[2.0], [0.0]]), np.array([[1.0]])],
    )
    assert in_place_of(members, parts).ravel().tolist() == [0, 1, 2]


def test_marks_tell_rows_apart_and_take_missing_values():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [np.nan, 2.0]])
    marks = row_marks(X)
    assert marks[0] == marks[2]
    assert len(set(marks)) == 3
    assert np.isfinite(marks).all()
    np.testing.assert_allclose(row_marks(sparse.csr_matrix(X[:3])), row_marks(X[:3]))
