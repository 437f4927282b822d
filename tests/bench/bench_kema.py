"""Speed of KEMA against the dense eigenproblem of the paper, measured in one run.

Prints ratios of CPU time and exits with 1 if one misses its bound. One BLAS thread is best
(``make bench`` sets it).

20,000 samples are counted in products of each domain's kernel matrix with as many columns as it has
labels, which a fit needs once. It also needs half the kernel's values and half the products of the
neighbour search, each in about ten passes over a tile: as many operations as columns, so about as
much as the product each. That is 3, and 6 allows for passes that take twice as long as products.
Its memory is below half a kernel matrix of a domain: no domain's is held, not even in float32.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from bounds import Bounds
from domain_alignment.manifold._kema import KEMA
from measure import cpu_seconds, product_seconds, spent
from scipy import linalg
from scipy.spatial.distance import cdist

FASTER = 15  # times less CPU than the dense eigenproblem alone, at n = 2000
GROWTH = 2.0  # exponent of n
LARGE_PRODUCTS = 6
LARGE_MATRICES = 0.5  # kernel matrices of a domain


def domains(n_samples, n_labelled, n_features=20, n_classes=10):
    """Two domains with half the samples and half the labels each."""
    rng = np.random.default_rng(0)
    Xs, ys = [], []
    for _ in range(2):
        y = np.arange(n_samples // 2) % n_classes
        centres = 2 * rng.normal(size=(n_classes, n_features))
        Xs.append(centres[y] + rng.normal(size=(y.size, n_features)))
        ys.append(np.where(np.arange(y.size) < n_labelled // 2, y, -1))
    return Xs, ys


def dense_sides(Xs, ys, kema):
    """K A K and K B K + 1e-6 tr(KBK) / n I of the fitted problem, as the paper has them."""
    models = [kema.prepare(X) for X in Xs]
    y = np.concatenate(ys)
    known = y >= 0
    same = (y[:, None] == y) & known[:, None] & known
    differ = (y[:, None] != y) & known[:, None] & known
    total, n = sum(model.total for model in models), y.size
    A = linalg.block_diag(*(model.laplacian.toarray() for model in models))
    A += kema.mu * laplacian(same * (total / (same.sum() + n)))
    B = laplacian(differ * (total / (differ.sum() + n)))
    K = linalg.block_diag(
        *(
            np.exp(-cdist(X, X, "sqeuclidean") / (2 * s**2))
            for X, s in zip(Xs, kema.sigma_, strict=True)
        )
    )
    left, right = K @ A @ K, K @ B @ K
    right[np.diag_indices(n)] += 1e-6 * np.trace(right) / n
    return (left + left.T) / 2, (right + right.T) / 2


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def against_dense(bounds):
    Xs, ys = domains(2000, 120)
    kema = KEMA(10)
    own, _ = cpu_seconds(kema.fit, Xs, ys, repeats=10)
    left, right = dense_sides(Xs, ys, kema)
    dense, _ = cpu_seconds(lambda: linalg.eigh(left, right, check_finite=False), repeats=3)
    print(f"n = 2000, 120 labels: KEMA-RBF {own:.3f} s CPU (rank {kema.rank_}), eigh {dense:.1f} s")
    bounds.at_least("n = 2000, 120 labels: dense eigh / exact KEMA, CPU", dense / own, FASTER)


def growth(bounds):
    sizes = np.array([2000, 4000, 8000])
    seconds = []
    for n in sizes:
        Xs, ys = domains(n, 120)
        seconds.append(cpu_seconds(KEMA(10).fit, Xs, ys, repeats=3)[0])
        print(f"n = {n}, 120 labels: KEMA-RBF {seconds[-1]:.3f} s CPU")
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    bounds.at_most("growth with n, exponent", exponent, GROWTH)


def approximations():
    """Curves beside the exact method, with prepared graphs; they have no bound."""
    Xs, ys = domains(4000, 120)
    exact = KEMA(10)
    prepared = [exact.prepare(X) for X in Xs]
    own, _ = cpu_seconds(exact.fit, Xs, ys, prepared, repeats=2)
    print(f"n = 4000, 120 labels, graphs prepared: KEMA {own:.3f} s CPU")
    for size in (100, 400, 1600):
        for name, parameter in (("REKEMA r", "landmarks"), ("rKEMA m", "random_features")):
            kema = KEMA(10, random_state=0, **{parameter: size})
            own, _ = cpu_seconds(kema.fit, Xs, ys, prepared, repeats=2)
            print(f"    {name:8s} = {size:4d}: {own:.3f} s CPU")


def large(bounds, n_samples=20_000, n_labelled=200):
    Xs, ys = domains(n_samples, n_labelled)
    size = n_samples // 2
    seconds, held, kema = spent(KEMA(10).fit, Xs, ys)
    assert all(np.isfinite(Z).all() for Z in kema.embeddings_)
    product = 2 * product_seconds(size, size, n_labelled // 2)
    what = f"n = {n_samples}, {n_labelled} labels"
    bounds.at_most(f"{what}: products", seconds / product, LARGE_PRODUCTS)
    bounds.at_most(f"{what}: kernel matrices held", held / (8 * size**2), LARGE_MATRICES)


def main():
    # First: what others leave in memory would be used again and not count.
    bounds = Bounds()
    for measure in (large, against_dense, growth):
        measure(bounds)
    approximations()
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
