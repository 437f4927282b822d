"""Are the baselines as cheap as their structure allows? Amazon to Caltech, SURF features.

    python tests/bench/bench_transfer_baselines.py

The yardstick is one dense eigendecomposition (`scipy.linalg.eigh`) of the kernel matrix of all 2081
samples, which the original programs of TCA and JDA need at least once. In units of it:

1. JDA, 10 iterations, prediction included: at most 0.3.
2. TCA, primal, with 1-nearest neighbour: at most 0.1.
3. HFA on 20 labelled samples per class of the source and 3 of the target, all 1123 target samples
   classified: at most 0.05.

Everything in one run on one BLAS thread, in CPU seconds, which other programs disturb least; the
least of several. Exits with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

import numpy as np
from bounds import Bounds
from domain_alignment.distribution._jda import JDA, nearest_labels
from domain_alignment.distribution._tca import TCA
from domain_alignment.max_margin._hfa import HFA
from measure import cpu_seconds
from scipy.linalg import eigh
from surf import domains, few_labels

REPEATS = 5
MOST = {"JDA, 10 iterations": 0.3, "TCA primal + 1-NN": 0.1, "HFA": 0.05}


def z_scored(counts):
    """Rows of sum 1, then z-scores."""
    X = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def main():
    """Measure, print, and return the exit code."""
    read, origin = domains("amazon", "caltech")
    (counts, ys), rng = zip(*read.values(), strict=True), np.random.default_rng(0)
    y, y_target = ys
    source, target = (z_scored(X) for X in counts)
    rows = np.vstack([source, target])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    K = np.exp(rows @ rows.T - 1)  # of full rank, as in bench_subspace_baselines.py
    labels = [few_labels(y, 20, rng), few_labels(y_target, 3, rng)]

    def run_jda():
        return JDA(n_iterations=10).fit([source, target], [y, None]).predict(target)

    def run_tca():
        embedded, Z = TCA(formulation="primal").fit_transform([source, target])
        return nearest_labels(Z, embedded, y)

    def run_hfa():
        return HFA().fit(counts, labels).predict(counts[1])

    runs = dict(zip(MOST, (run_jda, run_tca, run_hfa), strict=True))
    yardstick, _ = cpu_seconds(eigh, K, repeats=REPEATS)
    print(f"{len(y)} and {len(y_target)} samples of 800 features ({origin})")
    print(f"  {'eigh of the kernel matrix':28s} {yardstick:8.3f} s")
    bounds = Bounds()
    for name, run in runs.items():
        seconds, _ = cpu_seconds(run, repeats=REPEATS)
        print(f"  {name:28s} {seconds:8.3f} s")
        bounds.at_most(f"{name}: share of a dense eigenproblem", seconds / yardstick, MOST[name])
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
