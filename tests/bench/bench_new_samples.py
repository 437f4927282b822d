"""What new samples cost: of FMA beside roots and singular values, of texts beside dense copies.

    python tests/bench/bench_new_samples.py

(a) 4000 new samples in the embedding of FMA-I, 20 and 40 dimensions: an integral, by small systems
at its nodes, beside the same answer by a root of S and the singular values of its polar factor. At
most 0.3 of its CPU seconds, and equal to ten digits.

(b) A trial of 8 candidates of CORAL's authors' kernel on generated texts of 70 of 5000 words,
scored on 6000 new texts: the target, whose embedding is its features, sparse, beside a dense copy
of it. At most 0.7 of its CPU seconds, with equal predictions.

CPU seconds of one BLAS thread. Exits with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_tuning import SUITE, TASK, drawn, run, written
from bounds import Bounds
from domain_alignment import FMA
from domain_alignment.manifold._out_of_sample import deviations, embed_new_samples
from measure import cpu_seconds
from scipy import sparse

from workflow.lib.trials import fitting
from workflow.lib.trials.protocols import sample_trials

MOST_OF_ROOTS, MOST_OF_DENSE = 0.3, 0.7
N_NEW, N_NEIGHBORS = 4000, 10
N_WORDS, N_TEXTS, N_TRAINING, WORDS_PER_TEXT = 5000, 7200, 1200, 70


def new_samples(n_components):
    """CPU seconds of both ways to embed new samples; raises if they differ."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(1000) < 60, np.arange(1000) % 5, -1)
    Xs = [rng.normal(size=(1000, 50)) for _ in range(2)]
    fma = FMA(n_components=n_components).fit(Xs, [y, y])
    values = fma.eigenvalues_
    Z, moment = fma.embeddings_[1], sum(part.T @ part for part in fma.embeddings_)
    shape = N_NEW, N_NEIGHBORS
    neighbors, weights = rng.integers(1000, size=shape), rng.random(shape)

    def by_roots():
        blocks = (slice(start, start + 256) for start in range(0, N_NEW, 256))
        return np.concatenate(
            [by_singular_values(Z, neighbors[b], weights[b], values, moment) for b in blocks]
        )

    ours, found = cpu_seconds(embed_new_samples, Z, moment, neighbors, weights, repeats=3)
    theirs, expected = cpu_seconds(by_roots, repeats=3)
    np.testing.assert_allclose(found, expected, atol=1e-10 * abs(expected).max())
    return ours, theirs


def by_singular_values(Z, neighbors, weights, eigenvalues, second_moment):
    """The same by the definition: the mean after the update, turned to the training samples."""
    spread, mean = deviations(Z, neighbors, weights)
    scale = np.sqrt(eigenvalues)
    scatter = scale[:, None] * (spread.transpose(0, 2, 1) @ spread) * scale
    lengths, vectors = np.linalg.eigh(np.diag(eigenvalues) + scatter)
    root = (vectors / np.sqrt(lengths)[:, None]) @ vectors.transpose(0, 2, 1)
    left, _, right = np.linalg.svd(root @ (scale[:, None] * second_moment))
    return ((mean * scale)[:, None] @ root @ left @ right)[:, 0]


def texts(seed):
    """Counts of words of two classes, frequent words first, and the classes."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(10, N_WORDS + 10)
    y = np.arange(N_TEXTS) % 2
    tilt = 1 + 0.5 * np.sin(np.arange(N_WORDS)) * np.array([[1], [-1]])
    chances = frequency * tilt
    words = np.concatenate(
        [rng.choice(N_WORDS, WORDS_PER_TEXT, p=chances[c] / chances[c].sum()) for c in y]
    )
    rows = np.repeat(np.arange(N_TEXTS), WORDS_PER_TEXT)
    counts = sparse.coo_array((np.ones(words.size), (rows, words)), shape=(N_TEXTS, N_WORDS))
    return sparse.csr_array(counts), y


def trial_of_texts():
    """CPU seconds of a trial with a sparse target and with a dense one; raises if they differ."""
    Xs, ys = zip(*(texts(seed) for seed in (0, 1)), strict=True)
    protocol = {
        "kind": "random", "trials": 1, "seed": 0, "source_per_class": 200, "target_per_class": 0,
        "unlabelled_per_domain": 800, "source_rows": "labelled", "scored_rows": "test",
    }  # fmt: skip
    trials = sample_trials("bench", protocol, TASK, ys, n_training=[N_TRAINING] * 2)
    entry = SUITE.methods["coral_kernel"]
    method = {key: entry[key] for key in ("estimator", "sees_labels", "params")}
    stays_sparse = fitting._stays_sparse
    with tempfile.TemporaryDirectory() as folder:
        spec = written(Path(folder), Xs, trials, method, drawn("coral_kernel", "sparse_counts", 8))
        ours, found = cpu_seconds(run, spec, repeats=2)
        fitting._stays_sparse = lambda aligner, features: False
        try:
            theirs, expected = cpu_seconds(run, spec, repeats=2)
        finally:
            fitting._stays_sparse = stays_sparse
    for (_, one), (_, other) in zip(found, expected, strict=True):
        for name, predicted in one.items():
            np.testing.assert_array_equal(predicted, other[name])
    return ours, theirs


def main():
    """Measure, print, and return the exit code."""
    measured = [
        (f"FMA-I, {N_NEW} new samples, {q} dimensions", *new_samples(q), MOST_OF_ROOTS)
        for q in (20, 40)
    ]
    measured.append(("CORAL's kernel, 8 candidates on texts", *trial_of_texts(), MOST_OF_DENSE))
    bounds = Bounds()
    for title, ours, theirs, most in measured:
        print(f"{title:42} {ours:6.2f} and {theirs:6.2f} CPU s")
        bounds.at_most(f"{title}: share", ours / theirs, most)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
