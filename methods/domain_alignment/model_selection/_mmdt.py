"""Max-margin domain transforms with costs chosen by cross-validation on labelled target rows."""

import dataclasses
import itertools
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from domain_alignment.max_margin._base import principal_axes
from domain_alignment.max_margin._mmdt import LSMMDT, MMDT
from domain_alignment.model_selection._search import ParameterSelection
from domain_alignment.utils._cross_validation import check_candidates
from domain_alignment.utils._params import StrOptions
from domain_alignment.utils._rows import row_basis
from domain_alignment.utils.validation import UNLABELLED


class MMDTCV(ParameterSelection):
    r"""A max-margin domain transform with costs chosen by cross-validation on labelled target rows.

    :class:`~domain_alignment.AlignerSearchCV` over the grid of costs, scored by the transform's own
    SVMs.

    Parameters
    ----------
    method : {"mmdt", "ls_mmdt", "svm"}, default="mmdt"
        :class:`~domain_alignment.MMDT`, :class:`~domain_alignment.LSMMDT`, or the SVM on both
        domains with W = I, as an ablation of the transform.
    C_source : list of float, default=(0.05, 0.01, 0.001)
    C_target : list of float, default=(1.0, 0.1, 0.01)
        Candidates; the demo's come first and win ties.
    C_transform : list of float, default=(5e-5, 1e-2)
        Cost of the target samples in the W step, as in LSMMDT; MMDT's gamma is twice that. Not used
        by "svm".
    n_pca : int, optional
        As for MMDT; the axes do not depend on target labels, so all fits share them.
    cv : int, default=3
    random_state : int, RandomState or None, default=0
        Folds as for AlignerSearchCV; the solvers are seeded with 0 in every fit.

    Attributes
    ----------
    best_params_ : dict
        ``C_source``, ``C_target`` and, except for "svm", ``C_transform``.
    best_aligner_ : MMDT or LSMMDT
    axes_ : ndarray of shape (p, n_pca), or None
    classes_ : ndarray of shape (n_classes,)
    cv_results_ : dict
    embeddings_, n_components_, n_features_in_
        As for :class:`~domain_alignment.AlignerSearchCV`.

    Raises
    ------
    ValueError
        As :class:`~domain_alignment.AlignerSearchCV` and MMDT.

    Notes
    -----
    Cost: folds x candidates + 1 fits on one projection, all but the last of l labelled samples
    alone, so that these do not grow with the others: O(cv len(C_source) len(C_target) n_classes l
    min(l, p)) per pass of liblinear. The last one embeds all n samples, O(n_classes n p) time and
    O(n p) memory.

    - ``method != "svm"``: ``len(C_transform)`` times as many fits, O(cv len(C_source) len(C_target)
      len(C_transform) n_classes (l + n_classes) min(l, p)) per pass, and per sweep of
      :func:`~domain_alignment.max_margin.solve_transform`.
    - ``p > l``: O(l^2 p) once, for the span of few samples as in :class:`~domain_alignment.LSMMDT`.

    References
    ----------
    .. [1] E. Rodner, J. Hoffman, J. Donahue, T. Darrell, K. Saenko. Transform-based Domain
       Adaptation for Big Data. 2013; there the target's cost is "tuned using cross-validation on a
       smaller dataset", here on the labelled target rows of the task.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import MMDTCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> Xs = [4 * np.eye(3)[y] + rng.normal(size=(60, 3)) for _ in range(2)]
    >>> seen = np.where(np.arange(60) % 20 < 3, y, -1)  # three labels per class
    >>> chosen = MMDTCV("svm").fit(Xs, [y, seen])
    >>> sorted(chosen.best_params_), chosen.predict(Xs[1]).shape
    (['C_source', 'C_target'], (60,))
    """

    _parameter_constraints: ClassVar[dict] = {
        "method": [StrOptions({"mmdt", "ls_mmdt", "svm"})],
        "C_source": [list, tuple],
        "C_target": [list, tuple],
        "C_transform": [list, tuple],
        "n_pca": MMDT._parameter_constraints["n_pca"],
        "cv": ParameterSelection._parameter_constraints["cv"],
        "random_state": ["random_state"],
    }
    _features_reason = MMDT._features_reason

    def __init__(
        self,
        method="mmdt",
        C_source=(0.05, 0.01, 0.001),
        C_target=(1.0, 0.1, 0.01),
        C_transform=(5e-5, 1e-2),
        n_pca=None,
        cv=3,
        random_state=0,
    ):
        self.method = method
        self.C_source = C_source
        self.C_target = C_target
        self.C_transform = C_transform
        self.n_pca = n_pca
        self.cv = cv
        self.random_state = random_state

    def _validate_params(self):
        super()._validate_params()
        for name in ("C_source", "C_target", "C_transform"):
            if name != "C_transform" or self.method != "svm":
                check_candidates(name, getattr(self, name))

    @property
    def capabilities(self):
        """Those of the first candidate; `n_pca` needs equal features."""
        able = super().capabilities
        return dataclasses.replace(able, heterogeneous=able.heterogeneous and self.n_pca is None)

    def _candidates(self):
        make = {
            "svm": lambda C: MMDT(n_iterations=0),
            "mmdt": lambda C: MMDT(gamma=2 * C),
            "ls_mmdt": lambda C: LSMMDT(C_transform=C),
        }[self.method]
        unused = self.method == "svm"
        listed = []
        for C_s, C_t, C in itertools.product(
            self.C_source, self.C_target, (1.0,) if unused else self.C_transform
        ):
            costs = {"C_source": C_s, "C_target": C_t}
            aligner = make(C).set_params(**costs, random_state=0)
            listed.append((costs if unused else {**costs, "C_transform": C}, aligner))
        return listed

    def _fit(self, Xs, ys, models):
        self.axes_ = None
        if self.n_pca is not None:
            self.axes_ = principal_axes([Xs[0][ys[0] != UNLABELLED], Xs[1]], self.n_pca)
        Xs = [self._projected(X) for X in Xs]
        self._known = self._labelled_samples(Xs, ys)
        self._known_svms = None if self.method == "svm" else {}  # whose SVMs all differ
        try:
            embeddings = super()._fit(Xs, ys, models)
        finally:
            del self._known, self._known_svms
        self.classes_ = self.best_aligner_.classes_
        return embeddings

    def _labelled_samples(self, Xs, ys):
        """What candidates see of each domain, in the span of it all if that is small."""
        samples = [X[y != UNLABELLED] for X, y in zip(Xs, ys, strict=True)]
        basis = row_basis(samples)
        return samples if basis is None else [X @ basis for X in samples]

    def _projected(self, X):
        return X if self.axes_ is None else safe_sparse_dot(X, self.axes_, dense_output=True)

    def _predict_hidden(self, aligner, Xs, ys, prepared, hidden):
        # SVMs and transform learn from labelled rows alone; a fit embeds every row it is given.
        source, target = self._known
        rows = [np.flatnonzero(y != UNLABELLED) for y in ys]
        left_out = np.searchsorted(rows[-1], hidden)
        seen = np.delete(np.arange(len(rows[-1])), left_out)
        labels = [ys[0][rows[0]], ys[-1][rows[-1][seen]]]
        aligner = clone(aligner)
        aligner._known_svms = self._known_svms
        aligner.fit([source, target[seen]], labels, prepared)
        return aligner.predict(target[left_out])

    def _transform(self, X, domain):
        return self.best_aligner_._embed(self._projected(X), domain)

    def predict(self, X, domain=-1):
        """Predict classes by the chosen transform and its SVMs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.
        """
        check_is_fitted(self, "best_aligner_")
        X, domain = self._checked(X, domain)
        return self.best_aligner_.predict(self._projected(X), domain)
