"""Classification of objects in a scene whose set of categories is known."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def classify_in_scene(scores, candidates, *, cover=False):
    r"""Label objects in a scene with known categories, but unknown positions and counts.

    The weak labels of an image list its categories; each box gets the best of these,
    :math:`\hat y_j = \arg\max_{i \in \mathcal{C}} f_{ij}`, as in the in-scene experiment of [1]_.
    With `cover`, every category present gets at least one box, at the largest total score.

    Parameters
    ----------
    scores : array-like of shape (n_boxes, n_categories)
        Higher is more likely.
    candidates : array-like of int, boolean mask, or list of these
        Columns of `scores` that are present: one set for all boxes (one scene), or one per box, as
        a list of ``n_boxes`` sequences or a mask of shape (n_boxes, n_categories).
    cover : bool, default=False
        Whether every candidate must be used; one scene only. Not in the paper, but implied by
        "present" if all objects have a box.

    Returns
    -------
    labels : ndarray of int of shape (n_boxes,)
        Columns of `scores`; ties go to the first.

    Raises
    ------
    ValueError
        If the scores are not a matrix or contain NaN, a candidate is not a column, a box has none,
        or `cover` meets more candidates than boxes.

    Notes
    -----
    Cost: O(n_boxes n_categories). With `cover`: an assignment problem on the losses of moving a box
    from its best category to another, O(n_boxes^2 n_categories).

    References
    ----------
    .. [1] E. Rodner, J. Hoffman, J. Donahue, T. Darrell, K. Saenko. Transform-based Domain
       Adaptation for Big Data. 2013, Section 3.

    Examples
    --------
    >>> from domain_alignment.max_margin._in_scene import classify_in_scene
    >>> scores = [[0.9, 0.5, 0.1], [0.8, 0.7, 0.9]]
    >>> classify_in_scene(scores, [0, 1])
    array([0, 0])
    >>> classify_in_scene(scores, [0, 1], cover=True)
    array([0, 1])
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or np.isnan(scores).any():
        raise ValueError(
            f"scores of shape {scores.shape} must be a matrix (n_boxes, n_categories) without NaN"
        )
    present = _mask(candidates, scores.shape)
    empty = np.flatnonzero(~present.any(axis=1))
    if empty.size:
        raise ValueError(f"box {empty[0]} has no candidate category; give at least one")
    # Two steps, so that a present category wins even at a score of -inf.
    labels = np.where(present, scores, -np.inf).argmax(axis=1)
    absent = ~present[np.arange(len(labels)), labels]
    labels[absent] = present[absent].argmax(axis=1)
    return _covered(scores, present, labels) if cover else labels


def _mask(candidates, shape):
    try:
        given = np.asarray(candidates)
    except ValueError:  # sets of different sizes
        given = None
    if given is not None and given.dtype == bool and given.shape in (shape, shape[1:]):
        return np.broadcast_to(given, shape)
    if given is not None and given.ndim == 1 and given.dtype != object:
        return np.broadcast_to(_one_mask(given, shape[1]), shape)
    if len(candidates) != shape[0]:
        raise ValueError(
            f"candidates holds {len(candidates)} sets for {shape[0]} boxes; give one per box, or "
            "one for all"
        )
    masks = [_one_mask(np.asarray(list(candidate)), shape[1]) for candidate in candidates]
    return np.array(masks).reshape(shape)


def _one_mask(columns, n_categories):
    if columns.size and columns.dtype.kind not in "iu":
        raise ValueError(f"candidates have dtype {columns.dtype}; give column indices or a mask")
    wrong = columns[(columns < 0) | (columns >= n_categories)]
    if wrong.size:
        raise ValueError(
            f"candidates hold {wrong[0]}; the columns of scores are 0 to {n_categories - 1}"
        )
    mask = np.zeros(n_categories, dtype=bool)
    mask[columns.astype(np.int64)] = True
    return mask


def _finite(scores):
    """Scores with numbers in the place of infinities that outweigh all others together."""
    known = scores[np.isfinite(scores)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    reach = (1.0 + high - low) * (1.0 + scores.size)
    return np.clip(scores, low - reach, high + reach)


def _covered(scores, present, labels):
    if not len(labels):
        return labels
    if (present != present[0]).any():
        raise ValueError("cover: the boxes have different candidates; cover one scene at a time")
    columns = np.flatnonzero(present[0])
    if columns.size > len(labels):
        raise ValueError(
            f"cover: {columns.size} candidates for {len(labels)} boxes; each candidate needs a box"
        )
    scores = _finite(scores)
    loss = scores[np.arange(len(labels)), labels][:, None] - scores[:, columns]
    boxes, chosen = linear_sum_assignment(loss)
    labels[boxes] = columns[chosen]
    return labels
