import warnings

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._correspondences import laplacian
from domain_alignment.manifold._fma import FMA
from domain_alignment.manifold._sma import SMA
from domain_alignment.model_selection._search import AlignerSearchCV
from domain_alignment.utils.graphs import degrees, knn_graph
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from tests.methods.signs import assert_equal_up_to_sign


def joint_matrices(Xs, ys, n_neighbors=12, alpha=0.2, weight=1.0):
    """Dense Laplacian within the domains, degrees within them, and L_c, all of order N."""
    graphs = [alpha * knn_graph(X, n_neighbors).toarray() for X in Xs]
    D = np.diag(np.concatenate([degrees(graph) for graph in graphs]))
    rows, restricted = laplacian(ys, weight)
    starts = np.cumsum([0] + [len(y) for y in ys])[:-1]
    at = np.concatenate([part + start for part, start in zip(rows, starts, strict=True)])
    L_c = np.zeros_like(D)
    L_c[np.ix_(at, at)] = restricted
    return D - linalg.block_diag(*graphs), D, L_c


def by_the_paper(Xs, ys, n_components, **parameters):
    """Algorithm 3, step by step and dense; the joint constant is left in, at 1e-9."""
    L, D, L_c = joint_matrices(Xs, ys, **parameters)
    root = np.diag(D.diagonal() ** -0.5)
    bases, values, start = [], [], 0
    for X in Xs:
        rows = slice(start, start + len(X))
        block, vectors = linalg.eigh((root @ L @ root)[rows, rows])
        kept = n_components // len(Xs)
        bases.append(vectors[:, :kept])
        values.append(block[:kept])
        start += len(X)
    phi = linalg.block_diag(*bases)
    squares, axes = linalg.eigh(L_c)
    A = root @ axes * np.sqrt(np.maximum(squares, 0))  # any A with A A' = L_c will do
    update, F = linalg.eigh(np.diag(np.concatenate(values)) + phi.T @ A @ A.T @ phi)
    return root @ phi @ F / np.sqrt(np.maximum(update, 1e-9)), update


def stacked(aligner):
    return np.concatenate(aligner.embeddings_)


@pytest.mark.parametrize(
    "shapes",
    [((60, 8), (50, 8)), ((60, 8), (40, 20)), ((40, 5),) * 3, ((40, 5), (36, 9), (30, 7), (33, 6))],
)
def test_the_instance_level_equals_algorithm_3(make_domains, shapes):
    Xs, ys = make_domains(shapes)
    parameters = {"n_neighbors": 6, "alpha": 0.5}
    fma = FMA(n_components=12, correspondence_weight=2.0, **parameters).fit(Xs, ys)
    expected, update = by_the_paper(Xs, ys, 12, weight=2.0, **parameters)
    assert fma.n_components_ == 11
    np.testing.assert_allclose(fma.eigenvalues_, update[1:], atol=1e-9)
    assert_equal_up_to_sign(stacked(fma), expected[:, 1:], atol=1e-5)


def test_the_feature_level_equals_algorithm_4(make_domains):
    Xs, ys = make_domains(((60, 8), (50, 14)))
    L, D, L_c = joint_matrices(Xs, ys, 6)
    maps, values, start = [], [], 0
    for X in Xs:
        rows = slice(start, start + len(X))
        T = linalg.inv(linalg.sqrtm(X.T @ D[rows, rows] @ X))
        block, vectors = linalg.eigh(T.T @ X.T @ L[rows, rows] @ X @ T)
        maps.append(T @ vectors[:, :4])
        values.append(block[:4])
        start += len(X)
    E = linalg.block_diag(*Xs) @ linalg.block_diag(*maps)
    update, F = linalg.eigh(np.diag(np.concatenate(values)) + E.T @ L_c @ E)
    fma = FMA(level="feature", n_components=8, n_neighbors=6).fit(Xs, ys)
    np.testing.assert_allclose(fma.eigenvalues_, update, atol=1e-9)
    assert_equal_up_to_sign(stacked(fma), E @ F / np.sqrt(update), atol=1e-7)


@pytest.mark.parametrize("level", ["instance", "feature"])
@pytest.mark.parametrize("n_domains", [2, 3])
def test_all_eigenvectors_kept_is_sma(make_domains, level, n_domains):
    n_samples, n_features = 30, 7
    Xs, ys = make_domains(((n_samples, n_features),) * n_domains)
    size = n_domains * (n_samples if level == "instance" else n_features)
    fma = FMA(level=level, n_components=size, n_neighbors=5).fit(Xs, ys)
    sma = SMA(level=level, n_components=fma.n_components_, n_neighbors=5).fit(Xs, ys)
    assert fma.n_components_ == size - (level == "instance")
    np.testing.assert_allclose(fma.eigenvalues_, sma.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(stacked(fma), stacked(sma), atol=1e-6)


def test_columns_solve_the_filtered_problem(make_domains):
    Xs, ys = make_domains()
    fma = FMA(n_components=10, n_neighbors=6).fit(Xs, ys)
    L, D, L_c = joint_matrices(Xs, ys, 6)
    Z = stacked(fma)
    np.testing.assert_allclose(Z.T @ (L + L_c) @ Z, np.eye(9), atol=1e-8)
    np.testing.assert_allclose(Z.T @ D @ Z, np.diag(1 / fma.eigenvalues_), atol=1e-7)
    np.testing.assert_allclose(Z.T @ D.diagonal(), 0, atol=1e-8)  # orthogonal to the constant


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_prepared_changes_no_digit(make_domains, level):
    Xs, ys = make_domains()
    fma = FMA(level=level, n_components=8, n_neighbors=6)
    prepared = [fma.prepare(X) for X in Xs]
    alone = fma.fit(Xs, ys).embeddings_
    for given in (prepared, [None, prepared[1]]):
        for Z, expected in zip(fma.fit(Xs, ys, given).embeddings_, alone, strict=True):
            np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_one_spectrum_serves_other_weights_smaller_dimensions_and_sma(make_domains, level):
    Xs, ys = make_domains()
    large = FMA(level=level, n_components=16, n_neighbors=6)
    full = SMA(level=level, n_neighbors=6)
    other = FMA(level, n_components=8, n_neighbors=6, alpha=3.0, correspondence_weight=0.1)
    expected = other.fit_transform(Xs, ys)
    for preparer in (large, full):
        found = other.fit_transform(Xs, ys, [preparer.prepare(X) for X in Xs])
        for Z, exact in zip(found, expected, strict=True):
            np.testing.assert_allclose(Z, exact, atol=1e-8)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_reordering_samples_reorders_the_embedding(make_domains, level):
    Xs, ys = make_domains(((300, 8), (230, 8)))
    order = np.random.default_rng(1).permutation(300)
    fma = FMA(level=level, n_components=14, n_neighbors=6)
    expected, other = fma.fit_transform(Xs, ys)
    found, found_other = fma.fit_transform([Xs[0][order], Xs[1]], [ys[0][order], ys[1]])
    np.testing.assert_allclose(found, expected[order], atol=1e-8)
    np.testing.assert_allclose(found_other, other, atol=1e-8)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_exchanging_domains_and_renaming_classes_change_nothing(make_domains, level):
    Xs, ys = make_domains()
    fma = FMA(level=level, n_components=8, n_neighbors=6)
    first, second = fma.fit_transform(Xs, ys)
    renamed = [np.where(y < 0, -1, np.array([5, 0, 9])[y]) for y in ys]
    swapped = fma.fit_transform(Xs[::-1], renamed[::-1])
    np.testing.assert_allclose(swapped[1], first, atol=1e-8)
    np.testing.assert_allclose(swapped[0], second, atol=1e-8)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_rotating_one_domains_features_changes_nothing(make_domains, level):
    Xs, ys = make_domains()
    rotation = linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    fma = FMA(level=level, n_components=8, n_neighbors=6)
    expected = fma.fit_transform(Xs, ys)
    found = fma.fit_transform([Xs[0], 7 * Xs[1] @ rotation], ys)
    for Z, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-8)


def test_a_common_factor_of_all_weights_only_scales(make_domains):
    Xs, ys = make_domains()
    base = FMA(n_components=8, n_neighbors=6, alpha=0.2).fit(Xs, ys)
    scaled = FMA(n_components=8, n_neighbors=6, alpha=0.8, correspondence_weight=4).fit(Xs, ys)
    np.testing.assert_allclose(stacked(scaled), stacked(base) / 2, atol=1e-9)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_sparse_equals_dense(make_domains, level):
    Xs, ys = make_domains(((60, 12), (30, 40)))
    Xs = [np.where(np.abs(X) > 1, X, 0) for X in Xs]
    fma = FMA(level=level, n_components=8, n_neighbors=6)
    expected = fma.fit_transform(Xs, ys)
    found = fma.fit_transform([sparse.csr_array(X) for X in Xs], ys)
    for Z, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-6)
        assert isinstance(Z, np.ndarray)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_feature_level_is_a_linear_map_exact_on_the_training_samples(make_domains, convert):
    Xs, ys = make_domains(((60, 8), (30, 40)))
    Xs = [convert(X) for X in Xs]
    fma = FMA(level="feature", n_components=8, n_neighbors=6).fit(Xs, ys)
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(fma.transform(X, domain), fma.embeddings_[domain], atol=1e-10)
        twice = fma.transform(X[:5] * 2, domain)
        np.testing.assert_allclose(twice, 2 * fma.embeddings_[domain][:5], atol=1e-10)


def test_a_class_missing_in_one_domain_is_simply_not_tied(make_domains):
    Xs, ys = make_domains()
    ys[1] = np.where(ys[1] == 2, -1, ys[1])
    fma = FMA(n_components=8, n_neighbors=6)
    found = fma.fit_transform(Xs, ys)
    ys[0] = np.where(ys[0] == 2, -1, ys[0])
    for Z, exact in zip(found, fma.fit_transform(Xs, ys), strict=True):
        np.testing.assert_array_equal(Z, exact)


def in_pieces(n_pieces, n_samples, seed):
    """A domain whose graph falls into clusters far from each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_pieces
    return np.eye(6)[y] * 100 + rng.normal(size=(n_samples, 6)), y


def test_disconnected_graphs_keep_the_vectors_that_tell_the_pieces_apart():
    (X, y), (X_other, y_other) = in_pieces(3, 60, 0), in_pieces(3, 45, 1)
    fma = FMA(n_components=12, n_neighbors=5).fit([X, X_other], [y, y_other])
    assert fma.n_components_ == 11
    # Three joint pieces: three zero eigenvalues, of which the constant's is dropped.
    assert np.count_nonzero(fma.eigenvalues_ < 1e-9) == 2
    Z = stacked(fma)[:, :2] * np.sqrt(1e-9)
    labels = np.concatenate([y, y_other])
    for label in range(3):
        np.testing.assert_allclose(np.ptp(Z[labels == label], axis=0), 0, atol=1e-6)
    centres = np.array([Z[labels == label].mean(axis=0) for label in range(3)])
    assert min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > 0.1


def test_the_axes_of_a_multiple_zero_do_not_depend_on_the_order():
    (X, y), (X_other, y_other) = in_pieces(4, 60, 0), in_pieces(4, 45, 1)
    order = np.random.default_rng(1).permutation(60)
    fma = FMA(n_components=12, n_neighbors=5)
    first, second = fma.fit_transform([X, X_other], [y, y_other])
    other, reordered = fma.fit_transform([X_other, X[order]], [y_other, y[order]])
    scale = np.abs(first).max(axis=0)
    np.testing.assert_allclose(reordered / scale, first[order] / scale, atol=1e-8)
    np.testing.assert_allclose(other / scale, second / scale, atol=1e-8)


def test_the_axes_of_a_multiple_zero_are_orthogonal_and_the_longest_is_first():
    (X, y), (X_other, y_other) = in_pieces(4, 80, 0), in_pieces(4, 60, 1)
    kept = (y > 1) | (np.arange(80) < 40)  # pieces of unequal size: axes of unequal length
    fma = FMA(n_components=12, n_neighbors=5).fit([X[kept], X_other], [y[kept], y_other])
    n_zero = np.count_nonzero(fma.eigenvalues_ < 1e-9)
    assert n_zero == 3
    products = stacked(fma)[:, :n_zero].T @ stacked(fma)[:, :n_zero]
    lengths = np.diag(products)
    assert (np.diff(lengths) < -1e-3 * lengths[0]).all()
    np.testing.assert_allclose(products, np.diag(lengths), atol=1e-8 * lengths[0])


def test_as_many_eigenvectors_as_pieces():
    (X, y), (X_other, y_other) = in_pieces(5, 60, 0), in_pieces(5, 60, 1)
    fma = FMA(n_components=10, n_neighbors=5).fit([X, X_other], [y, y_other])
    assert all(np.linalg.norm(Z, axis=1).min() > 0 for Z in fma.embeddings_)
    with pytest.raises(AlignmentError, match=r"domain 0: .* more than 4 connected components"):
        FMA(n_components=8, n_neighbors=5).fit([X, X_other], [y, y_other])
    linear = FMA("feature", n_components=4, n_neighbors=5).fit([X, X_other], [y, y_other])
    assert np.isfinite(stacked(linear)).all()  # no component is told from another by a vector


@pytest.mark.parametrize(("n_components", "told"), [(6, True), (10, False)])
def test_a_cut_through_the_pieces_of_wide_features_is_told(n_components, told):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    Xs = [100 * np.eye(4, p)[y] + rng.normal(size=(60, p)) for p in (80, 70)]
    fma = FMA("feature", n_components=n_components, n_neighbors=5)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fma.fit(Xs, [y, y])
    messages = [str(one.message) for one in heard if one.category is ConvergenceWarning]
    assert len(messages) == 2 * told
    for domain, message in enumerate(messages):
        assert message.startswith(f"domain {domain}: its graph of 5 neighbours has 3 connected")


@pytest.mark.parametrize("level", ["instance", "feature"])
@pytest.mark.parametrize("order", [(4, 8, 12), (12, 8, 4), (8, 12, 4)])
def test_a_model_serves_fewer_components_only(make_domains, level, order):
    Xs, ys = make_domains(((40, 30), (40, 30)))
    models = {k: [FMA(level, n_components=k, n_neighbors=5).prepare(X) for X in Xs] for k in order}
    for wanted in order:
        fma = FMA(level, n_components=wanted, n_neighbors=5)
        for had in order:
            serves = fma.accepts(models[had][0], Xs[0])
            assert serves == (had >= wanted)
            if serves:
                assert fma.fit(Xs, ys, models[had]).n_components_ >= wanted - 1
    grid = AlignerSearchCV(FMA(level, n_neighbors=5), {"n_components": list(order)}, cv=2)
    assert grid.fit(Xs, ys).best_params_["n_components"] in order


def test_duplicates_get_one_place(make_domains):
    Xs, ys = make_domains()
    Xs[0][10:13] = Xs[0][0]
    ys[0][[0, 10, 11, 12]] = -1
    fma = FMA(n_components=6, n_neighbors=6, symmetrize="mean").fit(Xs, ys)
    Z = fma.embeddings_[0]
    assert np.ptp(Z[[0, 10, 11, 12]], axis=0).max() < 0.2 * np.ptp(Z, axis=0).max()


def test_identical_domains_with_all_pairs_meet(make_domains):
    (X, _), _ = make_domains(((40, 6), (40, 6)))
    pairs = np.arange(40)  # every sample is its own class: pointwise correspondences
    fma = FMA(n_components=10, n_neighbors=5, correspondence_weight=1e4)
    source, target = fma.fit_transform([X, X], [pairs, pairs])
    # Half of the coordinates tell the domains apart; they shrink with the weight.
    np.testing.assert_allclose(source, target, atol=0.05 * np.abs(source).max())


ERRORS = [
    ({"n_neighbors": 20}, "domain 1: n_neighbors=20 for 20 samples"),
    ({"level": "object"}, r"'level' parameter of FMA must be a str among {'(feature|instance)', "),
    ({"metric": "l1"}, "'metric' parameter of FMA must be a str among"),
    ({"symmetrize": "or"}, "'symmetrize' parameter of FMA must be a str among"),
    ({"alpha": 0.0}, r"'alpha' parameter of FMA must be a float in the range \(0.0"),
    ({"n_components": 1}, "'n_components' parameter of FMA must be an int in the range"),
    ({"n_neighbors": 2.5}, "'n_neighbors' parameter of FMA must be an int in the range"),
    ({"correspondence_weight": -1}, "'correspondence_weight' parameter of FMA must be a float"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "message"), ERRORS)
def test_wrong_parameters(make_domains, parameters, message):
    Xs, ys = make_domains(((30, 8), (20, 8)))
    with pytest.raises(ValueError, match=message):
        FMA(**{"n_components": 6, "n_neighbors": 5, **parameters}).fit(Xs, ys)


@pytest.mark.parametrize(
    ("level", "shapes", "sizes", "message"),
    [
        (
            "feature",
            ((60, 5), (50, 8)),
            (5, 8),
            r"domain 0: .* needs 20 .* 5 independent features;",
        ),
        ("feature", ((60, 30), (50, 8)), (20, 8), "domain 1: .* set n_components=16 or less"),
        ("instance", ((60, 8), (14, 8)), (20, 14), "domain 1: .* but this one has 14 samples; all"),
    ],
)
def test_a_small_domain_keeps_all_it_has(make_domains, level, shapes, sizes, message):
    """By the defaults of the paper, 20 eigenpairs of each of two domains."""
    Xs, ys = make_domains(shapes)
    with pytest.warns(ConvergenceWarning, match=message):
        fma = FMA(level).fit(Xs, ys)
    assert fma.n_components_ == sum(sizes) - (level == "instance")
    # Eq. 9 in the bases that there are: M = Lambda + E^T L_c E has the eigenvalues l.
    spectra = [fma.prepare(X) for X in Xs]
    rows, change = laplacian(ys, 1 / fma.alpha)
    E = linalg.block_diag(
        *(s.basis[known, :k] for s, known, k in zip(spectra, rows, sizes, strict=True))
    )
    values = np.concatenate([s.eigenvalues[:k] for s, k in zip(spectra, sizes, strict=True)])
    M = np.diag(values) + E.T @ change @ E
    expected = np.linalg.eigvalsh(M)[level == "instance" :]
    np.testing.assert_allclose(fma.eigenvalues_, expected, atol=1e-9)


def test_fewer_components_than_domains(make_domains):
    Xs, ys = make_domains(((20, 5),) * 3)
    with pytest.raises(ValueError, match="n_components=2 is less than one per domain"):
        FMA(n_components=2, n_neighbors=5).fit(Xs, ys)


def test_labels_must_link_the_domains(make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match=r"domain 1 \(the target\): none of its 50 samples"):
        FMA().fit(Xs, [ys[0], None])
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled"):
        FMA().fit(Xs)
    with pytest.raises(ValueError, match="domain 1: shares no labelled class with domain 0"):
        FMA().fit(Xs, [np.where(ys[0] == 0, 0, -1), np.where(ys[1] == 1, 1, -1)])


def test_a_sample_of_zeros_is_named_with_its_domain(make_domains):
    Xs, ys = make_domains()
    Xs[1][7] = 0
    with pytest.raises(AlignmentError, match="domain 1: 1 of 50 samples are all zeros"):
        FMA(n_components=6, n_neighbors=5).fit(Xs, ys)


def test_models_that_do_not_belong(make_domains):
    Xs, ys = make_domains()
    fma = FMA(n_components=8, n_neighbors=6)
    with pytest.raises(ValueError, match="domain 0: prepared model is a str, not a DomainSpectrum"):
        fma.fit(Xs, ys, ["spectrum", None])
    with pytest.raises(
        ValueError, match=r"domain 1: was prepared with .*n_neighbors=5.*prepare it"
    ):
        fma.fit(Xs, ys, [None, FMA(n_neighbors=5).prepare(Xs[1])])
    with pytest.raises(ValueError, match=r"domain 1: has shape \(50, 8\), its prepared model \(60"):
        fma.fit(Xs, ys, [None, fma.prepare(Xs[0])])
    with pytest.raises(
        ValueError, match="domain 0: was prepared with 2 eigenvectors, 4 are needed"
    ):
        fma.fit(Xs, ys, [FMA(n_components=4, n_neighbors=6).prepare(Xs[0]), None])


def of_opposite_signs(n_samples, weight):
    """Least eigenvalue of a vector that has opposite signs in the domains, of three far classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    Xs = [10 * np.eye(3, 6)[y] + rng.normal(size=(n_samples, 6)) for _ in range(2)]
    seen = np.where(np.arange(n_samples) < 6, y, -1)
    fma = FMA(n_components=12, correspondence_weight=weight).fit(Xs, [seen, seen])
    products = np.array([Z[y == 0].mean(axis=0) for Z in fma.embeddings_]).prod(axis=0)
    return fma.eigenvalues_[products < 0].min()


def test_edges_of_weights_in_proportion_to_the_samples_tie_large_domains_as_small_ones():
    small, large = (of_opposite_signs(n, 1.0) for n in (600, 2400))
    assert large == pytest.approx(small / 4, rel=0.3)
    assert of_opposite_signs(2400, 4.0) == pytest.approx(small, rel=0.3)
