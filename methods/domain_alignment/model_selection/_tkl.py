"""TKL with parameters chosen by cross-validation on labelled source rows.

The folds depend on the labels and the seed only, so that :class:`TKLCV`, which chooses the damping
factor, and :class:`CrossValidatedSVC`, which chooses C, use the same ones and arrive at the best
pair.
"""

import dataclasses
from collections.abc import Iterable
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.metrics.pairwise import linear_kernel

from domain_alignment.base import Aligner
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.utils._cross_validation import (
    check_candidates,
    stratified_folds,
    svc_n_correct,
)
from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils._params import TWO_OR_MORE, ZERO_OR_MORE
from domain_alignment.utils.validation import UNLABELLED, domain_name


class TKLCV(Aligner):
    r"""Transfer kernel learning with the damping factor chosen by cross-validation on the source.

    :class:`~domain_alignment.TKL` with the :math:`\zeta` that, with its best C, has the highest
    cross-validated SVM accuracy on source rows, the first in the grid among ties:

    .. math:: \hat\zeta = \arg\max_\zeta \max_C \sum_k \sum_{i \in F_k}
              [\hat y_i(\zeta, C, F_k) = y_i].

    The kernel itself is learned without labels, from all rows.
    :class:`~domain_alignment.CrossValidatedSVC` with the same C, folds and seed then chooses the C
    of the best pair.

    Parameters
    ----------
    zeta : sequence of float, default=(1.0, 1.05, 1.1, 1.5, 2.0, 4.0)
    C : sequence of float, default=(0.1, 1.0, 10.0, 100.0)
    kernel, gamma, n_eigen, solver, landmarks
        See :class:`~domain_alignment.TKL`.
    cv : int, default=5
        Number of stratified folds; at most the number of labelled source rows of the rarest class.
    random_state : int, default=0
        Seed of the folds and the landmarks.

    Attributes
    ----------
    best_params_ : dict
        ``zeta`` and its best ``C``.
    best_aligner_ : TKL
    n_correct_ : ndarray of int of shape (len(zeta), len(C))
        Number of labelled source rows predicted correctly when held out.
    embeddings_, n_components_, n_features_in_
        Those of `best_aligner_`.

    Raises
    ------
    ValueError
        If a parameter is invalid, or a class has fewer than two labelled source rows.
    AlignmentError
        As TKL, or if this machine cannot hold the kernel matrix of the labelled source samples.

    Notes
    -----
    Cost: that of TKL twice, one quadratic program per zeta, and ``cv * len(zeta) * len(C)`` SVMs,
    O(cv len(zeta) len(C) n_S^3) time at most, which most of the time goes to where no kernel matrix
    is formed; O(n_S^2) memory for the kernel matrix of theirs. Needs no target label, but
    validation on the source is blind to the shift between the domains. Of TKL:

    - ``landmarks is None and not (kernel in ("linear", "cosine") and p < n_T)``: O(n^2 p + n_T^3)
      time, or O(n_T^2) per step of Lanczos; O(n^2) memory.
    - ``landmarks is None and kernel in ("linear", "cosine") and p < n_T``: O(n p^2 + p^3) time, O(n
      p + p^2) memory, and O(n_S n p) time and O(n_S n) memory for the source's kernels where it has
      fewer than 2 p samples.
    - ``landmarks is not None``: O(n l p + n l^2 + l^3) time, O(n l + l^2) memory.

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
        solver="nnls",
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
        """Those of TKL, with source labels for the selection."""
        return dataclasses.replace(self._tkl(1.0).capabilities, labels="source")

    def _tkl(self, zeta):
        names = ("kernel", "gamma", "n_eigen", "solver", "landmarks", "random_state")
        return TKL(zeta=zeta, **{name: getattr(self, name) for name in names})

    @property
    def _has_model(self):
        return True

    def _prepare(self, X, name):
        return self._tkl(1.0)._prepare(X, name)

    def _check_model(self, model, X, name):
        self._tkl(1.0)._check_model(model, X, name)

    def _fit(self, Xs, ys, models):
        check_candidates("C", self.C)
        _check_zeta(self.zeta)
        known = ys[0] != UNLABELLED
        what = "the kernel matrix of the labelled source samples"
        check_room(np.count_nonzero(known), np.count_nonzero(known), what, instead=FEWER_LABELS)
        # The least damping needs the most eigenvectors.
        system = self._tkl(min(self.zeta)).fit(Xs, prepared=models).eigensystem_
        y, n_correct = ys[0][known], []
        folds = stratified_folds(
            y, self.cv, self.random_state, f"{domain_name(0)}: its labelled samples"
        )
        zetas, Cs = (np.asarray(values).tolist() for values in (self.zeta, self.C))
        for zeta in zetas:
            source, _ = system.embeddings(system.spectrum(zeta, solver=self.solver))
            K = linear_kernel(source[known])
            n_correct.append(svc_n_correct(K, y, Cs, folds))
        self.n_correct_ = np.array(n_correct)
        best = np.unravel_index(self.n_correct_.argmax(), self.n_correct_.shape)
        self.best_params_ = {"zeta": zetas[best[0]], "C": Cs[best[1]]}
        self.best_aligner_ = self._tkl(self.best_params_["zeta"]).fit(Xs, prepared=models)
        return self.best_aligner_.embeddings_

    def _transform(self, X, domain):
        return self.best_aligner_._embed(X, domain)


def _check_zeta(values):
    numbers = isinstance(values, Iterable) and all(isinstance(value, Real) for value in values)
    if not (numbers and len(values) and min(values) >= 1 and np.isfinite(values).all()):
        raise ValueError(f"zeta={values!r}; give a list of candidates, numbers of at least 1")
