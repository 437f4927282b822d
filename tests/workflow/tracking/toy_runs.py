"""Records of a toy experiment, and how they are tracked."""

import contextlib
from pathlib import Path

import pandas as pd
import pytest

from workflow.lib.tracking.runs import track
from workflow.lib.tracking.store import MlflowClient

URI = "sqlite:///results/mlflow.db"

CONFIG = {"mlflow": {"tracking_uri": URI}}

METHODS = {
    "none": {"estimator": "domain_alignment:NoAdaptation", "paper": "", "params": {}},
    "fma_i": {
        "estimator": "domain_alignment:FMA",
        "paper": "Dernbach & Towsley 2020, Algorithm 3",
        "params": {"level": "instance", "n_components": 4, "graph": {"metric": "cosine"}},
    },
}

DATASETS = {
    "a-b": {"toys.a": "1" * 64, "toys.b": "2" * 64},
    "b-a": {"toys.b": "2" * 64, "toys.a": "1" * 64},
}


def record(task, method, trial, accuracy, **changes):
    scores = dict.fromkeys(("accuracy", "accuracy_entire_target", "balanced_accuracy"), accuracy)
    source, target = task.split("-")
    fields = {"experiment": "toy", "task": task, "source": source, "target": target}
    fields |= {"protocol": "random_3", "method": method, "classifier": "knn_1"}
    fields |= {"setting": None, "trial": trial}
    return fields | scores | {"status": "ok", "seconds": 0.5, "error": None} | changes


def failure(task, method, trial, status, error=None):
    return record(task, method, trial, None, status=status, error=error)


def records():
    rows = [
        record("a-b", "none", 0, 0.5),
        record("a-b", "none", 1, 0.7),
        record("a-b", "fma_i", 1, 0.9),
        record("a-b", "fma_i", 0, 0.8),
        record("b-a", "none", 0, 0.6),
        failure("b-a", "none", 1, "timeout", "exceeded the limit of 1 s per trial"),
        failure("b-a", "fma_i", 0, "data_unavailable", "a.mat: nothing delivers it"),
        failure("b-a", "fma_i", 1, "data_unavailable", "a.mat: nothing delivers it"),
    ]
    return pd.DataFrame(rows)


def write(frame=None, methods=METHODS, **options):
    artifacts = ["results/toy/figures/pairs.svg", "results/toy/tables/accuracy.csv"]
    frame = records() if frame is None else frame
    return track("toy", frame, methods, DATASETS, artifacts, CONFIG, **options)


def client():
    # By its full path, because MLflow keeps the database of an address open across tests.
    return MlflowClient(tracking_uri=f"sqlite:///{Path('results/mlflow.db').resolve()}")


@contextlib.contextmanager
def stopped_after_three_runs(server):
    """Stop a server once three runs are written, and start it again at the end."""
    update, ended = MlflowClient.set_terminated, []

    def stop_after_three(*words, **options):
        if len(ended) == 3:
            server.stop()
        ended.append(words)
        return update(*words, **options)

    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(MlflowClient, "set_terminated", stop_after_three)
            yield
    finally:
        server.start()


def run_of(receipt, cell):
    return client().get_run(receipt["runs"][cell])
