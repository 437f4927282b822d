import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold import _eigen_update
from domain_alignment.manifold._eigen_update import RowUpdate, block_update, complement
from scipy import linalg


def test_algorithm_2_equals_a_direct_decomposition():
    rng = np.random.default_rng(0)
    full = rng.normal(size=(8, 8))
    old, phi = linalg.eigh(full @ full.T)
    A = rng.normal(size=(8, 2))
    values, rotation = block_update(old, phi.T @ A @ A.T @ phi)
    vectors = phi @ rotation
    np.testing.assert_allclose((vectors * values) @ vectors.T, full @ full.T + A @ A.T, atol=1e-12)


def test_complement():
    for vector in np.random.default_rng(0).normal(size=(5, 6)):
        basis = complement(vector)
        np.testing.assert_allclose(basis.T @ vector, 0, atol=1e-14)
        np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-14)
    assert complement(np.array([-2.0])).shape == (1, 0)


def some_update(sizes=((5, 40), (4, 30)), joint=False, n_zero=1, seed=0):
    """An update with zero eigenvalues in each domain, and one known joint null vector."""
    rng = np.random.default_rng(seed)
    eigenvalues, rows, trivial = [], [], []
    for n_rows, n_columns in sizes:
        values = np.sort(rng.uniform(0.1, 1.5, n_columns))
        values[:n_zero] = 0
        constant = np.zeros(n_columns)
        constant[:n_zero] = rng.uniform(0.5, 1.5, n_zero)
        block = rng.normal(size=(n_rows, n_columns))
        block[:, 0] -= (block @ constant - 1) / constant[0]  # block @ constant = 1
        eigenvalues.append(values)
        rows.append(block)
        trivial.append(constant)
    first, second = sizes[0][0], sizes[1][0]
    edges = np.block(
        [
            [np.zeros((first, first)), np.ones((first, second))],
            [np.ones((second, first)), np.zeros((second, second))],
        ]
    )
    change = np.diag(edges.sum(axis=1)) - edges
    mass = change.diagonal() if joint else None
    return RowUpdate(np.concatenate(eigenvalues), rows, change, mass), np.concatenate(trivial)


@pytest.mark.parametrize("joint", [False, True])
def test_products_equal_the_dense_matrices(joint):
    update, trivial = some_update(joint=joint)
    A, B = update.dense()
    v = np.random.default_rng(1).normal(size=(70, 3))
    np.testing.assert_allclose(update.apply(v), A @ v)
    np.testing.assert_allclose(update.apply(v[:, 0]), A @ v[:, 0])
    np.testing.assert_allclose(A @ trivial, 0, atol=1e-12)
    B = np.eye(70) if B is None else B
    np.testing.assert_allclose(update.apply_metric(v), B @ v)
    inverse = linalg.inv(A - _eigen_update._SHIFT * B)
    np.testing.assert_allclose(update.shifted_inverse()(v[:, 0]), inverse @ v[:, 0])


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("n_zero", [1, 4])
def test_the_null_space_is_found_exactly(joint, n_zero):
    update, _ = some_update(sizes=((2, 40), (2, 30)), joint=joint, n_zero=n_zero)
    A, B = update.dense()
    null = update.null_space()
    values = linalg.eigvalsh(A)
    assert null.shape[1] == np.count_nonzero(values < 1e-9)
    np.testing.assert_allclose(A @ null, 0, atol=1e-9)
    B = np.eye(70) if B is None else B
    np.testing.assert_allclose(null.T @ B @ null, np.eye(null.shape[1]), atol=1e-9)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("n_zero", [1, 4])
@pytest.mark.parametrize("drop", [True, False])
def test_lanczos_equals_the_dense_problem(joint, n_zero, drop):
    update, trivial = some_update(sizes=((6, 300), (3, 250)), joint=joint, n_zero=n_zero)
    A, B = update.dense()
    expected = linalg.eigh(A, B, eigvals_only=True)
    expected = expected[1:13] if drop else expected[:12]
    values, vectors = _eigen_update.smallest_eigenpairs(update, 12, trivial if drop else None)
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(A @ vectors, update.apply_metric(vectors) * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ update.apply_metric(vectors), np.eye(12), atol=1e-9)
    if drop:
        np.testing.assert_allclose(vectors.T @ update.apply_metric(trivial), 0, atol=1e-8)


def test_no_more_than_the_null_space_is_asked_for():
    update, trivial = some_update(sizes=((2, 300), (2, 250)), n_zero=6)
    values, vectors = _eigen_update.smallest_eigenpairs(update, 3, trivial)
    assert values.tolist() == [0, 0, 0]
    np.testing.assert_allclose(update.apply(vectors), 0, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ trivial, 0, atol=1e-9)


def test_a_trivial_vector_lost_in_rounding_takes_the_dense_way():
    update, trivial = some_update(sizes=((6, 300), (3, 250)))
    update.eigenvalues[update.eigenvalues == 0] = 1e-9  # too large to be taken for zero
    expected = linalg.eigvalsh(update.dense()[0])[1:5]
    values, _ = _eigen_update.smallest_eigenpairs(update, 4, trivial)
    np.testing.assert_allclose(values, expected, atol=1e-8)


def test_identical_domains_keep_their_double_eigenvalues():
    one, other = some_update(sizes=((3, 250), (3, 250)))
    half = slice(0, 250)
    values = np.tile(one.eigenvalues[half], 2)
    update = RowUpdate(values, [one.rows[0]] * 2, one.change)
    trivial = np.tile(other[half], 2)
    found, _ = _eigen_update.smallest_eigenpairs(update, 30, trivial)
    np.testing.assert_allclose(found, linalg.eigvalsh(update.dense()[0])[1:31], atol=1e-10)


@pytest.mark.parametrize("joint", [False, True])
def test_where_lanczos_does_not_converge_a_dense_solver_answers(joint, monkeypatch):
    """As of samples that repeat, whose eigenvalues are multiple."""
    update, trivial = some_update(((5, 300), (4, 200)), joint=joint)
    expected, _ = _eigen_update.smallest_eigenpairs(update, 6, trivial)

    def not_converged(*_, **__):
        raise AlignmentError("found 3 of 6")

    monkeypatch.setattr(_eigen_update, "lanczos", not_converged)
    values, vectors = _eigen_update.smallest_eigenpairs(update, 6, trivial)
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ update.apply_metric(vectors), np.eye(6), atol=1e-10)
    monkeypatch.setattr(_eigen_update, "FORMED_ROWS", 499)
    with pytest.raises(AlignmentError, match="found 3 of 6"):
        _eigen_update.smallest_eigenpairs(update, 6, trivial)
