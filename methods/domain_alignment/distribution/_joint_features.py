"""What the transfer component methods compute of two domains before they look at a label."""

import copy
import weakref
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from domain_alignment.distribution._scatter_eigenproblem import Scatter, simplified
from domain_alignment.kernels._sample_coordinates import SampleFeatures
from domain_alignment.utils._rows import check_spread, row_blocks, stacked, unit_rows
from domain_alignment.utils.validation import dense


@dataclass(frozen=True)
class JointParams:
    """What it depends on: parameters of :class:`ComponentAligner`, and the kind of it."""

    formulation: str
    kernel: object
    gamma: object
    unit_rows: bool
    keeps_samples: bool
    landmarks: int | None = None
    random_state: object = 0


class JointFeatures:
    """Samples of both domains in common coordinates; each further part is computed on first use.

    Parameters
    ----------
    source, target : ndarray or CSR matrix of shape (n_a, p)
    params : JointParams

    Attributes
    ----------
    features : SampleFeatures
        The source's rows first.
    n_source : int

    Raises
    ------
    AlignmentError
        If all samples are equal.
    """

    def __init__(self, source, target, params):
        self.n_source = source.shape[0]
        X = _stacked(source, target, params.unit_rows)
        self.features = SampleFeatures.of(
            X,
            params.formulation,
            params.kernel,
            params.gamma,
            overwrite=not params.keeps_samples,
            landmarks=params.landmarks,
            random_state=params.random_state,
        )
        check_spread(self.features.values, "the samples of both domains")
        self._cached = {}

    @property
    def values(self):
        """The samples in these coordinates, shape (n, q)."""
        return self.features.values

    @cached_property
    def scatter(self):
        """:class:`Scatter` of all samples."""
        return Scatter.of(self.values, self.features.is_kernel_matrix)

    @cached_property
    def simplified(self):
        """The same where products are O(q), and the rotation from there; O(q^3)."""
        return simplified(self.scatter)

    def cached(self, name, make):
        """What ``make()`` returned when something of this name was first asked for."""
        if name not in self._cached:
            self._cached[name] = make()
        return self._cached[name]

    def exchanged(self):
        """With the target as the source: the rows in another order, and all else as it is.

        None for kernel matrices and their landmarks, where samples are coordinates too.
        """
        own = self.features
        if own.kernel is not None or own.is_kernel_matrix:
            return None
        n_samples = len(own.values)
        order = np.roll(np.arange(n_samples), -self.n_source)
        values = own.values[order]
        X = values if own.X is own.values else own.X
        X = X if X is None or X is values else X[order]
        pivots = None if own.pivots is None else (own.pivots - self.n_source) % n_samples
        other = copy.copy(self)
        other.n_source = n_samples - self.n_source
        other.features = replace(own, values=values, X=X, pivots=pivots)
        return other


def _stacked(source, target, to_unit_rows):
    scaled = unit_rows if to_unit_rows else (lambda rows: rows)
    parts = source, target
    if all(map(sparse.issparse, parts)):
        return stacked([scaled(X) for X in parts])
    # Of large domains all rows are held once, beside a block of them.
    joint = np.empty((sum(X.shape[0] for X in parts), source.shape[1]))
    for place, X in zip(np.split(joint, [source.shape[0]]), parts, strict=True):
        for rows in row_blocks(X):
            place[rows] = dense(scaled(X[rows]))
    return joint


@dataclass(frozen=True, eq=False)
class PreparedDomain:
    """A domain that several fits take: those of the same two share their joint features.

    It holds no samples: the first fit of a pair computes them, from what that fit is given.

    Attributes
    ----------
    shape : tuple of int
    params : JointParams
    """

    shape: tuple
    params: JointParams

    def joined(self, target, make):
        """Those of this domain with another prepared one, or what ``make()`` returns for them.

        Where the two had each other's roles before, only their rows change places.
        They take as much memory as the samples, so a process keeps those of its latest pair only,
        as long as this model lives.
        """
        partner, joint = _LATEST.get(self, (_nobody, None))
        if partner() is target:
            return joint
        partner, joint = _LATEST.get(target, (_nobody, None))
        if partner() is self and (exchanged := joint.exchanged()) is not None:
            return exchanged
        _LATEST.clear()
        del joint  # before the next takes its place
        joint = make()
        _LATEST[self] = weakref.ref(target), joint
        return joint


def _nobody():
    return None


# By the source: the target, and what was computed of both.
_LATEST = weakref.WeakKeyDictionary()
