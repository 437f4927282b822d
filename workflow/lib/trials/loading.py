"""Read the files of datasets in a guarded child: parsers of foreign files crash and swell there."""

import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.execution.guard import Limits, run_block
from workflow.lib.storage.artifacts import write_arrays
from workflow.loaders import find_loader, load_described


class LoadFailed(RuntimeError):
    """Files could not be loaded; the message says which, and why."""


def load_guarded(
    dataset: str,
    entry: dict,
    domain: str,
    paths: dict[str, Path],
    outputs: dict[str, str],
    limits: Limits,
    scratch: Path,
    made: Mapping = types.MappingProxyType({}),
) -> None:
    """Load a domain in a child process under limits, and write its features and labels.

    Parameters
    ----------
    dataset, entry, domain, paths
        As for `workflow.loaders.load_described`.
    outputs : dict of str to str
        Files to write: ``features`` and ``labels``.
    limits : Limits
        Wall time and resident memory of the child.
    scratch : Path
        Existing folder.
    made : mapping, optional
        What the header of the labels says of the making of both, see `storage.made_from`. That of
        the features does not: what is computed from equal features is not computed again.

    Raises
    ------
    LoadFailed
        If the loader refuses a file, breaks a limit or brings its process down.
    """
    block = {
        "dataset": dataset,
        "entry": entry,
        "domain": domain,
        "paths": {name: str(path) for name, path in paths.items()},
        "outputs": outputs,
        "made": dict(made),
    }
    files = ", ".join(block["paths"].values()) or "no file"
    _run(block, f"dataset {dataset!r}, domain {domain!r}: reading {files}", limits, scratch)


def refusals(
    domains: Sequence[tuple[str, dict, str, dict[str, Path]]], limits: Limits, scratch: Path
) -> list[str]:
    """What is wrong with the files of some domains, all of it at once.

    Parameters
    ----------
    domains : sequence of (dataset, entry, domain, paths)
        As for `load_guarded`; loaded in a child process, and nothing is kept.
    limits, scratch
        As for `load_guarded`.

    Returns
    -------
    list of str
        A message for each domain that cannot be loaded, in their order, none twice: files of which
        several domains are made are refused by each of them.
    """
    block = {
        "check": [
            {
                "dataset": dataset,
                "entry": entry,
                "domain": domain,
                "paths": {name: str(path) for name, path in paths.items()},
            }
            for dataset, entry, domain, paths in domains
        ]
    }
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        outcomes = run_block(__name__, block, range(len(domains)), limits, Path(folder))
        found = [(block["check"][outcome.trial], outcome) for outcome in outcomes]
    said = {}
    for asked, outcome in found:
        where = f"dataset {asked['dataset']!r}, domain {asked['domain']!r}: "
        told = [record["refused"] for record in outcome.records or ()]
        for message in told if outcome.status == "ok" else [outcome.error]:
            # The same words about the same file, whichever domain needed it.
            words = message.removeprefix(where)
            said.setdefault(words, where + words)
    return list(said.values())


def load_splits_guarded(
    loader: str, path: Path, limits: Limits, scratch: Path
) -> list[dict[str, np.ndarray]]:
    """Trials that the file of a ``kind: splits`` dataset holds, read in a child process.

    Parameters
    ----------
    loader : str
        The dataset's loader, ``module:function``.
    path : Path
        The file of the pair of domains.
    limits, scratch
        As for `load_guarded`.

    Raises
    ------
    LoadFailed
        As for `load_guarded`.
    """
    arrays = _run({"splits": [loader, str(path)]}, f"reading {path}", limits, scratch)
    trials: dict[int, dict[str, np.ndarray]] = {}
    for name, rows in arrays.items():
        number, _, column = name.partition("/")
        trials.setdefault(int(number), {})[column] = rows
    return [trials[number] for number in sorted(trials)]


def _run(block: dict, what: str, limits: Limits, scratch: Path) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        (outcome,) = run_block(__name__, block, [0], limits, Path(folder))
        if outcome.status == "error":
            raise LoadFailed(outcome.error)
        if outcome.status != "ok":
            raise LoadFailed(
                f"{what}: {outcome.error}. Compare the file with its source. What needs more is "
                "given it by --set-resources RULE:memory_mb_per_trial=N RULE:seconds_per_trial=N "
                "with RULE load or sample."
            )
        with np.load(Path(folder) / "0.npz", allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}


def setup(spec: dict) -> dict:
    """Nothing is shared: the one trial reads all."""
    return spec


def run_trial(spec: dict, trial: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Load what is asked for: trials are handed back, a domain is written where it belongs."""
    if "splits" in spec:
        loader, path = spec["splits"]
        trials = enumerate(find_loader(loader)(Path(path)))
        return [], {f"{n}/{column}": rows for n, t in trials for column, rows in t.items()}
    if "check" in spec:
        try:
            _loaded(spec["check"][trial])
        except ValueError as refusal:  # told in words, not as a traceback on the terminal
            return [{"refused": str(refusal)}], {}
        return [], {}
    # Imports SciPy: here, in the child, and not in each job that samples trials.
    from workflow.lib.storage.features import write_features

    X, y, about = _loaded(spec)
    coding = {"coding": about.pop("coding")} if "coding" in about else {}
    # With the labels too, which is all that is read of a domain where trials are sampled.
    named = {"feature_names": about["feature_names"]} if "feature_names" in about else {}
    rows = {"rows": about.pop("rows")} if "rows" in about else {}
    write_features(spec["outputs"]["features"], X, named | coding)
    size = {"samples": X.shape[0], "features": X.shape[1]}
    write_arrays(spec["outputs"]["labels"], {"y": y} | rows, {**about, **size, **spec["made"]})
    return [], {}


def _loaded(asked: dict) -> tuple:
    paths = {name: Path(path) for name, path in asked["paths"].items()}
    return load_described(asked["dataset"], asked["entry"], asked["domain"], paths)
