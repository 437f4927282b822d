"""What a selector may see of one fitted candidate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from domain_alignment.model_selection._domain_classifier import log_density_ratios
from domain_alignment.utils.validation import UNLABELLED

_HIDDEN = {"none": ("source", "target"), "source": ("target",), "source+target": ()}


class EmbeddedDomains:
    """Both domains in the common space, and what selectors compute from them alone.

    Each value is computed when first asked for and kept, so that candidates which differ only in
    their classifier share it: pass the same instance to their :class:`~domain_alignment.Evidence`.

    Parameters
    ----------
    source : ndarray or CSR matrix of shape (n_s, d)
        Visible rows of all sources, stacked.
    target : ndarray or CSR matrix of shape (n_t, d)
        Of either kind, whatever that of the sources.

    Attributes
    ----------
    log_ratios : tuple of two ndarrays of shapes (n_s,) and (n_t,)
        Logarithm of the density ratio target / source at the rows of either domain.
    weights : ndarray of shape (n_s,)
        The density ratio at the source rows.
    """

    def __init__(self, source, target):
        self.source = source
        self.target = target

    @cached_property
    def log_ratios(self):
        return log_density_ratios(self.source, self.target)

    @cached_property
    def weights(self):
        return np.exp(self.log_ratios[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a selector may see of one candidate, a fitted aligner with a fitted classifier.

    Sources are stacked; rows without label are -1. It never holds a label that is scored.

    Parameters
    ----------
    source_embedding : ndarray or CSR matrix of shape (n_s, d)
        Visible rows of all sources in the common space.
    target_embedding : ndarray or CSR matrix of shape (n_t, d)
        Visible rows of the target.
    source_labels : ndarray of int of shape (n_s,)
    target_labels : ndarray of int of shape (n_t,)
        -1 where hidden.
    target_predicted : ndarray of int of shape (n_t,)
    classes : ndarray of int of shape (C,)
    source_predicted : ndarray of int of shape (n_s,), optional
    source_probabilities : ndarray of shape (n_s, C), optional
    target_probabilities : ndarray of shape (n_t, C), optional
        Columns in the order of `classes`; None if the classifier gives none.
    source_held_out : ndarray of int of shape (n_s,), optional
    target_held_out : ndarray of int of shape (n_t,), optional
        Prediction of each labelled row by a candidate fitted without its label, as by
        :func:`~domain_alignment.model_selection.held_out_predictions`; -1 where there is none.
    trained_on : {"source", "target", "source+target"}, default="source+target"
        Whose labelled rows train the classifier.
    backward : callable, optional
        ``backward(labels of the target rows (n_t,))`` returns the classes (n_s,) of the source
        rows according to the candidate turned round, which learns from these labels; those of
        unlabelled rows are not read.
    embedded : EmbeddedDomains, optional
        Of these embeddings, shared with other candidates; by default a new one.

    Raises
    ------
    ValueError
        If a part has another number of rows, or `embedded` holds other embeddings.
    """

    source_embedding: np.ndarray
    target_embedding: np.ndarray
    source_labels: np.ndarray
    target_labels: np.ndarray
    target_predicted: np.ndarray
    classes: np.ndarray
    source_predicted: np.ndarray | None = None
    source_probabilities: np.ndarray | None = None
    target_probabilities: np.ndarray | None = None
    source_held_out: np.ndarray | None = None
    target_held_out: np.ndarray | None = None
    trained_on: str = "source+target"
    backward: Callable | None = None
    embedded: EmbeddedDomains | None = None

    def __post_init__(self):
        for side in ("source", "target"):
            self._check_rows(side)
        if self.embedded is None:
            own = EmbeddedDomains(self.source_embedding, self.target_embedding)
            object.__setattr__(self, "embedded", own)
        elif (
            self.embedded.source is not self.source_embedding
            or self.embedded.target is not self.target_embedding
        ):
            raise ValueError(
                "embedded holds other embeddings; build it from source_embedding and "
                "target_embedding themselves"
            )

    def _check_rows(self, side):
        n_rows = getattr(self, f"{side}_embedding").shape[0]
        for part in ("labels", "predicted", "held_out"):
            value = getattr(self, f"{side}_{part}")
            if value is not None and np.shape(value) != (n_rows,):
                raise ValueError(
                    f"{side}_{part} has shape {np.shape(value)} for {n_rows} rows; give one entry "
                    "per row"
                )
        value, shape = getattr(self, f"{side}_probabilities"), (n_rows, len(self.classes))
        if value is not None and np.shape(value) != shape:
            raise ValueError(
                f"{side}_probabilities has shape {np.shape(value)}, not {shape}; give one column "
                "per class"
            )

    @property
    def weights(self):
        """Density ratio target / source at the source rows, of shape (n_s,)."""
        return self.embedded.weights

    def seen_with(self, labels):
        """This evidence as it looks to one who may see only these labels.

        Parameters
        ----------
        labels : {"none", "source", "source+target"}

        Returns
        -------
        evidence : Evidence
            Other labels are -1, and there are no held-out predictions for their rows.
        """
        changes = {}
        for side in _HIDDEN[labels]:
            changes[f"{side}_labels"] = np.full_like(getattr(self, f"{side}_labels"), UNLABELLED)
            changes[f"{side}_held_out"] = None
        return replace(self, **changes)
