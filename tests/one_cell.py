"""One task of an experiment computed in this process: the stages of a run without Snakemake.

What a job of the workflow is handed comes from the same functions of `workflow.lib`; only the guard
around the method is missing.
"""

import dataclasses
from pathlib import Path

import pandas as pd

from workflow.lib.config.suite import Suite
from workflow.lib.config.tasks import Task
from workflow.lib.results.records import COLUMNS
from workflow.lib.results.views import ExperimentView
from workflow.lib.storage.features import write_features
from workflow.lib.trials.align import run_trial, setup
from workflow.lib.trials.evaluate import evaluate
from workflow.lib.trials.protocols import sample_trials, write_trials
from workflow.loaders import files_of, find_loader, load_described, splits_file


def view_of_cell(
    suite: Suite,
    experiment: str,
    row: str,
    method: str,
    classifier: str,
    mirror: Path,
    folder: Path,
) -> ExperimentView:
    """View of an experiment whose only records are those of one task, method and classifier.

    Parameters
    ----------
    row : str
        Label of the task, such as ``A→C``.
    mirror : Path
        Folder of the data files.
    folder : Path
        For what lies between the stages.
    """
    view = ExperimentView(suite.experiments[experiment], suite, pd.DataFrame())
    task = next(task for task in view.experiment.tasks if view.task_label(task) == row)
    data = [_loaded(suite, ref, mirror) for ref in task.domains]
    labels = [y for _, y in data]
    protocol = suite.protocol(experiment)
    trials = sample_trials(
        view.experiment.protocol, protocol, task, labels, _splits(suite, protocol, task, mirror)
    )
    write_trials(folder / "trials.npz", trials, {})
    for d, (X, _) in enumerate(data):
        write_features(folder / f"{d}.npz", X, {})
    block = setup(_spec(suite, experiment, method, classifier, folder, len(data)))
    aligned, predictions = [], {}
    for number in range(len(trials)):
        records, arrays = run_trial(block, number)
        aligned += [{"trial": number, "status": "ok", **record} for record in records]
        predictions |= {f"{number}/{name}": array for name, array in arrays.items()}
    place = {
        "experiment": experiment,
        "task": task.name,
        "source": task.source_label(suite.datasets),
        "target": task.target_label(suite.datasets),
        "protocol": view.experiment.protocol,
        "method": method,
    }
    scored = evaluate(aligned, predictions, labels[-1], trials, len(trials), (None,), place)
    return dataclasses.replace(view, records=pd.DataFrame(scored, columns=COLUMNS).astype(COLUMNS))


def _loaded(suite: Suite, ref, mirror: Path):
    entry = suite.datasets[ref.dataset]
    paths = {name: mirror / entry["files"][name]["mirror"] for name in files_of(entry, ref.domain)}
    return load_described(ref.dataset, entry, ref.domain, paths)[:2]


def _splits(suite: Suite, protocol: dict, task: Task, mirror: Path):
    """The official trials of a pair, if its protocol has some."""
    if protocol["kind"] != "official":
        return None
    entry = suite.datasets[protocol["splits"]]
    name = splits_file(entry, task.sources[0].domain, task.target.domain)
    return find_loader(entry["loader"])(mirror / entry["files"][name]["mirror"])


def _spec(suite: Suite, experiment: str, method: str, classifier: str, folder: Path, n: int):
    """What the job of a method is handed."""
    entry, protocol = suite.method(experiment, method), suite.protocol(experiment)
    chosen = suite.classifiers_of(experiment, method)[classifier]
    return {
        "features": [str(folder / f"{d}.npz") for d in range(n)],
        "trials": str(folder / "trials.npz"),
        "method": {
            "estimator": entry["estimator"],
            "sees_labels": entry["sees_labels"],
            "params": entry["params"],
            "varied_params": [{}],
        },
        "classifiers": {
            classifier: {"estimator": chosen["estimator"], "params": chosen.get("params", {})}
        },
        "classifier_rows": protocol["classifier_rows"],
        "preprocess": protocol.get("preprocess", []),
        "preprocess_rows": protocol.get("preprocess_rows", "seen"),
        "pictured_trial": None,
        "probabilities": False,
        "tuning": None,
    }
