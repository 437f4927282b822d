"""Predictions of labelled rows by candidates that were fitted without their labels."""

import numpy as np

from domain_alignment.utils._cross_validation import folds_of_classes
from domain_alignment.utils.validation import UNLABELLED


def held_out_predictions(fit, ys, cv=2, random_state=0):
    """Predict each labelled row of all domains by a candidate fitted without its label.

    The labels of all domains are folded together, so that each fit has fewer labels everywhere:
    ``cv`` fits, whatever the number of domains. A domain's labels of one class are spread evenly
    over the folds; a label that is its class's only one in its domain is never hidden.

    Parameters
    ----------
    fit : callable
        ``fit(ys)``, with the labels of one fold replaced by -1, returns a list with the predictions
        of each domain's rows, of shape (n_a,), or (n_models, n_a) for several candidates at once.
    ys : list of ndarray of int of shape (n_a,)
        One per domain, the target last; -1 is unlabelled.
    cv : int, default=2
        Number of folds.
    random_state : int, RandomState or None, default=0
        Shuffles the rows before folding.

    Returns
    -------
    predictions : list of ndarray of int of shape (n_a,) or (n_models, n_a)
        -1 where a row is unlabelled or its label was never hidden.

    Notes
    -----
    Cost: `cv` calls of `fit`, fewer if no domain has as many labels of classes with two or more.

    Examples
    --------
    >>> ys = [np.array([0, 1, 0, 1, -1]), np.array([1, -1, -1])]
    >>> held_out_predictions(lambda ys: [np.zeros(y.size, dtype=int) for y in ys], ys)
    [array([ 0,  0,  0,  0, -1]), array([-1, -1, -1])]
    """
    folds = folds_of_classes(ys, cv, random_state)
    answers = None
    for fold in range(1 + max(members.max(initial=-1) for members in folds)):
        hidden = [
            np.where(members == fold, UNLABELLED, y) for y, members in zip(ys, folds, strict=True)
        ]
        predicted = [np.asarray(part) for part in fit(hidden)]
        if answers is None:
            answers = [np.full(part.shape, UNLABELLED) for part in predicted]
        for answer, part, members in zip(answers, predicted, folds, strict=True):
            answer[..., members == fold] = part[..., members == fold]
    return [np.full(y.shape, UNLABELLED) for y in ys] if answers is None else answers
