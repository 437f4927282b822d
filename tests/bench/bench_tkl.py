"""Is the spectrum of TKL found fast, and does TKL of many samples fit in memory? Generated data.

    python tests/bench/bench_tkl.py

1. Two domains of 4000 sparse documents with 500 landmarks each, and 2000 new documents.
2. Two domains of 20,000 samples of 200 features, the exact cosine kernel.
3. The quadratic programme at r = 500, from (Q, r): `solve_eigenspectrum(solver="nnls")`, checks
   included, against Clarabel in four formulations with the same tolerances. The fastest of them
   takes at least 10 times as long, for every damping factor tried.

The first two are counted in products of all rows with a square matrix of as many columns, the
landmarks or the features. An exact fit takes about ten of one domain, half of the rows: Gram
matrices, eigenvectors at the samples, the programme, the errors. That is 5, and passes over rows
that short take as long: 12. With landmarks the rows take about 4, of which the triangle of the
source's kernel and similarities beside each other is the dearest, and three decompositions and the
programme of order 500, mostly slower than products, as much again: 8, and twice that is allowed.

Memory, in matrices of all pairs of both domains: at most half of one with landmarks, and without
them a twentieth, which is five times the rows' features and eigenvectors.

All in one run on one BLAS thread, in CPU seconds, which other programs disturb least. Exits with 1
when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np
from bounds import Bounds
from domain_alignment.kernel_learning._spectrum_qp import (
    SOLVER_OPTIONS,
    solve_eigenspectrum,
    spectrum_objective,
)
from domain_alignment.kernel_learning._tkl import TKL
from measure import product_seconds, spent
from scipy import sparse

# Products, and matrices of all pairs.
MOST_WITH_LANDMARKS = 16, 0.5
MOST_EXACT = 12, 0.05
LEAST_RATIO = 10.0
N_LANDMARKS = 500
REPEATS = 3
ZETAS = (1.0, 1.1, 2.0)
N_EIGEN = 500
SECONDS_PER_TIMING = 1.0


def documents(rng, n_documents, n_words=30_000, n_topics=20, length=150):
    """Sparse word counts: every document mixes one topic's words with common ones."""
    topic = rng.integers(n_topics, size=n_documents)
    common = (n_words * rng.random((n_documents, length)) ** 3).astype(np.int64)
    own = (common * 7919 + 104_729 * topic[:, None]) % n_words
    words = np.where(rng.random(common.shape) < 0.4, own, common)
    rows = np.repeat(np.arange(n_documents), length)
    ones = np.ones(words.size)
    return sparse.csr_array((ones, (rows, words.ravel())), shape=(n_documents, n_words))


def run_landmarks(rng):
    """Fit, and embed new documents: products, and matrices of all pairs held."""
    source, target, new = (documents(rng, size) for size in (4000, 4000, 2000))

    def run():
        tkl = TKL(kernel="cosine", landmarks=N_LANDMARKS, solver="nnls", random_state=0)
        tkl.fit([source, target]).transform(new, -1)

    return counted(run, product_seconds(10_000, N_LANDMARKS, N_LANDMARKS), 8000)


def run_exact(rng):
    """The same of fitting many samples of few features."""
    Xs = [rng.normal(size=(20_000, 200)) + shift for shift in (0.0, 0.3)]
    return counted(lambda: TKL(kernel="cosine").fit(Xs), product_seconds(40_000, 200, 200), 40_000)


def counted(run, product, n_samples):
    """Least seconds of a call in those of a product, and the most bytes in a matrix of all pairs.

    The first call holds the most: later ones find memory that it left.
    """
    runs = [spent(run)[:2] for _ in range(REPEATS)]
    seconds, held = zip(*runs, strict=True)
    return min(seconds) / product, max(held) / (8 * n_samples**2)


def judge(bounds, what, found, most):
    """Both numbers beside their bounds."""
    for unit, number, bound in zip(("products", "matrices of all pairs"), found, most, strict=True):
        bounds.at_most(f"{what}: {unit}", number, bound)


def programme(rng):
    """Q and r of two dense domains in 800 dimensions whose spectra fall as those of images do."""
    spread = np.arange(1, 801) ** -0.4
    source = rng.normal(size=(1000, 800)) * spread
    turn = np.eye(800) + 0.02 * rng.normal(size=(800, 800))
    target = rng.normal(size=(1000, 800)) * spread @ turn + 0.05
    system = TKL(kernel="cosine", n_eigen=N_EIGEN, solver="nnls").fit([source, target]).eigensystem_
    return system.quadratic, system.linear


def by_spectrum(Q, r, zeta):
    """The problem as printed: in lambda, with the chain of constraints."""
    import cvxpy

    spectrum = cvxpy.Variable(len(r))
    objective = cvxpy.quad_form(spectrum, cvxpy.psd_wrap(Q)) - 2 * r @ spectrum
    constraints = [spectrum[:-1] >= zeta * spectrum[1:], spectrum[-1] >= 0]
    problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL", **SOLVER_OPTIONS["clarabel"])
    return spectrum.value


def edges_of(Q, r, zeta):
    """T with edges of length 1, its quadratic form, and its linear term."""
    damping = zeta ** -np.arange(len(r))
    form = (Q * damping).cumsum(axis=1)
    form = (form * damping[:, None]).cumsum(axis=0)
    lengths = np.sqrt(form.diagonal())
    return damping, lengths, form / lengths / lengths[:, None], np.cumsum(damping * r) / lengths


def to_spectrum(weights, damping, lengths, height):
    return damping * np.cumsum((weights * height / lengths)[::-1])[::-1]


def by_least_squares(Q, r, zeta):
    """In v, as non-negative least squares."""
    import cvxpy

    root = np.linalg.cholesky(Q).T
    damping = zeta ** -np.arange(len(r))
    edges = np.cumsum(root * damping, axis=1)
    b = np.linalg.solve(root.T, r)
    lengths, height = np.linalg.norm(edges, axis=0), np.linalg.norm(b)
    weights = cvxpy.Variable(len(r))
    residual = (edges / lengths) @ weights - b / height
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(residual)), [weights >= 0])
    problem.solve(solver="CLARABEL", **SOLVER_OPTIONS["clarabel"])
    return to_spectrum(weights.value, damping, lengths, height)


def by_clarabel_alone(Q, r, zeta):
    """In v, as a quadratic form, handed to Clarabel without cvxpy."""
    import clarabel

    damping, lengths, form, linear = edges_of(Q, r, zeta)
    height = np.abs(linear).max()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for name, value in SOLVER_OPTIONS["clarabel"].items():
        setattr(settings, name, value)
    size = len(r)
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(2 * form)),
        -2 * linear / height,
        sparse.csc_matrix(-np.eye(size)),
        np.zeros(size),
        [clarabel.NonnegativeConeT(size)],
        settings,
    ).solve()
    return to_spectrum(np.array(solution.x), damping, lengths, height)


def library(solver):
    return lambda Q, r, zeta: solve_eigenspectrum(Q, r, zeta, solver)


CLARABEL = {
    "Clarabel, lambda": by_spectrum,
    "Clarabel, v, least squares": by_least_squares,
    "Clarabel, v, quadratic (the library's)": library("clarabel"),
    "Clarabel, v, quadratic, without cvxpy": by_clarabel_alone,
}


def fastest(function, *arguments):
    """Least CPU time of as many calls as fit in a second, three at least; and the result."""
    seconds = []
    while sum(seconds) < SECONDS_PER_TIMING or len(seconds) < 3:
        start = time.process_time()
        result = function(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds), result


def compare_solvers(Q, r, zeta):
    """Print the times and objective gaps at one damping factor; return the ratio of times."""
    own, exact = fastest(library("nnls"), Q, r, zeta)
    best = spectrum_objective(exact, Q, r)
    print(f"zeta={zeta:g}: NNLS {' ':31s} {1000 * own:8.1f} ms")
    times = []
    for name, function in CLARABEL.items():
        seconds, spectrum = fastest(function, Q, r, zeta)
        gap = abs(spectrum_objective(spectrum, Q, r) - best) / abs(best)
        print(f"  {name:40s} {1000 * seconds:10.1f} ms   objective gap {gap:.0e}")
        times.append(seconds)
    return min(times) / own


def main():
    """Measure, print, and return the exit code."""
    rng = np.random.default_rng(0)
    # First: the solvers would leave memory that is used again and does not count.
    bounds = Bounds()
    judge(bounds, "4000 + 4000 documents, landmarks", run_landmarks(rng), MOST_WITH_LANDMARKS)
    judge(bounds, "20000 + 20000 samples, exact", run_exact(rng), MOST_EXACT)
    Q, r = programme(rng)
    fastest(library("clarabel"), Q[:20, :20], r[:20], 1.1)  # imports cvxpy
    for zeta in ZETAS:
        ratio = compare_solvers(Q, r, zeta)
        bounds.at_least(f"zeta = {zeta:g}: fastest Clarabel / NNLS", ratio, LEAST_RATIO)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
