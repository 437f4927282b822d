"""The unadapted baseline."""

from typing import ClassVar

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._params import StrOptions
from domain_alignment.utils._rows import of_width
from domain_alignment.utils.validation import dense, no_way_back


class NoAdaptation(Aligner):
    r"""Identity embedding of every domain: :math:`Z^{(a)} = X^{(a)}`.

    Such baselines differ only in the rows that a classifier is trained on, declared as
    ``classifier_rows``.

    Parameters
    ----------
    domains : {"source", "target", "both"}, default="source"
        Whose labelled samples a classifier is trained on: the sources' (no adaptation), the
        target's (its few labels alone), or all.

    Attributes
    ----------
    embeddings_ : list of ndarray or CSR matrix of shape (n_a, n_components_)
        Copies of the domains; of one with other features than the target's (``domains="target"``)
        as many rows of zeros, since nothing relates them to the target.
    n_components_ : int
        Number of features of the target.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features, unless ``domains="target"``.

    Notes
    -----
    Cost: a copy, O(n p) time and memory. Sparse features stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import NoAdaptation
    >>> baseline = NoAdaptation(domains="both").fit([np.eye(2), np.ones((3, 2))])
    >>> baseline.classifier_rows, baseline.n_components_
    ('source+target', 2)
    """

    _parameter_constraints: ClassVar[dict] = {"domains": [StrOptions({"source", "target", "both"})]}
    _features_reason = 'a source classifier cannot read the target; use domains="target"'

    def __init__(self, domains="source"):
        self.domains = domains

    @property
    def capabilities(self):
        """What this instance can do; heterogeneous for ``domains="target"`` only."""
        return Capabilities(
            labels="none", max_domains=None, heterogeneous=self.domains == "target", invertible=True
        )

    @property
    def classifier_rows(self):
        """Whose labelled rows a classifier is to train on."""
        return "source+target" if self.domains == "both" else self.domains

    def _fit(self, Xs, ys, models):
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _inverse_transform(self, Z, domain):
        if self.n_features_in_[domain] != self.n_components_:
            raise AlignmentError(no_way_back(domain))
        return dense(Z)

    def _transform(self, X, domain):
        return of_width(X, self.n_features_in_[-1])
