"""Read named variables of MATLAB files, v5 and v7.3 alike, in the orientation MATLAB shows."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import h5py


def read_variables(path: Path, names: list[str]) -> list:
    """Read variables as arrays, CSR arrays, or arrays of strings (for cell arrays of strings).

    Parameters
    ----------
    path : Path
        A ``.mat`` file, v5 (MATLAB's default) or v7.3 (HDF5).
    names : list of str
        Names of the variables.

    Raises
    ------
    ValueError
        If the file cannot be read or does not hold a variable; the message lists what it holds.
    """
    import h5py

    path = Path(path)
    if h5py.is_hdf5(path):
        with h5py.File(path) as file:
            held = {key: file[key] for key in file if not key.startswith("#")}
            return [_from_hdf5(file, _pick(path, held, name)) for name in names]
    held = _read_v5(path)
    return [_from_v5(path, name, _pick(path, held, name)) for name in names]


def _read_v5(path: Path) -> dict:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    with path.open("rb") as file:
        try:
            return {k: v for k, v in loadmat(file).items() if not k.startswith("__")}
        except (ValueError, TypeError, MatReadError, OSError, NotImplementedError) as error:
            raise ValueError(
                f"{path}: cannot be read as a MATLAB file ({error}). "
                "Is it a .mat file, and complete?"
            ) from error


def _pick(path: Path, held: dict, name: str) -> object:
    if name not in held:
        listed = ", ".join(f"{key} {_describe(value)}" for key, value in sorted(held.items()))
        raise ValueError(
            f"{path}: no variable {name!r}. It holds: {listed or 'nothing'}. "
            "Name one of these in the entry."
        )
    return held[name]


def _describe(value: object) -> str:
    shape = getattr(value, "shape", None)
    if shape is None:  # an HDF5 group: a sparse matrix or a struct
        return "(sparse)" if "MATLAB_sparse" in value.attrs else "(struct)"
    if hasattr(value, "attrs"):  # HDF5 stores MATLAB's last axis first
        shape = shape[::-1]
    return f"({' x '.join(map(str, shape))})"


def _from_v5(path: Path, name: str, value: object) -> object:
    from scipy import sparse

    if sparse.issparse(value):
        return sparse.csr_array(value)
    if value.dtype.names:
        raise ValueError(f"{path}: {name!r} is a struct. Save the matrices inside it by name.")
    if value.dtype == object:  # a cell array
        return np.array([str(np.squeeze(cell)) for cell in value.ravel()])
    return value


def _from_hdf5(file: "h5py.File", value: "h5py.Group | h5py.Dataset") -> object:
    import h5py
    from scipy import sparse

    if isinstance(value, h5py.Group):
        if "MATLAB_sparse" not in value.attrs:
            raise ValueError(
                f"{file.filename}: {value.name[1:]!r} is a struct. "
                "Save the matrices inside it by name."
            )
        pointers = value["jc"][()].astype(np.int64)
        # MATLAB leaves out data and ir when nothing is stored.
        data = value["data"][()] if "data" in value else np.zeros(0)
        rows = value["ir"][()].astype(np.int64) if "ir" in value else np.zeros(0, np.int64)
        shape = (int(value.attrs["MATLAB_sparse"]), len(pointers) - 1)
        return sparse.csr_array(sparse.csc_array((data, rows, pointers), shape=shape))
    if value.dtype == object:  # a cell array: references to arrays of characters
        return np.array([_characters(file[cell][()]) for cell in value[()].T.ravel()])
    if value.attrs.get("MATLAB_class") == b"char":  # one row of characters per string
        return np.array([_characters(row) for row in value[()].T])
    return value[()].T


def _characters(codes: np.ndarray) -> str:
    return "".join(map(chr, np.ravel(codes))).rstrip()
