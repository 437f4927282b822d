"""New samples far from those that a model was fitted on, as far as the model remembers them."""

import numpy as np

# Standard deviations from the mean. Few samples of the fit lie so far out even with long tails;
# another unit of measurement does.
FAR = 10


def far_out(model, samples, names):
    """What lies far outside the values that a model was fitted on.

    Means and standard deviations are those of the model's ``StandardScaler``, where it is what
    sees the columns first, or after they are coded; without one nothing is known.

    Parameters
    ----------
    model : TargetModel
    samples : ndarray of shape (n_samples, n_features)
        Numbers, or objects where some features are texts.
    names : list of str, or None

    Returns
    -------
    list of str
        A sentence for every column of numbers with such values.
    """
    coder, scaler = _coder_and_scaler(model.preprocessing)
    if scaler is None or not isinstance(samples, np.ndarray):
        return []
    told = []
    for column, feature in _numbers(coder, model.n_features_in_, scaler.n_features_in_):
        values = samples[:, column].astype(float)
        mean, spread = scaler.mean_[feature], scaler.scale_[feature]
        far = np.flatnonzero(np.abs(values - mean) > FAR * spread)  # missing ones are not
        if far.size:
            name = f"number {column + 1}" if names is None else repr(names[column])
            told.append(
                f"column {name}: {far.size} of {len(values)} values are more than {FAR} standard "
                f"deviations from the mean of the samples that the model was fitted on "
                f"({mean:.4g} ± {spread:.4g}; first in row {far[0]}: {values[far[0]]:.4g}). Is "
                "the unit, or the decimal mark, another?"
            )
    return told


def empty_columns(samples, names):
    """Columns without a single value, of which predictions are those of typical samples.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
        Missing numbers are NaN, missing texts None.
    names : list of str, or None

    Returns
    -------
    list of str
        A sentence for every such column.
    """
    if not isinstance(samples, np.ndarray):
        return []
    missing = (samples != samples) | (samples == None)  # noqa: E711 - cell by cell
    empty = np.flatnonzero(missing.all(axis=0))
    shown = [f"number {at + 1}" if names is None else repr(names[at]) for at in empty]
    return [f"column {name}: all {len(samples)} cells are empty" for name in shown]


def _coder_and_scaler(preprocessing):
    """The step that makes features of columns, or None, and the scaler behind it, or None."""
    # By their names: nothing is imported that the model does not hold.
    steps = [step for _, step in getattr(preprocessing, "steps", [("", preprocessing)])]
    coder = None
    if type(steps[0]).__name__ == "ColumnTransformer" or _keeps_columns(steps[0]):
        coder, *steps = steps
    known = steps and type(steps[0]).__name__ == "StandardScaler"
    scaled = known and getattr(steps[0], "mean_", None) is not None and steps[0].scale_ is not None
    return coder, steps[0] if scaled else None


def _numbers(coder, n_columns, n_features):
    """(column, feature) for the columns that are one feature each."""
    if type(coder).__name__ != "ColumnTransformer":
        return [(at, at) for at in range(n_columns)] if n_features == n_columns else []
    pairs = []
    for name, part, columns in coder.transformers_:
        place = coder.output_indices_[name]
        columns = np.atleast_1d(np.arange(n_columns)[columns])  # slices, masks and one alone too
        if _keeps_columns(part) and place.stop - place.start == len(columns):
            pairs += zip(columns.tolist(), range(place.start, place.stop), strict=True)
    return pairs


def _keeps_columns(step):
    """Whether a step leaves numbers as they are, but for the missing ones."""
    kind = type(step).__name__
    return kind == "SimpleImputer" or (kind == "FunctionTransformer" and step.func is None)
