"""Base of the transfer component methods: samples, coordinates, scaling and the map."""

import warnings
from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.distribution._joint_features import (
    JointFeatures,
    JointParams,
    PreparedDomain,
)
from domain_alignment.kernels._pairwise import PAIRWISE_KERNELS
from domain_alignment.kernels._sample_coordinates import FORMULATIONS
from domain_alignment.utils._params import COUNT, POSITIVE, StrOptions
from domain_alignment.utils._rows import unit_rows
from domain_alignment.utils.eigen import fix_signs
from domain_alignment.utils.validation import UNLABELLED, require_labelled

SCALINGS = ("unit", "constraint", "objective")


class ComponentAligner(Aligner):
    """Base of TCA, SSTCA and JDA.

    A subclass has the parameters ``n_components, formulation, kernel, gamma, scaling, unit_rows,
    source_rows`` and implements ``_components(joint, y)``: ratios and directions in the given
    :class:`JointFeatures`, the source's with labels y; directions a are scaled to
    :math:`a^T B a = 1` for the penalty B.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "formulation": [StrOptions(set(FORMULATIONS))],
        "kernel": [StrOptions(set(PAIRWISE_KERNELS)), callable],
        "gamma": [StrOptions({"median"}), *POSITIVE],
        "scaling": [StrOptions(set(SCALINGS))],
        "unit_rows": ["boolean"],
        "source_rows": [StrOptions({"all", "labelled"})],
    }
    _model_type = PreparedDomain
    _keeps_samples = False  # beside their coordinates, for what looks at them later
    landmarks, random_state = None, 0  # of those that take landmarks, parameters
    _features_reason = "one map cannot serve both"

    @property
    def capabilities(self):
        """What this instance can do; scaling rows to length 1 is nonlinear too."""
        reads_labels = self._uses_labels or self.source_rows == "labelled"
        return Capabilities(
            labels="source" if reads_labels else "none",
            nonlinear=self.unit_rows or self.kernel != "linear",
        )

    @property
    @abstractmethod
    def _uses_labels(self):
        """Whether the components depend on labels of the source."""

    @abstractmethod
    def _components(self, joint, y):
        """Ratios, descending, and directions of shape (q, d)."""

    @property
    def _model_params(self):
        draws = self.landmarks is not None and self.kernel != "linear"
        return JointParams(
            self.formulation,
            self.kernel,
            self.gamma,
            self.unit_rows,
            self._keeps_samples,
            self.landmarks,
            self.random_state if draws else 0,
        )

    def _prepare(self, X, name):
        return PreparedDomain(X.shape, self._model_params)

    def _fit(self, Xs, ys, models):
        if self.formulation == "primal" and self.kernel != "linear":
            raise ValueError(
                f'kernel={self.kernel!r} has no primal; use formulation="dual", or kernel="linear"'
            )
        seen = self._seen_rows(ys[0])
        joint = self._joint(Xs, seen, models)
        features = joint.features
        self.ratios_, directions = self._components(joint, ys[0][seen])
        self._warn_of_few(directions.shape[1])
        directions = self._scaled(self.ratios_, directions)
        coefficients = features.coefficients(directions)
        signs = fix_signs(coefficients)
        self._features, self._coefficients = features, coefficients * signs
        self.gamma_ = features.gamma
        self.coef_ = self._coefficients if features.kernel is None else None
        self.dual_coef_ = None if features.kernel is None else self._coefficients
        scores = self._finished(features.values @ (directions * signs))
        return self._embed_all(Xs[0], seen, scores)

    def _joint(self, Xs, seen, models):
        source, target = models
        if seen.all():
            return source.joined(target, lambda: JointFeatures(*Xs, self._model_params))
        return JointFeatures(Xs[0][seen], Xs[1], self._model_params)

    def _seen_rows(self, y):
        if self.capabilities.labels == "source":
            name = type(self).__name__
            require_labelled(y, 0, f"{name} with these parameters learns from labels of the source")
        return y != UNLABELLED if self.source_rows == "labelled" else np.ones(len(y), dtype=bool)

    def _warn_of_few(self, n_found):
        if n_found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} exceeds the rank of the centred samples; the "
                f"embedding has {n_found} components",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _scaled(self, ratios, directions):
        """Directions with a'Ba = 1, rescaled as requested."""
        if self.scaling == "unit":
            return directions / np.linalg.norm(directions, axis=0)
        return directions / np.sqrt(ratios) if self.scaling == "constraint" else directions

    def _finished(self, scores):
        """Coordinates from scores."""
        return unit_rows(scores) if self.unit_rows else scores

    def _embed_all(self, source, seen, embedded):
        of_source, of_target = np.split(embedded, [np.count_nonzero(seen)])
        if seen.all():
            return [of_source, of_target]
        whole = np.empty((len(seen), embedded.shape[1]))
        whole[seen] = of_source
        whole[~seen] = self._transform(source[~seen], 0)
        return [whole, of_target]

    def _transform(self, X, domain):
        X = unit_rows(X) if self.unit_rows else X
        return self._finished(self._features.scores(X, self._coefficients))
