"""Check a loaded domain against its entry in ``config/datasets.yaml``."""

import numpy as np
from scipy import sparse

# Most that one array of a file may state to take in memory. A few bytes can state any size.
MAX_BYTES = 4 * 2**30
# The one kind of features (`values` of a dataset's entry) of which a domain may be sparse.
SPARSE = "sparse_counts"


def check_size(name: str, n_bytes: int) -> None:
    """Refuse an array that states too large a size, before memory is asked for.

    Raises
    ------
    ValueError
        Naming the array, its stated size and the bound.
    """
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"{name!r} states {n_bytes / 1e9:.1f} GB; at most {MAX_BYTES / 1e9:.1f} GB are read "
            "(MAX_BYTES in workflow/loaders/_check.py). Is the file damaged?"
        )


def check_domain(
    name: str,
    X: object,
    y: object,
    expected: dict,
    classes: int,
    lowest: int = 0,
    values: str = "real",
) -> None:
    """Raise if a domain contradicts its entry.

    Parameters
    ----------
    name : str
        ``{dataset}.{domain}``, for the message.
    X : array or sparse array of shape (n, p)
        Features; dense or CSR, float64.
    y : array of shape (n,)
        Labels, integers `lowest`..``classes``-1.
    expected : dict
        The domain's entry; ``samples`` and ``features`` are checked if given.
    classes : int
        Number of classes of the dataset.
    lowest : int, default=0
        -1 where the loader says that rows without a label are among them.
    values : str, default="real"
        Kind of features that the entry states; candidates of tuned experiments follow it.

    Raises
    ------
    ValueError
        Naming the domain, the expected and the actual value.
    """
    dataset, _, domain = name.rpartition(".")
    where = f"dataset {dataset!r}, domain {domain!r}" if dataset else f"domain {domain!r}"
    _check_kind(where, X)
    _check_shape(where, X, expected)
    _check_finite(where, X)
    _check_values(where, X, values)
    _check_labels(where, y, X.shape[0], classes, lowest)


def _check_kind(where: str, X: object) -> None:
    if sparse.issparse(X):
        kind = f"a sparse matrix of format {X.format}"
        good = X.format == "csr"
    else:
        kind, good = f"a {type(X).__name__}", isinstance(X, np.ndarray) and X.ndim == 2
        if isinstance(X, np.ndarray):
            kind = f"an array of {X.ndim} dimension(s)"
    _refuse_masked(where, "X", X)
    if not good:
        raise ValueError(
            f"{where}: X must be a matrix (samples, features), dense or CSR; got {kind}. "
            "Correct the loader."
        )
    if X.dtype != np.float64:
        raise ValueError(f"{where}: X must be float64, got {X.dtype}. Convert it in the loader.")


def _refuse_masked(where: str, what: str, values: object) -> None:
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{where}: {what} is a masked array, and what its mask hides would be read; impute or "
            "drop it in the loader."
        )


def _check_shape(where: str, X: np.ndarray | sparse.sparray, expected: dict) -> None:
    shape = dict(zip(("samples", "features"), X.shape, strict=True))
    for what, count in shape.items():
        if expected.get(what, count) != count:
            hint = ""
            if (expected.get("samples"), expected.get("features")) == X.shape[::-1]:
                hint = " The two look swapped: samples are rows (generic loader: `transpose`)."
            raise ValueError(
                f"{where}: expected {expected[what]} {what}, got {count} "
                f"(shape {X.shape[0]} x {X.shape[1]}).{hint} "
                "Correct the entry of the data set, or the file or loader it names."
            )
        if count == 0:
            raise ValueError(f"{where}: no {what} (shape {X.shape[0]} x {X.shape[1]}).")


def _check_finite(where: str, X: np.ndarray | sparse.sparray) -> None:
    if sparse.issparse(X):
        rows = np.unique(X.tocoo().row[~np.isfinite(X.data)])
    else:
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if rows.size:
        raise ValueError(
            f"{where}: {rows.size} of {X.shape[0]} samples hold(s) NaN or infinity "
            f"(first at row {rows[0]}); impute or drop it in the loader."
        )


def _check_values(where: str, X: np.ndarray | sparse.sparray, values: str) -> None:
    if values == "real":
        return
    # Dense ones beside sparse ones: what candidates do with sparse counts they can do with these.
    if sparse.issparse(X) and values != SPARSE:
        raise ValueError(
            f"{where}: the features are sparse, which `values: {values}` does not say. Correct "
            f"the entry of the data set (`{SPARSE}`), or have the loader return dense features."
        )
    if (least := X.min()) < 0:
        raise ValueError(
            f"{where}: `values: {values}` says that no feature is negative; the least is "
            f"{least:g}. Correct the entry of the data set (`real`), or the data."
        )


def _check_labels(where: str, y: object, samples: int, classes: int, lowest: int) -> None:
    _refuse_masked(where, "y", y)
    y = np.asarray(y)
    if y.shape != (samples,):
        raise ValueError(f"{where}: expected {samples} labels, got shape {y.shape}.")
    if y.dtype.kind not in "iu":
        raise ValueError(
            f"{where}: labels must be integers, got {y.dtype}. Code them 0..{classes - 1}."
        )
    outside = np.flatnonzero((y < lowest) | (y >= classes))
    if outside.size:
        raise ValueError(
            f"{where}: expected labels 0..{classes - 1} ({classes} classes), "
            f"got {y.min()}..{y.max()} (first out of range at row {outside[0]}: {y[outside[0]]}). "
            "Correct the dataset's `classes`, or the coding in the loader."
        )
