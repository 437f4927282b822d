"""Base class of FMA and SMA: parameters, label-free spectra, scaling, out-of-sample maps."""

import warnings
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._domain_spectrum import (
    DomainSpectrum,
    SpectrumParams,
    domain_spectrum,
)
from domain_alignment.manifold._out_of_sample import embed_new_samples
from domain_alignment.utils._params import COUNT, POSITIVE, TWO_OR_MORE, StrOptions
from domain_alignment.utils.eigen import fix_signs, symmetric_eigenpairs
from domain_alignment.utils.graphs import (
    METRICS,
    SEARCHES,
    SYMMETRIZATIONS,
    edge_weights,
    nearest_neighbors,
)
from domain_alignment.utils.validation import UNLABELLED, check_linked_by_labels, domain_name

# Coordinates are divided by the roots of their eigenvalues. Zero eigenvalues beyond the constant
# vector's belong to the components of a disconnected joint graph and are kept at this value; with a
# smaller one, rounding errors would dominate the other coordinates.
EIGENVALUE_FLOOR = 1e-9


class SpectralAligner(Aligner):
    """Alignment by eigenvectors of the joint Laplacian, in the domains' spectral bases.

    A subclass states the number of eigenpairs needed of each domain and solves the joint problem.
    """

    _parameter_constraints: ClassVar[dict] = {
        "level": [StrOptions({"instance", "feature"})],
        "n_components": TWO_OR_MORE,
        "n_neighbors": COUNT,
        "alpha": POSITIVE,
        "correspondence_weight": POSITIVE,
        "symmetrize": [StrOptions(set(SYMMETRIZATIONS))],
        "metric": [StrOptions(set(METRICS))],
        "neighbors": [StrOptions(set(SEARCHES))],
    }
    _model_type = DomainSpectrum

    @property
    def capabilities(self):
        """Capabilities of this instance."""
        return Capabilities(
            labels="source+target",
            max_domains=None,
            heterogeneous=True,
            nonlinear=self.level == "instance",
        )

    @property
    def _model_params(self):
        return SpectrumParams(
            self.level, self.n_neighbors, self.metric, self.symmetrize, self.neighbors
        )

    @abstractmethod
    def _pairs_to_prepare(self):
        """Number of eigenpairs of one domain that a fit can need; None for all."""

    @abstractmethod
    def _check_spectrum(self, spectrum, n_domains, name):
        """Raise ``ValueError`` if the spectrum was prepared for fewer ``n_components``.

        Raise ``AlignmentError`` if it has enough, but the method has no solution for the data.
        """

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

    def _prepare(self, X, name, found=None):
        return domain_spectrum(X, self._model_params, self._pairs_to_prepare(), name, found)

    def _fit(self, Xs, ys, spectra):
        check_linked_by_labels(ys)
        if self.level == "instance":
            ys = [
                _of_linked(y, s.degree, domain_name(domain))
                for domain, (y, s) in enumerate(zip(ys, spectra, strict=True))
            ]
            check_linked_by_labels(ys)
        for domain, spectrum in enumerate(spectra):
            self._check_spectrum(spectrum, len(Xs), domain_name(domain))
        self.neighbor_recall_ = [spectrum.recall for spectrum in spectra]
        self.eigenvalues_, coordinates = self._joint_eigenpairs(spectra, ys)
        # Scaling edges by alpha divides the bases by its root.
        factor = self._scale(self.eigenvalues_) / np.sqrt(self.alpha)
        coordinates = [part * factor for part in coordinates]
        embeddings = [s.basis[:, : len(c)] @ c for s, c in zip(spectra, coordinates, strict=True)]
        rotate = self._fix_rotation(np.concatenate(embeddings))
        self.maps_ = self._training = None
        if self.level == "instance":
            self._training = [spectrum.samples for spectrum in spectra]
        else:
            self.maps_ = [s.loadings @ rotate(c) for s, c in zip(spectra, coordinates, strict=True)]
        return [rotate(embedding) for embedding in embeddings]

    def _fix_rotation(self, Z):
        """Function that fixes signs and multiple eigenvectors, for any array with Z's columns.

        The basis of a multiple eigenvalue zero becomes the principal axes of the samples there, by
        decreasing length, so that the order of samples and domains does not matter if all of its
        eigenvectors are kept.
        """
        n_zero = np.count_nonzero(self.eigenvalues_ <= EIGENVALUE_FLOOR)
        if n_zero < 2:
            signs = fix_signs(Z)
            return lambda columns: columns * signs
        rotation = np.eye(Z.shape[1])
        _, axes = symmetric_eigenpairs(Z[:, :n_zero].T @ Z[:, :n_zero])
        rotation[:n_zero, :n_zero] = axes[:, ::-1]
        rotation *= fix_signs(Z @ rotation)
        return lambda columns: columns @ rotation

    def _transform(self, X, domain):
        if self.maps_ is not None:
            return X @ self.maps_[domain]
        return self._embed_by_neighbors(X, domain)

    def _embed_by_neighbors(self, X, domain):
        neighbors, similarity = nearest_neighbors(
            self._training[domain],
            self.n_neighbors,
            queries=X,
            metric=self.metric,
            name=domain_name(domain),
        )
        weights = self.alpha * edge_weights(similarity, self.metric)
        isolated = weights.sum(axis=1) == 0
        if isolated.any():
            warnings.warn(
                f"X: {isolated.sum()} of {X.shape[0]} samples have no neighbour at a positive "
                f"cosine in {domain_name(domain)} (first at row {isolated.argmax()}); they are "
                "embedded at 0",
                stacklevel=2,
            )
        eigenvalues = np.maximum(self.eigenvalues_, EIGENVALUE_FLOOR)
        # The update needs scaled coordinates, even if `scale` is False.
        factor = np.sqrt(eigenvalues) * self._scale(self.eigenvalues_)
        old = [embedding / factor for embedding in self.embeddings_]
        second_moment = sum(embedding.T @ embedding for embedding in old)
        new = np.zeros((X.shape[0], factor.size))
        linked = ~isolated
        if linked.any():
            new[linked] = embed_new_samples(
                old[domain], second_moment, neighbors[linked], weights[linked]
            )
        return new * factor


def _of_linked(y, degree, name):
    """Labels without those of isolated samples, which the graphs leave out.

    Raises
    ------
    AlignmentError
        If no other sample is labelled.
    """
    linked = np.where(degree > 0, y, UNLABELLED)
    if (linked == UNLABELLED).all():
        raise AlignmentError(
            f"{name}: the graph isolates all of its labelled samples, so that nothing links it to "
            "the other domains; raise n_neighbors, or label other samples"
        )
    return linked
