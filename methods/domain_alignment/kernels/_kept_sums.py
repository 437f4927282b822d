"""The latest sums over features that kernels are made of, for further fits of the same samples.

Where they are no matrix product they take most of a fit's time, and a search, the folds of a
validation and trials with other labels fit the same samples again.
"""

import weakref

from domain_alignment.kernels._tiled import symmetric_sums

# Numbers of one matrix (64 MB) and of all that are kept: two domains at most of that size.
_LARGEST = 2**23
_MOST = 2 * _LARGEST

# By the prepared model of the samples, the latest used last; gone with the model.
_KEPT = weakref.WeakKeyDictionary()


def kept_sums(model, kernel, X):
    """``kernel.sums(X, X)``, computed once while `model` lives and others need no room.

    Parameters
    ----------
    model : object
        Prepared from `X`; compared by identity.
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, p)

    Returns
    -------
    sums : ndarray of shape (n, n), or None
        Read only. None if the kernel has no such sums, or the samples are more than 2,896.

    Notes
    -----
    Cost: at first O(n^2 p / 2) time, then none; 8 n^2 bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment.kernels._tiled import Kernel
    >>> class Prepared: pass
    >>> model, X = Prepared(), np.array([[1.0, 3.0], [2.0, 1.0]])
    >>> sums = kept_sums(model, Kernel("histogram_intersection"), X)
    >>> sums is kept_sums(model, Kernel("histogram_intersection"), X)
    True
    """
    if not kernel.has_sums or X.shape[0] ** 2 > _LARGEST:
        return None
    kind = kernel.function, kernel.compiled
    own = _KEPT.pop(model, {})
    if kind not in own:
        own[kind] = symmetric_sums(kernel, X)
        own[kind].flags.writeable = False
    _KEPT[model] = own
    _make_room()
    return own[kind]


def _make_room():
    """Drop those that were not used for longest, but the last."""
    sizes = [(model, sum(sums.size for sums in own.values())) for model, own in _KEPT.items()]
    excess = sum(size for _, size in sizes) - _MOST
    for model, size in sizes[:-1]:
        if excess <= 0:
            return
        del _KEPT[model]
        excess -= size
