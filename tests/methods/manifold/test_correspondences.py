from itertools import product

import numpy as np
import pytest
from domain_alignment.manifold import _correspondences
from scipy import linalg

LABELS = [
    [np.array([0, 1, -1, 1, 2]), np.array([1, 1, -1, 0])],
    [np.array([7, 7, -1]), np.array([3, 7, 7]), np.array([3, -1, 7, 3])],  # gaps, a class missing
    [np.array([0, 1]), np.array([1, 1]), np.array([0, 0]), np.array([1])],
]


def incidence(ys):
    """The matrix A of section 3, a column per pair of samples with equal labels."""
    starts = np.cumsum([0] + [len(y) for y in ys])
    columns = []
    for a, b in product(range(len(ys)), repeat=2):
        for i, j in product(range(len(ys[a])), range(len(ys[b]))):
            if a < b and ys[a][i] == ys[b][j] != -1:
                column = np.zeros(starts[-1])
                column[starts[a] + i], column[starts[b] + j] = 1, -1
                columns.append(column)
    return np.array(columns).T


@pytest.mark.parametrize("ys", LABELS)
def test_projection_equals_the_incidence_matrix(ys):
    rng = np.random.default_rng(0)
    bases = [rng.normal(size=(len(y), 2 + a)) for a, y in enumerate(ys)]
    projected = linalg.block_diag(*bases).T @ incidence(ys)
    np.testing.assert_allclose(
        _correspondences.projected_laplacian(bases, ys, 0.5), 0.5 * projected @ projected.T
    )


@pytest.mark.parametrize("ys", LABELS)
def test_restriction_equals_the_incidence_matrix(ys):
    rows, restricted = _correspondences.laplacian(ys, 3.0)
    starts = np.cumsum([0] + [len(y) for y in ys])
    kept = np.concatenate([part + start for part, start in zip(rows, starts, strict=False)])
    A = incidence(ys)
    np.testing.assert_allclose(restricted, 3 * (A @ A.T)[np.ix_(kept, kept)])
    assert kept.size == sum((y != -1).sum() for y in ys)
