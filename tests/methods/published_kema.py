"""The KEMA toolbox's library as plain dense formulas, written from its description.

An independent and slow route to what :mod:`domain_alignment.manifold._kema` and
:mod:`domain_alignment.manifold._ssma` compute: n x n matrices, no structure used.
"""

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist


def neighbour_graph(X, n_neighbors):
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros_like(distances)
    for row, order in enumerate(np.argsort(distances, axis=1, kind="stable")):
        W[row, order[:n_neighbors]] = 1
    return np.maximum(W, W.T)


def class_weights(ys):
    y = np.concatenate(ys)
    Ws, Wd = np.zeros((2, y.size, y.size))
    for i in range(y.size):
        for j in range(y.size):
            if y[i] >= 0 and y[j] >= 0:
                (Ws if y[i] == y[j] else Wd)[i, j] = 1
    return Ws, Wd


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def sides(Xs, ys, n_neighbors=10, mu=1.0, ridge=0.0, weights=None):
    """A = L + mu Ls + ridge I and B = Ld, with the scaling of the library."""
    W = linalg.block_diag(*(neighbour_graph(X, n_neighbors) for X in Xs))
    Ws, Wd = class_weights(ys) if weights is None else weights
    n = len(W)
    Ws, Wd = Ws + np.eye(n), Wd + np.eye(n)  # the identity that the library adds to both
    Ws, Wd = Ws * W.sum() / Ws.sum(), Wd * W.sum() / Wd.sum()
    # In the sum of Ws the ones on the diagonal of the labelled samples count twice, as they do
    # in the library, which adds the identity to a matrix that has them.
    return laplacian(W) + mu * laplacian(Ws) + ridge * np.eye(n), laplacian(Wd)


def solve(columns, A, B, rank=None):
    """Eigenpairs in the range of the right-hand side, ascending, scaled to w' B w = 1."""
    left, right = columns.T @ A @ columns, columns.T @ B @ columns
    values, vectors = linalg.eigh((right + right.T) / 2)
    if rank is None:
        rank = np.count_nonzero(values > len(values) * np.finfo(float).eps * values[-1])
    root = vectors[:, -rank:] / np.sqrt(values[-rank:])
    found, small = linalg.eigh(root.T @ left @ root)
    return found, root @ small


def coordinates(scores, ys):
    """Standardised, turned over against domain 0, largest entry of domain 0 positive."""
    Z = [(part - part.mean(axis=0)) / part.std(axis=0, ddof=1) for part in scores]
    for a in range(1, len(Z)):
        shared = sorted((set(ys[0]) & set(ys[a])) - {-1})
        for j in range(Z[0].shape[1]):
            first = np.array([Z[0][ys[0] == c, j].mean() for c in shared])
            part = np.array([Z[a][ys[a] == c, j].mean() for c in shared])
            if np.abs(first - part).sum() > np.abs(first + part).sum():
                Z[a][:, j] *= -1
    signs = np.sign(Z[0][np.argmax(np.abs(Z[0]), axis=0), np.arange(Z[0].shape[1])])
    return [part * signs for part in Z]


def kernel(name, X, Y, sigma=None):
    if name == "linear":
        return X @ Y.T
    if name == "rbf":
        return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2))
    if name == "polynomial":
        return (1 + X @ Y.T / X.shape[1]) ** 3
    values = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            if name == "histogram_intersection":
                values[i, j] = np.minimum(x, y).sum()
            else:
                total = np.where(x + y == 0, 1, x + y)
                values[i, j] = np.exp(-np.sum((x - y) ** 2 / total) / (2 * sigma**2))
    return values


def split(rows, Xs):
    return np.split(rows, np.cumsum([len(X) for X in Xs])[:-1])


def kema(Xs, ys, kernels, rank=None, landmarks=None, **parameters):
    """Eigenvalues, coefficients of each domain, and raw scores of each domain."""
    A, B = sides(Xs, ys, **parameters)
    chosen = landmarks or [np.arange(len(X)) for X in Xs]
    blocks = [k(X, X[rows]) for k, X, rows in zip(kernels, Xs, chosen, strict=True)]
    values, vectors = solve(linalg.block_diag(*blocks), A, B, rank)
    ends = np.cumsum([len(rows) for rows in chosen])[:-1]
    parts = np.split(vectors, ends)
    return values, parts, [K @ part for K, part in zip(blocks, parts, strict=True)]


def ssma(Xs, ys, **parameters):
    A, B = sides(Xs, ys, **parameters)
    values, vectors = solve(linalg.block_diag(*Xs), A, B)
    parts = np.split(vectors, np.cumsum([X.shape[1] for X in Xs])[:-1])
    return values, parts, [X @ part for X, part in zip(Xs, parts, strict=True)]


def assert_embedded(kema, expected, **tolerance):
    for Z, exact in zip(kema.embeddings_, expected, strict=True):
        np.testing.assert_allclose(Z, exact, **tolerance)


def assert_same(kema, other, **tolerance):
    np.testing.assert_allclose(kema.eigenvalues_, other.eigenvalues_, rtol=1e-6)
    assert_embedded(kema, other.embeddings_, **tolerance)
