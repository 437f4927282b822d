"""Joint distribution adaptation."""

from typing import ClassVar

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from domain_alignment.distribution._discrepancy import mean_differences
from domain_alignment.distribution._scatter_eigenproblem import (
    LowRankPenalty,
    Scatter,
    check_components,
    diagonalised,
    largest_components,
)
from domain_alignment.distribution._transfer_components import ComponentAligner
from domain_alignment.utils._params import COUNT, POSITIVE
from domain_alignment.utils.validation import UNLABELLED

__all__ = ["JDA"]

# Similarities held at a time by the search for neighbours: 8 MB.
_BATCH_ENTRIES = 2**20


class JDA(ComponentAligner):
    r"""Joint distribution adaptation: brings the domains' means together, and those of each class.

    With both domains in the rows of X, :math:`e = (1/n_S, \dots, -1/n_T, \dots)` and, for each
    class c of the source, :math:`e_c` the same on the samples of c only, those of the target by
    their pseudo labels ([1]_, section 3):

    .. math:: M = C e e^T + \sum_{c=1}^C e_c e_c^T, \qquad
              (X^T M X / \|M\|_F + \rho I)\, a = \phi\, X^T H X\, a,

    the `n_components` smallest :math:`\phi`. The scores are X A; 1-nearest neighbour from the
    labelled source samples gives the next pseudo labels. In the first of `n_iterations` rounds
    there are none, and only the means of the domains count. The answer is what the last round gave:
    the pseudo labels of its embedding are the estimator's own predictions.

    Parameters
    ----------
    n_components : int, default=20
        The program leaves it to the caller; with 20 the mean of its published SURF column results.
    ridge : float, default=1.0
        :math:`\rho`; left to the caller too.
    n_iterations : int, default=10
        Part of the definition: pseudo labels may go round in circles (on 7 of the 12 pairs of
        Office-Caltech they do), so there is no limit to converge to.
    formulation : {"primal", "dual"}, default="primal"
        Directions in the features, or weights of samples; the latter puts the kernel matrix K in
        the place of X.
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable, default="linear"
        For the dual.
    gamma : "median" or float, default="median"
        Of "rbf" and "laplacian": by default one over the median (squared) distance.
    scaling : {"unit", "constraint", "objective"}, default="unit"
        Length of the columns a: 1; or such that :math:`a^T X^T H X a = 1`, which makes all columns
        count alike, as the authors' program has it in Octave; or such that the left-hand side's
        form is 1. It changes the distances, hence the pseudo labels: 46.8, 45.0 and 46.9 % on
        Office-Caltech with 20 components and all source labels.
    unit_rows : bool, default=True
        Whether rows are scaled to length 1, before and after.
    source_rows : {"all", "labelled"}, default="all"
        Which source samples the components are made of; others are embedded as new.

    Attributes
    ----------
    pseudo_labels_ : ndarray of int of shape (n_T,)
        Of the target's samples after the last round.
    n_changed_ : ndarray of int of shape (n_iterations - 1,)
        How many pseudo labels each round after the first changed.
    classes_ : ndarray of int
        Of the labelled source samples.
    ratios_ : ndarray of shape (n_components_,)
        :math:`1 / \phi`, descending.
    coef_ : ndarray of shape (p, n_components_), or None
        A, unless the kernel is nonlinear.
    dual_coef_ : ndarray of shape (n, n_components_), or None
        Weights of the samples, source first, if it is.
    gamma_ : float or None
        The value used; None for kernels without one.
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    n_components_ : int
        `n_components`, or the number of directions in which samples differ if that is less.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their features, there are more than two, no source sample is
        labelled, or a nonlinear kernel meets the primal.
    AlignmentError
        If all samples are equal, or the eigenproblem fails its residual check.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the number of directions in which samples differ.

    Notes
    -----
    *Structure.* M has rank C + 1 and is never formed; its Frobenius norm is that of a matrix of
    order C + 1. The scatter is diagonalised once, for all rounds; a round is then the eigenproblem
    of a diagonal matrix and one of rank C + 1, by Lanczos.

    *Cost*, with q = min(n, p) features: O(n p q + q^3) once; per round O(q C) per step of Lanczos,
    a few times d of them, O(q^2 C + n q (C + d)), and the search for neighbours, O(n_S n_T d). A
    nonlinear kernel: q = n. Memory: O(n q + q^2).

    *Degenerate cases.* A class without pseudo labels keeps the mean of its source samples in
    :math:`e_c`, as in the authors' program. Where :math:`X^T H X` is singular the directions are
    those of largest :math:`1 / \phi`, which exclude its null space.

    *Target labels* are not used.

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
        """The source's, as the estimator itself uses."""
        return "source"

    @property
    def _uses_labels(self):
        return True

    def _fit(self, Xs, ys, models):
        embeddings = super()._fit(Xs, ys, models)
        known = ys[0] != UNLABELLED
        self._labelled_source, self._source_labels = embeddings[0][known], ys[0][known]
        return embeddings

    def _components(self, features, n_source, y):
        scatter = Scatter.of(features.values)
        diagonal, rotation = diagonalised(scatter)
        self.classes_ = np.unique(y[y != UNLABELLED])
        pseudo, changed, n_target = None, [], len(features.values) - n_source
        for _ in range(self.n_iterations):
            weights = penalty_weights(y, n_target, self.classes_, pseudo)
            # Thin products are about twice as fast with the thin factor on the left.
            V = (weights.T @ features.values).T
            penalty = LowRankPenalty(rotation.T @ V, self.ridge)
            ratios, rotated = largest_components(diagonal, penalty, self.n_components, "JDA")
            directions = rotation @ rotated
            before, pseudo = pseudo, self._pseudo_labels(features, ratios, directions, y)
            if before is not None:
                changed.append(np.count_nonzero(before != pseudo))
        check_components(scatter, LowRankPenalty(V, self.ridge), ratios, directions, "JDA")
        self.pseudo_labels_, self.n_changed_ = pseudo, np.array(changed, dtype=int)
        return ratios, directions

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
            For the target's training samples, ``pseudo_labels_``.
        """
        check_is_fitted(self, "pseudo_labels_")
        return nearest_labels(self.transform(X, domain), self._labelled_source, self._source_labels)


def nearest_labels(Z, neighbors, y):
    """Label of the nearest (Euclidean) of some labelled samples, for each row of Z; first of ties.

    As z'x - x'x / 2, in one product: in 20 dimensions what counts is how often memory is passed.
    """
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
        Labels of the source, -1 where unknown.
    n_target : int
    classes : ndarray of int of shape (C,)
    pseudo : ndarray of int of shape (n_T,), optional
        Pseudo labels of the target. Without them only the domains' means are compared.

    Returns
    -------
    weights : ndarray of shape (n_S + n_T, 1 or C + 1)
    """
    if pseudo is None:
        weights = mean_differences(y, np.full(n_target, UNLABELLED), classes)[:, :1].copy()
    else:
        weights = mean_differences(y, pseudo, classes)
    weights[:, 0] *= np.sqrt(len(classes))
    return weights / np.sqrt(np.linalg.norm(weights.T @ weights))
