"""From files of one's own to the configuration of an experiment that answers on them.

The files are read here once, so that what is wrong with them is said before anything runs or is
written; the jobs of the experiment read them again.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from workflow.lib.config.own_columns import (
    OwnDataError,
    keep_shared,
    leaving_out,
    named_columns,
    not_in_all,
    shared,
    tables,
    told_not_in_all,
)
from workflow.lib.config.own_domains import Asked, dataset_entry, files_asked, slugs
from workflow.lib.config.own_labels import Known, check_label, class_names, known_labels
from workflow.lib.config.tasks import parts_of
from workflow.loaders import load_described
from workflow.loaders._pairing import HalfSharedError
from workflow.loaders.generic import Reader

# Parameters of the loader that the user may say.
READING = ("drop", "categorical", "unlabelled", "separator", "decimal", "transpose", "flatten")
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
TARGET_ALONE = ("target_only", "target_pca", "target_rbf_svm")
WITH_LABELS = ("source_and_target", *TARGET_ALONE, "ssma", "kema_linear")
OTHER_FEATURES = (*TARGET_ALONE, "ssma", "kema_linear", "kema_rbf", "sma", "fma_i")
NOT_SPARSE = {"kema_rbf"}
# Rows of a domain that a method sees at most: a quick answer stays quick.
MAX_ROWS = {"quick": 1000, "full": 3000}


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
    files = files_asked(asked)
    held = tables(files, asked.reading)
    asked = dataclasses.replace(asked, reading=named_columns(asked.reading, held))
    check_label(asked.label, held, len(held) == len(files))
    entry, target = dataset_entry(asked, files, held)
    paths = {name: Path(file["path"]) for name, file in entry["files"].items()}
    domains = [*sorted(set(entry["domains"]) - {target}), target]
    columns = _columns(Reader(entry, paths), domains)
    if asked.shared_columns and columns:
        keep_shared(entry, columns)
    classes = class_names(Reader(entry, paths), list(entry["domains"]), target, asked.label)
    entry |= {"class_names": classes, "classes": len(classes)}
    features, labels = zip(*_features(asked, entry, paths, columns), strict=True)
    for name, X in zip(entry["domains"], features, strict=True):
        entry["domains"][name]["features"] = X.shape[1]
    known = known_labels(entry, labels, target)
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
    (name,) = slugs(["sources"], taken=domains)
    files = dict.fromkeys(file for source in sources for file in domains[source]["files"])
    domains[name] = {
        "files": list(files),
        "features": domains[sources[0]]["features"],
        "params": {"pooled": list(sources)},
    }
    return [name]


def _columns(reader: Reader, domains: Sequence[str]) -> dict[str, list[str]]:
    """Columns of features by domain; empty unless all are tables."""
    found = {domain: reader.columns(domain) for domain in domains}
    return {} if None in found.values() else found


def _features(asked: Asked, entry: dict, paths: dict, columns: Mapping[str, list[str]]) -> list:
    """Features and labels of every domain."""
    try:
        return [load_described(asked.name, entry, d, paths)[:2] for d in entry["domains"]]
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
    places = {domain: entry["files"][entry["domains"][domain]["files"][0]] for domain in columns}
    files = {domain: Path(place["path"]).name for domain, place in places.items()}
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


# -- labels and values ------------------------------------------------------------------------


def _shown(asked: Asked, known: Known) -> str | int:
    """Target labels that methods see: of a protocol of kind resampled, ``target_labels``."""
    if asked.shown < 0:
        raise OwnDataError(f"--use-target-labels {asked.shown}: give a number, 0 or more")
    if asked.shown and not known.target_complete:
        raise OwnDataError(
            "--use-target-labels: not all of the target is labelled; those labels that there are "
            "are used as they are"
        )
    n_labelled = sum(known.target_counts.values())
    if asked.shown * len(known.target_counts) >= n_labelled > 0:
        raise OwnDataError(
            f"--use-target-labels {asked.shown}: with {len(known.target_counts)} classes that is "
            f"all of the target's {n_labelled} labelled rows, and none is left to check the "
            "answer; give fewer"
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
    return "counts" if all(map(_is_counts, data)) else "non_negative"


# Columns of whole numbers from which on they may be counts.
FEWEST_COUNTS = 20


def _is_counts(X: np.ndarray) -> bool:
    """Whether whole numbers may be counts of one thing each, as of words, whose sum is a size.

    Rows of zeros have no share, and truth values are no counts. Few columns, or one that holds most
    of all, are rather measurements in units of their own, as of age and income.
    """
    whole = X.shape[1] >= FEWEST_COUNTS and bool((np.round(X) == X).all())
    if not whole or (X.sum(axis=1) == 0).any() or X.max() <= 1:
        return False
    totals = X.sum(axis=0)
    return bool(totals.max() <= totals.sum() / 2)


# -- the experiment ---------------------------------------------------------------------------


# The target's rows with labels are not drawn from.
BESIDES = " Besides these every trial has all target rows whose labels are shown."


def _protocol_entry(asked: Asked, shown: str | int) -> dict:
    words = {"none": "no target label", "known": "the target labels that there are"}
    told = words.get(
        shown, f"target labels, {shown} times as many as classes, of rows drawn at random"
    )
    return {
        "kind": "resampled",
        "description": (
            f"Methods see all source labels and {told}. The first trial has all samples "
            "(of a source, those with a label), at most "
            f"{MAX_ROWS[asked.budget]} of a domain; each of the others has 80 % of so many, of "
            "every class of a source." + ("" if shown == "none" else BESIDES)
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
