"""Gas sensor array drift: one file of comma-separated values per batch, without a header.

A line holds the name of a gas, its concentration in ppmv and 128 features: 8 of each of 16 sensors,
which range over six orders of magnitude. Batches are consecutive periods of 36 months.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file

N_FEATURES = 128


def load(domain: str, paths: dict[str, Path], dataset: dict) -> tuple[np.ndarray, np.ndarray]:
    """Measurements of one batch in the order of the file; a gas may be absent from it.

    Parameters
    ----------
    domain : str
        Ignored: the domain's only file is read.
    paths : dict of str to Path
        The file of the batch.
    dataset : dict
        The whole entry; its ``class_names`` are the gases.

    Returns
    -------
    X : ndarray of shape (n, 128)
        The features. The concentration is left out: it is a target of its own.
    y : ndarray of shape (n,)
        Place of the gas in ``class_names``.

    Raises
    ------
    ValueError
        If a line has another form; it is named.
    """
    path = only_file(paths)
    codes = {name: code for code, name in enumerate(dataset["class_names"])}
    features, labels = [], []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        gas, *values = line.split(",")
        if gas.lower() not in codes or len(values) != 1 + N_FEATURES:
            raise ValueError(
                f"{path}: line {number}: expected a gas ({', '.join(codes)}), a concentration and "
                f"{N_FEATURES} features, got {gas!r} and {len(values)} numbers"
            )
        labels.append(codes[gas.lower()])
        features.append(_numbers(path, number, values[1:]))
    return np.array(features).reshape(-1, N_FEATURES), np.array(labels, dtype=np.int64)


def _numbers(path: Path, line: int, values: list[str]) -> list[float]:
    try:
        return [float(value) for value in values]
    except ValueError as error:
        raise ValueError(f"{path}: line {line}: {error}") from None
