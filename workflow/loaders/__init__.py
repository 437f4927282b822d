"""Loaders: the raw files of a dataset become its domains.

To add a dataset whose files are tables (.csv, .tsv, .xlsx, .parquet) or arrays (.npz, .npy, .mat,
.svmlight), write only an entry in ``config/datasets.yaml``; ``generic:load`` reads them. For
anything else add a module with ::

    def load(domain, paths, **params):
        return X, y

and name it in the entry as ``loader: module:load``. ``paths`` maps the names of the domain's files
to their paths, ``params`` is the domain's ``params``. ``X`` is (n, p) float64, dense or CSR;
``y`` is int64, 0..C-1, and -1 for rows without a label. A third value, a dict, may say more of them
(`load_described`). Loaders scale nothing and fit nothing; protocols do.
A loader with an argument ``dataset`` is also given the dataset's whole entry. Import slow libraries
inside the functions: the configuration is checked by importing the modules.
"""

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.loaders._suffixes import SVMLIGHT, TABLES

if TYPE_CHECKING:
    import numpy as np
    from scipy import sparse

# Files whose columns mean the same in every domain of a dataset.
_SAME_COLUMNS = (*TABLES, *SVMLIGHT)
_GIVEN = ("domain", "paths", "dataset")  # arguments that do not come from `params`


def files_of(entry: dict, domain: str) -> list[str]:
    """Names of the files that a domain is loaded from: its ``files``, or all of the dataset.

    A dataset of the generic loader without ``class_names`` codes labels by those of all domains
    together, so each domain needs all files. Columns of the user's own tables are coded alike in
    all domains, so a domain with one needs the others; tables that are downloaded may be
    unavailable one by one.
    """
    files = entry["domains"][domain].get("files")
    if files is None:
        return list(entry["files"])
    if not entry["loader"].startswith("generic:"):
        return list(files)
    if "class_names" not in entry:
        return list(entry["files"])
    own = {name for name in entry["files"] if _is_own_table(name, entry)}
    needed = own | set(files) if own & set(files) else set(files)
    return [name for name in entry["files"] if name in needed]


def _is_own_table(name: str, entry: dict) -> bool:
    return name.endswith(_SAME_COLUMNS) and "path" in entry["files"][name]


def splits_file(entry: dict, source: str, target: str) -> str:
    """Name of the file of a ``kind: splits`` dataset that holds the trials of a pair of domains.

    Raises
    ------
    ValueError
        If there is none; the message lists the available pairs.
    """
    pairs = {(file["source"], file["target"]): name for name, file in entry["files"].items()}
    if (source, target) not in pairs:
        known = ", ".join("-".join(pair) for pair in sorted(pairs))
        raise ValueError(
            f"no official trials for the pair {source}-{target}. Available: {known}. "
            "Use another protocol for this task."
        )
    return pairs[source, target]


def find_loader(name: str) -> Callable:
    """Function that an entry calls ``module:function``.

    Raises
    ------
    ValueError
        If there is no such module or function; the message suggests the nearest name.
    """
    module_name, _, function_name = name.partition(":")
    modules = [name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")]
    if module_name not in modules:
        raise ValueError(f"loader: unknown module {_suggest(module_name, modules)}")
    module = importlib.import_module(f"{__name__}.{module_name}")
    functions = sorted(
        key for key, value in vars(module).items() if key.startswith("load") and callable(value)
    )
    if function_name not in functions:
        raise ValueError(
            f"loader: unknown function {_suggest(function_name, functions)} in {module_name!r}"
        )
    return getattr(module, function_name)


def check_entry(name: str, entry: dict, where: str = "config/datasets.yaml") -> None:
    """Check what a schema cannot: references between names of a dataset's entry.

    ``where`` is the file that the entry stands in, for messages.

    Raises
    ------
    ValueError
        Naming the dataset, the key and the nearest known word.
    """
    try:
        function = find_loader(entry["loader"])
        if entry.get("kind") == "splits":
            _check_pairs(entry)
            return
        _check_class_names(entry)
        for domain, described in entry["domains"].items():
            common = entry.get("params", {})
            _check_domain_entry(domain, described, list(entry["files"]), function, common)
        shorts = [described.get("short", key) for key, described in entry["domains"].items()]
        if len(set(shorts)) < len(shorts):
            raise ValueError(f"domains: two have the same `short` ({', '.join(shorts)})")
    except ValueError as error:
        raise ValueError(f"{where}: {name}: {error}") from error


def _check_pairs(entry: dict) -> None:
    pairs = [(file["source"], file["target"]) for file in entry["files"].values()]
    for pair in pairs:
        if pairs.count(pair) > 1:
            raise ValueError(f"files: two files for the pair {'-'.join(pair)}; keep one")


def _check_class_names(entry: dict) -> None:
    names = [str(name) for name in entry.get("class_names", [])]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"class_names: {name!r} appears twice; keep one")
    if names and len(names) != entry["classes"]:
        raise ValueError(f"classes is {entry['classes']}, but class_names has {len(names)}")


def _check_domain_entry(
    domain: str, described: dict, files: list[str], function: Callable, common: dict
) -> None:
    where = f"domains: {domain}"
    for file in described.get("files", []):
        if file not in files:
            raise ValueError(f"{where}: files: unknown file {_suggest(file, files)}")
    if "training_samples" in described and not (
        described["training_samples"] < described.get("samples", 0)
    ):
        raise ValueError(f"{where}: training_samples must be below samples, which must be given")
    params = common | described.get("params", {})
    arguments = inspect.signature(function).parameters
    known = [key for key in arguments if key not in _GIVEN]
    for key in params:
        if key not in known:
            raise ValueError(f"{where}: params: unknown parameter {_suggest(key, known)}")
    for key in known:
        if arguments[key].default is inspect.Parameter.empty and key not in params:
            raise ValueError(f"{where}: params: {key!r} is missing; the loader requires it")


def _suggest(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{word!r}.{hint} Known: {', '.join(known) or 'none'}"


def only_file(paths: dict[str, Path]) -> Path:
    """Path of a domain's only file."""
    if len(paths) != 1:
        raise ValueError(
            f"expected one file, got {len(paths)} ({', '.join(paths) or 'none'}). "
            "Correct the domain's `files` in the entry of its data set."
        )
    return next(iter(paths.values()))


def known_domain(domain: str, known: list[str]) -> str:
    """Return the domain's name, or raise `ValueError` if it is unknown."""
    if domain not in known:
        raise ValueError(f"the loader has no domain {_suggest(domain, known)}")
    return domain


def load_described(
    dataset: str, entry: dict, domain: str, paths: dict[str, Path]
) -> "tuple[np.ndarray | sparse.csr_array, np.ndarray, dict]":
    """Call the loader of a dataset for one domain and check what it returns.

    Parameters
    ----------
    dataset : str
        Name of the dataset, for messages.
    entry : dict
        Its entry in ``config/datasets.yaml``.
    domain : str
        Name of the domain.
    paths : dict of str to Path
        Paths of the files that `files_of` names.

    Returns
    -------
    X : array or CSR array of shape (n, p), float64
    y : array of shape (n,), int64
        -1 for rows without a label.
    about : dict
        What the loader says of them, empty for most. The generic loader: ``class_names``,
        ``unlabelled`` and ``dropped`` (rows), ``rows`` (of the file, from 0, that the samples are;
        where these are not all, in order), and of tables ``feature_names`` and ``coding``
        (`workflow.loaders._columns.Coding.as_dict`).

    Raises
    ------
    ValueError
        If the files or the domain contradict the entry.
    """
    # Here, not above: the Snakefile imports this package and should start without SciPy.
    import numpy as np

    from workflow.loaders._check import check_domain

    function = find_loader(entry["loader"])
    described = entry["domains"][domain]
    params = entry.get("params", {}) | described.get("params", {})
    more = {"dataset": entry} if "dataset" in inspect.signature(function).parameters else {}
    try:
        X, y, *about = function(domain, paths, **params, **more)
    except ValueError as error:
        raise ValueError(f"dataset {dataset!r}, domain {domain!r}: {error}") from error
    except Exception as error:  # whatever a parser comes upon in damaged bytes
        files = ", ".join(map(str, paths.values())) or "no file"
        raise ValueError(
            f"dataset {dataset!r}, domain {domain!r}: {type(error).__name__}: {error} (reading "
            f"{files}). Check the file, or correct its loader."
        ) from error
    told = about[0] if about else {}
    lowest = -1 if told.get("unlabelled") else 0
    values = entry.get("values", "real")
    check_domain(f"{dataset}.{domain}", X, y, described, entry["classes"], lowest, values)
    return X, np.asarray(y, dtype=np.int64), told
