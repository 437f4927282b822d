"""Column names of data frames: read before the conversion to arrays, which forgets them.

A data frame is anything whose ``columns`` are strings, so that no package of data frames has to be
imported.
"""

import warnings

import numpy as np


def feature_names(X, name="X"):
    """Column names of `X`, or None if it has none.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
    name : str, default="X"
        Name in messages.

    Returns
    -------
    names : ndarray of str (dtype object) of shape (n_features,), or None
        None for arrays, and for data frames whose columns are not named by strings.

    Raises
    ------
    ValueError
        If some names are strings and others are not, or a name occurs twice.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> feature_names(SimpleNamespace(columns=["age", "income"])).tolist()
    ['age', 'income']
    >>> feature_names([[1.0, 2.0]]) is None
    True
    """
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = np.empty(len(columns), dtype=object)
    names[:] = list(columns)
    strings = [isinstance(column, str) for column in names]
    if not any(strings):
        return None
    if not all(strings):
        other = names[strings.index(False)]
        raise ValueError(
            f"{name}: its columns are named by strings and by others, such as {other!r}; give "
            "strings only (X.columns = X.columns.astype(str))"
        )
    unique, counts = np.unique(names.astype(str), return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{name}: has two columns {str(unique[counts > 1][0])!r}; rename one")
    return names


def check_names(given, fitted, name, remedy, when="fit"):
    """Raise ``ValueError`` unless columns have the names of those seen before, in their order.

    Parameters
    ----------
    given, fitted : ndarray of str, or None
        Where one is None nothing can be compared.
    name : str
        What the message calls the columns' owner.
    remedy : str
        Ends the message.
    when : str, default="fit"
        Where the others were seen.

    Examples
    --------
    >>> given, fitted = np.array(["b", "a"], dtype=object), np.array(["a", "b"], dtype=object)
    >>> check_names(given, fitted, "X", "sort")
    Traceback (most recent call last):
        ...
    ValueError: X: column 0 is 'b', but was 'a' in fit (the same names in another order); sort
    """
    if given is None or fitted is None or np.array_equal(given, fitted):
        return
    if set(given) == set(fitted):
        how = "the same names in another order"
    else:
        unseen = [str(column) for column in given if column not in set(fitted)]
        missing = [str(column) for column in fitted if column not in set(given)]
        how = f"{_some(unseen)} not in {when}; {_some(missing)} missing"
    for at, (now, before) in enumerate(zip(given, fitted, strict=False)):
        if now != before:
            how = f"column {at} is {now!r}, but was {before!r} in {when} ({how})"
            break
    raise ValueError(f"{name}: {how}; {remedy}")


def warn_of_missing_names(given, fitted, name, method):
    """``UserWarning``, as scikit-learn's, if only one of fit and now has named columns."""
    if (given is None) == (fitted is None):
        return
    lacking, having = (
        ("has no column names", "was fitted with them")
        if given is None
        else ("has column names", "was fitted without")
    )
    warnings.warn(
        f"{name}: {lacking}, but {method} {having}, so their order cannot be checked",
        UserWarning,
        stacklevel=5,
    )


def check_common_order(names, reason):
    """Raise ``ValueError`` if a name that two domains share stands at another column in each.

    Parameters
    ----------
    names : list of (ndarray of str, or None)
        Of each domain.
    reason : str
        Why the columns must correspond, in the message.
    """
    places = {}  # name -> the first domain that has it, and its column there
    for domain, columns in enumerate(names):
        for at, column in enumerate(() if columns is None else columns):
            first, place = places.setdefault(column, (domain, at))
            if place != at:
                raise ValueError(
                    f"domain {domain}: column {at} is {column!r}, which is column "
                    f"{place} of domain {first}, where column {at} is "
                    f"{names[first][at]!r}; {reason}, so give the columns in one order "
                    f"(Xs[{domain}][list(Xs[{first}].columns)])"
                )


def remember_names(model, names):
    """Keep the column names that a prepared model was computed from, if it can hold them."""
    if names is None:
        return model
    for part in model if isinstance(model, list | tuple) else [model]:
        if hasattr(part, "__dict__"):
            vars(part)["feature_names_in_"] = names  # of frozen data classes too
    return model


def remembered_names(model):
    """Names kept by :func:`remember_names`, or None."""
    parts = model if isinstance(model, list | tuple) else [model]
    return next(
        (part.feature_names_in_ for part in parts if hasattr(part, "feature_names_in_")), None
    )


def _some(names):
    listed = ", ".join(map(repr, names[:3])) or "none"
    return f"{listed}, ..." if len(names) > 3 else listed
