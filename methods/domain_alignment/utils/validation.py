"""Input validation. Every message says what is wrong, where, and what to do.

All checks raise ``ValueError``; valid input on which a method has no answer raises
:class:`~domain_alignment.AlignmentError` instead.
"""

from datetime import date, timedelta

import numpy as np
from scipy import sparse

from domain_alignment.utils._memory import FEWER_FEATURES, check_room
from domain_alignment.utils._params import same_params

UNLABELLED = -1

# What stands in arrays of objects, and float64 could be made of.
_NO_NUMBERS = (str, bytes, date, timedelta, np.datetime64, np.timedelta64)


def domain_name(domain):
    """Name of a domain in messages, by its position in ``Xs``."""
    return f"domain {domain}"


def no_way_back(domain):
    """Why a domain that is embedded as zeros, for its features are not the target's, has none."""
    return (
        f"{domain_name(domain)}: its features are not the target's, so its embedding is zero and "
        "has no way back"
    )


def dense(X):
    """`X` as an ndarray; AlignmentError if this machine cannot hold it."""
    if not sparse.issparse(X):
        return X
    check_room(*X.shape, "the sparse features made dense", instead=FEWER_FEATURES)
    return X.toarray()


def check_matrix(X, name="X", *, finite=True):
    """Return `X` as a float64 ndarray or canonical CSR matrix of finite numbers.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Dense input stays dense and sparse input stays sparse. A float64 array is not copied.
    name : str, default="X"
        Name in messages, for instance ``"domain 1"``.
    finite : bool, default=True
        Whether to check for NaN and infinity.

    Raises
    ------
    ValueError
        If `X` is not numeric, as text and dates are not, not two-dimensional, empty, or holds
        masked values, NaN or infinity.

    Examples
    --------
    >>> check_matrix([[1, 2], [3, float("nan")]], "domain 1")
    Traceback (most recent call last):
        ...
    ValueError: domain 1: 1 of 2 samples holds NaN or infinity (first at row 1); impute or drop it
    """
    n_masked = _n_masked(X)
    if n_masked:
        raise ValueError(
            f"{name}: {n_masked} of its values are masked; impute them (X.filled), or drop their "
            "rows"
        )
    try:
        if np.iscomplexobj(X):
            raise TypeError("it holds complex numbers")
        X = _as_csr(X) if sparse.issparse(X) else _as_numbers(X)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: is not a matrix of real numbers ({error}); give real numbers"
        ) from None
    if X.ndim != 2:
        raise ValueError(
            f"{name}: has {X.ndim} dimension(s) instead of 2; give a matrix (n_samples, n_features)"
        )
    if 0 in X.shape:
        raise ValueError(f"{name}: has shape {X.shape}; at least one sample and feature is needed")
    if finite:
        _check_finite(X, name)
    return X


def _n_masked(X):
    """Number of masked values of an array, or of the rows in a list: ndarrays forget the masks."""
    if isinstance(X, list | tuple):
        return sum(np.ma.count_masked(row) for row in X if np.ma.isMaskedArray(row))
    return np.ma.count_masked(X) if np.ma.isMaskedArray(X) else 0


def _as_numbers(X):
    """`X` as an array of float64; TypeError for text and dates, which NumPy would convert."""
    values = np.asarray(X)
    if values.dtype.kind in "Mm":
        raise TypeError(f"it holds dates or times, {values.dtype}")
    if values.dtype.kind not in "biuf":
        cells = np.array(X, dtype=object)
        # By the types first: a look at every cell takes longer than the conversion.
        if any(issubclass(kind, _NO_NUMBERS) for kind in set(map(type, cells.ravel()))):
            raise TypeError(_first_without_number(cells))
    return np.asarray(values, dtype=np.float64)


def _first_without_number(cells):
    place, value = next(
        (place, value) for place, value in np.ndenumerate(cells) if isinstance(value, _NO_NUMBERS)
    )
    at = zip(("row", "column"), place, strict=False)
    return f"it holds {value!r} in {', '.join(f'{axis} {number}' for axis, number in at)}"


def _as_csr(X):
    if X.ndim != 2:
        return X  # which the caller refuses
    X = X.tocsr()
    if X.dtype != np.float64:
        X = X.astype(np.float64)
    if X.indices.dtype != np.int32 and max(*X.shape, X.nnz) <= np.iinfo(np.int32).max:
        # liblinear takes no others, and MAT files of version 7.3 hold 64-bit ones.
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)(parts, shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()  # the next line works in place; leave the caller's matrix alone
        X.sum_duplicates()
    return X


def _check_finite(X, name):
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary: a finite sum has finite terms.
        if np.isfinite(values.sum()):
            return
    finite = np.isfinite(values)
    if finite.all():
        return
    if sparse.issparse(X):
        bad = np.unique(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~finite])
    else:
        bad = np.flatnonzero(~finite.all(axis=1))
    verb, what = ("holds", "it") if bad.size == 1 else ("hold", "them")
    raise ValueError(
        f"{name}: {bad.size} of {X.shape[0]} samples {verb} NaN or infinity "
        f"(first at row {bad[0]}); impute or drop {what}"
    )


def check_labels(y, n_samples, name="y"):
    """Return the labels of one domain as an int64 array; ``None`` means all unlabelled.

    Parameters
    ----------
    y : array-like of int of shape (n_samples,), or None
        Class numbers from 0; -1 is unlabelled.
    n_samples : int
        Number of samples of the domain.
    name : str, default="y"
        What the messages call it.

    Raises
    ------
    ValueError
        If the labels are masked, not whole numbers from -1 that int64 holds, or their number is
        not `n_samples`.
    """
    if y is None:
        return np.full(n_samples, UNLABELLED)
    n_masked = _n_masked(y)
    if n_masked:
        raise ValueError(
            f"{name}: {n_masked} of its labels are masked; give -1 where they are unknown "
            "(y.filled(-1))"
        )
    y = np.asarray(y)
    if y.shape != (n_samples,):
        raise ValueError(
            f"{name}: labels have shape {y.shape} for {n_samples} samples; "
            "give one label per sample, -1 where it is unknown"
        )
    if y.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: labels are of type {y.dtype}; give integers from 0, -1 where unknown "
            "(sklearn.preprocessing.LabelEncoder makes them)"
        )
    if y.size and y.max() > np.iinfo(np.int64).max:  # of 64 bits without a sign: would be negative
        raise ValueError(
            f"{name}: label {y.max()} at row {y.argmax()} is above {np.iinfo(np.int64).max}, the "
            "largest that int64 holds; number classes from 0 (sklearn.preprocessing.LabelEncoder)"
        )
    y = y.astype(np.int64, copy=False)
    if y.size and y.min() < UNLABELLED:
        raise ValueError(
            f"{name}: label {y.min()} at row {y.argmin()}; labels count from 0, -1 is unlabelled"
        )
    return y


def check_domains(Xs, ys=None, known=()):
    """Check the lists of features and labels of all domains, the target last.

    Parameters
    ----------
    Xs : list of array-like or sparse matrices of shape (n_a, p_a)
        One per domain; numbers of samples and of features may differ.
    ys : list of array-like of int of shape (n_a,), optional
        Labels, -1 where unknown; an entry of ``None``, or no list at all, means unlabelled.
    known : container of int, default=()
        Domains whose values have been checked before.

    Returns
    -------
    Xs : list of float64 ndarray or CSR matrix
    ys : list of int64 ndarray

    Raises
    ------
    ValueError
        If there are fewer than two domains, the lists differ in length, or a domain is invalid.
    """
    if not isinstance(Xs, list | tuple):
        raise ValueError(
            f"Xs is a {type(Xs).__name__}; give a list with one matrix per domain, the target last"
        )
    if len(Xs) < 2:
        raise ValueError(f"Xs holds {len(Xs)} domain(s); alignment needs at least two")
    ys = [None] * len(Xs) if ys is None else ys
    if not isinstance(ys, list | tuple) or len(ys) != len(Xs):
        given = f"{len(ys)} entries" if isinstance(ys, list | tuple) else type(ys).__name__
        raise ValueError(
            f"ys ({given}) must be a list as long as Xs ({len(Xs)} domains); "
            "give None for an unlabelled domain"
        )
    Xs = [check_matrix(X, domain_name(a), finite=a not in known) for a, X in enumerate(Xs)]
    sizes = [X.shape[0] for X in Xs]
    ys = [
        check_labels(y, size, domain_name(a))
        for a, (y, size) in enumerate(zip(ys, sizes, strict=True))
    ]
    return Xs, ys


def check_equal_features(Xs, reason):
    """Raise ``ValueError`` unless all domains have as many features as domain 0."""
    for domain, X in enumerate(Xs):
        if X.shape[1] != Xs[0].shape[1]:
            raise ValueError(
                f"{domain_name(domain)}: has {X.shape[1]} features, domain 0 has "
                f"{Xs[0].shape[1]}; {reason}"
            )


def check_prepared(model, kind, params, shape, name, method):
    """Raise ``ValueError`` unless a prepared model has the expected class, parameters and shape.

    Parameters
    ----------
    model : object
    kind : type
        Class of the method's models, with the domain's ``shape`` and, if it depends on parameters
        of the method, ``params``.
    params : object
        The method's; None if models depend on none.
    shape : tuple of int
        Of the domain.
    name : str
        Name of the domain in messages.
    method : str
        Name of the class that prepares such models.
    """
    if not isinstance(model, kind):
        raise ValueError(
            f"{name}: prepared model is a {type(model).__name__}, not a {kind.__name__}; "
            f"give the output of {method}.prepare"
        )
    prepared_with = getattr(model, "params", None)
    if params is None and prepared_with is not None:
        raise ValueError(f"{name}: this instance takes no prepared model of it; give None")
    if not same_params(prepared_with, params):
        raise ValueError(
            f"{name}: was prepared with {prepared_with}, this instance has {params}; "
            "prepare it again"
        )
    if model.shape != shape:
        raise ValueError(
            f"{name}: has shape {shape}, its prepared model {model.shape}; prepare it again"
        )


def check_row_pairs(Xs, ys, method, otherwise):
    """Raise ``ValueError`` if the rows of two domains cannot be pairs.

    Parameters
    ----------
    Xs, ys : list
        Of two validated domains.
    method : str
        Name of the method in messages.
    otherwise : str
        Advice for unpaired data.
    """
    sizes = [X.shape[0] for X in Xs]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"domains 0 and 1: have {sizes[0]} and {sizes[1]} samples; {method} needs pairs, row i "
            f"of both the same object; give paired rows, or {otherwise}"
        )
    wrong = np.flatnonzero((ys[0] != ys[1]) & (ys[0] != UNLABELLED) & (ys[1] != UNLABELLED))
    if wrong.size:
        raise ValueError(
            f"domains 0 and 1: {wrong.size} of {sizes[0]} rows have different labels (first row "
            f"{wrong[0]}: {ys[0][wrong[0]]} and {ys[1][wrong[0]]}), so they are not the same "
            f"object; {method} needs pairs, give paired rows, or {otherwise}"
        )


def require_labelled(y, domain, why):
    """Labelled rows of one domain; ``ValueError`` if there is none.

    Parameters
    ----------
    y : ndarray of int of shape (n,)
    domain : int
        Its position in ``Xs``.
    why : str
        What the labels are needed for, in the message.

    Returns
    -------
    rows : ndarray of int

    Examples
    --------
    >>> require_labelled(np.array([-1, 3, -1, 0]), 0, "the method learns from them")
    array([1, 3])
    """
    rows = np.flatnonzero(y != UNLABELLED)
    if not rows.size:
        raise ValueError(
            f"{domain_name(domain)}: none of its {len(y)} samples is labelled, and {why}; "
            "label some"
        )
    return rows


def check_linked_by_labels(ys):
    """Raise ``ValueError`` unless shared classes link every domain to domain 0.

    Two domains are linked if both have samples labelled with one class, or through other domains.
    """
    classes = [frozenset(y[y != UNLABELLED].tolist()) for y in ys]
    for domain, present in enumerate(classes):
        if not present:
            role = " (the target)" if domain == len(ys) - 1 else ""
            raise ValueError(
                f"{domain_name(domain)}{role}: none of its {len(ys[domain])} samples is labelled, "
                "and the domains are linked by shared labels; label some samples, or use a method "
                "that needs no labels there"
            )
    tied, known = {0}, set(classes[0])
    for _ in classes:  # each pass links at least one more domain, or none is left
        tied |= {domain for domain, present in enumerate(classes) if present & known}
        known.update(*(classes[domain] for domain in tied))
    loose = [domain for domain in range(len(ys)) if domain not in tied]
    if loose:
        raise ValueError(
            f"{domain_name(loose[0])}: shares no labelled class with domain 0, directly or through "
            f"another domain (its classes: {sorted(classes[loose[0]])}; domain 0: "
            f"{sorted(classes[0])}); label samples of a common class"
        )


def labelled_source_rows(y):
    """Labelled rows of the source; ``ValueError`` if there is none."""
    return require_labelled(y, 0, "the method learns from the labelled samples of the source")
