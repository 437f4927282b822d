"""DeCAF6 features of the five classes shared by VOC2007, LabelMe, Caltech101, SUN09 and ImageNet.

The public format, as circulated with the `transferlearning` collection (``VOC2007.mat``,
``LabelMe.mat``, ``Caltech101.mat``, ``SUN09.mat``): one variable ``data`` with a row per image, the
4096 activations of layer fc6 of DeCAF and in the last column the class, counted from 1 (bird, car,
chair, dog, person). The ImageNet domain's file is undocumented and assumed to have the same form.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file
from workflow.loaders._matfiles import read_variables


def load(
    domain: str, paths: dict[str, Path], variable: str = "data", n_classes: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Features of one domain, and its classes from the last column.

    Parameters
    ----------
    domain : str
        Ignored: each domain is its own file.
    paths : dict
        The domain's one file, a ``.mat`` of v5 or v7.3.
    variable : str
        Matrix of features and labels, samples as rows.
    n_classes : int
        Labels are 1 to `n_classes`.

    Raises
    ------
    ValueError
        If the variable is missing or not of this form.
    """
    path = only_file(paths)
    (data,) = read_variables(path, [variable])
    if data.ndim != 2 or data.shape[1] < 2 or not np.issubdtype(data.dtype, np.number):
        raise ValueError(
            f"{path}: {variable!r} is not a matrix of features with the label in its last column "
            f"(shape {data.shape}, {data.dtype}). Name another `variable` in the entry's params."
        )
    return np.ascontiguousarray(data[:, :-1], dtype=np.float64), _labels(path, data, n_classes)


def _labels(path: Path, data: np.ndarray, n_classes: int) -> np.ndarray:
    labels = data[:, -1]
    wrong = ~np.isin(labels, np.arange(1, n_classes + 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{path}: the last column should hold labels 1 to {n_classes}; {wrong.sum()} of "
            f"{len(labels)} rows do not (first at row {row}: {labels[row]:g}). If the "
            "labels are a separate variable, use the loader generic:load."
        )
    return labels.astype(np.int64) - 1
