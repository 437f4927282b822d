"""Load one domain. Runs in the guarded child: parsers of foreign files crash and swell there."""

import tempfile
from pathlib import Path

import numpy as np

from workflow.lib.execution.guard import Limits, run_block
from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.storage.features import write_features
from workflow.loaders import load_domain


class LoadFailed(RuntimeError):
    """A domain could not be loaded; the message says which, why, and from which files."""


def load_guarded(
    dataset: str,
    entry: dict,
    domain: str,
    paths: dict[str, Path],
    outputs: dict[str, str],
    limits: Limits,
    scratch: Path,
) -> None:
    """Load a domain in a child process under limits, and write its features and labels.

    Parameters
    ----------
    dataset, entry, domain, paths
        As for `workflow.loaders.load_domain`.
    outputs : dict of str to str
        Files to write: ``features`` and ``labels``.
    limits : Limits
        Wall time and resident memory of the child.
    scratch : Path
        Existing folder.

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
    }
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        (outcome,) = run_block(__name__, block, [0], limits, Path(folder))
    if outcome.status == "error":
        raise LoadFailed(outcome.error)
    if outcome.status != "ok":
        files = ", ".join(block["paths"].values()) or "no file"
        raise LoadFailed(
            f"dataset {dataset!r}, domain {domain!r}: reading {files}: {outcome.error}. "
            "Compare the file with its source. A domain that needs more is given it by "
            "--set-resources load:memory_mb_per_trial=N load:seconds_per_trial=N."
        )


def setup(spec: dict) -> dict:
    """Nothing is shared: the one trial reads all."""
    return spec


def run_trial(spec: dict, trial: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Load the domain and write it."""
    paths = {name: Path(path) for name, path in spec["paths"].items()}
    X, y = load_domain(spec["dataset"], spec["entry"], spec["domain"], paths)
    write_features(spec["outputs"]["features"], X, {})
    write_arrays(spec["outputs"]["labels"], {"y": y}, {})
    return [], {}
