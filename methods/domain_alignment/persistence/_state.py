"""The state of fitted objects as JSON and arrays, and back, without running code of the file.

Numbers, text and lists stand in the JSON; what JSON lacks is ``{"$kind": ...}``. An object is the
address of its class and its attributes; it is made again by ``__new__`` alone.
"""

import math
from types import FunctionType

import numpy as np
from scipy import sparse
from sklearn.neighbors import BallTree, KDTree

from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence._allowed import class_address, function_address, resolve

_PLAIN = (type(None), bool, int, str)
_SPARSE = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
_SPARSE_ARRAYS = {"csr": sparse.csr_array, "csc": sparse.csc_array}
# Search trees are compiled; scikit-learn's neighbours build them from rows that they keep.
_TREES = {"KDTree": KDTree, "BallTree": BallTree}
_HOLDERS = (dict, list, tuple, set, frozenset, str, bytes, bytearray, int, float, complex)
_BUILTIN_TYPES = {"bool": bool, "float": float, "int": int, "str": str}


class Encoder:
    """Writes a state as JSON and collects its arrays.

    Parameters
    ----------
    trusted : collection of str
        Addresses of classes allowed beside the known ones.

    Attributes
    ----------
    arrays : dict of str to ndarray
    packages : set of str
        Whose classes and functions occur.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode({"tol": 0.5, "map": np.eye(2)})
    {'$dict': [['tol', 0.5], ['map', {'$array': 'a0'}]]}
    >>> encoder.arrays["a0"].shape
    (2, 2)
    """

    def __init__(self, trusted=()):
        self.arrays = {}
        self.packages = set()
        self._trusted = trusted
        self._names = {}  # id of an array -> its name, so that a shared one is written once
        self._kept = []  # arrays whose ids these are
        self._around = set()  # ids of the values that hold the current one

    def encode(self, value, path="model"):
        """JSON form of a value.

        Parameters
        ----------
        value : object
        path : str
            Where it is, in messages.

        Raises
        ------
        SavedModelError
            If it, or a part of it, is of a type that is not saved, or holds itself.
        """
        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if id(value) in self._around:
            raise SavedModelError(f"{path}: holds itself, which is not saved")
        self._around.add(id(value))
        try:
            return self._compound(value, path)
        finally:
            self._around.remove(id(value))

    def _compound(self, value, path):
        if type(value) is list:
            return self._items(value, path)
        if type(value) is tuple:
            return {"$tuple": self._items(value, path)}
        if type(value) is dict:
            pairs = [self._items(pair, f"{path}[{pair[0]!r}]") for pair in value.items()]
            return {"$dict": pairs}
        if type(value) is slice:
            return {"$slice": self._items([value.start, value.stop, value.step], path)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, np.generic):
            return {"$scalar": self._array(np.asarray(value), path)}
        if isinstance(value, np.dtype):
            return {"$dtype": _text_of_dtype(value, path)}
        if isinstance(value, type):
            return {"$type": _text_of_type(value, path)}
        if sparse.issparse(value):
            return self._sparse(value, path)
        if type(value) is np.random.RandomState:
            return {"$random_state": self._generator(value, path)}
        if isinstance(value, FunctionType):
            return {"$function": self._noted(function_address(value))}
        return self._object(value, path)

    def _items(self, values, path):
        return [self.encode(item, f"{path}[{at}]") for at, item in enumerate(values)]

    def _noted(self, address):
        self.packages.add(address.partition(".")[0])
        return address

    def _array(self, values, path):
        if type(values) is not np.ndarray:
            raise SavedModelError(
                f"{path}: is a {type(values).__name__}; only plain arrays are saved"
            )
        if values.dtype.names or values.dtype.metadata:
            raise SavedModelError(f"{path}: has the dtype {values.dtype}, which is not saved")
        if values.dtype.hasobject:
            items = self._items(values.ravel().tolist(), path)
            return {"$objects": items, "shape": list(values.shape)}
        if id(values) not in self._names:
            self._names[id(values)] = f"a{len(self.arrays)}"
            self._kept.append(values)
            self.arrays[self._names[id(values)]] = _as_laid_out(values)
        return {"$array": self._names[id(values)]}

    def _sparse(self, matrix, path):
        if matrix.format not in _SPARSE:
            raise SavedModelError(
                f"{path}: is sparse in the form {matrix.format}; CSR and CSC are saved"
            )
        parts = [self._array(getattr(matrix, part), path) for part in ("data", "indices", "indptr")]
        kind = "array" if isinstance(matrix, sparse.sparray) else "matrix"
        return {"$sparse": matrix.format, "kind": kind, "shape": list(matrix.shape), "parts": parts}

    def _generator(self, generator, path):
        state = generator.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":  # NumPy's RandomState() goes on as no other
            raise SavedModelError(
                f"{path}: is a RandomState of {state['bit_generator']}, which is not saved; give "
                "an int as random_state"
            )
        return self.encode(state, path)

    def _object(self, value, path):
        _check_attributes_are_all(value, path)
        address = self._noted(class_address(type(value), self._trusted))
        if not hasattr(value, "__dict__"):
            raise SavedModelError(f"{path}: a {address} has no attributes to save")
        state = {}
        for name, part in vars(value).items():
            if isinstance(part, tuple(_TREES.values())):
                state[name] = {"$tree": type(part).__name__}
            else:
                state[name] = self.encode(part, f"{path}.{name}")
        return {"$object": address, "state": state}


def _check_attributes_are_all(value, path):
    """Refuse what holds more than its attributes: an OrderedDict's items, a function of NumPy."""
    holds_more = isinstance(value, _HOLDERS)
    try:
        object.__new__(type(value))
    except TypeError:  # of a compiled class, which keeps what no one sees
        holds_more = True
    if holds_more:
        kind = type(value)
        raise SavedModelError(
            f"{path}: a {kind.__module__}.{kind.__qualname__} holds more than its attributes, and "
            "these alone are saved; give the estimator that holds it a setting without one"
        )


class Decoder:
    """Makes the objects of an encoded state again.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    trusted : collection of str
        Addresses of classes allowed beside the known ones.
    """

    def __init__(self, arrays, trusted=()):
        self._arrays = arrays
        self._trusted = trusted

    def decode(self, node):
        """The value of a JSON form.

        Raises
        ------
        SavedModelError
            If it is not the form of a value, or names a class that is not allowed.
        """
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        kind = next(iter(node), "")
        make = getattr(self, f"_make_{kind[1:]}", None) if kind.startswith("$") else None
        if make is None:
            raise SavedModelError(f"{kind!r} is no kind of value that a saved model holds")
        return make(node)

    def _make_float(self, node):
        return float(node["$float"])

    def _make_tuple(self, node):
        return tuple(self.decode(node["$tuple"]))

    def _make_dict(self, node):
        return dict(self.decode(node["$dict"]))

    def _make_slice(self, node):
        return slice(*node["$slice"])

    def _make_array(self, node):
        return self._arrays[node["$array"]]

    def _make_objects(self, node):
        values = np.empty(len(node["$objects"]), dtype=object)
        values[:] = self.decode(node["$objects"])
        return values.reshape(node["shape"])

    def _make_scalar(self, node):
        return self.decode(node["$scalar"])[()]

    def _make_dtype(self, node):
        return np.dtype(node["$dtype"])

    def _make_type(self, node):
        name = node["$type"]
        return _BUILTIN_TYPES[name] if name in _BUILTIN_TYPES else np.dtype(name).type

    def _make_sparse(self, node):
        table = _SPARSE_ARRAYS if node["kind"] == "array" else _SPARSE
        parts = tuple(self.decode(node["parts"]))
        return table[node["$sparse"]](parts, shape=tuple(node["shape"]))

    def _make_random_state(self, node):
        made = np.random.RandomState(0)
        made.set_state(self.decode(node["$random_state"]))
        return made

    def _make_function(self, node):
        return resolve(node["$function"])

    def _make_object(self, node):
        cls = resolve(node["$object"], self._trusted)
        if not isinstance(cls, type):
            raise SavedModelError(f"{node['$object']}: is no class")
        made = cls.__new__(cls)
        trees = {}
        for name, part in node["state"].items():
            if isinstance(part, dict) and "$tree" in part:
                trees[name] = part["$tree"]
            else:
                vars(made)[name] = self.decode(part)  # of frozen data classes too
        for name, kind in trees.items():
            vars(made)[name] = _tree_of(made, _TREES[kind])
        return made


def _tree_of(neighbors, tree):
    """The search tree of scikit-learn's neighbours, built again as they build it."""
    params = neighbors.effective_metric_params_
    metric = neighbors.effective_metric_
    return tree(neighbors._fit_X, neighbors.leaf_size, metric=metric, **params)


def _as_laid_out(values):
    """A contiguous array in the order that is nearer to that of the memory.

    Matrix products of the other order may differ in their last digit.
    """
    columns_first = values.ndim == 2 and abs(values.strides[0]) < abs(values.strides[1])
    return (
        np.asfortranarray(values)
        if columns_first
        else np.ascontiguousarray(values).reshape(values.shape)
    )


def _text_of_dtype(dtype, path):
    if dtype.names or dtype.subdtype:
        raise SavedModelError(f"{path}: is the dtype {dtype}, which is not saved")
    return dtype.str


def _text_of_type(cls, path):
    if cls.__name__ in _BUILTIN_TYPES and _BUILTIN_TYPES[cls.__name__] is cls:
        return cls.__name__
    if issubclass(cls, np.generic):
        return np.dtype(cls).name
    raise SavedModelError(f"{path}: is the class {cls.__name__}, which is not saved as a value")
