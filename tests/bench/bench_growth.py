"""Do methods that compare all pairs of samples grow as they should? 4000 generated samples.

    python tests/bench/bench_growth.py

Bounds, all ratios of CPU seconds within one run, on one BLAS thread, the least of several:

1. Kernel PCA at most 0.65 of scikit-learn's (ARPACK) with the median of SciPy's distances.
2. TCA (RBF) at most 400 products of its kernel matrix with a vector, the kernel included.
3. SMA at most 4 times FMA-I of as many components, whose eigenproblems are those of the domains
   alone and whose answer is an approximation.
4. SMA faster than FMA-I with all eigenvectors of the domains, which finds the same (2600 samples).
5. Kernel PCA, TCA and MEDA hold at most 1.5 matrices of all pairs.
6. Transport with the class regulariser at most 0.2 of POT's, with POT's numbers of iterations, and
   at most 1.5 of its plans.

Exits with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import sys

import numpy as np
from bounds import Bounds
from domain_alignment import FMA, MEDA, SMA, TCA, ClassRegularizedOT, KernelPCAAligner
from growth import domains, labels
from measure import cpu_seconds, peak_bytes
from ot.da import SinkhornLpl1Transport
from scipy.spatial.distance import pdist
from sklearn.decomposition import KernelPCA

N_SAMPLES, N_FEATURES, REPEATS = 4000, 200, 3
N_WHOLE = 1300  # of each domain: SMA finds all eigenvectors of fewer too


def by_scikit_learn(X):
    """Kernel PCA with the median width."""
    gamma = 1 / np.median(pdist(X, "sqeuclidean"))
    kpca = KernelPCA(20, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=0)
    return kpca.fit_transform(X)


def sma_of_whole_fma(Xs, ys):
    """Share of SMA of the CPU seconds of the other way to its eigenvectors."""
    Xs, ys = [X[:N_WHOLE] for X in Xs], [y[:N_WHOLE] for y in ys]
    whole = FMA(n_components=2 * N_WHOLE)
    return cpu_seconds(SMA().fit, Xs, ys)[0] / cpu_seconds(whole.fit, Xs, ys)[0]


def by_pot(source, target, y):
    """Transport with the class regulariser, ten rounds."""
    lpl1 = SinkhornLpl1Transport(1.0, 0.1, norm="max", max_iter=10, max_inner_iter=200, tol=1e-8)
    return lpl1.fit_transform(Xs=source, ys=y, Xt=target)


def main():
    """Measure, print, and return the exit code."""
    Xs, classes = domains(N_SAMPLES, N_FEATURES, "dense")
    ys, of_source = labels("source+target", classes), [classes[0], None]
    X, K = np.vstack(Xs), np.random.default_rng(0).random((N_SAMPLES, N_SAMPLES))
    kernel_pca, tca = KernelPCAAligner(), TCA(kernel="rbf")
    transport = ClassRegularizedOT(reg_e=1.0, reg_cl=0.1, cost_scaling="max")

    def seconds(function, *arguments):
        return cpu_seconds(function, *arguments, repeats=REPEATS)[0]

    v = X[:, 0].copy()
    product = seconds(lambda: [K @ v for _ in range(10)]) / 10
    shares = [
        (
            "kernel PCA / scikit-learn",
            0.65,
            seconds(kernel_pca.fit, Xs) / seconds(by_scikit_learn, X),
        ),
        ("TCA (RBF) / product", 400, seconds(tca.fit, Xs) / product),
        ("SMA / FMA-I", 4, seconds(SMA().fit, Xs, ys) / seconds(FMA().fit, Xs, ys)),
        ("SMA / FMA-I, all eigenvectors", 1, sma_of_whole_fma(Xs, ys)),
        ("kernel PCA, kernel matrices", 1.5, peak_bytes(kernel_pca.fit, Xs) / 8 / N_SAMPLES**2),
        ("TCA (RBF), kernel matrices", 1.5, peak_bytes(tca.fit, Xs) / 8 / N_SAMPLES**2),
        ("MEDA, matrices of pairs", 1.5, peak_bytes(MEDA().fit, Xs, of_source) / 8 / N_SAMPLES**2),
        (
            "OT-lab / POT",
            0.2,
            seconds(transport.fit, Xs, of_source) / seconds(by_pot, *Xs, classes[0]),
        ),
        (
            "OT-lab, plans",
            1.5,
            peak_bytes(transport.fit, Xs, of_source) / 8 / (N_SAMPLES // 2) ** 2,
        ),
    ]
    bounds = Bounds()
    for what, bound, share in shares:
        bounds.at_most(what, share, bound)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
