"""Base class of the max-margin domain transforms."""

import dataclasses
import hashlib
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities, ClassScoresMixin
from domain_alignment.max_margin._low_rank_transform import TransformSolution, regularizer
from domain_alignment.max_margin._one_vs_all import one_vs_all
from domain_alignment.max_margin._solver import solve_transform
from domain_alignment.utils._dense_eigen import dense_eigenpairs
from domain_alignment.utils._params import COUNT, POSITIVE
from domain_alignment.utils._rows import (
    COPIED_VALUES,
    centred_gram,
    map_rows,
    row_basis,
    stacked,
)
from domain_alignment.utils.validation import (
    UNLABELLED,
    check_matrix,
    dense,
    domain_name,
)


class MarginTransform(ClassScoresMixin, Aligner):
    """Base of MMDT, LS-MMDT and DomainSVM: training rows, preprocessing and classification.

    A subclass implements ``_alternate(source, target, y_source, y_target)``, which sets
    ``transform_`` and ``coef_`` from the labelled samples, including the constant feature.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C_source": POSITIVE,
        "C_target": POSITIVE,
        "n_pca": [*COUNT, None],
        "fit_intercept": ["boolean"],
        "tol": POSITIVE,
        "max_sweeps": COUNT,
        "svm_tol": POSITIVE,
        "random_state": ["random_state"],
    }

    _features_reason = "n_pca, W = I and an SVM of the source need equal ones"

    # SVMs trained before any W, by what they were trained on, with the random state after that: set
    # by a search whose fits share them, and have the same random state at first.
    _known_svms = None

    @property
    def capabilities(self):
        """Capabilities of this instance."""
        return Capabilities(labels="source+target", heterogeneous=self._takes_unequal_features())

    @property
    def classifier_rows(self):
        """Both domains, as in the estimator itself."""
        return "source+target"

    def _takes_unequal_features(self):
        return self.n_pca is None

    def _start(self, source, target, regularize):
        """Begin with W = W_0 of these features."""
        shape = source.shape[1], target.shape[1]
        self.transform_ = TransformSolution.untrained(*shape, regularizer(regularize, *shape))

    def _labelled_domains(self):
        """Domains whose labels are used."""
        return (0, 1)

    def _fit(self, Xs, ys, models):
        labelled = [y != UNLABELLED for y in ys]
        parts = [Xs[0][labelled[0]], Xs[1]]
        self.axes_ = None if self.n_pca is None else principal_axes(parts, self.n_pca)
        for domain, rows in enumerate(labelled):
            if domain not in self._labelled_domains():
                rows[:] = False
            elif not rows.any():
                raise ValueError(
                    f"{domain_name(domain)}: none of its {len(rows)} samples is labelled, and "
                    f"{type(self).__name__} learns from its labels; label some"
                )
        known = [y[rows] for y, rows in zip(ys, labelled, strict=True)]
        self.classes_, codes = np.unique(np.concatenate(known), return_inverse=True)
        self._learn(
            [self._projected(X[rows]) for X, rows in zip(Xs, labelled, strict=True)],
            np.split(codes, [len(known[0])]),
        )
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _learn(self, labelled, codes):
        """Hyperplanes and transform, computed in the span of the labelled samples if it is small.

        They lie in it (but for W_0): losses know samples by inner products, and the rest is norms.
        """
        basis = row_basis(labelled)
        inner = labelled if basis is None else [X @ basis for X in labelled]
        self._rng = check_random_state(self.random_state)
        self._alternate(*map(self._with_constant, inner), *codes)
        del self._rng
        if basis is not None:
            self.coef_ = self._lifted(self.coef_, basis)
            V, beta = (self._lifted(M, basis) for M in (self.transform_.V, self.transform_.beta))
            self.transform_ = dataclasses.replace(self.transform_, V=V, beta=beta)

    def _lifted(self, hyperplanes, basis):
        """Hyperplanes of samples in coordinates, the constant's weight first, in the features."""
        constant, inner = np.split(hyperplanes, [int(self.fit_intercept)], axis=1)
        return np.hstack([constant, inner @ basis.T])

    def _features(self, X):
        """Project on ``axes_`` if any, and prepend the constant feature if ``fit_intercept``."""
        return self._with_constant(self._projected(X))

    def _projected(self, X):
        if self.axes_ is None:
            return X
        return safe_sparse_dot(X, self.axes_, dense_output=True)

    def _with_constant(self, X):
        """The constant comes first so that a truncated identity maps it to itself."""
        if not self.fit_intercept:
            return X
        if sparse.issparse(X):
            return _ones_before(X)
        return np.hstack([np.ones((X.shape[0], 1)), X])

    def _joint_hyperplanes(self, source, target, y_source, y_target):
        """SVMs of the labelled source and the mapped labelled target."""
        mapped = self.transform_.apply(target)
        return self._hyperplanes(
            stacked([source, mapped if sparse.issparse(source) else dense(mapped)]),
            np.concatenate([y_source, y_target]),
            np.repeat([self.C_source, self.C_target], [len(y_source), len(y_target)]),
        )

    def _hyperplanes(self, X, y, weights):
        train = partial(one_vs_all, tol=self.svm_tol, random_state=self._rng)
        if self._known_svms is None or len(self.transform_.V):  # only the first ones come again
            return train(X, y, weights, len(self.classes_))
        key = (*map(_digest, (X, y, weights)), len(self.classes_), self.svm_tol)
        if key not in self._known_svms:
            coef = train(X, y, weights, len(self.classes_))
            self._known_svms[key] = coef, self._rng.get_state()
        coef, after = self._known_svms[key]
        self._rng.set_state(after)
        return coef

    def _solve(self, target, y, C, loss):
        start = self.transform_ if self.transform_.alpha.size else None
        return solve_transform(
            self.coef_,
            target,
            y,
            C,
            loss=loss,
            regularize=self.transform_.regularize,
            tol=self.tol,
            max_sweeps=self.max_sweeps,
            random_state=self._rng,
            warm_start=start,
        )

    def _transform(self, X, domain):
        if not domain or self.transform_.is_identity:  # sparse features stay sparse
            return self._features(X)
        most = None if sparse.issparse(X) else COPIED_VALUES  # to cut sparse rows takes time
        return map_rows(lambda rows: self.transform_.moved(self._features(rows)), X, most)

    def _class_scores(self, X, domain):
        return self._scores(X, domain, self.coef_)

    def decision_new(self, X, source_classifiers):
        """Scores of target samples by source classifiers; see :meth:`predict_new`."""
        coef, intercept, _ = self._read_classifiers(source_classifiers)
        return self._scores(X, -1, coef) + intercept

    def predict_new(self, X, source_classifiers):
        r"""Classify target samples into categories not used to learn the transform.

        A linear classifier of the source scores the mapped sample, :math:`\theta^T W (1, x)`; no
        target sample of the category is needed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_target)
        source_classifiers : linear classifier, or array-like of shape (n_categories, p)
            A fitted classifier with ``coef_``, ``intercept_`` and ``classes_`` in the source
            features (with `n_pca`: in ``X @ axes_``), or hyperplanes, optionally with the
            constant's weight first.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classifier's classes, or indices of the hyperplanes.

        Raises
        ------
        ValueError
            If the hyperplanes do not match the source features.
        """
        scores = self.decision_new(X, source_classifiers)
        return self._read_classifiers(source_classifiers)[2][scores.argmax(axis=1)]

    def _read_classifiers(self, classifiers):
        """Hyperplanes with the constant's weight, offsets of their scores, and class names."""
        width = self._checked_coef().shape[1]
        intercept = getattr(classifiers, "intercept_", 0.0)
        coef = getattr(classifiers, "coef_", classifiers)
        if hasattr(classifiers, "coef_") and np.ndim(coef) == 1:  # RidgeClassifier of two classes
            coef = np.atleast_2d(coef)
        coef = check_matrix(coef, "source_classifiers")
        names = getattr(classifiers, "classes_", np.arange(coef.shape[0]))
        if len(names) == 2 and coef.shape[0] == 1:  # scikit-learn's binary form
            coef, intercept = np.vstack([-coef, coef]), np.r_[-intercept, intercept]
        intercept = np.broadcast_to(intercept, len(coef))
        if self.fit_intercept and coef.shape[1] == width - 1:
            coef, intercept = np.column_stack([intercept, coef]), 0.0
        if coef.shape[1] != width:
            n_features = width - bool(self.fit_intercept)
            reduced = n_features != self.n_features_in_[0]
            trained_on = "its principal components" if reduced else "it"
            raise ValueError(
                f"source_classifiers have {coef.shape[1]} features, but the source has "
                f"{n_features}{' components' if reduced else ''}; give classifiers trained on "
                f"{trained_on}"
            )
        return coef, intercept, names

    def _checked_coef(self):
        check_is_fitted(self, "coef_")
        return self.coef_

    def _scores(self, X, domain, coef):
        X, domain = self._checked(X, domain)
        X = self._features(X)
        if domain == 0:
            if X.shape[1] != coef.shape[1]:
                raise ValueError(
                    f"domain 0 has {self.n_features_in_[0]} features and the hyperplanes are of "
                    f"the target, with {self.n_features_in_[1]}; predict the target"
                )
            return X @ coef.T
        return self.transform_.scores(X, coef)


def _digest(X):
    """A key of the values of an array, dense or CSR."""
    arrays = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    parts = (hashlib.blake2b(np.ascontiguousarray(part)).digest() for part in arrays)
    return X.shape, *parts


def _ones_before(X):
    """A CSR matrix with a column of ones in front; to stack them would sort all values anew."""
    starts = X.indptr[:-1]
    data = np.insert(X.data, starts, 1.0)
    columns = np.insert(X.indices + 1, starts, 0)
    # liblinear takes no 64-bit ones.
    short = data.size <= np.iinfo(np.int32).max
    ends = X.indptr + np.arange(X.shape[0] + 1, dtype=X.indptr.dtype if short else np.int64)
    return type(X)((data, columns, ends), shape=(X.shape[0], X.shape[1] + 1))


def principal_axes(parts, n_axes):
    """Leading principal axes of the stacked rows of several matrices.

    Parameters
    ----------
    parts : list of ndarray or CSR matrices, each of shape (n_a, p)
    n_axes : int

    Returns
    -------
    axes : ndarray of shape (p, n_axes)
        Orthonormal, by decreasing variance; signs are arbitrary.

    Raises
    ------
    ValueError
        If the centred rows have a lower rank.

    Notes
    -----
    Eigenvectors of the smaller of the (p, p) and (n, n) matrices of inner products of n rows;
    forming it takes O(n p min(n, p)).
    """
    X = stacked(parts)
    mean = np.asarray(X.mean(axis=0)).ravel()
    if not sparse.issparse(X):
        X, mean = X - mean, np.zeros_like(mean)
    by_rows = X.shape[0] < X.shape[1]
    products = centred_gram(X, mean, by_rows)
    size, total = len(products), np.trace(products)
    pairs = dense_eigenpairs(products, first=max(size - n_axes, 0))
    values, vectors = (part[..., ::-1] for part in pairs)
    n_found = int(np.sum(values > 1e-12 * total))
    if n_found < n_axes:
        raise ValueError(
            f"n_pca={n_axes}, but the labelled source samples and the target samples have only "
            f"{n_found} principal axes; ask for at most that"
        )
    if not by_rows:
        return vectors
    # The (n, n) eigenvectors are orthogonal to the constant, so the mean drops out.
    axes = safe_sparse_dot(X.T, vectors) - np.outer(mean, vectors.sum(axis=0))
    basis, triangle = np.linalg.qr(axes / np.sqrt(values))  # small axes are so to few digits
    return basis * np.sign(np.diag(triangle))
