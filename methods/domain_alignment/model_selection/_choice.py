"""The choice among scored candidates; apart, since it needs NumPy alone."""

import numpy as np


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
