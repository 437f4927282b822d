"""Arrays of all pairs of samples are refused before they are asked for, where they cannot fit."""

import numpy as np
import pytest
from domain_alignment import (
    CORAL,
    FMA,
    GFK,
    HFA,
    KEMA,
    MEDA,
    SMA,
    SSMA,
    TCA,
    TKL,
    ARCt,
    AsymmetricCORAL,
    ClassRegularizedOT,
    ExternalAligner,
    KernelPCAAligner,
    SubspaceAlignment,
)
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import _memory
from domain_alignment.utils._memory import lasting
from scipy import sparse

PAIRS = [
    MEDA(n_components=3),
    TCA(n_components=3, kernel="rbf"),
    TKL(),
    KernelPCAAligner(n_components=3),
    ClassRegularizedOT(),
    AsymmetricCORAL(),
    ExternalAligner("ot.da:EMDTransport", labels="none"),
]
# All pairs of labelled samples.
LABELLED_PAIRS = [
    KEMA(n_components=3),
    KEMA(n_components=3, kernel="linear"),
    SSMA(n_components=3),
    SMA(n_components=3),
    HFA(),
    ARCt(),
]
NO_PAIRS = [
    CORAL(),
    GFK(n_components=3),
    SubspaceAlignment(n_components=3),
    TCA(n_components=3),
    TKL(landmarks=20, random_state=0),
    FMA(n_components=10),
    ExternalAligner("ot.da:LinearTransport", labels="none"),
]


def named(estimator):
    return f"{type(estimator).__name__}-{estimator.get_params().get('kernel', '')}"


@pytest.fixture
def domains():
    """Two domains whose kernel matrix takes 180 kB, and their features 6 kB."""
    rng = np.random.default_rng(0)
    y = np.arange(75) % 3
    centres = 3 * rng.normal(size=(3, 5))
    return [centres[y] + rng.normal(size=(75, 5)) for _ in range(2)], [y, np.where(y, y, -1)]


@pytest.fixture
def small_machine(monkeypatch):
    """One of 40 kB."""
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 40_000)


@pytest.mark.parametrize("estimator", PAIRS, ids=named)
def test_what_needs_all_pairs_says_how_much_and_what_instead(estimator, domains, small_machine):
    with pytest.raises(AlignmentError, match=r"iB, and this machine has .*landmarks"):
        estimator.fit(*domains)


@pytest.mark.parametrize("estimator", LABELLED_PAIRS, ids=named)
def test_what_needs_all_labelled_pairs_says_so(estimator, domains, small_machine):
    with pytest.raises(
        AlignmentError, match=r"labelled samples .*iB, and .*labels of fewer samples"
    ):
        estimator.fit(*domains)


def test_few_labels_of_many_samples_are_refused_for_their_kernel_rows(monkeypatch):
    """Of 10 labelled samples the graphs are small, their kernel values with all are not."""
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(1000, 3)) for _ in range(2)]
    ys = [np.where(np.arange(1000) < 10, np.arange(1000) % 2, -1)] * 2
    for size, what in ((100_000, "rows of the labelled samples of 10 x 1000"), (200_000, "scores")):
        monkeypatch.setattr(_memory, "memory_of_machine", lambda size=size: size)
        with pytest.raises(AlignmentError, match=what):
            KEMA(n_components=2).fit(Xs, ys)


@pytest.mark.parametrize("estimator", NO_PAIRS, ids=named)
def test_what_needs_no_pairs_is_fitted(estimator, domains, small_machine):
    estimator.fit(*domains)


def test_the_limit_of_a_job_counts_where_it_is_less(monkeypatch):
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 2**30)
    shape = 2**10, 2**16  # half a GiB
    for stated in ("", "600", "2000"):
        monkeypatch.setenv(_memory.LIMIT_MB, stated)
        _memory.check_room(*shape, "the kernel matrix")
    monkeypatch.setenv(_memory.LIMIT_MB, "400")
    with pytest.raises(AlignmentError, match=r"takes 512 MiB, and this job may take 400 MiB"):
        _memory.check_room(*shape, "the kernel matrix")
    with pytest.raises(AlignmentError, match=r"takes 2\.0 GiB, and this job may take 400 MiB"):
        _memory.check_room(*shape, "the kernel matrix", n_arrays=4)


def test_the_least_limit_counts(monkeypatch, tmp_path):
    """Of a container's, a process's and the machine's own memory."""
    container = tmp_path / "memory.max"
    monkeypatch.setattr(_memory, "_CONTAINER", (str(container), str(tmp_path / "absent")))
    _memory.memory_of_machine.cache_clear()
    whole = _memory.memory_of_machine()
    assert whole > 2**28
    for text, expected in (("max", whole), ("1000000", 1_000_000)):
        container.write_text(f"{text}\n", encoding="ascii")
        _memory.memory_of_machine.cache_clear()
        assert _memory.memory_of_machine() == expected
    _memory.memory_of_machine.cache_clear()


def test_what_lasts_is_a_copy_but_of_a_file_that_nobody_writes(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "X.npy", X)
    copies = [X, X[:2], sparse.csr_array(X), np.load(tmp_path / "X.npy", mmap_mode="r+")]
    for given in copies:
        assert lasting(given) is not given
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert lasting(mapped) is mapped
    view = np.asarray(mapped)[1:]
    assert lasting(view) is view
