"""Asymmetric regularised cross-domain transformation."""

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.max_margin._low_rank_transform import REGULARIZERS, regularizer
from domain_alignment.max_margin._solver import solve_similarities
from domain_alignment.utils._answers import check_answer
from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils._params import COUNT, FINITE, POSITIVE
from domain_alignment.utils._rows import times_map, unit_rows
from domain_alignment.utils.validation import dense, require_labelled

__all__ = ["ARCt"]


class ARCt(Aligner):
    r"""ARC-t: a linear map that makes target samples similar to source samples of their class.

    Over all pairs of a labelled source sample :math:`x_i` and a labelled target sample :math:`y_j`
    ([1]_, with the squared slacks of the program released with MMDT [2]_):

    .. math:: \min_W\ \tfrac12 \|W - W_0\|_F^2 + \tfrac\gamma2 \sum_{ij} \xi_{ij}^2, \qquad
              x_i^T W y_j \ge u - \xi_{ij} \text{ (same class)}, \quad
              x_i^T W y_j \le l + \xi_{ij} \text{ (different)}

    A target sample gets the label of the most similar labelled source sample,
    :math:`\arg\max_i x_i^T W y`. This is the transform step of MMDT with source samples as
    hyperplanes (:func:`~domain_alignment.max_margin.solve_similarities`).

    Parameters
    ----------
    gamma : float, default=10.0
        :math:`\gamma`; 10 in the authors' program.
    same_class, other_class : float, default=1.0 and -1.0
        The bounds u and l; values of the program, left open in the paper.
    regularize : {"auto", "identity", "zero"}, default="auto"
        :math:`W_0`. "auto" is the identity between equal numbers of features, else zero: the
        truncated identity would pair features by their place.
    unit_rows : bool, default=True
        Whether rows are first scaled to unit norm. Without it the bounds mean little: z-scored rows
        of 800 features have inner products of several hundred.
    tol : float, default=1e-6
        Relative duality gap of the solver.
    max_sweeps : int, default=1000
        Maximum number of solver sweeps.
    random_state : int, RandomState or None, default=None
        Order of coordinate updates. Does not affect the optimum.

    Attributes
    ----------
    transform_ : TransformSolution
        W of shape (p_source, p_target) in factored form, with its duality gap.
    classes_ : ndarray of shape (n_classes,)
    embeddings_ : list of ndarray of shape (n_a, p_source)
        Source samples, and target samples mapped by W.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain has no labelled sample, or `other_class` is not below `same_class`.
    AlignmentError
        If this machine cannot hold matrices of the labelled samples.

    Warns
    -----
    ConvergenceWarning
        If the gap exceeds `tol` after `max_sweeps`.

    Notes
    -----
    *Structure.* :math:`W = W_0 + X_S^T B Y_T` with an unknown B of shape :math:`l_S \times l_T`,
    the numbers of labelled samples; W is never formed.

    *Cost*: O(l_S^2 p_S + l_T^2 p_T) once, then some dozens of sweeps of at most O(l_S l_T (l_S +
    l_T)); O(n (l_S + l_T) p) to map n samples. Memory: O(l_S^2 + l_T^2 + n p).

    *Nearest neighbours.* With unit rows the most similar source sample is the nearest to
    :math:`W y`, so :meth:`predict` is 1-NN on the source embedding.

    *Pairs* are unweighted: with ten classes, nine in ten are dissimilar. A class missing in one
    domain occurs in dissimilar pairs only.

    *Departures.* The program adds the most violated constraint until no violation exceeds 0.01;
    here the problem is solved to `tol`. For unequal dimensions the program omits the identity from
    the constraints and adds it afterwards. The paper leaves loss and bounds
    open; its kernel version is not implemented.

    References
    ----------
    .. [1] B. Kulis, K. Saenko, T. Darrell. What You Saw is Not What You Get: Domain Adaptation
       Using Asymmetric Kernel Transforms. CVPR 2011.
    .. [2] J. Hoffman, E. Rodner, J. Donahue, T. Darrell, K. Saenko. Efficient Learning of
       Domain-invariant Image Representations. ICLR 2013; the release's asymmetric transform.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import ARCt
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> source = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    >>> target = (4 * np.eye(3)[y] + rng.normal(size=(60, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(60) < 12, y, -1)
    >>> arct = ARCt(random_state=0).fit([source, target], [y, seen])
    >>> bool(np.mean(arct.predict(target) == y) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "gamma": POSITIVE,
        "same_class": FINITE,
        "other_class": FINITE,
        "regularize": REGULARIZERS,
        "unit_rows": ["boolean"],
        "tol": POSITIVE,
        "max_sweeps": COUNT,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        gamma=10.0,
        same_class=1.0,
        other_class=-1.0,
        regularize="auto",
        unit_rows=True,
        tol=1e-6,
        max_sweeps=1000,
        random_state=None,
    ):
        self.gamma = gamma
        self.same_class = same_class
        self.other_class = other_class
        self.regularize = regularize
        self.unit_rows = unit_rows
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    @property
    def capabilities(self):
        """Capabilities of this instance; scaling rows to unit norm is nonlinear."""
        return Capabilities(labels="source+target", heterogeneous=True, nonlinear=self.unit_rows)

    @property
    def classifier_rows(self):
        """The source, as in the estimator itself."""
        return "source"

    def _fit(self, Xs, ys, models):
        if not self.other_class < self.same_class:
            raise ValueError(
                f"other_class={self.other_class} must be below same_class={self.same_class}: "
                "samples of different classes are less similar"
            )
        why = "ARC-t compares labelled samples of both domains"
        labelled = [require_labelled(y, domain, why) for domain, y in enumerate(ys)]
        n_source, n_target = (rows.size for rows in labelled)
        # Similarities, their sizes, bounds and costs; and the products of the samples themselves.
        what = "ARC-t: the constraints of labelled samples"
        check_room(n_source, n_target, what, n_arrays=4, instead=FEWER_LABELS)
        what = "ARC-t: the products of labelled samples of the source"
        check_room(n_source, n_source, what, instead=FEWER_LABELS)
        source, target = (self._scaled(X[rows]) for X, rows in zip(Xs, labelled, strict=True))
        self._source, self._source_labels = dense(source), ys[0][labelled[0]]
        self.classes_ = np.unique(self._source_labels)
        same = self._source_labels[:, None] == ys[1][labelled[1]]
        self.transform_ = solve_similarities(
            self._source,
            target,
            np.where(same, 1.0, -1.0),
            self.gamma / 2,  # the solver's loss has no half before it
            margins=np.where(same, self.same_class, -self.other_class),
            regularize=regularizer(self.regularize, source.shape[1], target.shape[1]),
            tol=self.tol,
            max_sweeps=self.max_sweeps,
            random_state=self.random_state,
        )
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _scaled(self, X):
        return unit_rows(X) if self.unit_rows else X

    def _transform(self, X, domain):
        X = self._scaled(X)
        return self.transform_.apply(X) if domain else dense(X)

    def similarities(self, X, domain=-1):
        r"""Similarities to the labelled source samples, :math:`x_i^T W y`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int, default=-1
            1 or -1 is the target; 0 is the source, compared without W.

        Returns
        -------
        similarities : ndarray of shape (n_samples, n_labelled)
            Columns in the order of the labelled rows of the source.
        """
        check_is_fitted(self, "transform_")
        X, domain = self._checked(X, domain)
        X = self._scaled(X)
        if domain == 0:
            values = times_map(X, self._source.T)
        else:  # no embedding of the samples
            values = self.transform_.scores(X, self._source)
        check_answer(values, "X: its similarities")
        return values

    def predict(self, X, domain=-1):
        """Classes of the most similar labelled source samples; arguments as for `similarities`."""
        nearest = self.similarities(X, domain).argmax(axis=1)
        return self._source_labels[nearest]
