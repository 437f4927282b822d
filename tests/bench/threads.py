"""What a second core brings: wall seconds of methods with BLAS on one thread and on two.

    python tests/bench/threads.py [ENTRY ...] [--samples 8000] [--features 800] [--threads 2]
                                  [--folder DIR]

Two generated domains of half the samples each; `threads` of a method's entry sets what is measured
here. The least of three fits, taken in turn. The exact search of nearest neighbours is measured
alone too, at four times the samples. Of all entries it writes threads.md. Leave the machine alone
meanwhile.
"""

import argparse
import sys
import time
import warnings
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import numpy as np
from domain_alignment.utils.neighbors import nearest_neighbors
from growth import domains, labels
from sections import today
from threadpoolctl import threadpool_limits

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import load_suite

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = (
    *("fma_i", "fma_f", "sma", "kema_rbf", "tkl", "tca_rbf", "jda", "sstca"),
    *("kernel_pca", "coral", "meda", "ls_mmdt"),
)
REPEATS = 3
SEARCH = "nearest neighbours"
SEARCH_TIMES = 4
N_NEIGHBORS = 12


def wall_seconds(call, threads):
    """Least of some calls on one thread and on more, taken in turn."""
    rounds = [[_wall_seconds(call, count) for count in (1, threads)] for _ in range(REPEATS)]
    return map(min, zip(*rounds, strict=True))


def _wall_seconds(call, threads):
    with threadpool_limits(threads):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def calls(entries, asked):
    """Names and what is measured of each: a fit of every entry, and the search alone."""
    methods = load_suite(ROOT).methods
    Xs, ys = domains(asked.samples, asked.features, "dense")
    for name in entries:
        entry = methods[name]
        estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
        yield name, partial(estimator.fit, Xs, labels(entry["sees_labels"], ys))
    if entries is ENTRIES:
        X = np.vstack(domains(SEARCH_TIMES * asked.samples, asked.features, "dense")[0])
        yield SEARCH, partial(nearest_neighbors, X, N_NEIGHBORS)


def page(rows, asked):
    """The table, as Markdown."""
    lines = [
        "# What more threads bring",
        "",
        f"Wall seconds of one fit to two generated domains of {asked.samples // 2:,} samples of "
        f"{asked.features:,} features each, on one and on {asked.threads} BLAS threads of "
        f"{today()}; the least of {REPEATS}. What is not a matrix product or a dense eigenproblem "
        "stays on one, and many small products take longer on two: the default is one. The row "
        f"“{SEARCH}” is the exact search of {N_NEIGHBORS} among "
        f"{SEARCH_TIMES * asked.samples:,} samples, alone. Written by tests/bench/threads.py.",
        "",
        f"| Entry | 1 thread, s | {asked.threads} threads, s | Speed-up |",
        "|---|---|---|---|",
    ]
    for name, one, more in sorted(rows, key=lambda row: -row[1] / row[2]):
        lines.append(f"| {name} | {one:.2f} | {more:.2f} | {one / more:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("entries", nargs="*", default=ENTRIES)
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--features", type=int, default=800)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, call in calls(asked.entries, asked):
        one, more = wall_seconds(call, asked.threads)
        print(f"{name:20}{one:10.2f}{more:10.2f}", flush=True)
        rows.append((name, one, more))
    if asked.entries is ENTRIES:
        (asked.folder / "threads.md").write_text(page(rows, asked), encoding="utf-8")


if __name__ == "__main__":
    main()
