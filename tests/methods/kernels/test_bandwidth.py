import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels import _bandwidth, _tiled
from domain_alignment.kernels._bandwidth import is_label_free, kernel_width
from scipy import sparse
from scipy.spatial.distance import pdist


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).gamma(1.0, size=(40, 5))


LABELLED = np.array([3, 7, 8, 20, 39])


def test_a_number_is_itself(X):
    assert kernel_width(3, X, None) == 3.0


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_rules_equal_their_formulas(X, convert):
    given = convert(X)
    assert kernel_width("mean_labelled", given, LABELLED) == pytest.approx(
        pdist(X[LABELLED]).mean(), rel=1e-12
    )
    assert kernel_width("median", given, None) == pytest.approx(np.median(pdist(X)), rel=1e-12)
    assert kernel_width("half_median", given, None) == pytest.approx(np.median(pdist(X)) / 2)


def test_multiples_of_rules(X):
    mean = kernel_width("mean_labelled", X, LABELLED)
    for rule, factor in (
        ("15*mean_labelled", 15),
        ("0.5 * mean_labelled", 0.5),
        (".5*mean_labelled", 0.5),
    ):
        assert kernel_width(rule, X, LABELLED) == pytest.approx(factor * mean, rel=1e-15)
    assert kernel_width("0.5*median", X, None) == kernel_width("half_median", X, None)


@pytest.mark.parametrize(
    "rule", ["mean", "0*median", "-2*median", "median*2", "x*median", "*median", "", 0, -1.0, None]
)
def test_rules_that_do_not_exist(X, rule):
    with pytest.raises(ValueError, match=r"domain 1: sigma is .*; give a positive number"):
        kernel_width(rule, X, LABELLED, name="domain 1")


def test_chi2_has_widths_in_its_own_distance(X):
    chi = pdist(X, lambda x, y: np.sqrt(np.sum((x - y) ** 2 / (x + y))))
    assert kernel_width("median", X, None, "chi2") == pytest.approx(np.median(chi))
    distances = pdist(X[LABELLED], lambda x, y: np.sqrt(np.sum((x - y) ** 2 / (x + y))))
    assert kernel_width("mean_labelled", X, LABELLED, "chi2") == pytest.approx(distances.mean())


@pytest.mark.parametrize("n_samples", [40, 39, 38])  # odd and even numbers of pairs
@pytest.mark.parametrize("bins", [1, 7, 2**16])
def test_the_median_of_many_pairs_is_exact(X, monkeypatch, n_samples, bins):
    X = X[:n_samples]
    expected = kernel_width("median", X, None)
    monkeypatch.setattr(_bandwidth, "_MANY_PAIRS", 10)
    monkeypatch.setattr(_bandwidth, "_BINS", bins)
    monkeypatch.setattr(_tiled, "TILE", 16)
    assert kernel_width("median", X, None) == expected


def test_the_median_of_many_coinciding_pairs_is_zero(monkeypatch):
    monkeypatch.setattr(_bandwidth, "_MANY_PAIRS", 10)
    X = np.repeat([[1.0], [5.0]], [30, 3], axis=0)
    with pytest.raises(AlignmentError, match='X: sigma="median" is 0'):
        kernel_width("median", X, None)


@pytest.mark.parametrize("n_features", [5, 20])
@pytest.mark.parametrize("rule", ["median", "half_median"])
def test_one_sample_far_away_leaves_the_median(n_features, rule):
    """As a code for a missing value is: distances of the others keep their digits."""
    X = np.random.default_rng(0).normal(size=(60, n_features))
    X[-1] = 1e8
    expected = np.median(pdist(X)) / (2 if rule == "half_median" else 1)
    assert kernel_width(rule, X, None) == pytest.approx(expected, rel=1e-12)


def test_one_sample_far_away_leaves_few_distances_at_once(monkeypatch):
    monkeypatch.setattr(_bandwidth, "_MANY_PAIRS", 1000)
    X = np.random.default_rng(0).normal(size=(300, 5))
    X[-1] = 1e7
    held, concatenate = [], np.concatenate
    monkeypatch.setattr(
        _bandwidth.np, "concatenate", lambda parts: held.append(concatenate(parts)) or held[-1]
    )
    assert kernel_width("median", X, None) == np.median(pdist(X))
    assert len(held[-1]) <= 1000


def test_only_labelled_means_need_labels():
    assert not any(map(is_label_free, ("mean_labelled", "15*mean_labelled")))
    assert all(map(is_label_free, (1.0, "median", "half_median", "2*median")))


@pytest.mark.parametrize("rows", [[], [4]])
def test_one_labelled_sample_has_no_mean_distance(X, rows):
    message = f"domain 1: .* needs two labelled samples, but there is {len(rows)}"
    with pytest.raises(ValueError, match=message):
        kernel_width("mean_labelled", X, np.array(rows, dtype=int), name="domain 1")


@pytest.mark.parametrize("rule", ["mean_labelled", "median"])
@pytest.mark.parametrize("n_features", [3, 50])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_coinciding_samples_have_no_width(rule, n_features, convert):
    X = convert(np.repeat(np.random.default_rng(0).normal(size=(1, n_features)), 9, axis=0))
    with pytest.raises(AlignmentError, match="is 0 because samples coincide"):
        kernel_width(rule, X, np.arange(4))
    with pytest.raises(AlignmentError, match="is 0"):
        kernel_width(rule, abs(X), np.arange(4), "chi2")


def test_a_small_spread_beside_a_large_mean_is_a_width(X):
    width = kernel_width("median", X * 1e-3 + 1e6, None)
    assert width == pytest.approx(1e-3 * kernel_width("median", X, None), rel=1e-5)
