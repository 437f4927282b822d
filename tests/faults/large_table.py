"""100,000 records: what collecting or tracking them takes, printed as JSON.

``python -m tests.faults.large_table collect|track FOLDER``, in a process of its own, so that the
memory is that of the work.
"""

import json
import resource
import sys
import time
from pathlib import Path

from tests.workflow.report_example import METHODS, make_experiment, make_suite, record
from workflow.lib.results.records import collect, load_results, write_results
from workflow.lib.storage.artifacts import write_records
from workflow.lib.tracking.runs import track

TRIALS = 100
CLASSIFIERS = tuple(f"c{number}" for number in range(1 + 100_000 // (12 * len(METHODS) * TRIALS)))
EXPERIMENT = make_experiment(methods=METHODS, classifiers=CLASSIFIERS)


def write(folder):
    """Records of every task, as `evaluate` leaves them; their number."""
    n_records = 0
    for task in EXPERIMENT.tasks:
        rows = [
            record(EXPERIMENT, (task, method, classifier, trial), (trial % 97) / 97)
            for method in EXPERIMENT.methods
            for classifier in CLASSIFIERS
            for trial in range(TRIALS)
        ]
        write_records(folder / task.name / "records.jsonl", rows, {})
        n_records += len(rows)
    return n_records


def collect_all(folder):
    suite = make_suite(EXPERIMENT, TRIALS)
    files = [folder / task.name / "records.jsonl" for task in EXPERIMENT.tasks]
    write_results(folder, EXPERIMENT, collect(EXPERIMENT, files, suite), suite)
    return len(load_results(folder))


def track_all(folder):
    frame = load_results(folder)
    methods = {name: {"estimator": "x:X", "params": {}} for name in EXPERIMENT.methods}
    datasets = {
        task.name: {str(ref): "0" * 64 for ref in task.domains} for task in EXPERIMENT.tasks
    }
    config = {"mlflow": {"tracking_uri": f"sqlite:///{folder}/mlflow.db"}}
    receipts = [track("example", frame, methods, datasets, [], config) for _ in range(2)]
    return [[receipt[key] for key in ("created", "kept")] for receipt in receipts]


def main(what, folder):
    made = write(folder) if what == "write" else None
    started = time.process_time()  # of this process, whoever else is at work
    done = {"write": lambda _: made, "collect": collect_all, "track": track_all}[what](folder)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([done, time.process_time() - started, megabytes]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
