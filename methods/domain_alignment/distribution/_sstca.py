"""Semi-supervised transfer component analysis."""

from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from domain_alignment.distribution._scatter_eigenproblem import (
    DensePenalty,
    largest_components,
)
from domain_alignment.distribution._tca import MU_WEIGHTS, mean_difference, ridge_of
from domain_alignment.distribution._transfer_components import ComponentAligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, POSITIVE, Interval, StrOptions
from domain_alignment.utils._rows import near_zero
from domain_alignment.utils.graphs import directed_graph
from domain_alignment.utils.neighbors import nearest_neighbors
from domain_alignment.utils.validation import UNLABELLED

__all__ = ["SSTCA"]

LAPLACIAN_SCALES = ("paper", "toolbox")

_BATCH_ROWS = 500


class SSTCA(ComponentAligner):
    r"""Semi-supervised transfer component analysis: TCA with source labels and a graph Laplacian.

    With the notation of :class:`~domain_alignment.TCA`, the Laplacian L of a nearest-neighbour
    graph over both domains, and :math:`\tilde K_{yy} = \gamma_y K_{yy} + (1 - \gamma_y) I`, where
    :math:`K_{yy}` is 1 for two labelled source samples of one class and 0 otherwise, the dual is
    ([1]_, section IV)

    .. math:: \min_W\ \mathrm{tr}\, W^T K (e e^T + \lambda' L) K W + \mu\, \mathrm{tr}(W^T W)
              \quad\text{subject to}\quad W^T K H \tilde K_{yy} H K W = I

    with :math:`\lambda' = \lambda / n^2`, and scores K W. The primal replaces K by the features X
    and W by A.

    Parameters
    ----------
    n_components : int, default=20
    mu : float, default=1.0
    mu_weighs : {"norm", "discrepancy"}, default="norm"
        The term that :math:`\mu` multiplies: the norm, as in the journal paper, or all the rest,
        :math:`I + \mu K (e e^T + \lambda' L) K`, solved as "norm" with 1 / mu, to which `ratios_`
        and the scaling "objective" then refer.
    laplacian : float, default=1.0
        :math:`\lambda`; 1 in the toolbox.
    laplacian_scale : {"paper", "toolbox"}, default="paper"
        :math:`\lambda' = \lambda / n^2`, as in the paper, or :math:`\lambda`, as in the toolbox
        [2]_, which is about 1e6 times stronger (W to C: 32.5 and 24.7 %).
    label_share : float, default=0.1
        :math:`\gamma_y` in [0, 1); 0.1 in the toolbox. 0 uses no labels.
    n_neighbors : int, default=5
        Neighbours in the graph, excluding the sample itself.
    formulation : {"dual", "primal"}, default="dual"
        The published one is the dual.
    kernel, gamma, scaling, unit_rows, source_rows
        As for :class:`~domain_alignment.TCA`.

    Attributes
    ----------
    ratios_, coef_, dual_coef_, gamma_, embeddings_, n_components_, n_features_in_
        As for :class:`~domain_alignment.TCA`.

    Raises
    ------
    ValueError
        As TCA, or if `n_neighbors` is not less than the number of samples, or no source sample is
        labelled although `label_share` is positive.
    AlignmentError
        As TCA, or if the samples do not fit the memory beside what the graph takes.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the rank of the centred samples.

    Notes
    -----
    *The graph* is that of the toolbox: symmetric union of Euclidean neighbours among the (scaled)
    samples of both domains, weights :math:`\exp(-d^2 / 2 s^2)` with s the mean pairwise distance,
    and the unnormalised Laplacian.

    *Structure.* H is a projection, so the constraint is :math:`(1 - \gamma_y) K H K + \gamma_y G
    G^T` with one column of G per class.

    *Cost*, with q = min(n, p) features, or n for a nonlinear kernel: O(n^2 p) for the neighbours
    and O(n q^2) for the penalty, which fits with the same ``prepared`` models share; O(q^3) for its
    Cholesky factor, and O(q^2) per Lanczos step. Memory: O(n q + q^2).

    References
    ----------
    .. [1] S. J. Pan, I. W. Tsang, J. T. Kwok, Q. Yang. Domain Adaptation via Transfer Component
       Analysis. IEEE TNN 22(2), 2011, section IV.
    .. [2] K. Yan. Domain adaptation toolbox, https://github.com/viggin/domain-adaptation-toolbox

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import SSTCA
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> source = 4 * np.eye(3, 5)[y] + rng.normal(size=(60, 5))
    >>> target = source + rng.normal(size=(60, 5)) + [1, -1, 1, 0, 0]
    >>> sstca = SSTCA(n_components=2).fit([source, target], [y, None])
    >>> sstca.transform(target[:4], domain=1).shape
    (4, 2)
    """

    _keeps_samples = True
    _parameter_constraints: ClassVar[dict] = {
        **ComponentAligner._parameter_constraints,
        "mu": POSITIVE,
        "mu_weighs": [StrOptions(set(MU_WEIGHTS))],
        "laplacian": NOT_NEGATIVE,
        "laplacian_scale": [StrOptions(set(LAPLACIAN_SCALES))],
        "label_share": [Interval(Real, 0, 1, closed="left")],
        "n_neighbors": COUNT,
    }

    def __init__(
        self,
        n_components=20,
        mu=1.0,
        mu_weighs="norm",
        laplacian=1.0,
        laplacian_scale="paper",
        label_share=0.1,
        n_neighbors=5,
        formulation="dual",
        kernel="linear",
        gamma="median",
        scaling="unit",
        unit_rows=True,
        source_rows="all",
    ):
        self.n_components = n_components
        self.mu = mu
        self.mu_weighs = mu_weighs
        self.laplacian = laplacian
        self.laplacian_scale = laplacian_scale
        self.label_share = label_share
        self.n_neighbors = n_neighbors
        self.formulation = formulation
        self.kernel = kernel
        self.gamma = gamma
        self.scaling = scaling
        self.unit_rows = unit_rows
        self.source_rows = source_rows

    @property
    def _uses_labels(self):
        return self.label_share > 0

    def _joint(self, Xs, seen, models):
        if self.laplacian and not all(map(sparse.issparse, Xs)):  # else they are stacked sparse
            check_graph_room(np.count_nonzero(seen) + Xs[1].shape[0], Xs[1].shape[1])
        return super()._joint(Xs, seen, models)

    def _components(self, joint, y):
        F, n_source = joint.values, joint.n_source
        weight = self.laplacian / (len(F) ** 2 if self.laplacian_scale == "paper" else 1)
        penalty = np.diag(np.full(F.shape[1], ridge_of(self.mu, self.mu_weighs)))
        difference = mean_difference(F, n_source)
        penalty += np.outer(difference, difference)
        if weight:
            penalty += weight * joint.cached(
                ("roughness", self.n_neighbors),
                lambda: F.T @ (neighbor_laplacian(joint.features.X, self.n_neighbors) @ F),
            )
        scatter = LabelledScatter(joint.scatter, class_sums(F, n_source, y), self.label_share)
        return largest_components(scatter, DensePenalty(penalty), self.n_components, "SSTCA")


class LabelledScatter:
    r"""The matrix :math:`(1 - \gamma_y) F^T H F + \gamma_y G G^T`, in factors.

    Parameters
    ----------
    scatter : Scatter
    sums : ndarray of shape (q, C)
        G.
    share : float
        :math:`\gamma_y`.
    """

    def __init__(self, scatter, sums, share):
        self._scatter, self._sums, self._share = scatter, sums, share

    @property
    def order(self):
        """q."""
        return self._scatter.order

    def __matmul__(self, v):
        labelled = self._sums @ (self._sums.T @ v)
        return (1 - self._share) * (self._scatter @ v) + self._share * labelled


def class_sums(values, n_source, y):
    """F'HY: class sums of the centred source samples, shape (q, C)."""
    classes = np.unique(y[y != UNLABELLED])
    members = (y[:, None] == classes).astype(float)
    centred = values[:n_source] - values.mean(axis=0)
    return centred.T @ members


def check_graph_room(n_samples, n_features):
    """Refuse dense samples that the memory cannot hold beside what :func:`neighbor_laplacian` does.

    That is a float32 copy for the search and, after it, distances of some samples to all.
    """
    samples, some = "SSTCA: the samples of both domains", min(_BATCH_ROWS, n_samples)
    check_room(
        n_samples, n_features + n_features // 2, f"{samples} and a copy of half their precision"
    )
    check_room(n_samples, n_features + some, f"{samples} and the distances of {some} to all")


def neighbor_laplacian(X, n_neighbors):
    r"""Laplacian of the toolbox's graph, weights :math:`\exp(-d^2 / 2 s^2)` with s the mean of d.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    n_neighbors : int

    Returns
    -------
    laplacian : CSR array of shape (n, n)

    Raises
    ------
    ValueError
        If `n_neighbors` is not less than n.
    AlignmentError
        If all distances are zero.

    Notes
    -----
    Cost: O(n^2 p) time, O(n) memory.
    """
    neighbors, similarity = nearest_neighbors(
        X, n_neighbors, metric="euclidean", name="the samples of both domains"
    )
    width = mean_distance(X)
    if not width > 0:
        raise AlignmentError(
            "both domains: all samples are equal, so the graph's width is 0; give samples that "
            "differ"
        )
    directed = directed_graph(neighbors, np.exp(similarity / (2 * width**2)))
    graph = directed.maximum(directed.T.tocsr())
    return (sparse.diags_array(graph.sum(axis=1)) - graph).tocsr()


def mean_distance(X):
    """Mean Euclidean distance of two distinct samples; 0 for a single one."""
    n_samples, (X, _) = X.shape[0], near_zero(X, X)
    total = sum(
        euclidean_distances(X[rows], X).sum() for rows in gen_batches(n_samples, _BATCH_ROWS)
    )
    return total / max(1, n_samples * (n_samples - 1))
