"""The classifier of the experiments of CORAL's authors."""

import dataclasses
from typing import ClassVar

from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from domain_alignment.mapping._coral import CORAL
from domain_alignment.utils._cross_validation import (
    check_candidates,
    precomputed_svc,
    stratified_folds,
    svc_n_correct,
)
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._params import COUNT, TWO_OR_MORE, ZERO_OR_MORE
from domain_alignment.utils._rows import times_map
from domain_alignment.utils.validation import domain_name, labelled_source_rows


class AsymmetricCORAL(CORAL):
    r"""CORAL with the classifier of its authors' experiments, whose kernel is not symmetric.

    A one-vs-one SVM on the source, trained with the "kernel" of the first line and evaluated with
    that of the second:

    .. math:: K(x_i, x_j) &= x_i^T A\, x_j, \quad i, j \text{ in the source}; \\
              K(x, x_j) &= x^T (A^T x_j), \quad x \text{ in the target} .

    It is neither symmetric nor positive semi-definite. An SVM on mapped source samples has
    :math:`x_i^T A A^T x_j` instead; for that, use :class:`CORAL` and any linear classifier. Of
    CORAL's published numbers on the SURF features of Office-Caltech with all source labels this
    kernel gives most.

    Parameters
    ----------
    ridge
        As for :class:`CORAL`.
    C : sequence of float, default=(1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4)
        Candidate costs, the authors'.
    cv : int, default=2
        Number of stratified folds of the labelled source to choose C by; the first wins ties.
    random_state : int, default=0
        Shuffles the samples before folding. The authors fix no seed, and on some pairs of domains
        the C that is chosen depends on it.
    max_iter : int, default=200_000
        Iteration limit of each SVM (libsvm's own is 10 million, scikit-learn has none): with an
        indefinite kernel or columns of very different scales it might not stop by itself. On the
        SURF features of Office-Caltech at most 1,515 are needed.
    source_rows
        As for :class:`CORAL`.

    Attributes
    ----------
    embeddings_, map_, n_components_, n_features_in_
        As for :class:`CORAL`.
    best_C_ : float
    n_correct_ : ndarray of int of shape (len(C),)
        Number of labelled source samples predicted correctly when held out.
    machine_ : SVC
        Fitted on the kernel matrix of the labelled source samples.
    classes_ : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        As :class:`CORAL`; or if the labelled source has fewer than two classes, or a class with one
        sample.
    AlignmentError
        As :class:`CORAL`.

    Warns
    -----
    ConvergenceWarning
        If an SVM stopped at `max_iter`.

    Notes
    -----
    Cost: that of CORAL, O(n p m_a + m_a^3) time and O(n p + p m_a) memory with m_a = min(n_a, p),
    O(l^2 p) time and O(l^2) memory for the matrix of l labelled source samples, and ``cv * len(C) +
    1`` SVMs on it, O(cv len(C) l^3) time at most, which is most of it if l is large. With an
    indefinite kernel the dual is not concave: an SVM may run to `max_iter`, and where libsvm meets
    its tolerance need not be a maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import AsymmetricCORAL
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> source = rng.normal(size=(40, 3)) + np.where(y[:, None] == 1, 2, -2)
    >>> target = 1.5 * (rng.normal(size=(40, 3)) + np.where(y[:, None] == 1, 2, -2))
    >>> model = AsymmetricCORAL().fit([source, target], [y, None])
    >>> bool(np.mean(model.predict(target) == y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **CORAL._parameter_constraints,
        "C": ["array-like"],
        "cv": TWO_OR_MORE,
        "random_state": ZERO_OR_MORE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        ridge=1.0,
        C=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4),
        cv=2,
        random_state=0,
        max_iter=200_000,
        source_rows="all",
    ):
        super().__init__(ridge, source_rows)
        self.C = C
        self.cv = cv
        self.random_state = random_state
        self.max_iter = max_iter

    @property
    def capabilities(self):
        """Those of CORAL, with the source labels for the classifier."""
        return dataclasses.replace(super().capabilities, labels="source")

    @property
    def classifier_rows(self):
        """The source's, as in the estimator's own classifier."""
        return "source"

    def _fit(self, Xs, ys, models):
        candidates = check_candidates("C", self.C)
        rows = labelled_source_rows(ys[0])
        y = ys[0][rows]
        check_room(y.size, y.size, "CORAL's kernel of the labelled source samples")
        folds = stratified_folds(
            y, self.cv, self.random_state, f"{domain_name(0)}: its labelled samples"
        )
        embeddings = super()._fit(Xs, ys, models)
        self._samples = Xs[0][rows]
        self._mapped, K = self._learnt_from(Xs[0], embeddings[0], rows)
        self.n_correct_ = svc_n_correct(K, y, candidates, folds, self.max_iter)
        self.best_C_ = float(candidates[self.n_correct_.argmax()])
        self.machine_ = precomputed_svc(self.best_C_, max_iter=self.max_iter).fit(K, y)
        self.classes_ = self.machine_.classes_
        return embeddings

    def _color_fitted(self, X):
        kept = self._kept(X)
        return self._color(X) if kept is None else kept.samples.copy()

    def _learnt_from(self, X, embedding, rows):
        """Labelled source samples, mapped, and their kernel."""
        kept = self._kept(X)
        if kept is None:
            mapped = embedding[rows]
            return mapped, self._products(mapped, self._samples)
        return kept.learnt_from(rows, lambda mapped: self._products(mapped, self._samples))

    def _kept(self, X):
        # The classifier alone learns from labels: fits without those of a fold map alike.
        source, target = self._covariances
        return source.mapped(target, self.ridge, self._color) if X is source.X else None

    @staticmethod
    def _products(A, B):
        return times_map(B, A.T).T if sparse.issparse(B) else A @ B.T

    def predict(self, X, domain=-1):
        """Classes of samples, each as one of its domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "embeddings_")
        domain = self._position(domain)
        if domain == 0:
            K = self._products(self._embed(X, domain), self._samples)
        elif domain in self.unmoved_domains:  # no dense copy of sparse samples
            K = times_map(self._checked(X, domain)[0], self._mapped.T)
        else:
            K = self._embed(X, domain) @ self._mapped.T
        return self.machine_.predict(K)
