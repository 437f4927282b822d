"""Parameters chosen by cross-validation on the labelled rows of the source alone.

A method that is handed no target label can still choose: by how well a support vector machine on
its embedding predicts source rows that were left out. The folds depend on the labels and the seed
only, so that the aligner that chooses its damping factor and the classifier that chooses its C see
the same ones, and end at the best pair of both.
"""

import dataclasses
from collections.abc import Iterable
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.utils._params import TWO_OR_MORE, ZERO_OR_MORE
from domain_alignment.utils.validation import UNLABELLED

__all__ = ["TKLCV", "CrossValidatedSVC", "cross_validated_hits"]


def cross_validated_hits(Z, y, C, cv=5, random_state=0):
    """Number of rows that linear SVMs predict right while these are left out, for each C.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n, q)
    y : ndarray of int of shape (n,)
    C : sequence of float
    cv : int, default=5
        Number of stratified folds; at most as many as the rarest class has rows.
    random_state : int, default=0
        Shuffles the rows before they are cut into folds.

    Returns
    -------
    hits : ndarray of int of shape (len(C),)

    Raises
    ------
    ValueError
        If there are fewer than two classes, or one of them has fewer than two rows.
    """
    classes, counts = np.unique(y, return_counts=True)
    if classes.size < 2 or counts.min() < 2:
        raise ValueError(
            f"the labelled samples hold {classes.size} classes, the rarest with "
            f"{counts.min(initial=0)} samples; cross-validation needs 2 classes with 2 samples "
            "each, so label more or set the parameters"
        )
    # One matrix of inner products serves every fold and every C.
    K = linear_kernel(Z, dense_output=True)
    hits = np.zeros(len(C), dtype=np.intp)
    folds = StratifiedKFold(min(cv, counts.min()), shuffle=True, random_state=random_state)
    for train, left_out in folds.split(K, y):
        known, asked = K[np.ix_(train, train)], K[np.ix_(left_out, train)]
        for position, value in enumerate(C):
            machine = SVC(C=value, kernel="precomputed").fit(known, y[train])
            hits[position] += np.count_nonzero(machine.predict(asked) == y[left_out])
    return hits


class CrossValidatedSVC(ClassifierMixin, BaseEstimator):
    r"""A linear support vector machine whose C is chosen on the rows that it is given.

    .. math:: \hat C = \arg\max_C \sum_k \sum_{i \in F_k} [\hat y_i(C, F_k) = y_i],

    the first of the candidates among equals, over stratified folds :math:`F_k`.

    Parameters
    ----------
    C : sequence of float, default=(0.1, 1.0, 10.0, 100.0)
    cv : int, default=5
    random_state : int, default=0

    Attributes
    ----------
    best_C_ : float
    n_correct_ : ndarray of int of shape (len(C),)
    machine_ : SVC
        Fitted on all rows, the inner products of `rows_`, with `best_C_`.
    classes_ : ndarray

    Notes
    -----
    Cost: folds x candidates + 1 fits, with an (n, n) matrix in memory.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 10)
    >>> Z = np.random.default_rng(0).normal(size=(20, 2)) + 3 * y[:, None]
    >>> CrossValidatedSVC().fit(Z, y).best_C_
    0.1
    """

    def __init__(self, C=(0.1, 1.0, 10.0, 100.0), cv=5, random_state=0):
        self.C = C
        self.cv = cv
        self.random_state = random_state

    def fit(self, Z, y):
        """Choose C and fit on all rows."""
        y = np.asarray(y)
        self.n_correct_ = cross_validated_hits(Z, y, self.C, self.cv, self.random_state)
        self.best_C_ = self.C[int(self.n_correct_.argmax())]
        # Inner products once more: on sparse rows of many features libsvm's own take far longer.
        self.rows_ = Z
        self.machine_ = SVC(C=self.best_C_, kernel="precomputed")
        self.machine_.fit(linear_kernel(Z, dense_output=True), y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, Z):
        """Classes of new rows."""
        check_is_fitted(self, "machine_")
        return self.machine_.predict(linear_kernel(Z, self.rows_, dense_output=True))


class TKLCV(Aligner):
    r"""Transfer kernel learning with the damping factor chosen on source labels.

    :class:`~domain_alignment.TKL` with the :math:`\zeta` that, with the best C, leaves most
    source rows predicted right by cross-validation, the first of the grid among equals:

    .. math:: \hat\zeta = \arg\max_\zeta \max_C \sum_k \sum_{i \in F_k}
              [\hat y_i(\zeta, C, F_k) = y_i].

    The kernel itself is learned without labels, from all rows. :class:`CrossValidatedSVC` with the
    same C, folds and seed on the embedding then takes the C of the best pair.

    Parameters
    ----------
    zeta : sequence of float, default=(1.0, 1.05, 1.1, 1.5, 2.0, 4.0)
    C : sequence of float, default=(0.1, 1.0, 10.0, 100.0)
    kernel, gamma, n_eigen, solver, landmarks
        See :class:`~domain_alignment.TKL`.
    cv : int, default=5
        Number of stratified folds; at most as many as the rarest class has labelled source rows.
    random_state : int, default=0
        Of the folds and the landmarks.

    Attributes
    ----------
    best_params_ : dict
        ``zeta`` and the ``C`` it was best with.
    best_aligner_ : TKL
    n_correct_ : ndarray of int of shape (len(zeta), len(C))
        Number of labelled source rows predicted right while left out.
    embeddings_, n_components_, n_features_in_
        Those of `best_aligner_`.

    Raises
    ------
    ValueError
        If a parameter is wrong, or the source has fewer than two labelled rows of a class.
    AlignmentError
        As TKL.

    Notes
    -----
    Cost: one eigensystem, as many programmes as values of zeta, and folds x zeta x C machines.
    Validation on the source cannot see the shift between the domains: it is a rule that needs no
    target label, not one that finds what is best for the target.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> source, target = (rng.normal(size=(40, 3)) + 3 * y[:, None] for _ in range(2))
    >>> chosen = TKLCV(solver="nnls", kernel="linear").fit([source, target], [y, None])
    >>> sorted(chosen.best_params_), chosen.n_correct_.shape
    (['C', 'zeta'], (6, 4))
    """

    _parameter_constraints: ClassVar[dict] = {
        **{
            name: TKL._parameter_constraints[name]
            for name in ("kernel", "gamma", "n_eigen", "solver", "landmarks")
        },
        "zeta": ["array-like"],
        "C": ["array-like"],
        "cv": TWO_OR_MORE,
        "random_state": ZERO_OR_MORE,
    }

    def __init__(
        self,
        zeta=(1.0, 1.05, 1.1, 1.5, 2.0, 4.0),
        C=(0.1, 1.0, 10.0, 100.0),
        kernel="rbf",
        gamma="median",
        n_eigen=500,
        solver="clarabel",
        landmarks=None,
        cv=5,
        random_state=0,
    ):
        self.zeta = zeta
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_eigen = n_eigen
        self.solver = solver
        self.landmarks = landmarks
        self.cv = cv
        self.random_state = random_state

    @property
    def capabilities(self):
        """Those of TKL, but for the labels: the source's are what zeta is chosen by."""
        return dataclasses.replace(self._tkl(1.0).capabilities, labels="source")

    def _tkl(self, zeta):
        names = ("kernel", "gamma", "n_eigen", "solver", "landmarks", "random_state")
        return TKL(zeta=zeta, **{name: getattr(self, name) for name in names})

    def _prepare(self, X, name):
        return self._tkl(1.0)._prepare(X, name)

    def _check_model(self, model, X, name):
        self._tkl(1.0)._check_model(model, X, name)

    def _fit(self, Xs, ys, models):
        for name, least in (("zeta", 1), ("C", 0)):
            _check_grid(name, getattr(self, name), least)
        system = self._tkl(self.zeta[0]).fit(Xs, prepared=models).eigensystem_
        known = ys[0] != UNLABELLED
        y, hits = ys[0][known], []
        for zeta in self.zeta:
            source, _ = system.embeddings(system.spectrum(zeta, solver=self.solver))
            hits.append(cross_validated_hits(source[known], y, self.C, self.cv, self.random_state))
        self.n_correct_ = np.array(hits)
        best = np.unravel_index(self.n_correct_.argmax(), self.n_correct_.shape)
        self.best_params_ = {"zeta": self.zeta[best[0]], "C": self.C[best[1]]}
        self.best_aligner_ = self._tkl(self.best_params_["zeta"]).fit(Xs, prepared=models)
        return self.best_aligner_.embeddings_

    def _transform(self, X, domain):
        return self.best_aligner_.transform(X, domain)


def _check_grid(name, values, least):
    numbers = isinstance(values, Iterable) and all(isinstance(value, Real) for value in values)
    if not (numbers and len(values) and min(values) >= least and np.isfinite(values).all()):
        raise ValueError(
            f"{name}={values!r}; give a list of the values to choose from, numbers of at least "
            f"{least}"
        )
