"""FMA-I and SMA by dense eigensolvers of complete matrices: the route without sparse solvers."""

import numpy as np
from domain_alignment.manifold._correspondences import laplacian, projected_laplacian
from domain_alignment.manifold._eigen_update import block_update
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_laplacian
from scipy import linalg


class DenseAlignment:
    """All eigenpairs by ``scipy.linalg.eigh``, of each domain (FMA) or of all together (SMA).

    Instance level, cosine graphs, degrees of each domain, as in the library; eigenvalues equal
    those of its FMA and SMA except that the trivial one is kept.

    Parameters
    ----------
    joint : bool, default=False
        One eigenproblem of the joint Laplacian, order 2n, in place of one per domain.
    n_components, n_neighbors, alpha
        As those of FMA.

    Notes
    -----
    Cost: O(n^3) time and O(n^2) memory for n samples.
    """

    def __init__(self, joint=False, n_components=40, n_neighbors=12, alpha=0.2):
        self.joint = joint
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha

    def fit(self, Xs, ys):
        """Align the domains; the embeddings are in ``embeddings_``, the target last."""
        graphs = [self.alpha * knn_graph(X, self.n_neighbors) for X in Xs]
        degree = [degrees(graph) for graph in graphs]
        laplacians = [
            normalized_laplacian(graph, d).toarray()
            for graph, d in zip(graphs, degree, strict=True)
        ]
        solve = self._joint if self.joint else self._by_domain
        self.eigenvalues_, Z = solve(laplacians, degree, ys)
        Z = Z / np.sqrt(np.maximum(self.eigenvalues_, 1e-9))
        self.embeddings_ = np.split(Z, np.cumsum([len(X) for X in Xs])[:-1])
        return self

    def _by_domain(self, laplacians, degree, ys):
        kept = self.n_components // len(laplacians)
        values, bases = [], []
        for L, d in zip(laplacians, degree, strict=True):
            eigenvalues, vectors = linalg.eigh(L)
            values.append(eigenvalues[:kept])
            bases.append(vectors[:, :kept] / np.sqrt(d)[:, None])
        found, rotation = block_update(np.concatenate(values), projected_laplacian(bases, ys, 1.0))
        return found, linalg.block_diag(*bases) @ rotation

    def _joint(self, laplacians, degree, ys):
        L = linalg.block_diag(*laplacians)
        d = np.concatenate(degree)
        rows, change = laplacian(ys, 1.0)
        starts = np.cumsum([0, *map(len, laplacians)])[:-1]
        own = np.concatenate([r + start for r, start in zip(rows, starts, strict=True)])
        L[np.ix_(own, own)] += change / np.sqrt(np.outer(d[own], d[own]))
        values, vectors = linalg.eigh(L)
        kept = slice(0, self.n_components)
        return values[kept], vectors[:, kept] / np.sqrt(d)[:, None]
