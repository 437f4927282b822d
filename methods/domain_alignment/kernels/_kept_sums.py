"""The latest sums over features that kernels are made of, for further fits of the same samples.

Where they are no matrix product they take most of a fit's time, and the folds of a validation, the
candidates of a search and trials with other labels fit the same samples again.
"""

import hashlib
import threading
import weakref

import numpy as np
from scipy import sparse

from domain_alignment.kernels._tiled import symmetric_sums

# Numbers of one matrix (64 MB), and of all that are kept.
_LARGEST = 2**23
_MOST = 2 * _LARGEST

# By prepared model, the latest used last: its sums by samples and kind. Gone with the model.
_KEPT = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def kept_sums(model, kernel, X):
    """``kernel.sums(X, X)``, not computed again for the same samples while their model lives.

    Parameters
    ----------
    model : object
        Prepared from `X`, or thought to be: the samples themselves are compared, by a digest.
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, p)

    Returns
    -------
    sums : ndarray of shape (n, n), or None
        Read only. None if the kernel has no such sums, or the samples are more than 2,896.

    Notes
    -----
    Cost: O(n p) time to know the samples; at first O(n^2 p / 2); 8 n^2 bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment.kernels._tiled import Kernel
    >>> class Prepared: pass
    >>> model, X = Prepared(), np.array([[1.0, 3.0], [2.0, 1.0]])
    >>> sums = kept_sums(model, Kernel("histogram_intersection"), X)
    >>> sums is kept_sums(model, Kernel("histogram_intersection"), X.copy())
    True
    """
    if not kernel.has_sums or X.shape[0] ** 2 > _LARGEST:
        return None
    key = _digest(X), kernel.function, kernel.compiled
    with _LOCK:
        sums = _known(key)
    if sums is None:  # outside the lock: it takes long
        sums = symmetric_sums(kernel, X)
        sums.flags.writeable = False
    with _LOCK:
        _KEPT[model] = {**_KEPT.pop(model, {}), key: sums}
        _make_room()
    return sums


def _digest(X):
    """Of the values of a matrix, and of where they stand."""
    digest = hashlib.sha256(repr(X.shape).encode())
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part))
    return digest.digest()


def _known(key):
    """Sums that some model has, also another one of the same samples."""
    return next((own[key] for own in list(_KEPT.values()) if key in own), None)


def _make_room():
    """Drop the sums of the models used longest ago; those of the latest model stay."""
    models = list(_KEPT)
    for number, oldest in enumerate(models[:-1]):
        kept = {id(sums): sums.size for m in models[number:] for sums in _KEPT[m].values()}
        if sum(kept.values()) <= _MOST:
            return
        del _KEPT[oldest]
