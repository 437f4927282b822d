"""What a saved model does with the raw rows of a table, before they are scaled as it learned."""

import itertools

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from workflow.loaders._columns import Coding


def fitted_coder(coding: Coding):
    """The coding of a domain's table as a fitted transformer of scikit-learn.

    Parameters
    ----------
    coding : Coding
        Of the domain whose new rows are to come; what it fills in is fitted on that domain.

    Returns
    -------
    transformer
        From rows of the coding's columns, numbers as floats and categories as text or None, to its
        features. A category that the data did not have gives zeros. Where the coding fills nothing
        in, an empty cell of a column of numbers is refused.
    """
    # Statistics of a single row are that row.
    row = np.array([[_stand_in(coding, name) for name in coding.columns]], dtype=object)
    if not coding.categories:
        return _of_numbers(coding).fit(row.astype(float))
    parts = []
    named = enumerate(coding.columns)
    for is_text, run in itertools.groupby(named, lambda place: place[1] in coding.categories):
        places, names = zip(*run, strict=True)
        # By position: scikit-learn takes "__" in a name for a separator.
        told = f"columns {places[0] + 1} to {places[-1] + 1}"
        make = _of_categories(coding, names) if is_text else _of_numbers(coding)
        parts.append((told, make, list(places)))
    return ColumnTransformer(parts, sparse_threshold=0).fit(row)


def text_columns(coding: Coding) -> list[int]:
    """Positions of the columns that hold categories."""
    return [at for at, name in enumerate(coding.columns) if name in coding.categories]


def decoded(coding: Coding, X: np.ndarray) -> list[list]:
    """Rows of the table that have these features: numbers, and the names of the categories."""
    rows, place = [[] for _ in X], 0
    for name in coding.columns:
        known = coding.categories.get(name)
        width = 1 if known is None else len(known)
        for row, part in zip(rows, X[:, place : place + width], strict=True):
            row.append(float(part[0]) if known is None else _named(known, part))
        place += width
    return rows


def _named(known: tuple[str, ...], part: np.ndarray) -> str | None:
    return known[int(np.argmax(part))] if part.any() else None


def _stand_in(coding: Coding, name: str):
    if name in coding.fills:
        return coding.fills[name]
    return coding.categories[name][0] if name in coding.categories else 0.0


def _of_numbers(coding: Coding):
    return SimpleImputer(strategy="median") if coding.fills else FunctionTransformer(validate=True)


def _of_categories(coding: Coding, names: tuple[str, ...]):
    known = [np.array(coding.categories[name], dtype=object) for name in names]
    one_hot = OneHotEncoder(
        categories=known, handle_unknown="ignore", sparse_output=False, dtype=np.float64
    )
    fill = [SimpleImputer(strategy="most_frequent", missing_values=None)] if coding.fills else []
    return make_pipeline(*fill, one_hot)
