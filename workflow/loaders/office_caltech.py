"""Office–Caltech10: SURF histograms, DeCAF6 features, and the official trials.

All feature files hold the images of a domain in the same order, sorted by class; the trials index
this order. Labels 1..10 are the classes in alphabetical order.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file
from workflow.loaders._matfiles import read_variables


def load_surf(domain: str, paths: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Counts of 800 visual words, as released with GFK (variables ``fts`` and ``labels``)."""
    return _load(paths, "fts")


def load_decaf6(domain: str, paths: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """4096 activations of the layer fc6 (variables ``feas`` and ``labels``)."""
    return _load(paths, "feas")


def _load(paths: dict[str, Path], variable: str) -> tuple[np.ndarray, np.ndarray]:
    X, labels = read_variables(only_file(paths), [variable, "labels"])
    return X.astype(np.float64), labels.ravel().astype(np.int64) - 1


def load_splits(path: Path) -> list[dict[str, np.ndarray]]:
    """Trials of one pair of domains, from the files released with MMDT.

    Parameters
    ----------
    path : Path
        A ``SameCategory_{source}-{target}_20RandomTrials_10Categories.mat``. Its structs ``train``
        and ``test`` hold, per trial, 1-based rows of ``source`` and ``target``.

    Returns
    -------
    list of dict
        Per trial the rows, counted from 0: ``source_labelled`` and ``target_labelled`` (the labels
        that a method may see) and ``target_scored`` (``test.target``, the rest of the target). The
        rest of the source, ``test.source``, is not used by the protocol.

    Raises
    ------
    ValueError
        If the file is not of this form, or a target row is both labelled and scored.
    """
    stored = _read(path)
    columns = {
        "source_labelled": _cells(path, stored, "train", "source"),
        "target_labelled": _cells(path, stored, "train", "target"),
        "target_scored": _cells(path, stored, "test", "target"),
    }
    counts = {key: len(cells) for key, cells in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"{path}: the numbers of trials differ: {counts}. The file is not usable.")
    trials = [dict(zip(columns, rows, strict=True)) for rows in zip(*columns.values(), strict=True)]
    for number, trial in enumerate(trials):
        _check_trial(path, number, trial)
    return trials


def _read(path: Path) -> dict:
    from scipy.io import loadmat

    try:
        return loadmat(path)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"{path}: cannot be read as a MATLAB file ({error}). Is it complete?"
        ) from error


def _cells(path: Path, stored: dict, struct: str, field: str) -> list[np.ndarray]:
    value = stored.get(struct)
    if value is None or field not in (value.dtype.names or ()):
        held = ", ".join(key for key in stored if not key.startswith("__"))
        raise ValueError(
            f"{path}: no struct {struct!r} with a field {field!r}. It holds: {held or 'nothing'}. "
            "Expected the structs train and test of the MMDT release."
        )
    # MATLAB counts from 1.
    return [cell.ravel().astype(np.int64) - 1 for cell in value[field][0, 0].ravel()]


def _check_trial(path: Path, number: int, trial: dict[str, np.ndarray]) -> None:
    for name, rows in trial.items():
        if rows.size == 0 or rows.min() < 0 or np.unique(rows).size != rows.size:
            raise ValueError(
                f"{path}: trial {number}: {name} must be distinct rows counted from 1. "
                "The file is not usable."
            )
    both = np.intersect1d(trial["target_labelled"], trial["target_scored"])
    if both.size:
        raise ValueError(
            f"{path}: trial {number}: {both.size} target rows are labelled and scored "
            f"(first: {both[0]}). The file is not usable."
        )
