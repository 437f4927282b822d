"""How the workflow grows: experiments of 10^3 to 10^5 cells with a method that does nothing.

    python tests/bench/many_cells.py [--cells 1000 10000] [--run 1000] [--folder DIR]

A cell is one method on one task, so a job. For each size an experiment is generated in a folder of
one's own data, and measured: CPU seconds and peak memory of the main process for reading the rules,
for a dry run (rules, DAG, order), and up to --run cells for a whole run whose jobs a simulated
cluster "computes" in no time, so that what is left is Snakemake's own work. Then records of all
cells are made up, and collected, put on a page and written to MLflow. Exponents say how each
quantity grows from size to size: 1 is linear. Linux only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads

import argparse
import json
import math
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "workflow/profiles/default"  # what it says of scheduling holds for all engines
sys.path[:0] = [str(ROOT), str(ROOT / "methods")]

N_METHODS = 10
N_TRIALS = 2
ONLY_DATA = ("--until", "download", "--quiet", "progress", "rules")
TICK = os.sysconf("SC_CLK_TCK")

# What a cluster's command does, in no time: every output of the job is there, and its mark.
SUBMIT = r"""#!/bin/sh
# submit.sh OUTPUTS... SCRIPT
for path; do
    script=$path
    case $path in
    *.jsonl | *.npz) mkdir -p "${path%/*}" && : >"$path" ;;
    esac
done
mark=$(sed -n "s/.*touch '\([^']*jobfinished\)'.*/\1/p" "$script" | head -n 1)
: >"$mark"
echo 1
"""


def write_experiment(folder, n_cells):
    """A folder of one's own: domains of twelve rows, so many that all pairs are the cells asked."""
    n_domains = max(3, round((1 + math.sqrt(1 + 4 * n_cells / N_METHODS)) / 2))
    own = folder / "own"
    (own / "experiments").mkdir(parents=True)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 6)
    names = [f"d{number:03d}" for number in range(n_domains)]
    for name in names:
        np.savez(own / f"{name}.npz", X=rng.normal(size=(12, 2)) + 3 * y[:, None], y=y)
    dataset = {
        "description": "Generated.",
        "loader": "generic:load",
        "files": {f"{name}.npz": {"path": f"{name}.npz"} for name in names},
        "classes": 2,
        "domains": {
            name: {
                "files": [f"{name}.npz"],
                "params": {"features": "X", "labels": "y"},
                "samples": 12,
                "features": 2,
            }
            for name in names
        },
    }
    methods = {
        f"noop_{number}": {
            "label": f"No-op {number}",
            "estimator": "domain_alignment:NoAdaptation",
            "sees_labels": "none",
            "paper": "none",
        }
        for number in range(N_METHODS)
    }
    protocol = {
        "kind": "random",
        "description": "Generated.",
        "trials": N_TRIALS,
        "seed": 0,
        "source_per_class": 2,
        "target_per_class": 0,
        "classifier_rows": "source",
    }
    experiment = {
        "title": "Many cells",
        "question": "How does the workflow grow?",
        "tasks": [{"all_pairs": "many"}],
        "protocol": "many",
        "methods": list(methods),
        "classifiers": ["one_nn"],
    }
    content = {
        "datasets": {"datasets": {"many": dataset}},
        "methods": {"methods": methods},
        "protocols": {"protocols": {"many": protocol}},
        "experiments/many_cells": experiment,
    }
    for name, part in content.items():
        text = yaml.safe_dump({"schema_version": 1, **part}, sort_keys=False)
        (own / f"{name}.yaml").write_text(text, encoding="utf-8")
    return own


def snakemake(folder, *words):
    """Run Snakemake in a folder; what its main process alone took."""
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), *words]
    line += ["--workflow-profile", str(PROFILE), "--config", f"own={folder / 'own'}"]
    path = f"{ROOT / 'methods'}{os.pathsep}{ROOT}"
    started = time.monotonic()
    with open(folder / "run.log", "wb") as log:
        main = subprocess.Popen(
            line, cwd=folder, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": path}
        )
        spent = peak = 0.0
        while os.waitid(os.P_PID, main.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            spent, peak = use_of(main.pid) or (spent, peak)
            time.sleep(0.05)
        spent = cpu_seconds_of(main.pid)  # it has ended, and is not yet forgotten
        if main.wait():
            sys.exit(f"{' '.join(line)} ended with {main.returncode}: see {folder / 'run.log'}")
    return {"cpu_s": spent, "peak_mb": peak, "wall_s": time.monotonic() - started}


def cpu_seconds_of(pid):
    """User and system seconds of a process, without those of its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def use_of(pid):
    """The same, and the most memory that it has held, in MB; None once it has ended."""
    status = Path(f"/proc/{pid}/status").read_text()
    peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return (cpu_seconds_of(pid), int(peak[0]) / 1024) if peak else None


def simulated(folder):
    """Options of a cluster whose jobs take no time."""
    script = folder / "submit.sh"
    script.write_text(SUBMIT, encoding="utf-8")
    script.chmod(0o755)
    return (
        *("--executor", "cluster-generic", "--jobs", "100", "--cores", "100"),
        *("--cluster-generic-submit-cmd", f"{script} {{output}}"),
        *("--seconds-between-status-checks", "1", "--latency-wait", "0"),
        *("--max-jobs-per-timespan", "10000/1s", "--max-status-checks-per-second", "10000"),
        *("--until", "evaluate", "--quiet", "progress", "rules"),
    )


def in_child(function, folder):
    """CPU seconds and peak MB of a call in a process of its own, the suite read before."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measured, args=(sender, function, folder))
    child.start()
    sender.close()
    found = receiver.recv()
    child.join()
    return found


def _measured(sender, function, folder):
    suite = suite_of(folder)
    started, before = time.monotonic(), time.process_time()
    function(folder, suite)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = time.process_time() - before
    sender.send({"cpu_s": spent, "peak_mb": peak, "wall_s": time.monotonic() - started})


def suite_of(folder):
    """The suite with the generated experiment."""
    from workflow.lib.config.suite import load_suite

    return load_suite(ROOT, {"own": str(folder / "own")})


def make_up(folder, suite):
    """Records of every cell, as `evaluate` leaves them."""
    from workflow.lib.storage.artifacts import write_records
    from workflow.lib.trials.evaluate import COLUMNS

    asked = suite.experiments["many_cells"]
    rng = np.random.default_rng(0)
    for task in asked.tasks:
        rows = []
        for method in asked.methods:
            for trial in range(N_TRIALS):
                accuracy = float(rng.integers(0, 13)) / 12
                row = dict.fromkeys(COLUMNS) | {
                    "schema_version": 1,
                    "experiment": "many_cells",
                    "task": task.name,
                    "source": task.source_label(suite.datasets),
                    "target": task.target_label(suite.datasets),
                    "protocol": "many",
                    "method": method,
                    "classifier": "one_nn",
                    "trial": trial,
                    "status": "ok",
                    "n_scored": 12,
                    "seconds": 0.001,
                }
                scores = ("accuracy", "accuracy_entire_target", "balanced_accuracy", "macro_f1")
                rows.append(row | dict.fromkeys(scores, accuracy))
        write_records(folder / f"results/many_cells/{task.name}/records.jsonl", rows, {"code": []})


def collect(folder, suite):
    """Rule `collect`."""
    from workflow.lib.results import records

    asked = suite.experiments["many_cells"]
    base = folder / "results/many_cells"
    files = [base / task.name / "records.jsonl" for task in asked.tasks]
    records.write_results(base, asked, records.collect(asked, files, suite), suite)


def report(folder, suite):
    """Rule `report_many_cells`."""
    from workflow.lib.report import page
    from workflow.lib.report.figures import scores as score_figures
    from workflow.lib.report.tables import scores as score_tables
    from workflow.lib.report.tables.model import write_tables
    from workflow.lib.results.load import load_views

    os.chdir(folder)
    base = folder / "results/many_cells"
    (view,) = load_views(suite, ["many_cells"])
    tables = score_tables.all_tables(view)
    write_tables(tables.values(), base / "tables")
    drawn = score_figures.write_all(view, base / "figures")
    page.build(view, base / "report.html", drawn, tables)


def track(folder, suite):
    """Rule `track`, into an SQLite file."""
    from workflow.lib.results.records import load_results
    from workflow.lib.tracking import runs

    os.chdir(folder)
    asked = suite.experiments["many_cells"]
    receipt = runs.track(
        "many_cells",
        load_results(folder / "results/many_cells"),
        {name: suite.method("many_cells", name) for name in asked.methods},
        {task.name: {str(ref): "0" * 64 for ref in task.domains} for task in asked.tasks},
        [],
        {"mlflow": {"tracking_uri": "sqlite:///results/mlflow.db"}},
    )
    (folder / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")


def sizes_of(folder):
    """Files and bytes that a run has left."""
    files = [path for path in folder.rglob("*") if path.is_file() and "own" not in path.parts]
    return len(files), sum(path.stat().st_size for path in files)


def measure(folder, n_cells, asked):
    """All phases of one size: {phase: {quantity: value}}."""
    own = write_experiment(folder, n_cells)
    n_domains = len(list(own.glob("*.npz")))
    n_cells = N_METHODS * n_domains * (n_domains - 1)
    found = {"size": {"cells": n_cells, "tasks": n_cells // N_METHODS}}
    tell(found, "size")
    for phase, run in (
        ("first", lambda: snakemake(folder, "--list")),  # checks the configuration, and notes that
        ("rules", lambda: snakemake(folder, "--list")),
        # Which tasks can run is known once the data are there: before, no cell is in the DAG.
        ("downloads", lambda: snakemake(folder, "many_cells", "--cores", "2", *ONLY_DATA)),
        ("dry run", lambda: snakemake(folder, "many_cells", "--dry-run", "--quiet", "all")),
        ("cluster", lambda: snakemake(folder, "many_cells", *simulated(folder))),
        ("records", lambda: in_child(make_up, folder)),
        ("collect", lambda: in_child(collect, folder)),
        ("report", lambda: in_child(report, folder)),
        ("mlflow", lambda: in_child(track, folder)),
    ):
        if phase not in asked.phases or (phase == "cluster" and n_cells > asked.run * 1.5):
            continue
        found[phase] = run()
        if phase == "cluster":
            number, size = sizes_of(folder)
            found[phase] |= {"files": number, "mb": size / 2**20}
        if phase == "mlflow":
            found[phase]["mb"] = (folder / "results/mlflow.db").stat().st_size / 2**20
        tell(found, phase)
    return found


def tell(found, phase):
    values = "  ".join(f"{key} {value:.4g}" for key, value in found[phase].items())
    print(f"  {phase:10}{values}", flush=True)


def exponents(smaller, larger):
    """Lines on how each quantity grows from one size to the next."""
    grown = math.log(larger["size"]["cells"] / smaller["size"]["cells"])
    for phase in larger.keys() & smaller.keys() - {"size"}:
        told = []
        for key in ("cpu_s", "peak_mb", "files", "mb"):
            if smaller[phase].get(key) and larger[phase].get(key):
                power = math.log(larger[phase][key] / smaller[phase][key]) / grown
                told.append(f"{key} {power:.2f}")
        yield f"  {phase:10}{'  '.join(told)}"


def main():
    """Measure every size; print seconds, megabytes and exponents."""
    asked = parsed()
    with tempfile.TemporaryDirectory() as temporary:
        base = (asked.folder or Path(temporary)).resolve()
        before = None
        for n_cells in sorted(asked.cells):
            print(f"about {n_cells} cells:")
            folder = base / str(n_cells)
            folder.mkdir(parents=True)
            found = measure(folder, n_cells, asked)
            if before:
                print("growth exponents:")
                print("\n".join(exponents(before, found)))
            before = found


def parsed():
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--run", type=int, default=1000, help="most cells of a simulated run")
    parser.add_argument("--folder", type=Path)
    phases = [
        "first",
        "rules",
        "downloads",
        "dry run",
        "cluster",
        "records",
        "collect",
        "report",
        "mlflow",
    ]
    parser.add_argument("--phases", nargs="+", choices=phases, default=phases)
    return parser.parse_args()


if __name__ == "__main__":
    main()
