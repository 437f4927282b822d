"""Kinds in columns of text: how cells name them, and those that a model was not fitted with."""

import numpy as np

from domain_alignment.utils.cells import category

_MOST_SHOWN = 5  # kinds in a message


def kinds(cells):
    """The kinds that the cells of a column name, spelled alike; None where a cell names none.

    Parameters
    ----------
    cells : sequence of object

    Examples
    --------
    >>> kinds([3, 3.0, " red ", float("nan"), "NA"])
    ['3', '3', 'red', None, 'NA']
    """
    return [None if _is_unknown(cell) else category(cell) for cell in cells]


def _is_unknown(cell):
    """Whether a cell is pandas' NA, of which nobody can say whether it equals itself."""
    try:
        return bool(cell != cell)
    except TypeError:
        return True


def unknown_kinds(preprocessing, X, text_features, names):
    """What the columns of text hold that their one-hot coding does not know.

    Parameters
    ----------
    preprocessing : transformer
        Fitted. Where it does not begin with a ``ColumnTransformer`` of ``OneHotEncoder``, which
        kinds it knows is not found out.
    X : ndarray of object of shape (n_samples, n_features)
        Kinds as text, or None.
    text_features : sequence of int
    names : sequence of str, or None

    Returns
    -------
    list of str
        A sentence for every column with such kinds.
    """
    if not text_features:
        return []
    told = []
    for column, known in _known(preprocessing, X.shape[1]):
        if column not in text_features:
            continue
        cells, expected = X[:, column], {None, *known}
        unknown = [at for at, cell in enumerate(cells) if cell not in expected]
        if unknown:
            name = f"number {column + 1}" if names is None else repr(str(names[column]))
            told.append(
                f"column {name}: {len(unknown)} of {len(cells)} cells hold a kind that the model "
                f"was not fitted with (first in row {unknown[0]}: {cells[unknown[0]]!r}; it knows "
                f"{_listed(known)}), and are predicted as if of none of them. Is it spelled "
                "another way?"
            )
    return told


def _known(preprocessing, n_columns):
    """(column, its kinds) for the columns that are coded one-hot first of all."""
    # By their names, as in the ranges of the command: nothing is imported for what is not there.
    coder = _steps(preprocessing)[0]
    if type(coder).__name__ != "ColumnTransformer":
        return
    for _, part, columns in coder.transformers_:
        encoder = _steps(part)[-1]
        # One that refuses what it does not know says so itself.
        if type(encoder).__name__ == "OneHotEncoder" and encoder.handle_unknown != "error":
            columns = np.atleast_1d(np.arange(n_columns)[columns])
            yield from zip(columns.tolist(), encoder.categories_, strict=False)


def _steps(transformer):
    return [step for _, step in getattr(transformer, "steps", [("", transformer)])]


def _listed(known):
    shown = ", ".join(repr(str(kind)) for kind in known[:_MOST_SHOWN])
    return f"{shown}, ..." if len(known) > _MOST_SHOWN else shown
