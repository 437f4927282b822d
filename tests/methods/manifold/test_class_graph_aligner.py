"""What KEMA and SSMA share: pairs, prepared graphs, new samples, maps between domains."""

import pickle
import warnings

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._kema import KEMA
from domain_alignment.manifold._ssma import SSMA
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tests.methods.signs import assert_equal_up_to_sign

METHODS = [SSMA(4, n_neighbors=6), KEMA(4, n_neighbors=6), KEMA(4, "linear", n_neighbors=6)]


def ids(method):
    return repr(method).replace("n_components=4, ", "").replace("n_neighbors=6", "")


@pytest.fixture(params=METHODS, ids=ids)
def method(request):
    return clone(request.param)


@pytest.fixture
def domains(make_domains):
    return make_domains(((60, 5), (50, 7)))


def test_prepared_changes_no_digit(method, domains):
    Xs, ys = domains
    alone = method.fit(Xs, ys).embeddings_
    prepared = [method.prepare(X) for X in Xs]
    for given in (prepared, [None, prepared[1]], pickle.loads(pickle.dumps(prepared))):
        for Z, expected in zip(method.fit(Xs, ys, given).embeddings_, alone, strict=True):
            np.testing.assert_array_equal(Z, expected)


def test_prepared_models_must_belong(method, domains):
    Xs, ys = domains
    prepared = [method.prepare(X) for X in Xs]
    with pytest.raises(ValueError, match=r"domain 0: has shape .* prepare it again"):
        method.fit(Xs, ys, prepared[::-1])
    with pytest.raises(ValueError, match="prepared model is a int, not a DomainGraph"):
        method.fit(Xs, ys, [None, 3])
    other = clone(method).set_params(n_neighbors=5)
    with pytest.raises(ValueError, match="domain 0: was prepared with GraphParams"):
        other.fit(Xs, ys, prepared)


def test_training_samples_are_embedded_as_new_ones_are(method, domains):
    Xs, ys = domains
    method.fit(Xs, ys)
    for domain, (X, embedding) in enumerate(zip(Xs, method.embeddings_, strict=True)):
        np.testing.assert_allclose(method.transform(X, domain), embedding, atol=1e-7)


def test_each_sample_is_embedded_by_itself(method, domains):
    Xs, ys = domains
    new = np.random.default_rng(5).normal(size=(12, 7))
    whole = method.fit(Xs, ys).transform(new, -1)
    parts = [method.transform(new[i : i + 1], -1) for i in range(12)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-8)


def test_raw_scores_differ_from_coordinates_by_an_affine_map(method, domains):
    Xs, ys = domains
    standard = method.fit(Xs, ys).embeddings_
    raw = clone(method).set_params(standardize=False).fit(Xs, ys).embeddings_
    for Z, scores in zip(standard, raw, strict=True):  # which may turn a domain's sign
        again = (scores - scores.mean(axis=0)) / scores.std(axis=0, ddof=1)
        assert_equal_up_to_sign(Z, again, atol=1e-9)


def test_the_largest_entry_of_domain_0_is_positive(method, domains):
    Xs, ys = domains
    for standardize in (True, False):
        Z = method.set_params(standardize=standardize).fit(Xs, ys).embeddings_[0]
        assert (Z[np.argmax(np.abs(Z), axis=0), np.arange(4)] > 0).all()


def test_correspondences_are_classes_of_their_own(method, domains):
    Xs, _ = domains
    pairs = [(0, i, 1, 2 * i + 1) for i in range(15)]
    by_pairs = method.fit(Xs, similar=pairs).embeddings_
    ys = [np.full(60, -1), np.full(50, -1)]
    ys[0][:15] = ys[1][1:30:2] = np.arange(15)
    for Z, expected in zip(by_pairs, clone(method).fit(Xs, ys).embeddings_, strict=True):
        np.testing.assert_allclose(Z, expected, atol=1e-9)
    assert not hasattr(method, "_pairs")


def test_pairs_may_be_an_array(method, domains):
    Xs, ys = domains
    similar = [(0, i, 1, 2 * i + 1) for i in range(15)]
    dissimilar = [(0, i, 1, 2 * i + 3) for i in range(14)]
    given = {"similar": similar, "dissimilar": dissimilar}
    for names in (["similar"], ["dissimilar"], ["similar", "dissimilar"]):
        lists = method.fit(Xs, ys, **{name: given[name] for name in names}).embeddings_
        arrays = {name: np.array(given[name]) for name in names}
        for Z, expected in zip(method.fit(Xs, ys, **arrays).embeddings_, lists, strict=True):
            np.testing.assert_array_equal(Z, expected)


def test_fit_transform_takes_pairs_too(method, domains):
    Xs, ys = domains
    pairs = [(0, i, 1, 2 * i + 1) for i in range(15)]
    others = [(0, i, 1, 2 * i + 3) for i in range(14)]
    expected = clone(method).fit(Xs, ys, similar=pairs, dissimilar=others).embeddings_
    found = method.fit_transform(Xs, ys, similar=pairs, dissimilar=others)
    for Z, own in zip(found, expected, strict=True):
        np.testing.assert_array_equal(Z, own)


def test_given_dissimilar_pairs_change_the_answer(method, domains):
    Xs, ys = domains
    labelled = [np.flatnonzero(y >= 0) for y in ys]
    pairs = [
        (0, i, 1, j) for i in labelled[0] for j in labelled[1] if ys[0][i] == 0 and ys[1][j] == 1
    ]
    first = method.fit(Xs, ys).eigenvalues_
    other = method.fit(Xs, ys, dissimilar=pairs)
    assert other.rank_ <= method.n_components * 2
    assert not np.allclose(first[0], other.eigenvalues_[0])


def test_maps_between_domains_are_equations_3_and_9(domains):
    Xs, ys = domains
    new = np.random.default_rng(5).normal(size=(9, 7))
    for method in (SSMA(4, n_neighbors=6), KEMA(4, ["linear", "rbf"], n_neighbors=6)):
        method.fit(Xs, ys)
        raw = clone(method).set_params(standardize=False).fit(Xs, ys)
        for kept in (1, 3, 4, None):
            if isinstance(method, SSMA):
                V = raw.coef_[0][:, :kept]
                scores = new @ raw.coef_[1][:, :kept]
            else:
                V = Xs[0].T @ raw.dual_coef_[0][:, :kept]
                scores = raw.transform(new, 1)[:, :kept]
            expected = (linalg.pinv(V).T @ scores.T).T
            found = method.map_to(new, 1, 0, kept)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_samples_mapped_to_their_own_domain_come_back(domains):
    Xs, ys = domains
    for method in (SSMA(10, n_neighbors=6), KEMA(10, "linear", n_neighbors=6)):
        # More components than features, and labels enough to span all features.
        method.fit([X[:, :5] for X in Xs], ys)
        for domain in (0, 1):
            back = method.map_to(Xs[domain][:, :5], domain, domain)
            np.testing.assert_allclose(back, Xs[domain][:, :5], atol=1e-6)
            inverse = method.inverse_transform(method.embeddings_[domain], domain)
            np.testing.assert_allclose(inverse, back, atol=1e-8)


def test_maps_that_do_not_exist(domains):
    Xs, ys = domains
    kema = KEMA(4, ["linear", "rbf"], n_neighbors=6).fit(Xs, ys)
    with pytest.raises(AlignmentError, match="domain 1: its scores are not linear"):
        kema.map_to(Xs[0], 0, 1)
    with pytest.raises(AlignmentError, match="domain 1: its scores are not linear"):
        kema.inverse_transform(kema.embeddings_[1], 1)
    with pytest.raises(ValueError, match="domain 2 does not exist"):
        kema.map_to(Xs[0], 2, 0)
    with pytest.raises(ValueError, match="X has 5 features; domain 1 was fitted with 7"):
        kema.map_to(Xs[0], 1, 0)
    for wrong in (0, 5):
        with pytest.raises(ValueError, match=f"n_components={wrong}, but 4 were fitted"):
            kema.map_to(Xs[1], 1, 0, wrong)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"mu": -1.0}, "mu"),
        ({"ridge": -0.1}, "ridge"),
        ({"standardize": 3}, "standardize"),
    ],
)
def test_parameters_are_checked(method, domains, parameters, message):
    with pytest.raises(ValueError, match=message):
        method.set_params(**parameters).fit(*domains)


def test_data_are_checked(method, domains):
    Xs, ys = domains
    broken = Xs[1].copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"domain 1: 1 of 50 samples holds NaN .* row 3"):
        method.fit([Xs[0], broken], ys)
    with pytest.raises(ValueError, match=r"domain 1 .the target.: none of its 50 samples"):
        method.fit(Xs, [ys[0], None])
    with pytest.raises(ValueError, match="of one class"):
        method.fit(Xs, [np.minimum(y, 0) for y in ys])
    with pytest.raises(ValueError, match="domain 1: shares no labelled class"):
        method.fit(Xs, [ys[0], np.where(ys[1] < 0, -1, ys[1] + 3)])
    with pytest.raises(ValueError, match="domain 1: n_neighbors=6 for 6 samples"):
        method.fit([Xs[0], Xs[1][:6]], [ys[0], np.arange(6) % 3])


@pytest.mark.parametrize("method", [SSMA(2, n_neighbors=4), KEMA(2, n_neighbors=4)], ids=ids)
def test_a_cut_through_the_eigenvalue_0_is_told(method):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    Xs = [20 * np.eye(4, p)[y] + rng.normal(size=(40, p)) for p in (60, 50)]
    with pytest.warns(ConvergenceWarning, match="the eigenvalue 0 has 3 eigenvectors") as heard:
        method.fit(Xs, [y, y])
    assert [one.filename for one in heard] == [__file__]
    first = method.embeddings_[0]
    order = rng.permutation(40)
    with pytest.warns(ConvergenceWarning, match="the eigenvalue 0 has 3 eigenvectors"):
        method.fit([X[order] for X in Xs], [y[order]] * 2)
    change = np.abs(np.abs(method.embeddings_[0]) - np.abs(first[order]))
    assert change.max() > 0.1  # what the warning says
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(method).set_params(n_components=3).fit(Xs, [y, y])
        clone(method).set_params(ridge=1e-3).fit(Xs, [y, y])
