"""Selectors: criteria that choose among fitted candidates without the scored labels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from domain_alignment.model_selection import _criteria
from domain_alignment.utils.validation import UNLABELLED


@dataclass(frozen=True)
class Selector:
    """A criterion that scores one candidate by its :class:`~domain_alignment.Evidence`.

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


def _held_out(evidence, side):
    """Labels and held-out predictions of the labelled rows that have both, and these rows."""
    labels, predicted = getattr(evidence, f"{side}_labels"), getattr(evidence, f"{side}_held_out")
    rows = np.flatnonzero((labels != UNLABELLED) & (predicted != UNLABELLED))
    return labels[rows], predicted[rows], rows


@_selector(
    "Source accuracy",
    "M. Stone. Cross-validatory choice and assessment of statistical predictions. JRSS B 1974.",
    "source",
    ("source_held_out",),
)
def source_accuracy(evidence):
    r"""Held-out accuracy on the labelled source rows.

    .. math:: \frac{1}{|L_S|} \sum_{i \in L_S} [\hat y_i = y_i]

    It is blind to the shift between the domains. Cost: O(n_s), once the predictions are there.
    """
    return _criteria.accuracy(*_held_out(evidence, "source")[:2])


@_selector(
    "Labelled accuracy",
    "M. Stone. Cross-validatory choice and assessment of statistical predictions. JRSS B 1974.",
    "source+target",
    ("source_held_out", "target_held_out"),
)
def labelled_accuracy(evidence):
    r"""Mean over both domains of the held-out accuracy on labelled rows.

    .. math:: \frac12 \sum_{a \in \{S, T\}} \frac{1}{|L_a|} \sum_{i \in L_a} [\hat y_i = y_i]

    Each domain counts the same: pooled, the few labels of the target would drown in those of the
    source; alone, three labels for each of ten classes leave a standard error of up to 9 percentage
    points, which the source halves. Of a classifier that learns from the target alone it is that of
    the target: how it does on the source says little. NaN without labelled target rows. Cost:
    O(n_s + n_t).
    """
    sides = ("target",) if evidence.trained_on == "target" else ("source", "target")
    return np.mean([_criteria.accuracy(*_held_out(evidence, side)[:2]) for side in sides])


@_selector(
    "IWV",
    "M. Sugiyama, M. Krauledat, K.-R. Müller. Covariate shift adaptation by importance weighted "
    "cross validation. JMLR 2007 (k-fold IWCV with 0-1 loss).",
    "source",
    ("source_held_out",),
)
def importance_weighted(evidence):
    r"""Held-out accuracy on the labelled source rows, weighted as if they came from the target.

    .. math:: \sum_{i \in L_S} w_i [\hat y_i = y_i] \Big/ \sum_{i \in L_S} w_i, \quad
              w_i = p_T(z_i) / p_S(z_i)

    Departs from the paper, which divides by the number of rows: the mean weight differs between
    embeddings, and would decide between candidates that are equally accurate. skada divides by the
    sum as well, but takes the weights from kernel density estimates, which fail in tens of
    dimensions. Cost: that of the weights, once per embedding.
    """
    labels, predicted, rows = _held_out(evidence, "source")
    return _criteria.weighted_mean(labels == predicted, evidence.weights[rows])


@_selector(
    "DEV",
    "K. You, X. Wang, M. Long, M. I. Jordan. Towards accurate model selection in deep unsupervised "
    "domain adaptation. ICML 2019, Algorithms 1 and 2 (0-1 loss, as in the authors' program).",
    "source",
    ("source_held_out",),
)
def deep_embedded(evidence):
    r"""Minus the importance-weighted risk, with the weights as control variate.

    .. math:: -\left(\bar L + \eta (\bar W - 1)\right), \quad L_i = w_i [\hat y_i \ne y_i],
              \quad \eta = -\mathrm{Cov}(L, W) / \mathrm{Var}(W)

    over the labelled source rows. Departs from skada, whose default loss is the cross-entropy and
    which validates on a third of the source: here each row is held out once. NaN for fewer than two
    rows. Departs from the authors' program in the weights: here of a linear classifier of the
    domains in place of a network, each half of the rows by that of the other half.

    Cost: that of the weights, once per embedding.
    """
    labels, predicted, rows = _held_out(evidence, "source")
    return -_criteria.controlled_risk(labels != predicted, evidence.weights[rows])


@_selector(
    "Entropy",
    "P. Morerio, J. Cavazza, V. Murino. Minimal-entropy correlation alignment for unsupervised "
    "deep domain adaptation. ICLR 2018 (the entropy on the target as criterion).",
    "none",
    ("target_probabilities",),
)
def entropy(evidence):
    r"""Minus the mean entropy of the target's predictions, in nats.

    .. math:: \frac{1}{n_T} \sum_i \sum_c p_{ic} \log p_{ic}

    Certainty is all: a classifier that gives every row one class scores 0, the best value. skada's
    mean runs over the C classes too, which divides by C. Cost: O(n_t C).
    """
    return -_criteria.row_entropies(evidence.target_probabilities).mean()


@_selector(
    "Mutual information",
    "Y. Shi, F. Sha. Information-theoretical learning of discriminative clusters for unsupervised "
    "domain adaptation. ICML 2012 (mutual information of data and predicted labels).",
    "none",
    ("target_probabilities",),
)
def mutual_information(evidence):
    r"""Entropy of the mean prediction on the target minus the mean entropy, in nats.

    .. math:: H\left(\frac{1}{n_T} \sum_i p_i\right) - \frac{1}{n_T} \sum_i H(p_i)

    Certain predictions that use all classes alike. Cost: O(n_t C).
    """
    return _criteria.mutual_information(evidence.target_probabilities)


@_selector(
    "SND",
    "K. Saito, D. Kim, P. Teterwak, S. Sclaroff, T. Darrell, K. Saenko. Tune it the right way: "
    "unsupervised validation of domain adaptation via soft neighborhood density. ICCV 2021 "
    "(Equation 2 and the mean entropy of its rows).",
    "none",
    ("target_probabilities",),
)
def neighborhood_density(evidence):
    r"""Soft neighbourhood density: whether each target row has many equally near neighbours.

    .. math:: -\frac{1}{n_T} \sum_i \sum_j P_{ij} \log P_{ij}, \quad
              P_{ij} \propto \exp(S_{ij} / 0.05)

    where S holds the cosines of the predicted probabilities and -1 on its diagonal, as in the
    authors' program and skada. A candidate that predicts one class for all rows is best. Cost:
    O(n_t^2 C) time in blocks of rows.
    """
    return _criteria.neighborhood_density(evidence.target_probabilities)


@_selector(
    "Circular validation",
    "L. Bruzzone, M. Marconcini. Domain adaptation problems: a DASVM classification technique and "
    "a circular validation strategy. IEEE TPAMI 2010.",
    "source",
    ("backward",),
)
def circular(evidence):
    r"""Accuracy on the source of a classifier trained on the target with predicted labels.

    .. math:: \frac{1}{C} \sum_c \frac{1}{|L_{S,c}|} \sum_{i \in L_{S,c}} [g(z_i) = c], \quad
              g \text{ trained on } \{(z_j, \hat y_j)\}_{j \in T}

    over the labelled source rows :math:`L_{S,c}` of class c: the mean over the classes, as in
    skada. If one class is predicted everywhere, g predicts it too. The paper and skada also adapt
    backwards, which takes a second fit of the aligner; what `backward` does is the caller's. An
    embedding that no label shaped can stay as it is. One that the source's labels shaped has them
    in it, and any classifier finds them again: there the benchmark turns the whole candidate round.
    Cost: that of `backward`, one fit of the classifier on the target or of all.
    """
    labels, pseudo = evidence.source_labels, evidence.target_predicted
    rows = labels != UNLABELLED
    if not rows.any():
        return np.nan
    if (pseudo == pseudo[0]).all():
        back = np.full(len(labels), pseudo[0])
    else:
        back = np.asarray(evidence.backward(pseudo))
    return _criteria.balanced_accuracy(labels[rows], back[rows])


@_selector(
    "BNM",
    "K. Musgrave, S. Belongie, S.-N. Lim. Three new validators and a large-scale benchmark ranking "
    "for unsupervised domain adaptation. 2022 (BNM validator), after S. Cui et al. Towards "
    "discriminability and diversity: batch nuclear-norm maximization under label insufficient "
    "situations. CVPR 2020.",
    "none",
    ("target_probabilities",),
)
def bnm(evidence):
    r"""Nuclear norm of the matrix of target predictions, divided by the number of rows.

    .. math:: \frac{1}{n_T} \sum_k \sigma_k(P)

    From 1 / sqrt(n_t C), all predictions uniform, to sqrt(min(n_t, C) / n_t), certain and balanced.
    Cost: O(n_t C min(n_t, C)).
    """
    return _criteria.mean_nuclear_norm(evidence.target_probabilities)


@_selector(
    "ClassAMI",
    "K. Musgrave, S. Belongie, S.-N. Lim. Three new validators and a large-scale benchmark ranking "
    "for unsupervised domain adaptation. 2022 (ClassAMI validator, target features).",
    "none",
)
def class_ami(evidence):
    r"""Adjusted mutual information of predicted classes and k-means clusters of the target rows.

    .. math:: \frac{I(U; V) - E[I(U; V)]}{(H(U) + H(V)) / 2 - E[I(U; V)]}

    of clusters U and predicted classes V, with the expectation over permutations of either. As many
    clusters as classes. Departs from the authors' program, which starts k-means from random rows:
    here it starts once from the means of the predicted classes, completed by the rows farthest from
    all others, so that neither a seed nor the order of the rows has an effect. NaN if all embedded
    rows are equal. Cost: O(n_t d C) per iteration of k-means.
    """
    return _criteria.cluster_agreement(
        evidence.target_embedding, evidence.target_predicted, len(evidence.classes)
    )


@_selector(
    "A-distance",
    "S. Ben-David, J. Blitzer, K. Crammer, F. Pereira. Analysis of representations for domain "
    "adaptation. NIPS 19, 2007 (proxy A-distance).",
    "none",
)
def a_distance(evidence):
    r"""Minus the proxy A-distance of the embedded domains.

    .. math:: -2 (1 - 2 \epsilon),

    with the error :math:`\epsilon` of a logistic regression at telling the domains apart on rows
    held out, the mean of both domains' error rates, at most one half. It is the classifier of the
    weights, fitted once per embedding, and like these blind after z-scores per domain, of which all
    embeddings tie at 0; nor does it tell the classifiers on one embedding apart. MEDA's distance is
    of training errors instead, which vanish as soon as there are many features. Cost: that of the
    weights.
    """
    return -_criteria.proxy_distance(*evidence.embedded.log_ratios)
