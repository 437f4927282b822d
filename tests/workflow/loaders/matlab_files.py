"""MATLAB files as MATLAB writes them: cell arrays, and version 7.3."""

import h5py
import numpy as np
from scipy import sparse


def cells(*rows):
    """A cell array of columns of numbers."""
    array = np.empty((1, len(rows)), dtype=object)
    for number, row in enumerate(rows):
        array[0, number] = np.array(row, dtype=np.uint16)[:, None]
    return array


def save_v73(path, **variables):
    """Write arrays as MATLAB does: transposed, CSC for sparse, references for cell arrays."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            if sparse.issparse(value):
                columns, group = value.tocsc(), file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group["jc"] = columns.indptr.astype(np.uint64)
                if value.nnz:
                    group["data"], group["ir"] = columns.data, columns.indices.astype(np.uint64)
            elif isinstance(value, list):
                stored = file.create_dataset(name, (1, len(value)), dtype=h5py.ref_dtype)
                for number, text in enumerate(value):
                    codes = np.array([[ord(c)] for c in text], dtype=np.uint16)
                    empty = np.zeros(2, dtype=np.uint64)  # its shape
                    data = codes if text else empty
                    cell = file.create_dataset(f"#refs#/{number}", data=data)
                    if not text:
                        cell.attrs["MATLAB_empty"] = np.uint8(1)
                    stored[0, number] = cell.ref
            else:
                file[name] = np.asarray(value).T
    return path
