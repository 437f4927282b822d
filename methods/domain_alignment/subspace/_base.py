"""Base of the methods that describe each domain by a linear subspace."""

import warnings
from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.subspace._grassmann import PartialLeastSquares, PrincipalAxes
from domain_alignment.utils._params import COUNT, StrOptions
from domain_alignment.utils.validation import (
    domain_name,
    labelled_source_rows,
)


class SubspaceAligner(Aligner):
    """Base of the methods between a source and a target subspace.

    A subclass has the parameters `n_components` and `source_rows`, and `basis` if the source's
    subspace may depend on labels. It implements ``_align(Xs, ys, axes, bases)``, given the
    principal axes of both domains and bases of equal size.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "source_rows": [StrOptions({"all", "labelled"})],
    }

    _model_type = PrincipalAxes
    _features_reason = "their subspaces must lie in one space"

    basis = "pca"
    _nonlinear = False

    @property
    def capabilities(self):
        """What this instance can do; whether it needs labels depends on its parameters."""
        return Capabilities(
            labels="source" if self._reads_labels else "none", nonlinear=self._nonlinear
        )

    @property
    def _reads_labels(self):
        return self.basis == "pls" or self.source_rows == "labelled"

    def _prepare(self, X, name):
        return PrincipalAxes(X, name)

    def _fit(self, Xs, ys, models):
        axes = [self._source_axes(Xs[0], ys[0], models[0]), models[1]]
        return self._align(Xs, ys, axes, self._bases(Xs, ys, axes))

    def _bases(self, Xs, ys, axes):
        """Bases of both domains, of equal size."""
        if self.basis == "pls":
            rows = labelled_source_rows(ys[0])
            found = PartialLeastSquares(
                Xs[0][rows], ys[0][rows], self.n_components, domain_name(0)
            ).weights
        else:
            found = axes[0].basis(self.n_components)
        bases = [found, axes[1].basis(self.n_components)]
        sizes = [basis.shape[1] for basis in bases]
        if min(sizes) < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but the domains have {sizes[0]} and {sizes[1]} "
                f"components; {min(sizes)} are used, set n_components={min(sizes)} to silence this",
                ConvergenceWarning,
                stacklevel=4,
            )
        return [basis[:, : min(sizes)] for basis in bases]

    def _source_axes(self, X, y, model):
        if self.source_rows == "all":
            return model
        rows = labelled_source_rows(y)
        return model if len(rows) == len(y) else PrincipalAxes(X[rows], domain_name(0))
