"""Files of one's own as the domains of a dataset's entry: which there are, which is the target."""

import dataclasses
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from domain_alignment.utils.cells import is_missing_text, spelled

from workflow.lib.config.own_columns import OwnDataError, marks, nearest
from workflow.loaders._labels import listing
from workflow.loaders._suffixes import ALL, SVMLIGHT, TABLES
from workflow.loaders._tables import fitting, read_table, told_row

TARGET = "target"
# Parameters of the loader that concern every domain, of those that the user may say.
_OF_ALL = ("categorical", "separator", "transpose", "flatten")
_FILE_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*")  # that an entry may give a file


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the user says.

    Attributes
    ----------
    name : str
        Of the experiment.
    paths : tuple of Path
        Files, or one folder of files.
    label : str or None
        Column or array with the labels.
    features : str or None
        Array with the features, where files hold arrays.
    domain : str or None
        Column that tells the domains of one file apart.
    target : str or None
        File, or value of that column; by default the one named ``target*``, of files
        that are named one by one else the last.
    missing : str
        What becomes of empty cells: see `workflow.loaders.generic`.
    reading : mapping
        Other parameters of that loader, those of `workflow.lib.config.own_data.READING`.
    budget : {"quick", "full"}
    shown : int
        Target labels per class that methods see, of rows drawn at random, where all of the target
        is labelled.
    shared_columns : bool
        Whether columns that some table lacks are left out of all.
    """

    name: str
    paths: tuple[Path, ...]
    label: str | None = None
    features: str | None = None
    domain: str | None = None
    target: str | None = None
    missing: str = "median"
    reading: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    budget: str = "quick"
    shown: int = 0
    shared_columns: bool = False


def dataset_entry(
    asked: Asked, files: Sequence[Path], held: Mapping[Path, list]
) -> tuple[dict, str]:
    """The dataset's entry without its classes, and the name of the target's domain.

    Parameters
    ----------
    asked : Asked
    files : sequence of Path
        Those of `files_asked`.
    held : mapping
        Names of the columns of those that are tables.

    Raises
    ------
    OwnDataError
        If the domains cannot be told; with the remedy.
    """
    keys = _keys(files)
    if asked.domain is not None:
        domains, target = _domains_of_column(asked, keys, held)
    else:
        domains, target = _domains_of_files(asked, keys, held)
    told = asked.reading
    params = {"missing": asked.missing, "unlabelled": ["", *told.get("unlabelled", ())]}
    params |= {name: value for name, value in told.items() if name in _OF_ALL}
    return {
        "description": f"Data of one's own: {', '.join(path.name for path in files)}.",
        "loader": "generic:load",
        "files": {key: {"path": str(path.resolve())} for path, key in keys.items()},
        "params": params,
        "domains": domains,
    }, target


def files_asked(asked: Asked) -> list[Path]:
    """The files, those of a folder by their names.

    Raises
    ------
    OwnDataError
        If there is no such file, it is of no type that is read, or there are too few.
    """
    for path in asked.paths:
        if not path.exists():
            where = "" if path.is_absolute() else f" in {Path.cwd()}"
            raise OwnDataError(f"{path}: there is no such file or folder{where}")
    found = []
    for path in asked.paths:
        held = path.iterdir() if path.is_dir() else [path]
        found += sorted(p for p in held if p == path or p.suffix.lower() in ALL)
    for path in found:
        if path.suffix not in ALL and path.suffix.lower() in ALL:
            raise OwnDataError(
                f"{path}: write the type of the file in small letters: rename it to "
                f"{path.with_suffix(path.suffix.lower()).name}"
            )
        if path.suffix not in ALL:
            raise OwnDataError(
                f"{path}: files of type {path.suffix!r} are not read; save it as one of "
                f"{', '.join(ALL)}"
            )
        if set("{}") & set(str(path.resolve())):
            raise OwnDataError(
                f"{path.resolve()}: the workflow takes braces in a path for a wildcard; rename the "
                "file or its folder"
            )
        if not path.stat().st_size:
            raise OwnDataError(f"{path}: the file is empty")
    names = [path.name for path in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise OwnDataError(f"{twice[0]}: two files have this name; rename one")
    if len(found) < (1 if asked.domain else 2):
        raise OwnDataError(
            f"{', '.join(map(str, asked.paths))}: {len(found)} files of data; give a source and a "
            "target, or one file and --domain COLUMN"
        )
    return found


def _keys(files: Sequence[Path]) -> dict[Path, str]:
    """What an entry calls the files: by their names, or by slugs of what it may not hold."""
    keys = {path: path.name for path in files if _FILE_NAME.fullmatch(path.name)}
    odd = [path for path in files if path not in keys]
    made = slugs([path.stem for path in odd], taken=[Path(key).stem for key in keys.values()])
    keys |= {path: f"{slug}{path.suffix}" for path, slug in zip(odd, made, strict=True)}
    return {path: keys[path] for path in files}


def _domains_of_files(
    asked: Asked, keys: Mapping[Path, str], held: Mapping[Path, list]
) -> tuple[dict, str]:
    files = list(keys)
    names = slugs([path.stem for path in files])
    domains = {
        name: {"files": [keys[path]], "params": _params(asked, path, held)}
        for name, path in zip(names, files, strict=True)
    }
    target = _target_of_files(asked, names, files)
    for name, path in zip(names, files, strict=True):
        if name != target and path.suffix == ".npy":
            raise OwnDataError(
                f"{path}: one array, so without labels, which a source needs; save both in one "
                "file: numpy.savez('source.npz', X=..., y=...)"
            )
    _leave_unlabelled(domains[target], files[names.index(target)])
    return domains, target


def _target_of_files(asked: Asked, names: Sequence[str], files: Sequence[Path]) -> str:
    if asked.target is not None:
        word = Path(asked.target).name
        meant = [name for name, p in zip(names, files, strict=True) if word in (p.name, p.stem)]
        if len(meant) != 1:
            found = "several" if meant else "none"
            raise OwnDataError(
                f"--target {asked.target}: {found} of the files "
                f"{', '.join(p.name for p in files)}; give the whole name of one"
            )
        return meant[0]
    called = [name for name in names if name.startswith(TARGET)]
    if len(called) == 1:
        return called[0]
    if any(path.is_dir() for path in asked.paths):
        raise OwnDataError(
            f"which is the target of {', '.join(p.name for p in files)}? Say --target FILE, or "
            "begin the name of one file with 'target'"
        )
    return names[-1]


def _leave_unlabelled(domain: dict, path: Path) -> None:
    """Ask no labels of a target without them: a source without is refused with what it holds."""
    name = domain["params"].get("labels")
    if path.suffix in (".npz", ".mat") and name is not None and not _holds(path, name):
        del domain["params"]["labels"]


def _holds(path: Path, name: str) -> bool:
    """Whether a file has an array of that name; a damaged one is refused where it is read."""
    try:
        return not {name, name.partition(".")[0]}.isdisjoint(_arrays_of(path))
    except Exception:  # whatever a parser comes upon in damaged bytes
        return True


def _arrays_of(path: Path) -> list[str]:
    import h5py
    from scipy.io import whosmat

    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            return list(stored.files)
    if h5py.is_hdf5(path):
        with h5py.File(path) as file:
            return list(file)
    return [name for name, _, _ in whosmat(path)]


def _params(asked: Asked, path: Path, held: Mapping[Path, list[str]]) -> dict:
    if path.suffix in SVMLIGHT:  # which names neither
        return {}
    params = {} if asked.features is None else {"features": asked.features}
    if path in held:
        _, decimal = marks(path, asked.reading)
        params |= {"decimal": decimal} if decimal != "." else {}
        # A column that this file lacks is left out of others.
        known = [name for names in held.values() for name in names]
        drop = asked.reading.get("drop", ())
        here = {told for told in drop if set(fitting(told, known)) & set(held[path])}
        params |= {"drop": sorted(here)} if here else {}
        if asked.label not in held[path]:
            return params
    if path.suffix == ".npy":  # one array, of features
        return params
    return params if asked.label is None else {**params, "labels": asked.label}


def _domains_of_column(
    asked: Asked, keys: Mapping[Path, str], held: Mapping[Path, list]
) -> tuple[dict, str]:
    (path,) = keys if len(keys) == 1 else (None,)
    if path is None or path.suffix not in TABLES:
        raise OwnDataError("--domain: give one table, of which this is a column")
    if asked.domain not in held[path]:
        raise OwnDataError(
            f"{path}: no column {asked.domain!r}.{nearest(asked.domain, held[path])} It holds: "
            f"{listing(held[path])}."
        )
    values = _values(asked, path)
    names = slugs(values)
    params = _params(asked, path, held)
    domains = {
        name: {
            "files": [keys[path]],
            "params": {**params, "rows": {"column": asked.domain, "value": v}},
        }
        for name, v in zip(names, values, strict=True)
    }
    places = dict(zip(values, names, strict=True))
    word = TARGET if asked.target is None else spelled(asked.target)
    if word not in places:
        raise OwnDataError(
            f"--target: say which of {', '.join(values)} in column {asked.domain!r} is the target"
        )
    return domains, places[word]


def _values(asked: Asked, path: Path) -> list[str]:
    """Values that tell the domains apart, each in one spelling, as the loader compares them."""
    cells = read_table(path, [asked.domain], *marks(path, asked.reading))[asked.domain]
    empty = cells[cells.map(is_missing_text).astype(bool)]
    if len(empty):
        row = told_row(empty, empty.index[0])
        raise OwnDataError(
            f"{path}: column {asked.domain!r} is empty in {len(empty)} of {len(cells)} rows (first "
            f"in {row}), which are of no domain; fill it in, or take these rows out of the file"
        )
    values = sorted({spelled(cell) for cell in cells})
    if len(values) < 2:
        raise OwnDataError(
            f"{path}: column {asked.domain!r} holds one value; two domains are needed"
        )
    return values


def slugs(words: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Names of domains: letters, digits and _, none twice and none of those taken."""
    found: list[str] = []
    for word in words:
        slug = re.sub("[^a-z0-9]+", "_", str(word).lower()).strip("_")
        slug = slug if re.match("[a-z]", slug) else f"d_{slug}"
        numbered = (f"{slug}_{number}" for number in itertools.count(2))
        found.append(
            next(name for name in itertools.chain([slug], numbered) if name not in {*taken, *found})
        )
    return found
