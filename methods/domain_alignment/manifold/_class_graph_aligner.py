"""Base class of KEMA and SSMA: graphs, eigenproblem, standardisation, maps between domains."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._class_graphs import (
    check_graphs,
    class_graphs,
    class_laplacians,
    laplacian_factor,
)
from domain_alignment.manifold._domain_graph import DomainGraph, domain_graph
from domain_alignment.manifold._range_eigenproblem import GraphTerms, solve_in_range
from domain_alignment.manifold._score_scaling import identity_scales, standard_scales
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, StrOptions
from domain_alignment.utils.eigen import fix_signs
from domain_alignment.utils.graphs import SEARCHES
from domain_alignment.utils.validation import dense, domain_name


class ManifoldAligner(Aligner):
    """Alignment by the smallest generalised eigenvectors of neighbour and class graphs.

    A subclass provides the columns of each domain and the parameters of its graph.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "n_neighbors": COUNT,
        "mu": NOT_NEGATIVE,
        "ridge": NOT_NEGATIVE,
        "standardize": ["boolean"],
        "neighbors": [StrOptions(set(SEARCHES))],
    }
    _model_type = DomainGraph

    def fit(self, Xs, ys=None, prepared=None, similar=None, dissimilar=None):
        """Align the domains.

        Parameters
        ----------
        Xs : list of array-like or sparse matrices of shape (n_a, p_a)
            One per domain, the target last.
        ys : list of array-like of int of shape (n_a,), optional
            Labels from 0; -1, an entry of ``None`` or no list at all means unlabelled.
        prepared : list, optional
            Results of :meth:`prepare`, one per domain; ``None`` entries are computed.
        similar, dissimilar : array-like of int of shape (m, 4), optional
            Pairs that replace the class graphs, one per row: domain, sample, domain, sample. With
            `similar` alone and no label, samples in different connected components are dissimilar
            (alignment by correspondences); see ``_class_graphs.py``.

        Returns
        -------
        self : ManifoldAligner
        """
        # Passed as an attribute because the base class calls `_fit` without the pairs.
        self._pairs = (similar, dissimilar)
        try:
            super().fit(Xs, ys, prepared)
        finally:
            del self._pairs
        for columns in self._columns_of:
            columns.release()
        return self

    @abstractmethod
    def _columns(self, Xs, graphs, models):
        """Columns of each domain, from its samples, the ClassGraphs and the DomainGraphs."""

    @abstractmethod
    def _graph_params(self, domain):
        """GraphParams of a domain; None if they depend on its position and `domain` is None."""

    @property
    @abstractmethod
    def _rank_rule(self):
        """Dimensions of the range to keep: a number or "auto"."""

    def _label_free_widths(self, X, name):
        """Kernel widths that need no labels, by (kernel, rule)."""
        return {}

    @property
    def _model_params(self):
        return self._graph_params(None)

    @property
    def _has_model(self):
        return self._model_params is not None

    def _prepare(self, X, name):
        if not self._has_model:
            return None
        return domain_graph(X, self._model_params, self._label_free_widths(X, name), name)

    def _check_room(self, Xs, ys):
        # Of pairs what they name counts, see `class_graphs`.
        if all(pairs is None for pairs in self._pairs):
            check_graphs(sum(np.count_nonzero(y >= 0) for y in ys))

    def _fit(self, Xs, ys, models):
        graphs = class_graphs(ys, *self._pairs)
        models = [
            domain_graph(X, self._graph_params(domain), name=domain_name(domain))
            if model is None
            else model
            for domain, (X, model) in enumerate(zip(Xs, models, strict=True))
        ]
        columns = self._columns(Xs, graphs, models)
        terms = self._terms(graphs, models)
        solution = solve_in_range(columns, terms, self.n_components, self._rank_rule)
        scales = identity_scales(solution.scores)
        if self.standardize:
            scales = standard_scales(solution.scores, terms.rows, graphs.groups)
        # Common sign of a column over all domains: domain 0's largest entry is positive.
        signs = fix_signs(scales[0](solution.scores[0]))
        self.neighbor_recall_ = [model.recall for model in models]
        self.eigenvalues_ = solution.eigenvalues
        self.rank_ = solution.rank
        self.score_scales_ = [scale.flipped(signs) for scale in scales]
        self._coefficients = [part * signs for part in solution.coefficients]
        self._columns_of = columns
        self._weights = [
            block.weights(coefficients)
            for block, coefficients in zip(columns, self._coefficients, strict=True)
        ]
        return [
            scale(part * signs)
            for scale, part in zip(self.score_scales_, solution.scores, strict=True)
        ]

    def _terms(self, graphs, models):
        total = sum(model.total for model in models)
        n_samples = sum(model.shape[0] for model in models)
        Ls, Ld = class_laplacians(graphs, total, n_samples)
        return GraphTerms(
            laplacians=[model.laplacian for model in models],
            rows=graphs.rows,
            similarity=self.mu * Ls,
            factor=laplacian_factor(Ld),
            ridge=self.ridge,
        )

    def _transform(self, X, domain):
        return self.score_scales_[domain](self._raw_scores(X, domain))

    def _raw_scores(self, X, domain):
        return self._columns_of[domain].project(X, self._weights[domain])

    def map_to(self, X, source, target, n_components=None):
        r"""Map samples of one domain into the features of another.

        .. math:: P(X_j) = V_i^{\dagger T} F_j

        (samples in columns) with the raw scores :math:`F_j` of the samples, neither standardised
        nor sign-flipped, and the linear map :math:`V_i` from the target's features to its scores.
        This is Eq. 3 of the KEMA paper for SSMA, :math:`(v_j v_i^\dagger)^T X_j`, and Eq. 9 for
        KEMA, :math:`(\alpha_j (X_i \alpha_i)^\dagger)^T K_j`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p_source)
        source, target : int
            Positions of the two domains in ``Xs``; negative values count from the end.
        n_components : int, optional
            Number of leading components to use, all by default. The result depends strongly on it.

        Returns
        -------
        mapped : ndarray of shape (n, p_target)

        Raises
        ------
        ValueError
            If a domain or the number of components does not exist, or `X` has another number of
            features.
        AlignmentError
            If the target's scores are not linear in its features.

        Notes
        -----
        With fewer components than target features the images lie in a subspace; with more, the
        pseudo-inverse fits the scores by least squares. The paper does not state the number used;
        no choice reproduces its figure.
        """
        check_is_fitted(self, "embeddings_")
        kept = self.n_components_ if n_components is None else n_components
        if kept not in range(1, self.n_components_ + 1):
            raise ValueError(f"n_components={n_components}, but {self.n_components_} were fitted")
        X, source = self._checked(X, source)
        V = self._linear_map(self._position(target))
        return self._raw_scores(X, source)[:, :kept] @ linalg.pinv(V[:, :kept])

    def _inverse_transform(self, Z, domain):
        scores = self.score_scales_[domain].undone(dense(Z))
        return scores @ linalg.pinv(self._linear_map(domain))

    def _linear_map(self, domain):
        """The linear map from a domain's features to its scores."""
        V = self._columns_of[domain].primal(self._weights[domain])
        if V is None:
            raise AlignmentError(
                f"{domain_name(domain)}: its scores are not linear in its features and have no "
                'closed-form inverse; use kernel="linear" for this domain, as in '
                'KEMA(kernel=["linear", "rbf"])'
            )
        return V
