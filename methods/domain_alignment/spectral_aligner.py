"""What FMA and SMA share: parameters, the label-free spectra, scaling, maps to the common space."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from domain_alignment.base import Aligner, AlignmentError, Capabilities
from domain_alignment.eigen import fix_signs
from domain_alignment.graphs import METRICS, SYMMETRIZATIONS
from domain_alignment.spectra import DomainSpectrum, SpectrumSettings, domain_spectrum
from domain_alignment.validation import check_linked_by_labels, domain_name

# Coordinates are divided by the roots of their eigenvalues. Zero eigenvalues other than the joint
# constant's occur where the joint graph falls apart, and their vectors tell its parts apart: they
# are kept, at this value. A smaller one would drown the other coordinates in rounding.
EIGENVALUE_FLOOR = 1e-9


class SpectralAligner(Aligner):
    """Alignment by eigenvectors of the joint Laplacian, in the bases of the domains' spectra.

    A subclass says how many eigenpairs of each domain it needs and solves the joint problem.
    """

    _parameter_constraints: ClassVar[dict] = {
        "level": [StrOptions({"instance", "feature"})],
        "n_components": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "correspondence_weight": [Interval(Real, 0, None, closed="neither")],
        "symmetrize": [StrOptions(set(SYMMETRIZATIONS))],
        "metric": [StrOptions(set(METRICS))],
    }

    @property
    def capabilities(self):
        """What this instance can do; only the feature level embeds new samples."""
        return Capabilities(
            labels="source+target",
            max_domains=None,
            needs_pairs=False,
            heterogeneous=True,
            nonlinear=self.level == "instance",
            embeds_new_samples=self.level == "feature",
            invertible=False,
        )

    @property
    def _settings(self):
        return SpectrumSettings(self.level, self.n_neighbors, self.metric, self.symmetrize)

    @abstractmethod
    def _pairs_to_prepare(self):
        """Number of eigenpairs of one domain that any number of domains can need; None for all."""

    @abstractmethod
    def _check_spectrum(self, spectrum, n_domains, name):
        """Raise ``ValueError`` if the spectrum is too small for the asked dimension."""

    @abstractmethod
    def _joint_eigenpairs(self, spectra, ys):
        """Solve the joint problem.

        Returns
        -------
        eigenvalues : ndarray of shape (n_components_,)
        coordinates : list of ndarray of shape (k_a, n_components_)
            Joint eigenvectors in the first k_a columns of each domain's basis.
        """

    def _scale(self, eigenvalues):
        return 1 / np.sqrt(np.maximum(eigenvalues, EIGENVALUE_FLOOR))

    def _prepare(self, X, name):
        return domain_spectrum(X, self._settings, self._pairs_to_prepare(), name)

    def _check_model(self, model, X, name):
        if not isinstance(model, DomainSpectrum):
            raise ValueError(
                f"{name}: prepared model is a {type(model).__name__}, not a DomainSpectrum; "
                f"give what {type(self).__name__}.prepare returned"
            )
        if model.settings != self._settings:
            raise ValueError(
                f"{name}: was prepared with {model.settings}, this instance has {self._settings}; "
                "prepare it again"
            )
        if model.shape != X.shape:
            raise ValueError(
                f"{name}: has shape {X.shape}, its prepared model {model.shape}; prepare it again"
            )

    def _fit(self, Xs, ys, spectra):
        check_linked_by_labels(ys)
        for domain, spectrum in enumerate(spectra):
            self._check_spectrum(spectrum, len(Xs), domain_name(domain))
        self.eigenvalues_, coordinates = self._joint_eigenpairs(spectra, ys)
        # Edges of weight alpha divide the bases of the unscaled graphs by its root.
        factor = self._scale(self.eigenvalues_) / np.sqrt(self.alpha)
        coordinates = [part * factor for part in coordinates]
        embeddings = [s.basis[:, : len(c)] @ c for s, c in zip(spectra, coordinates, strict=True)]
        signs = fix_signs(np.concatenate(embeddings))
        self.maps_ = None
        if self.level == "feature":
            self.maps_ = [
                s.loadings[:, : len(c)] @ (c * signs)
                for s, c in zip(spectra, coordinates, strict=True)
            ]
        return [embedding * signs for embedding in embeddings]

    def _transform(self, X, domain):
        if self.maps_ is None:
            raise AlignmentError(
                f'{type(self).__name__}(level="instance") embeds the samples of fit and no others '
                '(they are in embeddings_); use level="feature" to embed new samples'
            )
        return X @ self.maps_[domain]
