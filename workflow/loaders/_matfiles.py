"""Read named variables of MATLAB files, v5 and v7.3 alike, in the orientation MATLAB shows.

What such a file says of itself is not believed: sizes are checked before anything is read, a v7.3
file (HDF5) is read only as far as its content lies in the file itself, and what is not text or real
numbers is refused.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow.loaders._check import check_size

if TYPE_CHECKING:
    import h5py
    from scipy import sparse

# Classes of MATLAB that a v7.3 file stores as what they are; a date or a table looks like numbers.
_CLASSES = frozenset(
    ["double", "single", "logical", "char", "cell"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def read_variables(path: Path, names: list[str]) -> list:
    """Read variables as arrays, CSR arrays, or arrays of strings (for cell arrays of strings).

    Parameters
    ----------
    path : Path
        A ``.mat`` file, v5 (MATLAB's default) or v7.3 (HDF5).
    names : list of str
        The wanted variables.

    Raises
    ------
    ValueError
        If the file cannot be read or does not hold a variable (the message lists what it holds), or
        if a variable is complex, a struct or an object, too large, or lies in another file.
    FileNotFoundError
        If there is no file.
    """
    import h5py

    path = Path(path)
    with path.open("rb"):  # a missing file is a missing file, not one of another kind
        read = _read_hdf5 if h5py.is_hdf5(path) else _read_v5
    try:
        return read(path, names)
    except _Refused:
        raise
    except Exception as error:  # damaged bytes raise whatever the parser's code comes upon
        raise ValueError(
            f"{path}: cannot be read as a MATLAB file ({type(error).__name__}: {error}). "
            "Is it a .mat file, and complete?"
        ) from error


class _Refused(ValueError):
    """The file can be read, but not what is wanted of it; the message says all."""


def _missing(path: Path, name: str, described: dict[str, str]) -> _Refused:
    listed = ", ".join(f"{key} ({described[key]})" for key in sorted(described))
    return _Refused(
        f"{path}: no variable {name!r}. It holds: {listed or 'nothing'}. "
        "Name one of these in the entry."
    )


def _shape_text(shape: tuple[int, ...] | None) -> str:
    return "empty" if shape is None else " x ".join(map(str, shape))


def _struct(path: Path, name: str, fields: Iterable[str]) -> _Refused:
    listed = ", ".join(f"{name}.{field}" for field in sorted(fields))
    return _Refused(f"{path}: {name!r} is a struct. Name one of the matrices inside: {listed}.")


def _no_field(path: Path, name: str, field: str, fields: Iterable[str]) -> _Refused:
    return _Refused(
        f"{path}: {name!r} has no field {field!r}. It holds: {', '.join(sorted(fields))}."
    )


def _check_stated(path: Path, name: str, n_values: int, itemsize: int) -> None:
    try:
        check_size(name, n_values * max(itemsize, 8))
    except ValueError as error:
        raise _Refused(f"{path}: {error}") from None


def _real(path: Path, name: str, value: "np.ndarray | sparse.sparray") -> object:
    if value.dtype.kind == "c" or value.dtype.names == ("real", "imag"):
        raise _Refused(
            f"{path}: {name!r} holds complex numbers. Save real ones: the real and the imaginary "
            "parts, or the magnitudes, as features."
        )
    return value


# -- v5 ---------------------------------------------------------------------------------------


def _read_v5(path: Path, names: list[str]) -> list:
    from scipy.io import loadmat, whosmat

    with path.open("rb") as file:
        held = {name: (shape, kind) for name, shape, kind in whosmat(file)}
        variables = [name.partition(".")[0] for name in names]
        for name in variables:
            if name not in held:
                raise _missing(path, name, {key: _shape_text(held[key][0]) for key in held})
            shape, kind = held[name]
            if kind != "sparse":  # whose stored entries are bounded by the file
                _check_stated(path, name, int(np.prod(shape, dtype=object)), 8)
        found = loadmat(file, variable_names=variables)
    return [_from_v5(path, name, _field_v5(path, name, found)) for name in names]


def _field_v5(path: Path, name: str, found: dict) -> object:
    """What a name such as ``data.X`` stands for: the field of a struct."""
    variable, *fields = name.split(".")
    value = found[variable]
    for depth, field in enumerate(fields):
        held = getattr(value, "dtype", np.dtype(float)).names or ()
        if field not in held:
            raise _no_field(path, ".".join([variable, *fields[:depth]]), field, held)
        if value.size != 1:
            raise _Refused(f"{path}: {variable!r} is an array of structs; save one struct")
        value = value[field].item()
    return value


def _from_v5(path: Path, name: str, value: object) -> object:
    from scipy import sparse

    if sparse.issparse(value):
        return sparse.csr_array(_real(path, name, value))
    if value.dtype.names:
        raise _struct(path, name, value.dtype.names)
    if value.dtype == object:  # a cell array
        cells = ("" if np.size(cell) == 0 else np.squeeze(cell) for cell in value.ravel())
        return np.array([str(cell) for cell in cells])
    return _real(path, name, value)


# -- v7.3 -------------------------------------------------------------------------------------


def _read_hdf5(path: Path, names: list[str]) -> list:
    import h5py

    with h5py.File(path) as file:
        held = [key for key in file if not key.startswith("#")]
        for name in names:
            if name.partition(".")[0] not in held:
                raise _missing(path, name, {key: _describe(path, file, key) for key in held})
        return [_from_hdf5(path, name, _field_hdf5(path, name, file)) for name in names]


def _field_hdf5(path: Path, name: str, file: "h5py.File") -> "h5py.Group | h5py.Dataset":
    """What a name such as ``data.X`` stands for: the field of a struct."""
    import h5py

    variable, *fields = name.split(".")
    value = _member(path, file, variable)
    for depth, field in enumerate(fields):
        held = list(value) if isinstance(value, h5py.Group) else []
        if field not in held:
            raise _no_field(path, ".".join([variable, *fields[:depth]]), field, held)
        value = _member(path, value, field)
    return value


def _describe(path: Path, file: "h5py.File", key: str) -> str:
    try:
        value = _member(path, file, key)
    except _Refused:
        return "not in this file"
    if hasattr(value, "shape"):  # HDF5 stores MATLAB's last axis first
        return _shape_text(value.shape and value.shape[::-1])
    return "sparse" if "MATLAB_sparse" in value.attrs else "struct"


def _member(path: Path, group: "h5py.Group", key: str) -> "h5py.Group | h5py.Dataset":
    """What a name of a group stands for, if it lies in the same file."""
    import h5py

    if isinstance(group.get(key, getlink=True), h5py.ExternalLink):
        raise _elsewhere(path, key)
    try:
        found = group[key]
    except (KeyError, OSError) as error:
        raise _Refused(f"{path}: {key!r} leads nowhere ({error}). Save the file again.") from error
    if found.file.filename != group.file.filename:
        raise _elsewhere(path, key)
    return found


def _elsewhere(path: Path, name: str) -> _Refused:
    return _Refused(
        f"{path}: {name!r} lies in another file, which is not read. Save the values themselves."
    )


def _from_hdf5(path: Path, name: str, value: "h5py.Group | h5py.Dataset") -> object:
    import h5py

    kind = np.bytes_(value.attrs.get("MATLAB_class", b"double")).decode("latin-1")
    if isinstance(value, h5py.Group):
        if "MATLAB_sparse" not in value.attrs:
            raise _struct(path, name, value)
        return _sparse(path, name, value)
    if kind not in _CLASSES:
        raise _Refused(
            f"{path}: {name!r} is of MATLAB's class {kind!r}; numbers are read, and text. "
            "Convert it before saving."
        )
    stored = _values(path, name, value)
    if value.attrs.get("MATLAB_empty"):  # the values are the shape
        return np.zeros(tuple(int(n) for n in stored))
    if h5py.check_ref_dtype(value.dtype) is h5py.Reference:  # a cell array of characters
        cells = (value.file[cell] for cell in stored.T.ravel())
        return np.array([_text(path, name, cell) for cell in cells])
    if h5py.check_string_dtype(value.dtype) is not None:
        return np.array([bytes(text).decode() for text in stored.T.ravel()])
    if kind == "char":  # one row of characters per string
        return np.array([_characters(row) for row in stored.T])
    return stored.T


def _values(path: Path, name: str, dataset: "h5py.Dataset") -> np.ndarray:
    """Values of a dataset, after a look at where they lie, how many and what they are."""
    import h5py

    if dataset.is_virtual or dataset.external:
        raise _elsewhere(path, name)
    references = h5py.check_ref_dtype(dataset.dtype) is h5py.Reference
    text = h5py.check_string_dtype(dataset.dtype) is not None
    numbers = dataset.dtype.kind in "biuf" or dataset.dtype.names == ("real", "imag")
    if dataset.shape is None or not (references or text or numbers):
        raise _Refused(
            f"{path}: {name!r} holds neither numbers nor text ({dataset.dtype}). "
            "Convert it before saving."
        )
    _check_stated(path, name, dataset.size, dataset.dtype.itemsize)
    return _real(path, name, dataset)[()]


def _sparse(path: Path, name: str, group: "h5py.Group") -> "sparse.csr_array":
    from scipy import sparse

    def part(key: str) -> np.ndarray:
        return _values(path, name, _member(path, group, key))

    pointers = part("jc").astype(np.int64)
    # MATLAB leaves out data and ir when nothing is stored.
    data = part("data") if "data" in group else np.zeros(0)
    rows = part("ir").astype(np.int64) if "ir" in group else np.zeros(0, np.int64)
    shape = (int(group.attrs["MATLAB_sparse"]), len(pointers) - 1)
    _check_stated(path, name, shape[0], 8)
    columns = sparse.csc_array((data, rows, pointers), shape=shape)
    columns.check_format(full_check=True)  # SciPy's C code follows the indices unchecked
    return sparse.csr_array(columns)


def _text(path: Path, name: str, cell: "h5py.Dataset") -> str:
    if cell.attrs.get("MATLAB_empty"):
        return ""
    return _characters(_values(path, name, cell))


def _characters(codes: np.ndarray) -> str:
    return "".join(map(chr, np.ravel(codes))).rstrip()
