"""How fast and how small is the transform of LS-MMDT?

    python tests/bench/bench_mmdt.py [--full]

Time to a relative duality gap of 1e-4 (squared hinge, C = 1, unit rows, W_0 = 0), against
scikit-learn's LinearSVC on the explicit features vec(v x'), with the loosest tolerance that gives
it the same accuracy; peak memory at D = 4096 with 100 categories. Default: a part of the sizes in
about a minute; --full: D = D~ in {400, 800, 4096}, {10, 20, 100} categories, {3, 10, 50} points
each, explicit features up to 5 GB. Exits with 1 when a bound is missed: at least 10 times faster,
growing slower with D, and at most three times (m + n)(D + D~) numbers beside the input.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import warnings
from itertools import product

import numpy as np
from bounds import Bounds
from domain_alignment.max_margin._mmdt import solve_transform
from measure import cpu_seconds, peak_bytes
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

GAP = 1e-4
LEAST_RATIO = 10.0
MOST_NUMBERS = 3.0
PART = [(400, 10, 3), (400, 20, 10), (800, 10, 10), (800, 20, 50), (4096, 10, 3), (4096, 100, 3)]
FULL = list(product((400, 800, 4096), (10, 20, 100), (3, 10, 50)))
EXPLICIT_PART = [(100, 10, 3), (200, 10, 3), (400, 10, 3)]
EXPLICIT_FULL = [*EXPLICIT_PART, (800, 10, 3), (100, 10, 10), (200, 10, 10), (400, 10, 10)]
REPEATS = 3


def problem(size, n_categories, n_points):
    """Hyperplanes, points and labels, in unit rows."""
    rng = np.random.default_rng(0)
    V = rng.normal(size=(n_categories, size))
    X = rng.normal(size=(n_categories * n_points, size))
    for rows in (V, X):
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return V, X, np.repeat(np.arange(n_categories), n_points)


def solved(V, X, y):
    """The low-rank solver's answer at the accuracy that is compared."""
    return solve_transform(V, X, y, 1.0, tol=GAP, random_state=0)


def low_rank(V, X, y):
    """Least CPU seconds of a few runs, and the last solution."""
    seconds, solution = cpu_seconds(solved, V, X, y, repeats=REPEATS)
    if not solution.converged:
        sys.exit(f"bench_mmdt.py: the gap is {solution.gap:.1e}, not {GAP:.0e}")
    return seconds, solution


def explicit(V, X, y):
    """CPU seconds of LinearSVC alone, at the loosest tolerance that reaches the accuracy."""
    bound = solve_transform(V, X, y, 1.0, tol=1e-9, random_state=0).dual_objective
    features = (V[:, None, :, None] * X[None, :, None, :]).reshape(len(V) * len(X), -1)
    signs = np.where(y == np.arange(len(V))[:, None], 1, -1).ravel()
    for tol in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4):
        svm = LinearSVC(fit_intercept=False, tol=tol, random_state=0, dual=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            seconds, svm = cpu_seconds(svm.fit, features, signs)
        w = svm.coef_.ravel()
        short = np.maximum(0, 1 - signs * (features @ w))
        if (w @ w / 2 + short @ short - bound) <= GAP * bound:
            return seconds
    sys.exit("bench_mmdt.py: LinearSVC did not reach the accuracy")


def slope(sizes, seconds):
    """Exponent of growth, by least squares on logarithms."""
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def measure_times(sizes):
    """Print the times of the low-rank solver."""
    print(f"{'D':>5} {'m':>4} {'each':>4} {'form':>7} {'sweeps':>6} {'seconds':>9}")
    for size, m, each in sizes:
        seconds, solution = low_rank(*problem(size, m, each))
        print(
            f"{size:5d} {m:4d} {each:4d} {solution.form:>7} {solution.n_sweeps:6d} {seconds:9.4f}"
        )


def compare(bounds, sizes):
    """Print both times; judge their ratio and how it grows."""
    print(f"\n{'D':>5} {'m':>4} {'each':>4} {'low rank':>9} {'explicit':>9}")
    groups = {}
    for size, m, each in sizes:
        data = problem(size, m, each)
        ours, theirs = low_rank(*data)[0], explicit(*data)
        groups.setdefault((m, each), []).append((size, ours, theirs))
        print(f"{size:5d} {m:4d} {each:4d} {ours:9.4f} {theirs:9.4f}")
    for (m, each), rows in groups.items():
        dimensions, ours, theirs = zip(*rows, strict=True)
        growth = slope(dimensions, ours), slope(dimensions, theirs)
        what = f"m = {m}, each = {each}"
        ratio = min(their / our for our, their in zip(ours, theirs, strict=True))
        bounds.at_least(f"{what}: explicit features / low rank", ratio, LEAST_RATIO)
        print(f"growth, {what}: D^{growth[0]:.2f} against D^{growth[1]:.2f}")
        bounds.at_most(f"{what}: exponent of D, less theirs", growth[0] - growth[1], 0)


def measure_memory(bounds, n_points):
    """Judge the peak of what numpy allocates at D = 4096."""
    V, X, y = problem(4096, 100, n_points)
    peak = peak_bytes(solved, V, X, y)
    linear = 8 * (len(V) + len(X)) * (V.shape[1] + X.shape[1])
    what = f"D = 4096, m = 100, each = {n_points}"
    print(f"\nmemory, {what}: {peak / 1e6:.0f} MB beside the input")
    bounds.at_most(f"{what}: memory in (m + n)(D + D~) numbers", peak / linear, MOST_NUMBERS)


def main():
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all sizes; some minutes and 8 GB")
    full = parser.parse_args().full
    low_rank(*problem(20, 3, 3))  # compiles
    low_rank(*problem(5, 3, 10))
    measure_times(FULL if full else PART)
    bounds = Bounds()
    compare(bounds, EXPLICIT_FULL if full else EXPLICIT_PART)
    measure_memory(bounds, 50 if full else 3)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
