import pickle
import warnings

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels import _tiled
from domain_alignment.manifold._kema import KEMA
from scipy import linalg, sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tests.methods import published_kema
from tests.methods.published_kema import assert_embedded, assert_same
from tests.methods.signs import assert_equal_up_to_sign


@pytest.fixture
def domains(make_domains):
    return make_domains(((60, 5), (50, 7)))


# Kernel and fixed rank; None where the rank is beyond doubt.
KERNELS = [
    ("linear", None),
    ("histogram_intersection", None),
    ("chi2", 15),
    ("rbf", 15),
    ("polynomial", 12),
]


@pytest.mark.parametrize(("name", "rank"), KERNELS)
@pytest.mark.parametrize("parameters", [{}, {"mu": 9.0}, {"ridge": 0.02}])
def test_it_is_the_published_recipe(domains, name, rank, parameters):
    Xs, ys = [np.abs(X) for X in domains[0]], domains[1]
    sigma = 2.5
    values, parts, scores = published_kema.kema(
        Xs,
        ys,
        [lambda X, Y: published_kema.kernel(name, X, Y, sigma)] * 2,
        rank,
        n_neighbors=6,
        **parameters,
    )
    kema = KEMA(8, name, sigma=sigma, n_neighbors=6, rank=rank or "auto", **parameters).fit(Xs, ys)
    assert kema.rank_ == len(values)
    np.testing.assert_allclose(kema.eigenvalues_, values[:8], rtol=1e-8)
    exact = np.vstack([alpha[:, :8] for alpha in parts])
    assert_equal_up_to_sign(kema.dual_coef_, exact, atol=1e-6 * np.abs(exact).max())
    assert_embedded(
        kema, published_kema.coordinates([part[:, :8] for part in scores], ys), atol=1e-6
    )
    raw = clone(kema).set_params(standardize=False).fit(Xs, ys)
    exact = np.vstack([part[:, :8] for part in scores])
    assert_equal_up_to_sign(raw.embeddings_, exact, atol=1e-6 * np.abs(exact).max())


def test_it_aligns_three_domains_each_with_its_own_kernel(make_domains):
    Xs, ys = make_domains(((60, 5), (50, 7), (40, 9)))
    kernels = [
        lambda X, Y: published_kema.kernel("rbf", X, Y, 3.0),
        lambda X, Y: published_kema.kernel("linear", X, Y),
        lambda X, Y: published_kema.kernel("rbf", X, Y, 5.0),
    ]
    values, _, scores = published_kema.kema(Xs, ys, kernels, 20, n_neighbors=6)
    kema = KEMA(6, ["rbf", "linear", "rbf"], sigma=[3.0, 1.0, 5.0], n_neighbors=6, rank=20)
    kema.fit(Xs, ys)
    np.testing.assert_allclose(kema.eigenvalues_, values[:6], rtol=1e-8)
    assert_embedded(kema, published_kema.coordinates([F[:, :6] for F in scores], ys), atol=1e-6)
    assert kema.sigma_ == [3.0, None, 5.0]


def test_columns_solve_the_eigenproblem_within_its_range(domains):
    Xs, ys = domains
    kema = KEMA(10, n_neighbors=6, standardize=False).fit(Xs, ys)
    A, B = published_kema.sides(Xs, ys, 6)
    K = linalg.block_diag(
        *(published_kema.kernel("rbf", X, X, s) for X, s in zip(Xs, kema.sigma_, strict=True))
    )
    alpha, F = np.concatenate(kema.dual_coef_), np.concatenate(kema.embeddings_)
    np.testing.assert_allclose(K @ alpha, F, atol=1e-9 * np.abs(F).max())
    np.testing.assert_allclose(F.T @ B @ F, np.eye(10), atol=1e-8)
    np.testing.assert_allclose(F.T @ A @ F, np.diag(kema.eigenvalues_), atol=1e-8)
    # The rest is orthogonal to the range, spanned by all eigenvectors that are kept.
    inside = np.concatenate(KEMA(kema.rank_, n_neighbors=6).fit(Xs, ys).dual_coef_)
    residual = inside.T @ K @ (A @ F - B @ F * kema.eigenvalues_)
    np.testing.assert_allclose(residual, 0, atol=1e-6)


def test_widths_follow_their_rule(domains):
    Xs, ys = domains
    widths = [pdist(X[y >= 0]).mean() for X, y in zip(Xs, ys, strict=True)]
    halves = [np.median(pdist(X)) / 2 for X in Xs]
    np.testing.assert_allclose(KEMA(3, n_neighbors=6).fit(Xs, ys).sigma_, widths)
    kema = KEMA(3, n_neighbors=6, sigma=["half_median", 4]).fit(Xs, ys)
    np.testing.assert_allclose(kema.sigma_, [halves[0], 4.0])


@pytest.mark.parametrize("sigma", ["median", "2*median", 2.0, "15*mean_labelled"])
@pytest.mark.parametrize("kernel", ["rbf", "chi2", "precomputed", ["rbf", "linear"]])
def test_prepared_changes_no_digit(domains, kernel, sigma):
    Xs, ys = [np.abs(X) for X in domains[0]], domains[1]
    if kernel == "precomputed":
        Xs = [X @ X.T for X in Xs]
    kema = KEMA(4, kernel, sigma=sigma, n_neighbors=6)
    prepared = [kema.prepare(X) for X in Xs]
    medians = [list(model.widths) for model in prepared]
    known = kernel in ("rbf", "chi2") and sigma in ("median", "2*median")
    assert medians == [[(kernel, sigma)] if known else []] * 2
    alone = kema.fit_transform(Xs, ys)
    assert_embedded(kema.fit(Xs, ys, prepared), alone, rtol=0)


def test_one_prepared_graph_serves_other_kernels_and_weights(domains):
    Xs, ys = [np.abs(X) for X in domains[0]], domains[1]
    prepared = [KEMA(sigma="median", n_neighbors=6).prepare(X) for X in Xs]
    for other in (KEMA(4, "chi2", "median"), KEMA(4, "linear"), KEMA(4, mu=3.0, landmarks=30)):
        other.set_params(n_neighbors=6, random_state=0)
        alone = other.fit_transform(Xs, ys)
        assert_embedded(other.fit(Xs, ys, prepared), alone, rtol=0)


def test_graphs_that_depend_on_the_position_are_not_prepared(domains):
    Xs, ys = domains
    given = [Xs[0], Xs[1] @ Xs[1].T]
    mixed = KEMA(4, ["linear", "precomputed"], n_neighbors=6)
    assert mixed.prepare(Xs[0]) is None
    assert_same(mixed.fit(given, ys), KEMA(4, "linear", n_neighbors=6).fit(Xs, ys), atol=1e-7)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("landmarks", [None, 40])
def test_a_precomputed_kernel_equals_the_kernel(domains, landmarks, stored):
    Xs, ys = domains
    new = np.random.default_rng(3).normal(size=(9, 7))
    sigma = 6.0
    gram = [published_kema.kernel("rbf", X, X, sigma) for X in Xs]
    options = {"n_neighbors": 6, "rank": 15, "landmarks": landmarks, "random_state": 0}
    expected = KEMA(4, "rbf", sigma, **options).fit(Xs, ys)
    kema = KEMA(4, "precomputed", **options).fit([stored(K) for K in gram], ys)
    assert_same(kema, expected, atol=1e-6)
    found = kema.transform(published_kema.kernel("rbf", new, Xs[1], sigma), 1)
    np.testing.assert_allclose(found, expected.transform(new, 1), atol=1e-6)


def test_a_callable_equals_the_kernel_it_is(domains):
    Xs, ys = domains
    kema = KEMA(4, lambda X, Y: (1 + X @ Y.T / X.shape[1]) ** 3, n_neighbors=6, rank=12)
    assert_same(
        kema.fit(Xs, ys), KEMA(4, "polynomial", n_neighbors=6, rank=12).fit(Xs, ys), atol=1e-7
    )


def test_an_indefinite_kernel_is_solved_with_a_warning(domains):
    Xs, ys = domains

    def indefinite(X, Y):
        return np.tanh(X @ Y.T - 1)

    values, _, scores = published_kema.kema(Xs, ys, [indefinite] * 2, 15, n_neighbors=6)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        kema = KEMA(4, indefinite, n_neighbors=6, rank=15).fit(Xs, ys)
    np.testing.assert_allclose(kema.eigenvalues_, values[:4], rtol=1e-7)
    assert_embedded(kema, published_kema.coordinates([F[:, :4] for F in scores], ys), atol=1e-6)


def test_tiles_change_nothing(domains, monkeypatch):
    Xs, ys = domains
    kema = KEMA(4, n_neighbors=6, rank=15)
    expected = kema.fit_transform(Xs, ys)
    monkeypatch.setattr(_tiled, "TILE", 17)
    assert_embedded(kema.fit(Xs, ys), expected, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "histogram_intersection", "chi2"])
def test_sparse_equals_dense(make_domains, kernel):
    Xs, ys = make_domains(((60, 12), (50, 40)))
    Xs = [np.where(X > 0.8, X, 0) for X in Xs]
    kema = KEMA(5, kernel, n_neighbors=6, rank=14)
    expected, thin = kema.fit_transform(Xs, ys), [sparse.csr_array(X) for X in Xs]
    assert_embedded(kema.fit(thin, ys), expected, atol=1e-6)
    for domain in (0, 1):
        found = kema.transform(thin[domain][:7], domain)
        np.testing.assert_allclose(found, expected[domain][:7], atol=1e-6)


# Invariances and special data


@pytest.mark.parametrize("kernel", ["linear", "rbf", "histogram_intersection"])
def test_reordering_samples_reorders_the_embedding(domains, kernel):
    Xs, ys = domains
    order = np.random.default_rng(1).permutation(60)
    kema = KEMA(6, kernel, n_neighbors=6)
    expected, other = kema.fit_transform(Xs, ys)
    found, found_other = kema.fit_transform([Xs[0][order], Xs[1]], [ys[0][order], ys[1]])
    np.testing.assert_allclose(found, expected[order], atol=1e-5)
    np.testing.assert_allclose(found_other, other, atol=1e-5)


def test_a_rank_decided_by_rounding_is_reproducible(make_domains):
    # A wide kernel: KBK is singular to working precision long before its 23 columns are used up.
    Xs, ys = make_domains(((60, 2), (50, 2)))
    kema = KEMA(6, sigma=30.0, n_neighbors=6).fit(Xs, ys)
    assert kema.rank_ < 20
    order = np.random.default_rng(1).permutation(60)
    again = clone(kema).fit([Xs[0][order], Xs[1]], [ys[0][order], ys[1]])
    assert again.rank_ == kema.rank_
    np.testing.assert_allclose(again.eigenvalues_, kema.eigenvalues_, rtol=1e-6)
    first, expected = again.embeddings_[0][:, :2], kema.embeddings_[0][order][:, :2]
    np.testing.assert_allclose(first, expected, atol=1e-5)


@pytest.mark.parametrize("n_domains", [2, 3])
def test_exchanging_domains_and_renaming_classes_change_only_signs(make_domains, n_domains):
    Xs, ys = make_domains(((50, 6),) * n_domains)
    kema = KEMA(6, n_neighbors=6, rank=15)
    expected = kema.fit_transform(Xs, ys)
    renamed = [np.where(y < 0, -1, np.array([5, 0, 9])[y]) for y in ys]
    found = kema.fit_transform(Xs[::-1], renamed[::-1])[::-1]
    assert_equal_up_to_sign(found, expected, atol=1e-6)


def test_duplicates_among_labelled_samples_lower_the_rank(domains):
    Xs, ys = domains
    same = np.flatnonzero(ys[0] == 0)
    Xs[0][same[1:3]] = Xs[0][same[0]]  # three coinciding samples of one class
    other = np.flatnonzero(ys[1] >= 0)
    Xs[1][other[1]] = Xs[1][other[0]]  # two of whatever classes
    kema = KEMA(6, "histogram_intersection", n_neighbors=6).fit(Xs, ys)
    assert kema.rank_ == 23 - 3
    kernels = [lambda X, Y: published_kema.kernel("histogram_intersection", X, Y)] * 2
    values, _, scores = published_kema.kema(Xs, ys, kernels, n_neighbors=6)
    np.testing.assert_allclose(kema.eigenvalues_, values[:6], rtol=1e-8)
    assert_embedded(kema, published_kema.coordinates([F[:, :6] for F in scores], ys), atol=1e-6)
    Z = kema.embeddings_[0][same[:3]]
    np.testing.assert_allclose(Z, Z[[0, 0, 0]], atol=1e-9)
    with pytest.raises(AlignmentError, match="rank=23, but the labelled samples span 20"):
        clone(kema).set_params(rank=23).fit(Xs, ys)


def test_a_class_may_be_absent_from_a_domain(domains):
    Xs, ys = domains
    ys[1] = np.where(ys[1] == 2, -1, ys[1])
    kema = KEMA(6, "histogram_intersection", n_neighbors=6).fit(Xs, ys)
    kernels = [lambda X, Y: published_kema.kernel("histogram_intersection", X, Y)] * 2
    values, _, scores = published_kema.kema(Xs, ys, kernels, n_neighbors=6)
    np.testing.assert_allclose(kema.eigenvalues_, values[:6], rtol=1e-8)
    assert_embedded(kema, published_kema.coordinates([F[:, :6] for F in scores], ys), atol=1e-6)


def test_one_labelled_sample_per_class(make_domains):
    Xs, ys = make_domains(((60, 5), (50, 7)), n_visible=1)
    kema = KEMA(5, n_neighbors=6).fit(Xs, ys)
    assert kema.rank_ == 5
    values, *_ = published_kema.kema(
        Xs,
        ys,
        [lambda X, Y, s=s: published_kema.kernel("rbf", X, Y, s) for s in kema.sigma_],
        n_neighbors=6,
    )
    np.testing.assert_allclose(kema.eigenvalues_, values, rtol=1e-8)


def test_a_domain_without_unlabelled_rows(make_domains):
    Xs, ys = make_domains(((30, 5), (50, 7)), n_visible=10)
    assert (ys[0] >= 0).all()
    kema = KEMA(5, "histogram_intersection", n_neighbors=6).fit(Xs, ys)
    assert kema.rank_ == 59
    kernels = [lambda X, Y: published_kema.kernel("histogram_intersection", X, Y)] * 2
    values, *_ = published_kema.kema(Xs, ys, kernels, n_neighbors=6)
    np.testing.assert_allclose(kema.eigenvalues_, values[:5], rtol=1e-8)


def test_more_components_than_the_labels_span(domains):
    with pytest.warns(ConvergenceWarning, match="n_components=40, but the problem has rank 12"):
        kema = KEMA(40, "linear", n_neighbors=6).fit(*domains)
    assert kema.n_components_ == kema.rank_ == 12
    assert kema.embeddings_[0].shape == (60, 12)
    assert kema.get_feature_names_out()[-1] == "kema11"


def test_an_ordinary_fit_warns_of_nothing(domains):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KEMA(4, n_neighbors=6).fit(*domains)


def test_a_fitted_aligner_can_be_pickled(domains):
    Xs, ys = domains
    for kema in (KEMA(4, n_neighbors=6), KEMA(4, n_neighbors=6, random_features=30)):
        again = pickle.loads(pickle.dumps(kema.fit(Xs, ys)))
        np.testing.assert_array_equal(again.transform(Xs[1], 1), kema.transform(Xs[1], 1))


def spirals(rng, n_samples, turn, scale):
    """Three classes on consecutive thirds of a spiral: no linear map tells them apart."""
    t = np.sort(rng.uniform(1.5 * np.pi, 4.5 * np.pi, n_samples))
    angle = t + turn
    X = scale * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.03 * rng.normal(size=X.shape), np.arange(n_samples) * 3 // n_samples


def test_the_rbf_kernel_unrolls_spirals_and_the_linear_one_does_not():
    rng = np.random.default_rng(0)
    drawn = [spirals(rng, 300, turn, scale) for turn, scale in ((0, 0.04), (1.0, 0.064))]
    Xs, truth = zip(*drawn, strict=True)
    seen = [np.where(rng.permutation(300) < 60, y, -1) for y in truth]

    def error(kernel):
        kema = KEMA(2, kernel).fit(list(Xs), seen)
        centres = [kema.embeddings_[0][seen[0] == c].mean(axis=0) for c in range(3)]
        nearest = [np.linalg.norm(kema.embeddings_[1] - centre, axis=1) for centre in centres]
        return np.mean(np.argmin(nearest, axis=0) != truth[1])  # by the other domain's classes

    assert error("rbf") < 0.1
    assert error("linear") > 0.2


# Capabilities and errors


@pytest.mark.parametrize(
    ("kema", "nonlinear", "invertible", "max_domains"),
    [
        (KEMA(4, "linear"), False, True, None),
        (KEMA(4), True, False, None),
        (KEMA(4, ["linear", "rbf", "linear"]), True, True, 3),
        (KEMA(4, ["linear"] * 3), False, True, 3),
        (KEMA(4, sigma=[5.0] * 3), True, False, 3),
        (KEMA(4, "linear", landmarks=[[*range(20)]] * 3), False, True, 3),
        (KEMA(4, random_features=50, random_state=0), True, False, None),
    ],
)
def test_capabilities_are_true(make_domains, kema, nonlinear, invertible, max_domains):
    Xs, ys = make_domains(((60, 5), (50, 7), (40, 9), (30, 5)))
    kema.set_params(n_neighbors=6)
    able = kema.capabilities
    assert (able.nonlinear, able.invertible, able.max_domains) == (
        nonlinear,
        invertible,
        max_domains,
    )
    assert not able.needs_pairs
    kema.fit(Xs[:3], ys[:3])  # heterogeneous, more than two, nothing paired
    bends = []
    for domain in range(3):
        middle = kema.transform((Xs[domain][:10] + Xs[domain][10:20]) / 2, domain)
        Z = kema.embeddings_[domain]
        bends.append(np.abs(middle - (Z[:10] + Z[10:20]) / 2).max() > 1e-6)
    assert any(bends) == able.nonlinear
    inverted = []
    for target in range(3):
        try:
            inverted.append(np.isfinite(kema.map_to(Xs[1], 1, target)).all())
        except AlignmentError:
            inverted.append(False)
    assert any(inverted) == able.invertible
    if max_domains:
        with pytest.raises(ValueError, match="3 entries for 4 domains"):
            kema.fit(Xs, ys)
    else:
        kema.fit(Xs, ys)


@pytest.mark.parametrize("domain", [0, 1])
def test_labels_of_every_domain_count(domains, domain):
    Xs, ys = domains
    kema = KEMA(4, n_neighbors=6)
    assert kema.capabilities.labels == "source+target"
    expected = kema.fit_transform(Xs, ys)
    ys[domain] = np.where(ys[domain] < 0, -1, 2 - ys[domain])
    assert not np.allclose(kema.fit_transform(Xs, ys)[domain], expected[domain])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gauss"}, "kernel"),
        ({"kernel": ["rbf", "gauss"]}, "domain 1: unknown kernel 'gauss'"),
        ({"kernel": ["rbf"] * 3}, "kernel holds 3 entries for 2 domains"),
        ({"sigma": 0}, "sigma"),
        ({"sigma": [1.0, 0.0]}, "domain 1: sigma is 0.0"),
        ({"sigma": "mean"}, "sigma"),
        ({"sigma": 1e-300}, "sigma is 1e-300"),
        ({"sigma": 1e200}, r"sigma is 1e\+200"),
        ({"sigma": np.array(2.0)}, "sigma is array"),
        ({"sigma": [None, 1.0]}, "domain 0: sigma is None"),
        ({"sigma": [1.0] * 3}, "sigma holds 3 entries"),
        ({"rank": 0}, "rank"),
        ({"rank": "full"}, "rank"),
        ({"rank": 24}, "rank=24, but the labelled samples span at most 23"),
        ({"landmarks": 1}, "landmarks=1"),
        ({"landmarks": [[0, 1], [99]]}, "domain 1: landmark rows are 99 to 99"),
        ({"random_features": 0}, "random_features"),
        ({"random_state": "a"}, "random_state"),
        ({"kernel": "chi2"}, "domain 0: holds the negative value"),
        ({"kernel": "precomputed"}, "domain 0: has shape .60, 5.; kernel=.precomputed."),
        ({"kernel": lambda X, Y: X @ X.T}, "domain .: the kernel returned shape"),
        ({"kernel": lambda X, Y: X @ Y.T + X[:, :1]}, "domain .: the kernel is not symmetric"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "NaN or infinity"),
    ],
)
def test_wrong_parameters(domains, parameters, message):
    with pytest.raises(ValueError, match=message):
        KEMA(4, n_neighbors=6).set_params(**parameters).fit(*domains)


def test_lists_shorter_than_the_domains(make_domains):
    Xs, ys = make_domains(((30, 4),) * 3)
    for parameters in ({"kernel": ["rbf"] * 2}, {"sigma": [1.0] * 2}, {"landmarks": [[0], [1]]}):
        with pytest.raises(ValueError, match="holds 2 entries for 3 domains"):
            KEMA(2, n_neighbors=6).set_params(**parameters).fit(Xs, ys)


def test_what_a_fit_found_can_be_given_again(domains):
    Xs, ys = domains
    kema = KEMA(4, ["linear", "rbf"], n_neighbors=6, landmarks=20, random_state=0).fit(Xs, ys)
    again = clone(kema).set_params(sigma=kema.sigma_, landmarks=kema.landmarks_).fit(Xs, ys)
    arrays = clone(kema).set_params(kernel="rbf", sigma=np.array([2.0, 3.0]))
    lists = clone(arrays).set_params(sigma=[2.0, 3.0])
    for one, other in ((kema, again), (arrays.fit(Xs, ys), lists.fit(Xs, ys))):
        for Z, expected in zip(one.embeddings_, other.embeddings_, strict=True):
            np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("scale", [1e-70, 1e70])
def test_the_scale_of_the_features_does_not_matter(domains, scale):
    Xs, ys = domains
    kema = KEMA(4, "linear", n_neighbors=6)
    expected = clone(kema).fit(Xs, ys)
    found = kema.fit([scale * X for X in Xs], ys)
    assert found.rank_ == expected.rank_
    for Z, exact in zip(found.embeddings_, expected.embeddings_, strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-6)


def test_features_beyond_float64(domains):
    Xs, ys = domains
    with pytest.raises(AlignmentError, match=r"domain 0: .* too large for float64"):
        KEMA(4, "linear", n_neighbors=6).fit([1e155 * X for X in Xs], ys)
    for landmarks in (None, 20):
        kema = KEMA(4, "linear", n_neighbors=6, landmarks=landmarks, random_state=0)
        with pytest.raises(AlignmentError, match="products of kernel values"):
            kema.fit([2e153 * X for X in Xs], ys)


def test_new_samples_must_suit_the_kernel(domains):
    Xs, ys = domains
    Xs = [np.abs(X) for X in Xs]
    for landmarks in (None, 30):
        kema = KEMA(4, "chi2", n_neighbors=6, landmarks=landmarks, random_state=0).fit(Xs, ys)
        with pytest.raises(ValueError, match="domain 1: holds the negative value"):
            kema.transform(-Xs[1], 1)


def test_samples_that_coincide_have_no_width(domains):
    Xs, ys = domains
    Xs[1][ys[1] >= 0] = 1.0
    with pytest.raises(AlignmentError, match='domain 1: sigma="mean_labelled" is 0'):
        KEMA(4, n_neighbors=6).fit(Xs, ys)


def test_one_labelled_sample_gives_no_mean_distance(domains):
    Xs, ys = domains
    ys[1] = np.where(np.arange(50) == np.flatnonzero(ys[1] >= 0)[0], ys[1], -1)
    with pytest.raises(
        ValueError, match=r"domain 1: .* needs two labelled samples, but there is 1"
    ):
        KEMA(4, n_neighbors=6).fit(Xs, ys)
    assert KEMA(4, n_neighbors=6, sigma=2.0).fit(Xs, ys).n_components_ == 4
