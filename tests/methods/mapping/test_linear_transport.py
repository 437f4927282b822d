import pickle

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.mapping import _linear_transport
from domain_alignment.mapping._linear_transport import LinearOT, gaussian_transport
from domain_alignment.utils import _rows
from scipy import sparse
from scipy.linalg import inv, sqrtm

# More samples than features, more in one domain alone, fewer in both together.
SHAPES = [((60, 8), (50, 8)), ((5, 30), (40, 30)), ((12, 30), (9, 30)), ((1, 6), (2, 6))]


def covariances(Xs, ridge):
    return [np.cov(X.T, bias=True) + ridge * np.eye(X.shape[1]) for X in Xs]


def map_of_the_definition(Xs, ridge):
    C_S, C_T = covariances(Xs, ridge)
    root = sqrtm(C_S)
    return inv(root) @ sqrtm(root @ C_T @ root) @ inv(root)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("ridge", [1.0, 0.01])
def test_the_map_of_the_definition(make_domains, shapes, ridge, kind):
    Xs, _ = make_domains(shapes)
    ot = LinearOT(ridge).fit([kind(X) for X in Xs])
    A = map_of_the_definition(Xs, ridge)
    means = [X.mean(axis=0) for X in Xs]
    np.testing.assert_allclose(ot.map_, A, atol=1e-8)
    np.testing.assert_allclose(ot.embeddings_[0], (Xs[0] - means[0]) @ A + means[1], atol=1e-7)
    np.testing.assert_array_equal(ot.embeddings_[1], Xs[1])


@pytest.mark.parametrize("shapes", SHAPES)
def test_what_it_is_for_the_target_s_mean_and_covariance(make_domains, shapes):
    Xs, _ = make_domains(shapes)
    ot = LinearOT(0.1).fit(Xs)
    C_S, C_T = covariances(Xs, 0.1)
    np.testing.assert_allclose(ot.map_ @ C_S @ ot.map_, C_T, atol=1e-10)
    assert np.linalg.eigvalsh(ot.map_).min() > 0
    np.testing.assert_allclose(ot.map_, ot.map_.T, atol=1e-14)
    np.testing.assert_allclose(ot.embeddings_[0].mean(axis=0), Xs[1].mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("shapes", SHAPES)
def test_pot_has_the_same_map(make_domains, shapes):
    from ot import da

    Xs, _ = make_domains(shapes)
    theirs = da.LinearTransport(reg=0.1).fit(Xs=Xs[0], Xt=Xs[1])
    ours = LinearOT(0.1).fit(Xs)
    new = np.random.default_rng(5).normal(size=(7, Xs[0].shape[1]))
    np.testing.assert_allclose(ours.map_, theirs.A_, atol=1e-9)
    np.testing.assert_allclose(ours.transform(new, 0), theirs.transform(Xs=new), atol=1e-8)
    np.testing.assert_allclose(
        ours.inverse_transform(new, 0), theirs.inverse_transform(Xt=new), atol=1e-8
    )


def test_a_shift_and_equal_domains(make_domains):
    Xs, _ = make_domains()
    ot = LinearOT().fit([Xs[0], Xs[0] + 5])
    np.testing.assert_allclose(ot.map_, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(ot.embeddings_[0], Xs[0] + 5, atol=1e-10)


def test_a_symmetric_positive_definite_map_of_gaussians_is_found():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(40, 40))
    A, C = root @ root.T / 40 + np.eye(40), np.diag(np.linspace(0.1, 10, 40))
    np.testing.assert_allclose(gaussian_transport(C, A @ C @ A), A, atol=1e-10)


@pytest.mark.parametrize("shapes", SHAPES)
def test_moved_samples_come_back(make_domains, shapes):
    Xs, _ = make_domains(shapes)
    ot = LinearOT(0.1).fit(Xs)
    np.testing.assert_allclose(ot.inverse_transform(ot.embeddings_[0], 0), Xs[0], atol=1e-10)


def test_few_samples_are_mapped_in_the_basis_of_their_rows(make_domains):
    Xs, _ = make_domains(((12, 30), (9, 30)))
    for kind in (np.asarray, sparse.csr_array):
        assert LinearOT().fit([kind(X) for X in Xs])._inner_map.shape == (21, 21)


@pytest.mark.parametrize("shapes", [((60, 8), (50, 8)), ((12, 30), (9, 30))])
@pytest.mark.parametrize("share", [0.04, 0.5])
def test_sparse_samples_are_moved_as_dense_ones(shapes, share, monkeypatch):
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=shape) * (rng.random(shape) < share) for shape in shapes]
    expected = LinearOT().fit(Xs).embeddings_[0]
    for cache in (_rows.FEW_IN_CACHE, 50):  # then many values are multiplied dense, in blocks
        monkeypatch.setattr(_rows, "FEW_IN_CACHE", cache)
        found = LinearOT().fit([sparse.csr_array(X) for X in Xs])
        np.testing.assert_allclose(found.embeddings_[0], expected, rtol=1e-11, atol=1e-12)


def two_common_factors(size, seed=0):
    """Unit noise and two factors of standard deviations `size` and `size` / 30, not along axes."""
    rng = np.random.default_rng(seed)

    def domain():
        factors = rng.normal(size=(200, 2)) * [size, size / 30]
        return factors @ rng.normal(size=(2, 8)) + rng.normal(size=(200, 8))

    return [domain(), domain()]


def longer_cholesky(C):
    """Cholesky factor in extended precision."""
    L = np.zeros(C.shape, dtype=np.longdouble)
    for i, j in zip(*np.tril_indices(len(C)), strict=True):
        left = C[i, j] - L[i, :j] @ L[j, :j]
        L[i, j] = np.sqrt(left) if i == j else left / L[j, j]
    return L


@pytest.mark.parametrize(("size", "error"), [(1e2, 1e-9), (1e4, 1e-7), (1e6, 1e-3)])
def test_variances_that_differ_by_many_powers_of_ten(size, error):
    """The error is what rounding a covariance in its largest variance does to the smallest."""
    C_S, C_T = covariances(two_common_factors(size), 1.0)
    A = gaussian_transport(C_S, C_T)
    L, K = longer_cholesky(C_S.astype(np.longdouble)), longer_cholesky(C_T.astype(np.longdouble))
    W = A @ L
    for i in range(len(W)):
        W[i] = (W[i] - K[i, :i] @ W[:i]) / K[i, i]
    np.testing.assert_allclose((W @ W.T).astype(float), np.eye(8), atol=error)
    assert np.linalg.eigvalsh(A).min() > 0
    np.testing.assert_array_equal(A, A.T)


def test_beyond_floating_point_it_is_refused_not_guessed():
    for seed in range(5):
        with pytest.raises(AlignmentError, match=r"raise ridge"):
            LinearOT(1e-3).fit(two_common_factors(1e8, seed))


@pytest.mark.parametrize("scale", [1e-70, 1e70])
def test_the_map_does_not_know_the_unit(make_domains, scale):
    Xs, _ = make_domains()
    A = LinearOT().fit(Xs).map_
    other = LinearOT(scale**2).fit([scale * X for X in Xs])
    np.testing.assert_allclose(other.map_, A, rtol=1e-9, atol=1e-12)
    other.map_[:] = 0
    np.testing.assert_allclose(other.transform(scale * Xs[0], 0), other.embeddings_[0])


@pytest.mark.parametrize("p", [2, 3, 4, 8, 14, 20])
def test_a_wrong_root_is_found_for_every_number_of_features(p, monkeypatch):
    rng = np.random.default_rng(p)
    C = np.diag(rng.uniform(1, 3, size=p))
    wrong = rng.normal(size=(p, p)) * 1e-3

    def spoiled(M):
        _, values, vectors = np.linalg.svd(M)
        return values, vectors.T + wrong

    monkeypatch.setattr(_linear_transport, "_by_eigenpairs", spoiled)
    monkeypatch.setattr(_linear_transport, "_by_singular_values", spoiled)
    with pytest.raises(AlignmentError, match="lost in rounding"):
        gaussian_transport(C, C[::-1, ::-1])


def test_what_rounding_spoils_is_an_error(make_domains):
    Xs, _ = make_domains()
    scaled = [X * np.array([1e30] + [1.0] * 7) for X in Xs]
    with pytest.raises(AlignmentError, match=r"domains 0 and 1: linear map between their cov"):
        LinearOT(1e-8).fit([scaled[0], Xs[1]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shapes", [((60, 8), (50, 8)), ((12, 30), (9, 30))])
def test_fits_of_other_ridges_share_the_basis_and_the_covariances(
    make_domains, monkeypatch, shapes, kind
):
    Xs = [kind(X) for X in make_domains(shapes)[0]]
    alone = [LinearOT(ridge).fit(Xs) for ridge in (0.1, 1.0, 10.0)]
    found, basis_of = [], _linear_transport.row_basis
    monkeypatch.setattr(
        _linear_transport, "row_basis", lambda *args, **kw: found.append(1) or basis_of(*args, **kw)
    )
    prepared = [LinearOT().prepare(X) for X in Xs]
    assert not found
    for one in alone:
        again = LinearOT(one.ridge).fit(Xs, prepared=prepared)
        for Z, expected in zip(again.embeddings_, one.embeddings_, strict=True):
            np.testing.assert_array_equal(Z, expected)
        np.testing.assert_array_equal(again.map_, one.map_)
    assert len(found) == 1


def test_a_prepared_source_serves_other_targets_and_its_pickle_too(make_domains):
    source, *targets = make_domains(((12, 30), (9, 30), (7, 30)))[0]
    prepared = LinearOT().prepare(source)
    others = [LinearOT().prepare(X) for X in targets]
    for number in (0, 1, 0):
        Xs = [source, targets[number]]
        expected = LinearOT().fit(Xs).embeddings_[0]
        for model in (prepared, pickle.loads(pickle.dumps(prepared))):
            found = LinearOT().fit(Xs, prepared=[model, others[number]])
            np.testing.assert_allclose(found.embeddings_[0], expected, rtol=1e-12, atol=1e-13)


def test_other_samples_than_the_prepared_ones_are_moved_by_their_own_coordinates(make_domains):
    Xs = make_domains(((12, 30), (9, 30)))[0]
    prepared = [LinearOT().prepare(X) for X in Xs]
    moved = LinearOT().fit([Xs[0][::-1].copy(), Xs[1]], prepared=prepared)
    np.testing.assert_allclose(moved.embeddings_[0], moved.transform(Xs[0][::-1], 0), atol=1e-12)
