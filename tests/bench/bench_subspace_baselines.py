"""Speed of GFK, CORAL, MEDA, SGF and subspace alignment on amazon -> caltech, SURF features.

    python tests/bench/bench_subspace_baselines.py

The yardstick is `scipy.linalg.eigh` of the 2081 x 2081 kernel matrix of all samples, in the same
run; bounds are shares of it: MEDA 0.45, GFK with 1-NN 0.12, CORAL 0.25. Every method starts from
the features, with nothing prepared. CPU seconds on one BLAS thread, the smallest of five. Exits
with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

import numpy as np
from bounds import Bounds
from domain_alignment.distribution._meda import MEDA
from domain_alignment.mapping._asymmetric_coral import AsymmetricCORAL
from domain_alignment.mapping._coral import CORAL
from domain_alignment.subspace._gfk import GFK
from domain_alignment.subspace._sgf import SGF
from domain_alignment.subspace._subspace_alignment import SubspaceAlignment
from measure import cpu_seconds
from scipy.linalg import eigh
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize, scale
from surf import domains

REPEATS = 5


def with_neighbor(aligner, Xs, y):
    """Fit, and the target's classes by the nearest source sample."""
    source, target = aligner.fit(Xs, [y, None]).embeddings_
    return KNeighborsClassifier(1, algorithm="brute").fit(source, y).predict(target)


def with_own(aligner, Xs, y):
    """Fit, and the target's classes by the method itself."""
    return aligner.fit(Xs, [y, None]).predict(Xs[1])


def main():
    """Measure, print, and return the exit code."""
    read, origin = domains("amazon", "caltech")
    (X, X_target), (y, y_target) = zip(
        *((scale(normalize(counts, "l1")), y) for counts, y in read.values()), strict=True
    )
    Xs = [X, X_target]
    rows = normalize(np.vstack(Xs))
    yardstick, _ = cpu_seconds(lambda: eigh(np.exp(rows @ rows.T - 1)), repeats=2)
    print(f"dense eigenproblem of {len(rows)} samples ({origin}): {yardstick:.2f} s")
    runs = [
        ("MEDA, own classifier", 0.45, lambda: with_own(MEDA(), Xs, y)),
        ("GFK (20) + 1-NN", 0.12, lambda: with_neighbor(GFK(), Xs, y)),
        ("CORAL, map and source mapped", 0.25, lambda: CORAL().fit(Xs)),
        ("CORAL, authors' classifier", None, lambda: with_own(AsymmetricCORAL(), Xs, y)),
        ("GFK (10, PLS) + 1-NN", None, lambda: with_neighbor(GFK(10, "pls"), Xs, y)),
        ("SGF + 1-NN", None, lambda: with_neighbor(SGF(), Xs, y)),
        ("subspace alignment + 1-NN", None, lambda: with_neighbor(SubspaceAlignment(), Xs, y)),
    ]
    bounds = Bounds()
    for what, bound, function in runs:
        seconds, found = cpu_seconds(function, repeats=REPEATS)
        right = (
            "" if what.startswith("CORAL, map") else f"{100 * np.mean(found == y_target):5.1f} %"
        )
        share = seconds / yardstick
        print(f"{what:32s} {seconds:7.3f} s  share {share:6.3f}  {right}", flush=True)
        if bound is not None:
            bounds.at_most(f"{what}: share of a dense eigenproblem", share, bound)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
