import itertools

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import eigen
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_similarity
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator

from tests.methods.utils.test_dense_eigen import categories


def similarity_of(n_samples, n_parts=1, seed=0):
    """Normalised similarity of a neighbour graph in so many pieces."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4)) + 100 * np.repeat(
        np.eye(4)[:n_parts], n_samples // n_parts, 0
    )
    graph = knn_graph(X, 5, metric="euclidean")
    return normalized_similarity(graph, degrees(graph))


def ring(n_samples):
    """A ring: every eigenvalue but two is double."""
    step = sparse.diags_array([1.0, 1.0], offsets=[1, 1 - n_samples], shape=(n_samples, n_samples))
    return ((step + step.T) / 2).tocsr()


@pytest.mark.parametrize("similarity", [similarity_of(300), similarity_of(900, 3), ring(400)])
@pytest.mark.parametrize("n_pairs", [1, 12, 40])
def test_lanczos_equals_a_dense_solver(similarity, n_pairs):
    values, vectors = eigen.laplacian_eigenpairs(similarity, n_pairs)
    laplacian = np.eye(similarity.shape[0]) - similarity.toarray()
    expected = linalg.eigvalsh(laplacian)[:n_pairs]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_pairs), atol=1e-10)
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, atol=1e-10)


def hypercube(dimension):
    """Edges of a cube: its eigenvalue 2 k / d occurs d over k times."""
    corners = np.array(list(itertools.product([0, 1], repeat=dimension)))
    return sparse.csr_array(
        (corners @ (1 - corners.T) + (1 - corners) @ corners.T == 1) / dimension
    )


def torus(*lengths):
    first, second = (ring(length) for length in lengths)
    sides = sparse.eye_array(lengths[0]), sparse.eye_array(lengths[1])
    return sparse.csr_array((sparse.kron(first, sides[1]) + sparse.kron(sides[0], second)) / 2)


@pytest.mark.parametrize("graph", [hypercube(8), hypercube(9), torus(20, 20), torus(15, 25)])
def test_graphs_with_symmetries_have_all_copies(graph):
    """Of these problems Lanczos by itself misses a copy in about one of six."""
    expected = 1 - linalg.eigvalsh(graph.toarray())[::-1]
    for seed, n_pairs in itertools.product(range(2), (5, 9, 10, 11, 14, 21, 24)):
        order = np.random.default_rng(seed).permutation(graph.shape[0])
        similarity = graph[order][:, order]
        values, vectors = eigen.laplacian_eigenpairs(similarity, n_pairs)
        np.testing.assert_allclose(values, expected[:n_pairs], atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_pairs), atol=1e-10)


def test_copies_are_not_looked_for_where_none_are(monkeypatch):
    def searched(*problem):
        raise AssertionError

    monkeypatch.setattr(eigen, "all_copies", searched)
    eigen.laplacian_eigenpairs(similarity_of(400), 20)
    with pytest.raises(AssertionError):
        eigen.laplacian_eigenpairs(ring(400), 20)


def test_all_pairs_of_a_graph_in_pieces():
    values, vectors = eigen.laplacian_eigenpairs(similarity_of(120, 3), 120)
    assert np.count_nonzero(values < 1e-12) == 3
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(120), atol=1e-12)


def test_reordering_samples_reorders_the_eigenvectors():
    similarity = similarity_of(400)
    order = np.random.default_rng(1).permutation(400)
    _, vectors = eigen.laplacian_eigenpairs(similarity, 10)
    _, reordered = eigen.laplacian_eigenpairs(similarity[order][:, order], 10)
    np.testing.assert_allclose(reordered, vectors[order], atol=1e-9)


def test_the_answer_is_the_same_twice():
    similarity = ring(400)
    first, second = (eigen.laplacian_eigenpairs(similarity, 9)[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_convergence_is_left_to_a_dense_solver_or_an_error(monkeypatch):
    expected, _ = eigen.laplacian_eigenpairs(ring(400), 20)
    monkeypatch.setattr(eigen, "eigsh", limited(eigen.eigsh, maxiter=1))
    values, _ = eigen.laplacian_eigenpairs(ring(400), 20)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    monkeypatch.setattr(eigen, "FORMED_ROWS", 399)
    with pytest.raises(
        AlignmentError, match=r"graph Laplacian of 400 samples: Lanczos found \d+ of"
    ):
        eigen.laplacian_eigenpairs(ring(400), 20)


def limited(solver, **options):
    import functools

    return functools.wraps(solver)(functools.partial(solver, **options))


def test_signs():
    vectors = np.array([[0.5, 1.0, 3.0], [-0.5, 0.2, -4.0]])
    np.testing.assert_array_equal(eigen.fix_signs(vectors), [1, 1, -1])
    nearly_tied = np.array([[1.0], [-1.0 - 1e-12]])
    assert eigen.fix_signs(nearly_tied) == [1]


def test_generalised_pairs():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 9, 9))
    A, B = A + A.T, B @ B.T + np.eye(9)
    values, vectors = eigen.symmetric_eigenpairs(A, B, n_pairs=4)
    np.testing.assert_allclose(values, np.sort(linalg.eigvals(A, B).real)[:4])
    np.testing.assert_allclose(vectors.T @ B @ vectors, np.eye(4), atol=1e-12)


def test_an_indefinite_metric_is_an_error():
    with pytest.raises(AlignmentError, match="dense symmetric eigenproblem of order 2"):
        eigen.symmetric_eigenpairs(np.eye(2), np.diag([1.0, -1.0]))


SPECTRA = {
    "that decays": 1 / np.arange(1, 421),
    "nearly flat": np.linspace(2, 1, 420),
    "of equal pairs": np.repeat(0.99 ** np.arange(210), 2),
    "of one eigenvalue and others": np.r_[np.full(20, 1.0), np.linspace(0.95, 0, 400)],
    "of four eigenvalues and others": np.r_[
        np.repeat([2.0, 1.8, 1.6, 1.4], 5), np.linspace(1.35, 0, 400)
    ],
    "of rank 5": np.r_[5.0, 4.0, 3.0, 2.0, 1.0, np.zeros(415)],
    "of one value": np.ones(420),
    "of nothing": np.zeros(420),
}


@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e290])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_the_largest_pairs_by_lanczos_are_those_of_a_dense_solver(spectrum, scale, monkeypatch):
    sizes = SPECTRA[spectrum]
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(420, 420)))[0]
    gram = (basis * sizes) @ basis.T
    gram = scale * (gram + gram.T) / 2
    monkeypatch.setattr(eigen, "_LANCZOS_ROWS", 400)
    values, vectors = eigen.largest_eigenpairs(gram, 20, "toy")
    np.testing.assert_allclose(values / scale, sizes[:20], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-12)
    monkeypatch.setattr(eigen, "_LANCZOS_ROWS", 500)
    monkeypatch.setattr(eigen, "lanczos", None)
    dense_values, dense = eigen.largest_eigenpairs(gram, 20, "toy")
    np.testing.assert_allclose(values / scale, dense_values / scale, atol=1e-13)
    distinct = np.count_nonzero(sizes > sizes[20] + 1e-6)  # of the others any basis will do
    np.testing.assert_allclose(
        vectors[:, :distinct] @ vectors[:, :distinct].T,
        dense[:, :distinct] @ dense[:, :distinct].T,
        atol=1e-9,
    )


@pytest.mark.parametrize("order", [420, 450])
@pytest.mark.parametrize("tol", [1e-4, 1e-2])
@pytest.mark.parametrize(
    ("copies", "others"),
    [(np.full(20, 1.0), 0.95), (np.full(20, 1.0), 0.8), (np.repeat([2, 1.8, 1.6, 1.4], 5), 1.35)],
)
def test_copies_orthogonal_to_the_start_are_found(order, tol, copies, others):
    """Some of these spectra lack one to three copies after a Lanczos iteration."""
    sizes = np.concatenate([copies, np.linspace(others, 0, order - 20)])
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(order, order)))[0]
    operator = aslinearoperator((basis * sizes) @ basis.T)
    few = eigen.lanczos(operator, 20, "toy", which="LA")
    values, vectors = eigen.all_copies(operator, *few, "toy", tol=tol)
    np.testing.assert_allclose(np.sort(values)[::-1], copies, atol=1e-12)
    np.testing.assert_allclose(vectors @ vectors.T, basis[:, :20] @ basis[:, :20].T, atol=1e-9)


def test_few_of_the_pairs_of_a_large_matrix_are_found_by_lanczos():
    assert not eigen.takes_lanczos(1000, 1)
    assert eigen.takes_lanczos(1001, 50)
    assert not eigen.takes_lanczos(1001, 51)


def test_a_wrong_pair_of_lanczos_is_an_error(monkeypatch):
    solve = eigen.lanczos

    def damaged(*problem, **options):
        values, vectors = solve(*problem, **options)
        return values, vectors + 1e-6

    monkeypatch.setattr(eigen, "lanczos", damaged)
    with pytest.raises(AlignmentError, match="toy: eigenvectors leave a residual"):
        eigen.largest_eigenpairs(np.diag(1 / np.arange(1.0, 1002)), 20, "toy")


@pytest.mark.parametrize("residual", [1e-3, np.nan])
def test_a_large_residual_is_an_error(residual):
    eigen.check_residual(np.full((3, 1), 1e-12), 1.0, "toy")
    with pytest.raises(AlignmentError, match=r"toy: eigenvectors leave a residual .* badly scaled"):
        eigen.check_residual(np.full((3, 1), residual), 1.0, "toy")


@pytest.mark.parametrize("metric", [False, True])
@pytest.mark.parametrize("n_pairs", [4, 40, 60])
@pytest.mark.parametrize("wrong", [1e-6, np.nan])
def test_one_wrong_pair_among_any_number_is_an_error(monkeypatch, n_pairs, wrong, metric):
    A = np.random.default_rng(0).normal(size=(60, 60))
    A, B = A + A.T, np.diag(np.linspace(1, 2, 60)) if metric else None
    eigen.symmetric_eigenpairs(A, B, n_pairs=n_pairs)
    solve = linalg.eigh

    def damaged(*problem, **options):
        values, vectors = solve(*problem, **options)
        vectors[0, n_pairs // 2] += wrong
        return values, vectors

    monkeypatch.setattr(linalg, "eigh", damaged)
    with pytest.raises(AlignmentError, match="leave a residual"):
        eigen.symmetric_eigenpairs(A, B, n_pairs=n_pairs)


def test_where_sums_are_beyond_the_tolerance_each_residual_is_judged(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 30))
    probed = eigen._probed_residual
    monkeypatch.setattr(eigen, "_probed_residual", lambda *given: probed(*given) + 1e-3)
    values, vectors = eigen.symmetric_eigenpairs(X @ X.T)
    np.testing.assert_allclose(X @ X.T @ vectors, vectors * values, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_residuals_are_judged_relative_to_the_scale(scale):
    A = np.random.default_rng(0).normal(size=(5, 5))
    values, _ = eigen.symmetric_eigenpairs((A + A.T) * scale)
    np.testing.assert_allclose(values / scale, np.linalg.eigvalsh(A + A.T))
    with pytest.raises(AlignmentError, match=r"residual of 1\.7e-03 times the scale"):
        eigen.check_residual(np.full((3, 1), 1e-3 * scale), scale, "toy")


@pytest.mark.parametrize(("n_categories", "n_times", "n_pairs"), [(50, 6, 20), (103, 4, 10)])
def test_lanczos_that_breaks_down_leaves_the_pairs_to_a_dense_solver(
    n_categories, n_times, n_pairs
):
    A = categories(n_categories, n_times)
    values, vectors = eigen.lanczos(aslinearoperator(A), n_pairs, "toy", which="LA")
    np.testing.assert_allclose(values, np.full(n_pairs, float(n_times)))
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
