"""From files of one's own to the configuration of an experiment that answers on them.

The files are read here once, so that what is wrong with them is said before anything runs or is
written; the jobs of the experiment read them again.
"""

import dataclasses
import fnmatch
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from workflow.lib.config.own_columns import (
    OwnDataError,
    keep_shared,
    leaving_out,
    marks,
    named_columns,
    nearest,
    not_in_all,
    shared,
    tables,
    told_not_in_all,
)
from workflow.lib.config.own_labels import Known, check_label, known_labels
from workflow.lib.config.tasks import parts_of
from workflow.loaders import load_described
from workflow.loaders._columns import HalfSharedError
from workflow.loaders._labels import listing
from workflow.loaders._suffixes import ALL, TABLES
from workflow.loaders._tables import read_table
from workflow.loaders.generic import Reader

TARGET = "target"
# Parameters of the loader that the user may say, and those of them that concern every domain.
READING = ("drop", "categorical", "unlabelled", "separator", "decimal", "transpose", "flatten")
_OF_ALL = ("categorical", "separator", "transpose", "flatten")
CANDIDATES = {"quick": 16, "full": 32}
TRIALS = 5
# Ten minutes on two cores. Half of them are divided among the trials of all methods, as the time
# after which one begins no further setting; the other half is for what is begun, and the rest.
QUICK_SECONDS = 2 * 600
# Fast methods of every family.
QUICK = (
    "source_only",
    "pca",
    "coral",
    "subspace_alignment",
    "gfk",
    "tca",
    "jda",
    "ot_linear",
    "meda",
)
WITH_LABELS = ("source_and_target", "target_only", "ssma", "kema_linear")
OTHER_FEATURES = ("target_only", "ssma", "kema_linear", "kema_rbf", "sma", "fma_i")
NOT_SPARSE = {"kema_rbf"}
# Rows of a domain that a method sees at most: a quick answer stays quick.
MAX_ROWS = {"quick": 1000, "full": 3000}


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
        File, or value of that column; by default the one named ``target*``, else the last file.
    missing : str
        What becomes of empty cells: see `workflow.loaders.generic`.
    reading : mapping
        Other parameters of that loader, those of `READING`.
    budget : {"quick", "full"}
    shown : int
        Target labels per class that methods see, where all of the target is labelled.
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


def configuration(asked: Asked) -> dict[str, dict]:
    """Contents of datasets.yaml, protocols.yaml and experiments/NAME.yaml, by these names.

    Raises
    ------
    OwnDataError, ValueError
        Naming file, column or row, and the remedy.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*", asked.name):
        raise OwnDataError(
            f"name {asked.name!r}: it may have lower-case letters, digits and _, a letter first"
        )
    files = _files(asked)
    held = tables(files, asked.reading)
    asked = dataclasses.replace(asked, reading=named_columns(asked.reading, held))
    check_label(asked.label, held, len(held) == len(files))
    entry, target = _entry(asked, files, held)
    paths = {name: Path(file["path"]) for name, file in entry["files"].items()}
    domains = [*sorted(set(entry["domains"]) - {target}), target]
    columns = _columns(Reader(entry, paths), domains)
    if asked.shared_columns and columns:
        keep_shared(entry, columns)
    known = known_labels(Reader(entry, paths), list(entry["domains"]), target, asked.label)
    entry["class_names"] = known.classes
    entry["classes"] = len(known.classes)
    features = _features(asked, entry, paths, columns)
    same = len({X.shape[1] for X in features}) == 1
    entry["values"] = kind_of_values(features)
    shown = _shown(asked, known)
    if not same and shown == "none":
        raise _untied(columns, entry, known.target_complete)
    domains = [*_pooled(entry, domains[:-1]), target] if same else domains
    return {
        "datasets.yaml": _file("datasets", {_dataset(asked): entry}),
        "protocols.yaml": _file("protocols", {_protocol(asked): _protocol_entry(asked, shown)}),
        f"experiments/{asked.name}.yaml": _experiment(asked, domains, shown, known, same, entry),
    }


def _pooled(entry: dict, sources: Sequence[str]) -> list[str]:
    """The sources as one domain of the entry: most methods align one source with the target."""
    if len(sources) == 1:
        return list(sources)
    domains = entry["domains"]
    (name,) = _slugs(["sources"], taken=domains)
    files = dict.fromkeys(file for source in sources for file in domains[source]["files"])
    domains[name] = {"files": list(files), "params": {"pooled": list(sources)}}
    return [name]


def _columns(reader: Reader, domains: Sequence[str]) -> dict[str, list[str]]:
    """Columns of features by domain; empty unless all are tables."""
    found = {domain: reader.columns(domain) for domain in domains}
    return {} if None in found.values() else found


def _features(asked: Asked, entry: dict, paths: dict, columns: Mapping[str, list[str]]) -> list:
    """Features of every domain."""
    try:
        return [load_described(asked.name, entry, domain, paths)[0] for domain in entry["domains"]]
    except ValueError as error:
        if columns and isinstance(error.__cause__, HalfSharedError):
            raise OwnDataError(
                f"{_apart(columns, entry)} The domains have equally many features all the same: "
                "methods would pair them by position."
            ) from error
        raise


def _untied(columns: Mapping[str, list[str]], entry: dict, labelled: bool) -> OwnDataError:
    """Domains of different features, of which the target shows no label."""
    told = (
        "the domains have different features, and the target shows no label: nothing ties them "
        "together. "
    )
    tie = "--use-target-labels K shows some" if labelled else "Label some samples of the target"
    if columns and shared(columns):
        return OwnDataError(f"{told}{_apart(columns, entry)} Labels would tie them: {tie}.")
    return OwnDataError(f"{told}{tie}, or give both the same columns.")


def _apart(columns: Mapping[str, list[str]], entry: dict) -> str:
    """Which columns some files lack, and what can be done about it."""
    files = {domain: entry["domains"][domain]["files"][0] for domain in columns}
    apart = not_in_all(columns)
    return (
        f"Columns that not all files have: {told_not_in_all(apart, files)}. Name them alike if "
        f"they are the same, or say {leaving_out(apart)} to compare on the {len(shared(columns))} "
        "that all have."
    )


def _file(kind: str, entries: dict) -> dict:
    return {"schema_version": 1, kind: entries}


def _dataset(asked: Asked) -> str:
    return f"{asked.name}_data"


def _protocol(asked: Asked) -> str:
    return f"{asked.name}_draws"


# -- files and domains ------------------------------------------------------------------------


def _entry(asked: Asked, files: Sequence[Path], held: Mapping[Path, list]) -> tuple[dict, str]:
    """The dataset's entry without its classes, and the name of the target's domain."""
    if asked.domain is not None:
        domains, target = _domains_of_column(asked, files, held)
    else:
        domains, target = _domains_of_files(asked, files, held)
    told = asked.reading
    params = {"missing": asked.missing, "unlabelled": ["", *told.get("unlabelled", ())]}
    params |= {name: value for name, value in told.items() if name in _OF_ALL}
    return {
        "description": f"Data of one's own: {', '.join(path.name for path in files)}.",
        "loader": "generic:load",
        "files": {path.name: {"path": str(path.resolve())} for path in files},
        "params": params,
        "domains": domains,
    }, target


def _files(asked: Asked) -> list[Path]:
    for path in asked.paths:
        if not path.exists():
            where = "" if path.is_absolute() else f" in {Path.cwd()}"
            raise OwnDataError(f"{path}: there is no such file or folder{where}")
    found = []
    for path in asked.paths:
        found += sorted(p for p in path.iterdir() if p.suffix in ALL) if path.is_dir() else [path]
    for path in found:
        if path.suffix not in ALL:
            raise OwnDataError(
                f"{path}: files of type {path.suffix!r} are not read; save it as one of "
                f"{', '.join(ALL)}"
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


def _domains_of_files(
    asked: Asked, files: Sequence[Path], held: Mapping[Path, list]
) -> tuple[dict, str]:
    names = _slugs([path.stem for path in files])
    domains = {
        name: {"files": [path.name], "params": _params(asked, path, held)}
        for name, path in zip(names, files, strict=True)
    }
    if asked.target is not None:
        word = Path(asked.target).name
        meant = [name for name, p in zip(names, files, strict=True) if word in (p.name, p.stem)]
        if len(meant) != 1:
            found = "several" if meant else "none"
            raise OwnDataError(
                f"--target {asked.target}: {found} of the files "
                f"{', '.join(p.name for p in files)}; give the whole name of one"
            )
        return domains, meant[0]
    called = [name for name in names if name.startswith(TARGET)]
    if len(called) == 1:
        return domains, called[0]
    if any(path.is_dir() for path in asked.paths):
        raise OwnDataError(
            f"which is the target of {', '.join(p.name for p in files)}? Say --target FILE, or "
            "begin the name of one file with 'target'"
        )
    return domains, names[-1]


def _params(asked: Asked, path: Path, held: Mapping[Path, list[str]]) -> dict:
    params = {} if asked.features is None else {"features": asked.features}
    if path in held:
        _, decimal = marks(path, asked.reading)
        params |= {"decimal": decimal} if decimal != "." else {}
        # A column that this file lacks is left out of others.
        fitting = {p for p in asked.reading.get("drop", ()) if fnmatch.filter(held[path], p)}
        params |= {"drop": sorted(fitting)} if fitting else {}
        if asked.label not in held[path]:
            return params
    return params if asked.label is None else {**params, "labels": asked.label}


def _domains_of_column(
    asked: Asked, files: Sequence[Path], held: Mapping[Path, list]
) -> tuple[dict, str]:
    (path,) = files if len(files) == 1 else (None,)
    if path is None or path.suffix not in TABLES:
        raise OwnDataError("--domain: give one table, of which this is a column")
    if asked.domain not in held[path]:
        raise OwnDataError(
            f"{path}: no column {asked.domain!r}.{nearest(asked.domain, held[path])} It holds: "
            f"{listing(held[path])}."
        )
    table = read_table(path, [asked.domain], *marks(path, asked.reading))
    values = sorted(set(table[asked.domain]))
    if len(values) < 2:
        raise OwnDataError(
            f"{path}: column {asked.domain!r} holds one value; two domains are needed"
        )
    names = _slugs(values)
    params = _params(asked, path, held)
    domains = {
        name: {
            "files": [path.name],
            "params": {**params, "rows": {"column": asked.domain, "value": v}},
        }
        for name, v in zip(names, values, strict=True)
    }
    places = dict(zip(values, names, strict=True))
    word = TARGET if asked.target is None else asked.target
    if word not in places:
        raise OwnDataError(
            f"--target: say which of {', '.join(values)} in column {asked.domain!r} is the target"
        )
    return domains, places[word]


def _slugs(words: Sequence[str], taken: Collection[str] = ()) -> list[str]:
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


# -- labels and values ------------------------------------------------------------------------


def _shown(asked: Asked, known: Known) -> str | int:
    """Target labels that methods see: of a protocol of kind resampled, ``target_labels``."""
    if asked.shown < 0:
        raise OwnDataError(f"--use-target-labels {asked.shown}: give a number of labels per class")
    if asked.shown and not known.target_complete:
        raise OwnDataError(
            "--use-target-labels: not all of the target is labelled; those labels that there are "
            "are used as they are"
        )
    if asked.shown:
        return asked.shown
    return "none" if known.target_complete or not known.target_counts else "known"


def kind_of_values(features: Sequence) -> str:
    """Kind of features (``values`` of a dataset) that fits all domains."""
    data = [X.data if sparse.issparse(X) else np.asarray(X) for X in features]
    negative = any((part < 0).any() for part in data)
    if any(sparse.issparse(X) for X in features):
        if negative:
            raise OwnDataError("sparse features with negative values; save them as a dense array")
        return "sparse_counts"
    if negative:
        return "real"
    whole = all((part == np.round(part)).all() for part in data)
    # Rows of zeros have no share; truth values are no counts.
    counts = whole and all((part.sum(axis=1) > 0).all() and part.max() > 1 for part in data)
    return "counts" if counts else "non_negative"


# -- the experiment ---------------------------------------------------------------------------


def _protocol_entry(asked: Asked, shown: str | int) -> dict:
    words = {"none": "no target label", "known": "the target labels that there are"}
    told = words.get(shown, f"{shown} target labels per class")
    return {
        "kind": "resampled",
        "description": (
            f"Methods see all source labels and {told}. The first trial has all samples "
            "(of a source, those with a label), at most "
            f"{MAX_ROWS[asked.budget]} of a domain; each of the others has 80 % of so many, of "
            "every class of a source."
        ),
        "trials": TRIALS,
        "seed": 0,
        "share": 0.8,
        "target_labels": shown,
        "max_rows": MAX_ROWS[asked.budget],
        "classifier_rows": "source" if shown == "none" else "source+target",
    }


def _experiment(asked, domains, shown, known: Known, same: bool, entry: dict) -> dict:
    refs = [f"{_dataset(asked)}.{domain}" for domain in domains]
    sources = refs[:-1] if len(refs) > 2 else refs[0]
    named = [part for name in domains[:-1] for part in parts_of(entry["domains"], name)]
    most = shown if isinstance(shown, int) else max(known.target_counts.values(), default=0)
    labelled = shown != "none" and most > 1
    methods = methods_for(asked.budget, shown, same, entry["values"])
    tuning = {
        "chosen_by": "labelled_accuracy" if labelled else "circular",
        "candidates": CANDIDATES[asked.budget],
        "answer": True,
    }
    if asked.budget == "quick":
        tuning["seconds"] = QUICK_SECONDS // (2 * len(methods) * TRIALS)
    return {
        "schema_version": 1,
        "title": f"{asked.name}: {' and '.join(named)} to {domains[-1]}",
        "question": "Does alignment help on these data, which method, and what is to be expected?",
        "tasks": [{"source": sources, "target": refs[-1]}],
        "protocol": _protocol(asked),
        "methods": methods,
        "tuning": tuning,
    }


def methods_for(budget: str, shown: str | int, same: bool, values: str) -> list[str] | str:
    """Names of the methods that are compared, or all that apply.

    Parameters
    ----------
    budget : {"quick", "full"}
    shown : str or int
        Target labels that methods see: of a protocol of kind resampled, ``target_labels``.
    same : bool
        Whether the domains have equally many features.
    values : str
        Kind of the features.
    """
    if budget == "full":
        return "all"
    alike = QUICK if shown == "none" else (*QUICK, *WITH_LABELS)
    names = alike if same else OTHER_FEATURES
    left_out = NOT_SPARSE if values == "sparse_counts" else set()
    return [name for name in names if name not in left_out]
