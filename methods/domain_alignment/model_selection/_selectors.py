"""Selectors: criteria that choose among fitted candidates without the scored labels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from domain_alignment.model_selection import _criteria
from domain_alignment.utils.validation import UNLABELLED


@dataclass(frozen=True)
class Selector:
    """A criterion that scores one candidate by its :class:`Evidence`.

    Attributes
    ----------
    name : str
        Key in ``SELECTORS``.
    label : str
        For tables.
    paper : str
        Where it comes from.
    sees : {"none", "source", "source+target"}
        Labels that it uses; calling it hides all others from it.
    needs : tuple of str
        Optional parts of the evidence that it uses.
    score : callable
        The criterion itself; its docstring has the formula.

    Examples
    --------
    >>> SELECTORS["entropy"].sees, SELECTORS["entropy"].needs
    ('none', ('target_probabilities',))
    """

    name: str
    label: str
    paper: str
    sees: str
    needs: tuple
    score: Callable

    def __call__(self, evidence):
        """Score of the candidate, larger is better; NaN where the criterion is not defined.

        Not defined means that a part which it `needs` is None, or that no row has the label or the
        held-out prediction it asks for.
        """
        visible = evidence.seen_with(self.sees)
        if any(getattr(visible, part) is None for part in self.needs):
            return float("nan")
        return float(self.score(visible))


SELECTORS = {}


def _selector(label, paper, sees, needs=()):
    """Enter a function into the table under its own name."""

    def enter(score):
        SELECTORS[score.__name__] = Selector(score.__name__, label, paper, sees, needs, score)
        return score

    return enter


def chosen(scores):
    """Index of the best candidate.

    Parameters
    ----------
    scores : array-like of shape (n_candidates,)
        Larger is better; NaN is never chosen.

    Returns
    -------
    index : int or None
        The first among ties; None if all scores are NaN or there are none.

    Examples
    --------
    >>> chosen([float("nan"), 0.5, 0.7, 0.7])
    2
    >>> chosen([float("nan")]) is None
    True
    """
    scores = np.asarray(scores, dtype=float)
    return None if np.isnan(scores).all() else int(np.nanargmax(scores))


def _held_out(evidence, side):
    """Labels and held-out predictions of the labelled rows that have both, and these rows."""
    labels, predicted = getattr(evidence, f"{side}_labels"), getattr(evidence, f"{side}_held_out")
    rows = np.flatnonzero((labels != UNLABELLED) & (predicted != UNLABELLED))
    return labels[rows], predicted[rows], rows


@_selector("source accuracy", "held-out accuracy", "source", ("source_held_out",))
def source_accuracy(evidence):
    return _criteria.accuracy(*_held_out(evidence, "source")[:2])


@_selector(
    "labelled accuracy",
    "held-out accuracy",
    "source+target",
    ("source_held_out", "target_held_out"),
)
def labelled_accuracy(evidence):
    sides = (_held_out(evidence, side)[:2] for side in ("source", "target"))
    return np.mean([_criteria.accuracy(*side) for side in sides])


@_selector("importance-weighted", "Sugiyama et al. 2007", "source", ("source_held_out",))
def importance_weighted(evidence):
    labels, predicted, rows = _held_out(evidence, "source")
    return _criteria.weighted_mean(labels == predicted, evidence.weights[rows])


@_selector("DEV", "You et al. 2019", "source", ("source_held_out",))
def deep_embedded(evidence):
    labels, predicted, rows = _held_out(evidence, "source")
    return -_criteria.controlled_risk(labels != predicted, evidence.weights[rows])


@_selector("entropy", "Morerio et al. 2018", "none", ("target_probabilities",))
def entropy(evidence):
    return -_criteria.row_entropies(evidence.target_probabilities).mean()


@_selector("mutual information", "Shi & Sha 2012", "none", ("target_probabilities",))
def mutual_information(evidence):
    return _criteria.mutual_information(evidence.target_probabilities)


@_selector("SND", "Saito et al. 2021", "none", ("target_probabilities",))
def neighborhood_density(evidence):
    return _criteria.neighborhood_density(evidence.target_probabilities)


@_selector("circular validation", "Bruzzone & Marconcini 2010", "source", ("backward",))
def circular(evidence):
    pseudo, rows = evidence.target_predicted, np.flatnonzero(evidence.source_labels != UNLABELLED)
    if (pseudo == pseudo[0]).all():  # a classifier of one class can say nothing else
        back = np.full(len(evidence.source_labels), pseudo[0])
    else:
        back = evidence.backward(pseudo)
    return _criteria.balanced_accuracy(evidence.source_labels[rows], back[rows])


@_selector("BNM", "Musgrave et al. 2022", "none", ("target_probabilities",))
def bnm(evidence):
    return _criteria.mean_nuclear_norm(evidence.target_probabilities)


@_selector("ClassAMI", "Musgrave et al. 2022", "none")
def class_ami(evidence):
    return _criteria.cluster_agreement(
        evidence.target_embedding, evidence.target_predicted, len(evidence.classes)
    )


@_selector("A-distance", "Ben-David et al. 2007", "none")
def a_distance(evidence):
    return -_criteria.proxy_distance(*evidence.embedded.log_ratios)
