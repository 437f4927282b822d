"""What every method keeps to: data within float64, failures with a name, finite answers."""

from contextlib import contextmanager

import numpy as np
from scipy import sparse

from domain_alignment.exceptions import AlignmentError, NonfiniteAnswerError


def check_magnitude(X, name, *, fitted=True):
    """Raise AlignmentError if the squares of the values leave the range of float64.

    Squares are in every norm, variance and kernel here: beyond that range they are infinite or
    zero, and what is computed from them is wrong without a sign of it.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    name : str
        What the message calls it.
    fitted : bool, default=True
        Whether a method is to learn from the samples. One that only maps them may take them for
        zeros where all are tiny.
    """
    values = X.data if sparse.issparse(X) else X
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    info = np.finfo(float)
    if largest > np.sqrt(info.max):
        raise AlignmentError(
            f"{name}: the squares of its values are too large for float64 (values up to "
            f"{largest:.1e}); scale it down"
        )
    if fitted and 0 < largest < np.sqrt(info.tiny):
        raise AlignmentError(
            f"{name}: the squares of its values are too small for float64 (values up to "
            f"{largest:.1e}); scale it up"
        )


@contextmanager
def decompositions_of(method):
    """Have a decomposition that fails in NumPy or SciPy say whose it is and what to do."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise AlignmentError(
            f"{type(method).__name__}: a decomposition failed ({error}); the features are too "
            "badly scaled, standardise them"
        ) from error


def check_answer(values, name):
    """Raise NonfiniteAnswerError if what a method computed, dense or sparse, is not finite."""
    values = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary: a finite sum has finite terms.
        finite = np.isfinite(values.sum())
    if not finite and not np.isfinite(values).all():
        raise NonfiniteAnswerError(
            f"{name} holds NaN or infinity; the features are too badly scaled, standardise them"
        )


def unshared(Z, Xs):
    """What a method computed, apart from the data: a copy, if it is made of their memory."""
    given = [part for X in Xs for part in _arrays(X)]
    shared = any(np.may_share_memory(part, other) for part in _arrays(Z) for other in given)
    return Z.copy() if shared else Z


def _arrays(X):
    return (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
