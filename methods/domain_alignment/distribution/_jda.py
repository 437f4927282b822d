"""Joint distribution adaptation."""

import itertools
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from domain_alignment.distribution._discrepancy import mean_differences
from domain_alignment.distribution._scatter_eigenproblem import (
    LowRankPenalty,
    check_components,
    largest_components,
)
from domain_alignment.distribution._transfer_components import ComponentAligner
from domain_alignment.utils._params import COUNT, POSITIVE
from domain_alignment.utils._rows import near_zero
from domain_alignment.utils.validation import UNLABELLED

__all__ = ["JDA"]

# Entries per block of the nearest-neighbour search: 8 MB.
_BATCH_ENTRIES = 2**20


class JDA(ComponentAligner):
    r"""Joint distribution adaptation: matches the domains' means, marginally and per class.

    With both domains in the rows of X, :math:`e = (1/n_S, \dots, -1/n_T, \dots)` and, for each
    source class c, :math:`e_c` the same on its samples only, pseudo-labelled in the target ([1]_,
    section 3):

    .. math:: M = C e e^T + \sum_{c=1}^C e_c e_c^T, \qquad
              (X^T M X / \|M\|_F + \rho I)\, a = \phi\, X^T H X\, a,

    the `n_components` smallest :math:`\phi`. The scores are X A, and 1-NN from the labelled source
    samples gives the next pseudo-labels. The first of `n_iterations` rounds has none and matches
    the marginal means only; the pseudo-labels of the last are the estimator's own predictions.

    Parameters
    ----------
    n_components : int, default=20
        The authors' code has no default; 20 was found by a printed mean on Office-Caltech (SURF).
    ridge : float, default=1.0
        :math:`\rho`; no default in the authors' code either.
    n_iterations : int, default=10
        Part of the definition: pseudo-labels may cycle (they do on 7 of the 12 pairs of
        Office-Caltech), so there is no limit to converge to.
    formulation : {"primal", "dual"}, default="primal"
        Directions in feature space, or sample weights, with the kernel matrix K in place of X.
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable, default="linear"
        For the dual.
    gamma : "median" or float, default="median"
        Of "rbf" and "laplacian": by default one over the median (squared) distance.
    scaling : {"unit", "constraint", "objective"}, default="unit"
        Columns a of unit length; or with :math:`a^T X^T H X a = 1`, which weighs all columns
        alike, as the authors' code does in Octave; or with a left-hand quadratic form of 1. It
        changes distances, hence pseudo-labels: 46.8 and 45.0 % with the first two on
        Office-Caltech (SURF), with 20 components and all source labels.
    unit_rows : bool, default=True
        Whether rows are scaled to length 1, before and after.
    source_rows : {"all", "labelled"}, default="all"
        Source samples that the components are fitted on; the others are embedded as new samples.

    Attributes
    ----------
    pseudo_labels_ : ndarray of int of shape (n_T,)
        Of the target samples after the last round.
    n_changed_ : ndarray of int of shape (n_iterations - 1,)
        Number of pseudo-labels changed by each round after the first.
    classes_ : ndarray of int
        Of the labelled source samples.
    ratios_ : ndarray of shape (n_components_,)
        :math:`1 / \phi`, descending.
    coef_ : ndarray of shape (p, n_components_), or None
        A, for a linear kernel.
    dual_coef_ : ndarray of shape (n, n_components_), or None
        Sample weights, source first, for a nonlinear kernel.
    gamma_ : float or None
        The value used; None for kernels without one.
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    n_components_ : int
        `n_components`, or the rank of the centred samples if that is less.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their features, there are more than two, no source sample is
        labelled, or the primal is combined with a nonlinear kernel.
    AlignmentError
        If all samples are equal, or the eigenproblem fails its residual check.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the rank of the centred samples.

    Notes
    -----
    *Structure.* M has rank C + 1 and is never formed; its Frobenius norm is that of a matrix of
    order C + 1. The scatter is made tridiagonal once, for all rounds; a round is then the
    eigenproblem of a tridiagonal matrix and one of rank C + 1, by Lanczos. It hangs on the
    pseudo-labels it begins with alone: where these were there before, the rounds since then are not
    computed again. The first has none, and its components hang on no label.

    *Cost*, with q = min(n, p) features, or n for a nonlinear kernel: O(n p q + q^3) once, which
    fits with the same ``prepared`` models share, as they do the first round's components, and of a
    linear kernel also those with the domains in each other's place; at most O(n_iterations (q^2 (C
    + n_components) + n q (C + n_components))) for all rounds, and O(n_iterations n_S n_T
    n_components) for their searches of neighbours. Memory: O(n q + q^2).

    *Degenerate cases.* For a class without pseudo-labels :math:`e_c` is its source mean alone, as
    in the authors' code. If :math:`X^T H X` is singular, the directions of largest
    :math:`1 / \phi` exclude its null space. Target labels are not used.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer Feature Learning with Joint
       Distribution Adaptation. ICCV 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import JDA
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> source = 4 * np.eye(3, 5)[y] + rng.normal(size=(60, 5))
    >>> target = 4 * np.eye(3, 5)[y] + rng.normal(size=(60, 5)) + [1, -1, 1, 0, 0]
    >>> jda = JDA(n_components=2).fit([source, target], [y, None])
    >>> bool(np.mean(jda.pseudo_labels_ == y) > 0.8)
    True
    >>> bool((jda.predict(target) == jda.pseudo_labels_).all())
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **ComponentAligner._parameter_constraints,
        "ridge": POSITIVE,
        "n_iterations": COUNT,
    }

    def __init__(
        self,
        n_components=20,
        ridge=1.0,
        n_iterations=10,
        formulation="primal",
        kernel="linear",
        gamma="median",
        scaling="unit",
        unit_rows=True,
        source_rows="all",
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.n_iterations = n_iterations
        self.formulation = formulation
        self.kernel = kernel
        self.gamma = gamma
        self.scaling = scaling
        self.unit_rows = unit_rows
        self.source_rows = source_rows

    @property
    def classifier_rows(self):
        """The source's, as in the estimator's own classifier."""
        return "source"

    @property
    def _uses_labels(self):
        return True

    def _fit(self, Xs, ys, models):
        embeddings = super()._fit(Xs, ys, models)
        known = ys[0] != UNLABELLED
        self._labelled_source, self._source_labels = embeddings[0][known], ys[0][known]
        return embeddings

    def _components(self, joint, y):
        features = joint.features
        self.classes_ = np.unique(y[y != UNLABELLED])
        n_target = len(features.values) - joint.n_source
        begun = [None]  # the pseudo-labels that each round begins with
        while len(begun) <= self.n_iterations:
            weights = penalty_weights(y, n_target, self.classes_, begun[-1])
            # Products with a thin factor are about twice as fast with it on the left.
            V = (weights.T @ features.values).T
            if begun[-1] is None:
                first = "first round", self.ridge, self.n_components
                ratios, directions = joint.cached(first, partial(self._solved, joint, V))
            else:
                ratios, directions = self._solved(joint, V)
            begun.append(self._pseudo_labels(features, ratios, directions, y))
            begun += repeated(begun[1:], self.n_iterations)
        check_components(joint.scatter, LowRankPenalty(V, self.ridge), ratios, directions, "JDA")
        self.pseudo_labels_ = begun[-1]
        changed = [np.count_nonzero(a != b) for a, b in itertools.pairwise(begun[1:])]
        self.n_changed_ = np.array(changed, dtype=int)
        return ratios, directions

    def _solved(self, joint, V):
        simple, rotation = joint.simplified
        penalty = LowRankPenalty(rotation.transpose() @ V, self.ridge)
        ratios, rotated = largest_components(simple, penalty, self.n_components, "JDA")
        return ratios, rotation @ rotated

    def _pseudo_labels(self, features, ratios, directions, y):
        Z = self._finished((self._scaled(ratios, directions).T @ features.values.T).T)
        source, target = np.split(Z, [len(y)])
        known = y != UNLABELLED
        return nearest_labels(target, source[known], y[known])

    def predict(self, X, domain=-1):
        """Classes by the nearest labelled source sample in the common space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p)
        domain : int, default=-1
            0 is the source, 1 or -1 the target; both have the same map.

        Returns
        -------
        y : ndarray of int of shape (n_samples,)
            For the target's training samples, ``pseudo_labels_``, but where equal source samples
            of different classes are the nearest.
        """
        check_is_fitted(self, "pseudo_labels_")
        return nearest_labels(self._embed(X, domain), self._labelled_source, self._source_labels)


def repeated(labels, n_rounds):
    """Pseudo-labels of the whole cycles that are left, where the last ones are not new.

    A round hangs on the pseudo-labels that it begins with alone, so those after ones that were
    there before are known: a fixed point is a cycle of one round.

    Parameters
    ----------
    labels : list of ndarray of int
        That each round has left so far.
    n_rounds : int
        Of all.

    Returns
    -------
    labels : list of ndarray of int
        Of the next rounds, as many as end where ``labels`` does.
    """
    for period in range(1, len(labels)):
        if np.array_equal(labels[-1], labels[-1 - period]):
            return (n_rounds - len(labels)) // period * labels[-period:]
    return []


def nearest_labels(Z, neighbors, y):
    """Label of the Euclidean nearest neighbour of each row of Z; the first among ties.

    Ranked by z'x - x'x / 2 in one product: in 20 dimensions the search is memory-bound.
    """
    Z, neighbors = near_zero(Z, neighbors)
    halves = np.einsum("ij,ij->i", neighbors, neighbors) / 2
    longer, ones = np.column_stack([neighbors, -halves]), np.ones((len(Z), 1))
    queries = np.hstack([Z, ones])
    nearest = np.empty(len(Z), dtype=np.intp)
    for rows in gen_batches(len(Z), max(1, _BATCH_ENTRIES // len(neighbors))):
        nearest[rows] = (queries[rows] @ longer.T).argmax(axis=1)
    return y[nearest]


def penalty_weights(y, n_target, classes, pseudo=None):
    r"""Columns w with :math:`\sum w w^T = M / \|M\|_F` for the matrix M of JDA.

    Parameters
    ----------
    y : ndarray of int of shape (n_S,)
        Source labels, -1 where unlabelled.
    n_target : int
    classes : ndarray of int of shape (C,)
    pseudo : ndarray of int of shape (n_T,), optional
        Pseudo-labels of the target; without them only the marginal means are compared.

    Returns
    -------
    weights : ndarray of shape (n_S + n_T, 1 or C + 1)
    """
    if pseudo is None:
        # Alone, C times the marginal means are the same once they are normalised.
        weights = mean_differences(y, np.full(n_target, UNLABELLED), classes)[:, :1].copy()
    else:
        weights = mean_differences(y, pseudo, classes)
        weights[:, 0] *= np.sqrt(len(classes))
    return weights / np.sqrt(np.linalg.norm(weights.T @ weights))
