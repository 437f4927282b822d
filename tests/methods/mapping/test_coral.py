import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.mapping._asymmetric_coral import AsymmetricCORAL
from domain_alignment.mapping._coral import CORAL, RidgedCovariance
from scipy import sparse
from scipy.linalg import inv, sqrtm

SHAPES = [((60, 8), (50, 8)), ((12, 30), (40, 30)), ((12, 30), (9, 30))]


def paper_map(Xs, ridge):
    C_S, C_T = (np.cov(X.T) + ridge * np.eye(X.shape[1]) for X in Xs)
    return inv(sqrtm(C_S)) @ sqrtm(C_T)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("ridge", [1.0, 0.01])
def test_the_map_of_the_paper(make_domains, shapes, ridge):
    Xs, _ = make_domains(shapes)
    coral = CORAL(ridge).fit(Xs)
    A = paper_map(Xs, ridge)
    np.testing.assert_allclose(coral.map_, A, atol=1e-8)
    np.testing.assert_allclose(coral.embeddings_[0], Xs[0] @ A, atol=1e-7)
    np.testing.assert_array_equal(coral.embeddings_[1], Xs[1])
    # What it is for: the regularised covariance becomes the target's.
    C_S, C_T = (np.cov(X.T) + ridge * np.eye(X.shape[1]) for X in Xs)
    np.testing.assert_allclose(coral.map_.T @ C_S @ coral.map_, C_T, atol=1e-8)


@pytest.mark.parametrize("power", [-0.5, 0.5, -1, 1])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30), (1, 5), (5, 5)])
def test_powers_of_a_covariance(power, shape):
    X = np.random.default_rng(0).normal(size=shape) + 3
    C = np.cov(X.T) if shape[0] > 1 else np.zeros((5, 5))
    values, vectors = np.linalg.eigh(C + 0.3 * np.eye(shape[1]))
    expected = (vectors * values**power) @ vectors.T
    for kind in (np.asarray, sparse.csr_array):
        covariance = RidgedCovariance(kind(X))
        found = covariance.apply(np.eye(shape[1]), power, 0.3)
        np.testing.assert_allclose(found, expected, atol=1e-10)
        np.testing.assert_allclose(covariance.power(power, 0.3), expected, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_few_and_many_samples_have_the_same_map(make_domains, kind):
    Xs, _ = make_domains(((60, 8), (50, 8)))
    coral = CORAL(0.1).fit([kind(X) for X in Xs])
    few = np.vstack([coral.transform(kind(Xs[0][i : i + 5]), domain=0) for i in range(0, 60, 5)])
    np.testing.assert_allclose(coral.transform(kind(Xs[0]), domain=0), few, atol=1e-12)
    np.testing.assert_allclose(coral.embeddings_[0], few, atol=1e-12)


@pytest.mark.parametrize(("n_fitted", "forms"), [(60, True), (4, False)])
def test_the_map_is_formed_where_ranks_make_it_pay(make_domains, monkeypatch, n_fitted, forms):
    Xs, _ = make_domains(((60, 8), (60, 8)))
    coral, made = CORAL().fit([X[:n_fitted] for X in Xs]), []
    monkeypatch.setattr(coral, "_map", lambda: made.append(1) or CORAL._map(coral))
    coral.transform(Xs[0], domain=0)
    assert bool(made) == forms


def test_equal_domains_keep_their_features(make_domains):
    Xs, _ = make_domains()
    np.testing.assert_allclose(CORAL().fit([Xs[0], Xs[0] + 5]).map_, np.eye(8), atol=1e-12)


def test_equal_samples_have_no_covariance(make_domains):
    Xs, _ = make_domains()
    coral = CORAL(2.0).fit([np.ones((5, 8)), Xs[1]])
    np.testing.assert_allclose(coral.map_, sqrtm(np.cov(Xs[1].T) / 2 + np.eye(8)), atol=1e-10)


def test_a_large_ridge_leaves_everything_as_it_is(make_domains):
    Xs, _ = make_domains()
    np.testing.assert_allclose(CORAL(1e9).fit(Xs).map_, np.eye(8), atol=1e-7)


@pytest.mark.parametrize("scale", [1e7, 1e12, 1e18, 1e60])
def test_variances_far_above_the_ridge(make_domains, scale):
    Xs, _ = make_domains()
    Xs = [scale * X for X in Xs]
    coral = CORAL().fit(Xs)
    C_S, C_T = (np.cov(X.T) for X in Xs)  # beside which the ridge is nothing
    tolerance = 1e-10 * C_T.max()
    np.testing.assert_allclose(np.cov(coral.embeddings_[0].T), C_T, atol=tolerance)
    np.testing.assert_allclose(coral.map_.T @ C_S @ coral.map_, C_T, atol=tolerance)
    back = coral.inverse_transform(coral.embeddings_[0], 0)
    np.testing.assert_allclose(back, Xs[0], atol=1e-10 * Xs[0].max())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_what_rounding_spoils_is_refused(make_domains, kind):
    Xs, _ = make_domains(((12, 30), (40, 30)))
    few = [kind(X * 1e9) for X in Xs]  # without a variance in 19 directions
    for given, domain in ((few, 0), (few[::-1], 1)):
        with pytest.raises(
            AlignmentError,
            match=rf"domain {domain}: powers of its covariance: lost in rounding.*"
            r"ridge=1; standardise the features or raise ridge",
        ):
            CORAL().fit(given)
    assert CORAL(ridge=1e10).fit(few).n_components_ == 30


def test_order_of_samples_and_rotations(make_domains):
    Xs, _ = make_domains()
    rng = np.random.default_rng(1)
    A = CORAL().fit(Xs).map_
    shuffled = CORAL().fit([rng.permutation(X) for X in Xs]).map_
    np.testing.assert_allclose(shuffled, A, atol=1e-10)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    turned = CORAL().fit([X @ turn for X in Xs]).map_
    np.testing.assert_allclose(turned, turn.T @ A @ turn, atol=1e-10)


@pytest.mark.parametrize("shapes", SHAPES)
def test_sparse_samples_give_the_same(make_domains, shapes):
    rng = np.random.default_rng(0)
    Xs = [rng.poisson(0.5, size=shape).astype(float) for shape in shapes]
    dense = CORAL().fit(Xs)
    thin = CORAL().fit([sparse.csr_array(X) for X in Xs])
    for one, other in zip(dense.embeddings_, thin.embeddings_, strict=True):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_capabilities_are_true(make_domains):
    Xs, ys = make_domains()
    able = CORAL().capabilities
    assert (able.labels, able.max_domains, able.nonlinear) == ("none", 2, False)
    assert CORAL(source_rows="labelled").capabilities.labels == "source"
    assert AsymmetricCORAL().capabilities.labels == "source"
    for coral in (CORAL().fit(Xs), AsymmetricCORAL().fit(Xs, ys)):
        assert coral.capabilities.embeds_new_samples
        assert coral.capabilities.invertible
        for domain, X in enumerate(Xs):
            Z = coral.transform(X[2:6], domain)
            np.testing.assert_allclose(Z, coral.embeddings_[domain][2:6])
            np.testing.assert_allclose(coral.inverse_transform(Z, domain), X[2:6])
            np.testing.assert_allclose(coral.inverse_transform(Z, domain - 2), X[2:6])
    with pytest.raises(ValueError, match="domain 2 does not exist"):
        coral.inverse_transform(Xs[0], 2)


def test_labelled_rows_alone_are_the_source_if_asked(make_domains):
    Xs, ys = make_domains()
    seen = ys[0] >= 0
    part = CORAL(source_rows="labelled").fit(Xs, ys)
    alone = CORAL().fit([Xs[0][seen], Xs[1]])
    np.testing.assert_allclose(part.embeddings_[0][seen], alone.embeddings_[0], atol=1e-12)
    everything = CORAL(source_rows="labelled").fit(Xs, [np.abs(ys[0]), None])
    np.testing.assert_array_equal(everything.embeddings_[0], CORAL().fit(Xs).embeddings_[0])


def test_a_model_prepared_before_changes_no_digit(make_domains):
    Xs, _ = make_domains()
    prepared = [CORAL().prepare(X) for X in Xs]
    for ridge in (1.0, 0.1):  # a model serves every ridge
        plain, quick = CORAL(ridge).fit(Xs), CORAL(ridge).fit(Xs, prepared=prepared)
        np.testing.assert_array_equal(plain.embeddings_[0], quick.embeddings_[0])
    assert AsymmetricCORAL().accepts(prepared[0], Xs[0])


def test_wrong_input_is_named(make_domains):
    Xs, _ = make_domains()
    with pytest.raises(ValueError, match="domain 1: has 7 features, domain 0 has 8"):
        CORAL().fit([Xs[0], Xs[1][:, :7]])
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled"):
        CORAL(source_rows="labelled").fit(Xs)
    with pytest.raises(ValueError, match="domain 1: prepared model is a str, not a Ridged"):
        CORAL().fit(Xs, prepared=[None, "model"])
    with pytest.raises(ValueError, match=r"domain 0: has shape \(60, 8\), its prepared model"):
        CORAL().fit(Xs, prepared=[RidgedCovariance(Xs[1]), None])
    for params in ({"ridge": 0}, {"source_rows": "some"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            CORAL(**params).fit(Xs)
