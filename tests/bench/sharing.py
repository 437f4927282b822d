"""What trials share: every entry of config/methods.yaml on 20 trials with the same rows.

    python tests/bench/sharing.py [ENTRY ...] [--folder DIR]

Amazon to Caltech of the SURF features (generated counts where they cannot be had), as frequencies,
z-scored but for kernels of histograms; all rows visible, 20 trials with labels of their own, 20 per
class of the source and 3 of the target for methods that may see those. CPU seconds of the
alignments, as the benchmark runs them, of all trials in one block, and of trials that share
nothing, not even scaled features (three, times 20 / 3), on one BLAS thread. A fit without labels is
made once; methods with labels share what does not depend on them. Of all entries that apply to the
task it writes sharing.md. Those that align nothing and train on labels of the target (target_*,
both_*) do not: a fit that sees no label gets trials that show none. One that fails is no
measurement, has no row, and ends the script with 1.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import numpy as np
from growth import groups
from measure import cpu_seconds
from sections import today, told_searched
from surf import domains

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import load_suite
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.storage.features import write_features
from workflow.lib.trials import align
from workflow.lib.trials.fitting import not_applicable
from workflow.lib.trials.protocols import sample_trials, write_trials

ROOT = Path(__file__).resolve().parents[2]
N_TRIALS, N_COLD = 20, 3
TASK = Task((DomainRef("bench", "source"),), DomainRef("bench", "target"))
PROTOCOL = {"kind": "random", "seed": 0, "source_per_class": 20, "trials": N_TRIALS}
HISTOGRAM_KERNELS = ("histogram_intersection", "chi2")
SEEN = {"none": "none", "source": "source", "source+target": "both"}


def written(folder):
    """The inputs of a block in a folder: the description that all methods share, and its origin."""
    read, origin = domains("amazon", "caltech")
    Xs, ys = (list(parts) for parts in zip(*read.values(), strict=True))
    for d, X in enumerate(Xs):
        write_features(folder / f"{d}.npz", X, {})
    for shown, per_class in (("few", 3), ("none", 0)):
        asked = {**PROTOCOL, "target_per_class": per_class}
        write_trials(folder / f"{shown}.npz", sample_trials("bench", asked, TASK, ys), {})
    spec = {
        "features": [str(folder / f"{d}.npz") for d in range(len(Xs))],
        # One that costs nothing: a trial without any would leave no record of a fit that failed.
        "classifiers": {"none": {"estimator": "sklearn.dummy:DummyClassifier"}},
        "classifier_rows": "source",
        "preprocess_rows": "seen",
        "pictured_trial": None,
        "probabilities": False,
        "tuning": None,
    }
    return spec, origin


def spec_of(shared, entry, folder):
    """The description of a method's block."""
    shown = "few" if entry["sees_labels"] == "source+target" else "none"
    method = {key: entry.get(key, {}) for key in ("estimator", "sees_labels", "params")}
    method["varied_params"] = [{}]
    of_histograms = method["params"].get("kernel") in HISTOGRAM_KERNELS
    steps = ["l1_rows"] if of_histograms else ["l1_rows", "zscore"]
    shared = {**shared, "preprocess": steps}
    return {**shared, "trials": str(Path(folder) / f"{shown}.npz"), "method": method}


class FitError(Exception):
    """A fit failed, so its seconds measure nothing."""


def run(spec, numbers):
    """The alignments of some trials of a block."""
    block = align.setup(spec)
    for number in numbers:
        records, _ = align.run_trial(block, number)
        failed = [record["error"] for record in records if record["status"] != "ok"]
        if failed:
            raise FitError(failed[0])


def applies(spec):
    """Whether a method applies to the task."""
    block, method = align.setup(spec), spec["method"]
    estimator = resolve_estimator(method["estimator"])(**method["params"])
    return not_applicable(estimator, block.features, block.trials[0]) is None


def measured(spec):
    """CPU seconds of 20 trials, shared and not; None where the method does not apply."""
    if not applies(spec):
        return None
    run(spec, [0])  # imports, compilation
    shared, _ = cpu_seconds(run, spec, range(N_TRIALS))
    cold = sum(cpu_seconds(run, spec, [number])[0] for number in range(N_COLD))
    return shared, cold * N_TRIALS / N_COLD


def page(rows, origin, methods):
    """The table, as Markdown."""
    lines = [
        "# What trials share",
        "",
        f"20 trials of amazon to caltech ({origin}), the same rows with labels of their own: CPU "
        f"seconds on one thread of {today()}, in one block, and each from nothing. Written "
        "by tests/bench/sharing.py, which says more. Entries without adaptation whose classifier "
        "trains on labels of the target (target_*, both_*) do not apply to these trials, and have "
        "no row.",
        "",
        told_searched([name for names, *_ in rows for name in names], methods),
        "",
        "| Entry | Labels seen | Shared, s | Not shared, s | Factor |",
        "|---|---|---|---|---|",
    ]
    for names, seen, (shared, cold) in sorted(rows, key=lambda row: -row[2][1] / row[2][0]):
        numbers = f"{shared:.2f} | {cold:.2f} | {cold / shared:.1f}"
        lines.append(f"| {', '.join(names)} | {SEEN[seen]} | {numbers} |")
    return "\n".join(lines) + "\n"


def main():
    """Measure, write, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("entries", nargs="*", help="of config/methods.yaml; all by default")
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    methods, rows, failures = load_suite(ROOT).methods, [], []
    with tempfile.TemporaryDirectory() as folder:
        shared, origin = written(Path(folder))
        for name, names in groups(methods).items():
            if asked.entries and not set(asked.entries) & set(names):
                continue
            try:
                found = measured(spec_of(shared, methods[name], folder))
            except FitError as error:
                failures.append(f"{name}: {error}")
                continue
            print(name, "does not apply" if found is None else np.round(found, 3), flush=True)
            if found is not None:
                rows.append((names, methods[name]["sees_labels"], found))
    if not asked.entries:
        (asked.folder / "sharing.md").write_text(page(rows, origin, methods), encoding="utf-8")
    print(*failures, sep="\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
