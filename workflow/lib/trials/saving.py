"""Save the model of an answer in a guarded child: what it needs, and where it is left."""

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workflow.lib.config.candidates import numbered
from workflow.lib.config.suite import Suite
from workflow.lib.config.tasks import parts_of
from workflow.lib.execution.guard import Limits, run_block
from workflow.lib.storage.artifacts import read_arrays, read_json
from workflow.loaders._suffixes import SVMLIGHT

_JOB = "workflow.lib.trials.final_model"
_TEXT = (".csv", ".tsv")  # tables whose marks are told or found


class NotSaved(RuntimeError):
    """The model could not be fitted or saved; the message says why."""


def described(
    suite: Suite,
    experiment: str,
    answer: Path | str,
    features: Sequence[Path | str],
    labels: Path | str,
    trials: Path | str,
) -> dict:
    """The block that `final_model` fits: the candidate that an answer keeps.

    Parameters
    ----------
    suite : Suite
    experiment : str
        Of one task, tuned with an answer.
    answer : path
        ``answer.json``.
    features : sequence of path
        Of every domain, the target last.
    labels : path
        Of the target: the names of the classes are read here, no label.
    trials : path
    """
    found = read_json(answer)
    saved, task = found["saved"], suite.experiments[experiment].tasks[0]
    entry = suite.method(experiment, saved["method"])
    candidates = numbered(suite.candidates(experiment, saved["method"], task))
    alignment, classifier = candidates[saved["candidate"]]
    n_classes = suite.datasets[task.target.dataset]["classes"]
    names = read_arrays(labels)[1].get("class_names") or [str(code) for code in range(n_classes)]
    protocol = suite.protocol(experiment)
    return {
        "features": list(map(str, features)),
        "trials": str(trials),
        "method": {key: entry[key] for key in ("estimator", "sees_labels", "params")},
        "tuning": {"baseline": suite.is_baseline(saved["method"])},
        "classifier_rows": protocol["classifier_rows"],
        "preprocess_rows": protocol.get("preprocess_rows", "seen"),
        "alignment": dataclasses.asdict(alignment),
        "classifier": classifier,
        "class_names": [str(name) for name in names],
        "saved": {
            "about": _about(suite, experiment, found),
            **_reading(suite.datasets[task.target.dataset], task.target.domain),
        },
    }


def _reading(entry: dict, domain: str) -> dict:
    """How the files of a domain are written, for those of its new samples.

    ``reading`` are the marks of a table of text; ``counted`` the .svmlight files which together
    tell whether features are counted from 0 (`workflow.loaders._arrays.read_svmlight`).
    """

    def first(name: str) -> str:
        return (entry["domains"][name].get("files") or list(entry["files"]))[0]

    if not entry["loader"].startswith("generic:"):
        return {}
    own = Path(first(domain)).suffix
    if own in _TEXT:
        params = entry.get("params", {}) | entry["domains"][domain].get("params", {})
        marks = {key: params[key] for key in ("separator", "decimal") if params.get(key)}
        return {"reading": marks}
    files = {name for name in map(first, entry["domains"]) if name.endswith(SVMLIGHT)}
    paths = [entry["files"][name].get("path") for name in sorted(files)]
    return {"counted": paths} if own in SVMLIGHT and all(paths) else {}


def _about(suite: Suite, experiment: str, found: dict) -> dict:
    """What the card says beside the model's own settings."""
    saved, task = found["saved"], suite.experiments[experiment].tasks[0]
    entries = {ref: suite.datasets[ref.dataset]["domains"] for ref in task.sources}
    sources = ", ".join(part for ref in task.sources for part in parts_of(entries[ref], ref.domain))
    return {
        "title": f"{saved['label']} for {task.target.domain}",
        "data": {
            "Experiment": suite.experiments[experiment].title,
            "Sources": sources,
            "Target": task.target.domain,
            "Candidate": saved["settings"],
        },
        "accuracy": saved["accuracy"]["expected"],
        "interval": [saved["accuracy"]["low"], saved["accuracy"]["high"]],
        "notes": [f"The answer that it belongs to: {found['sentence']}"],
    }


def save_guarded(block: dict, folder: Path, limits: Limits, scratch: Path) -> None:
    """Fit and save in a child process under limits.

    Parameters
    ----------
    block : dict
        Of `described`.
    folder : Path
        Where the model is saved.
    limits : Limits
    scratch : Path
        Existing folder.

    Raises
    ------
    NotSaved
        If the fit fails, or a part of the model cannot be saved.
    """
    block = {**block, "saved": {**block["saved"], "folder": str(folder.absolute())}}
    with tempfile.TemporaryDirectory(dir=scratch) as left:
        (outcome,) = run_block(_JOB, block, [0], limits, Path(left))
    if outcome.status != "ok":
        raise NotSaved(f"{folder}: the model was not saved ({outcome.status}: {outcome.error})")
