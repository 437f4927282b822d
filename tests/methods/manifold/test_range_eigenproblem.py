import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._class_graphs import laplacian_factor
from domain_alignment.manifold._kema import KEMA
from domain_alignment.manifold._kernel_operators import PlainColumns
from domain_alignment.manifold._range_eigenproblem import GraphTerms, solve_in_range
from domain_alignment.manifold._ssma import SSMA
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tests.methods import published_kema


def problem(widths=(6, 9), sizes=(25, 20), n_labelled=(7, 5), ridge=0.3, seed=0):
    """Columns, terms, and the dense matrices they stand for."""
    rng = np.random.default_rng(seed)
    Xs = [rng.normal(size=shape) for shape in zip(sizes, widths, strict=True)]
    rows = [rng.permutation(n)[:k] for n, k in zip(sizes, n_labelled, strict=True)]
    at = np.concatenate([rows[0], sizes[0] + rows[1]])
    n, n_known = sum(sizes), sum(n_labelled)

    laplacians = [
        published_kema.laplacian(W + W.T) for W in (rng.uniform(size=(m, m)) for m in sizes)
    ]
    Ls, Ld = (published_kema.laplacian(W + W.T) for W in rng.uniform(size=(2, n_known, n_known)))
    A = linalg.block_diag(*laplacians) + ridge * np.eye(n)
    A[np.ix_(at, at)] += Ls
    B = np.zeros((n, n))
    B[np.ix_(at, at)] = Ld
    terms = GraphTerms(
        [sparse.csr_array(L) for L in laplacians], rows, Ls, laplacian_factor(Ld), ridge
    )
    return [PlainColumns(X) for X in Xs], terms, linalg.block_diag(*Xs), A, B


@pytest.mark.parametrize("widths", [(2, 3), (6, 9), (40, 3), (40, 50)])
@pytest.mark.parametrize("rank", ["auto", 3])
def test_it_is_the_dense_problem_in_the_range(widths, rank):
    columns, terms, Phi, A, B = problem(widths)
    found = solve_in_range(columns, terms, 3, rank)
    values, vectors = published_kema.solve(Phi, A, B, None if rank == "auto" else rank)
    assert found.rank == len(values)
    np.testing.assert_allclose(found.eigenvalues, values[:3], rtol=1e-10)
    np.testing.assert_allclose(
        np.abs(np.concatenate(found.coefficients)), np.abs(vectors[:, :3]), atol=1e-9
    )


def test_eigenvectors_fulfil_their_equation_within_the_range():
    columns, terms, Phi, A, B = problem((40, 50))
    found = solve_in_range(columns, terms, 11)
    assert found.rank == 11  # of 12 labelled rows
    w = np.concatenate(found.coefficients)
    residual = Phi.T @ (A @ Phi @ w - B @ Phi @ w * found.eigenvalues)
    inside = linalg.orth(Phi.T @ B @ Phi, rcond=1e-10)
    np.testing.assert_allclose(inside.T @ residual, 0, atol=1e-9)
    np.testing.assert_allclose(inside @ (inside.T @ w), w, atol=1e-12)  # w is in the range
    np.testing.assert_allclose(w.T @ Phi.T @ B @ Phi @ w, np.eye(11), atol=1e-10)
    np.testing.assert_allclose(np.concatenate(found.scores), Phi @ w, atol=1e-11)


def test_with_a_full_range_it_is_the_plain_generalised_problem():
    columns, terms, Phi, A, B = problem((3, 4))
    found = solve_in_range(columns, terms, 7)
    assert found.rank == 7
    np.testing.assert_allclose(found.eigenvalues, linalg.eigvalsh(Phi.T @ A @ Phi, Phi.T @ B @ Phi))


def test_the_scale_of_one_domain_may_be_far_from_the_others():
    columns, terms, *_ = problem((3, 4))
    expected = solve_in_range(columns, terms, 7)
    columns[1] = PlainColumns(1e5 * columns[1].X)
    found = solve_in_range(columns, terms, 7)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(
        np.abs(np.concatenate(found.scores)), np.abs(np.concatenate(expected.scores)), atol=1e-8
    )


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("aligner", [KEMA(kernel="linear"), SSMA()])
def test_a_domain_in_far_smaller_units_is_told(aligner, standardize, make_domains):
    Xs, ys = make_domains()
    aligner = clone(aligner).set_params(n_components=2, standardize=standardize)
    factor = 1e-5 if isinstance(aligner, KEMA) else 1e-9
    with pytest.warns(ConvergenceWarning, match="domain 0: its features, or kernel, are so small"):
        aligner.fit([factor * Xs[0], Xs[1]], ys)


def test_more_components_than_dimensions_are_fewer_with_a_warning():
    columns, terms, *_ = problem((2, 2))
    with pytest.warns(ConvergenceWarning, match="n_components=9, but the problem has rank 4"):
        found = solve_in_range(columns, terms, 9)
    assert found.scores[0].shape == (25, 4)


def test_duplicated_labelled_rows_span_less():
    columns, terms, *_ = problem((40, 50))
    columns[0].X[terms.rows[0][1]] = columns[0].X[terms.rows[0][0]]
    assert solve_in_range(columns, terms, 3).rank == 10
    with pytest.raises(AlignmentError, match="rank=11, but the labelled samples span 10 dim"):
        solve_in_range(columns, terms, 3, rank=11)


def test_a_rank_beyond_the_rule_is_kept_with_a_warning():
    columns, terms, *_ = problem((40, 50))
    nearly = terms.rows[0][1]
    columns[0].X[nearly] = columns[0].X[terms.rows[0][0]] + 1e-10 * columns[0].X[nearly]
    assert solve_in_range(columns, terms, 3).rank == 10
    with pytest.warns(ConvergenceWarning, match="rank=11 keeps directions below the rounding"):
        assert solve_in_range(columns, terms, 3, rank=11).rank == 11


def test_an_impossible_rank():
    columns, terms, *_ = problem((40, 50))
    with pytest.raises(ValueError, match=r"rank=12, but .* at most 11 dimensions"):
        solve_in_range(columns, terms, 3, rank=12)


def test_zeros_span_nothing():
    columns, terms, *_ = problem()
    with pytest.raises(AlignmentError, match="all zero in their feature spaces"):
        solve_in_range([PlainColumns(0 * block.X) for block in columns], terms, 3)
