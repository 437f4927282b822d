"""Every entry of config/methods.yaml refuses what does not fit, and nothing that does.

All samples have the labels that an entry may see: what few labels leave small is largest then.
"""

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.distribution import _jda, _sstca
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels import _pairwise
from domain_alignment.max_margin import _dual_descent
from domain_alignment.utils import _memory, _rows, neighbors
from growth import groups
from measure import peak_bytes
from scipy import linalg, sparse

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import load_suite

ENTRIES = load_suite(Path(__file__).parents[2]).methods
N_SAMPLES, N_FEATURES = 240, 10  # of each domain
MATRIX = 8 * N_SAMPLES**2  # of all samples of one domain

# What takes long; a refusal comes before.
COSTLY = [(linalg, name) for name in ("cholesky", "eigh", "qr", "svd")]
COSTLY += [(neighbors, "_largest_bounds")]

# Searches over folds hold what one of their fits holds, and take long.
SEARCHES = {name for name in ENTRIES if name.endswith("_selected")}


@pytest.fixture(params=sorted(set(groups(ENTRIES)) - SEARCHES))
def name(request):
    return request.param


@pytest.fixture
def small_blocks(monkeypatch):
    """As of far more samples: many blocks, and no problem solved at once because it is small."""
    for module, constant, value in (
        (neighbors, "_BLOCK_ROWS", 32),
        (neighbors, "_BLOCK_ENTRIES", 32 * 64),
        (_pairwise, "_BATCH_ROWS", 32),
        (_pairwise, "_MEDIAN_ROWS", 32),
        (_sstca, "_BATCH_ROWS", 32),
        (_jda, "_BATCH_ENTRIES", 32 * N_SAMPLES),
        (_dual_descent, "SMALL", 0),
        (_dual_descent, "MEDIUM", 0),
    ):
        monkeypatch.setattr(module, constant, value)


def fit(name, n_samples=N_SAMPLES):
    """One fit to non-negative features of three classes."""
    entry, rng = ENTRIES[name], np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    source = np.abs(3 * rng.normal(size=(3, N_FEATURES))[y] + rng.normal(size=(y.size, N_FEATURES)))
    target = np.abs(source + 0.3 * rng.normal(size=source.shape))
    estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
    if "max_sweeps" in estimator.get_params():
        estimator.set_params(max_sweeps=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit([source, target], [y, y if entry["sees_labels"] == "source+target" else None])


# What forms products of all features, or dense embeddings of all, of sparse features.
OF_FEATURES = [
    *("coral", "gfk", "gfk_pls", "sgf", "subspace_alignment", "meda", "subspace_with_labels"),
    *("tca", "tca_dual", "jda", "sstca", "fma_f", "sma_f", "ot_linear", "tkl"),
    *("mmdt", "ls_mmdt"),
]
OF_NONE = ["fma_i", "ssma", "kema_linear", "svm_source", "svm_joint"]


def sparse_task(name, n_samples=240):
    """As many features as samples, of which a sample has ten."""
    rng, y = np.random.default_rng(0), np.arange(n_samples) % 3
    rows = np.arange(n_samples)
    one_hot = sparse.csr_array((np.ones(n_samples), (rows, y)), shape=(n_samples, n_samples))
    Xs = [
        sparse.csr_array(sparse.random_array(one_hot.shape, density=9 / n_samples, rng=rng))
        for _ in range(2)
    ]
    few = [np.where(rows < seen, y, -1) for seen in (30, 12)]
    ys = {"none": [None, None], "source": [y, None], "source+target": few}
    return [X + one_hot for X in Xs], ys[ENTRIES[name]["sees_labels"]]


@pytest.mark.parametrize("name", [*OF_FEATURES, *OF_NONE])
def test_many_sparse_features_are_refused_where_they_would_become_dense(
    name, small_blocks, monkeypatch
):
    Xs, ys = sparse_task(name)
    monkeypatch.setattr(_rows, "FEW_IN_CACHE", 32 * Xs[0].shape[1])
    method = resolve_estimator(ENTRIES[name]["estimator"])(**ENTRIES[name].get("params", {}))
    if "max_sweeps" in method.get_params():
        method.set_params(max_sweeps=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.fit(Xs, ys)
        peak = peak_bytes(method.fit, Xs, ys)
        monkeypatch.setattr(_memory, "memory_of_machine", lambda: peak)
        method.fit(Xs, ys)  # what a message says that it needs is no more than it takes
        matrix = 8 * Xs[0].shape[1] ** 2
        monkeypatch.setattr(_memory, "memory_of_machine", lambda: matrix - 1)
        if name in OF_NONE:
            method.fit(Xs, ys)
        else:
            with pytest.raises(AlignmentError, match=r"iB, and this machine has .*; give fewer"):
                method.fit(Xs, ys)


def peak_of(name, n_samples=N_SAMPLES):
    """Most bytes that NumPy allocates in a fit."""
    tracemalloc.start()
    try:
        fit(name, n_samples)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def too_late(*args, **options):
    """Stands for what takes long."""
    raise AssertionError("this was begun before the refusal")


@pytest.mark.whole_run
def test_what_holds_pairs_refuses_a_machine_that_cannot(name, small_blocks, monkeypatch):
    fit(name, N_SAMPLES // 3)  # imports, compilation
    least, more, peak = (peak_of(name, k * N_SAMPLES // 3) for k in (1, 2, 3))
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: peak)
    fit(name)  # what a message says that it needs is no more than it takes
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: MATRIX // 2)
    of_pairs = 9 / 2 * (least - 2 * more + peak)  # the quadratic part of three sizes
    if of_pairs > MATRIX / 2:
        for module, function in COSTLY:
            monkeypatch.setattr(module, function, too_late)
        with pytest.raises(AlignmentError, match=r"iB, and this machine has "):
            fit(name)
    else:
        fit(name)
