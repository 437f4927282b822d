"""What FMA and SMA promise alike, and scikit-learn's customs."""

import pickle

import numpy as np
import pytest
from domain_alignment import FMA, SMA
from domain_alignment.exceptions import AlignmentError
from measure import peak_bytes
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

ALIGNERS = [
    cls(level=level, n_components=6, n_neighbors=5)
    for cls in (FMA, SMA)
    for level in ("instance", "feature")
]


@pytest.fixture(params=ALIGNERS, ids=repr)
def aligner(request):
    return clone(request.param)


def test_clone_and_set_params(aligner):
    aligner.set_params(alpha=0.7)
    assert clone(aligner).get_params() == aligner.get_params()
    assert clone(aligner).alpha == 0.7
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        aligner.set_params(gamma=1)


def test_pickling_a_fitted_aligner(aligner, make_domains):
    Xs, ys = make_domains()
    aligner.fit(Xs, ys)
    copy = pickle.loads(pickle.dumps(aligner))
    for Z, expected in zip(copy.embeddings_, aligner.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, expected)
    prepared = pickle.loads(pickle.dumps([aligner.prepare(X) for X in Xs]))
    np.testing.assert_array_equal(
        clone(aligner).fit(Xs, ys, prepared).embeddings_[0], aligner.embeddings_[0]
    )


def test_fits_of_prepared_domains_share_one_copy_of_the_samples(aligner):
    """Of many features it would take longer than the fit itself."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    Xs = [rng.normal(size=(3, 9000))[y] + rng.normal(size=(120, 9000)) for _ in range(2)]
    prepared = [aligner.prepare(X) for X in Xs]
    new = Xs[1][:5].copy()
    expected = clone(aligner).fit(Xs, [y, y], prepared).transform(new, domain=1)
    if aligner.level == "instance":
        fitted = clone(aligner)
        assert peak_bytes(fitted.fit, Xs, [y, y], prepared) < Xs[0].nbytes / 2
        assert all(model.samples is not X for model, X in zip(prepared, Xs, strict=True))
        Xs[1][:] = 0  # the caller's array may hold others by now
        np.testing.assert_array_equal(fitted.transform(new, domain=1), expected)
    else:
        assert all(model.samples is None for model in prepared)


def test_the_input_is_left_alone(aligner, make_domains):
    Xs, ys = make_domains()
    before = [X.copy() for X in Xs], [y.copy() for y in ys]
    aligner.fit(Xs, ys)
    for kept, given in zip(before, (Xs, ys), strict=True):
        for old, new in zip(kept, given, strict=True):
            np.testing.assert_array_equal(old, new)


def test_attributes(aligner, make_domains):
    Xs, ys = make_domains(((60, 8), (50, 9)))
    aligner.fit(Xs, ys)
    assert aligner.n_features_in_ == [8, 9]
    names = aligner.get_feature_names_out()
    assert len(names) == aligner.n_components_ == aligner.embeddings_[1].shape[1]
    assert names[0] == type(aligner).__name__.lower() + "0"
    assert (np.diff(aligner.eigenvalues_) >= 0).all()
    Z = np.concatenate(aligner.embeddings_)
    assert (Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])] > 0).all()


def test_capabilities_are_true(aligner, make_domains):
    stated = aligner.capabilities
    assert stated.heterogeneous
    assert stated.max_domains is None
    Xs, ys = make_domains(((30, 5), (31, 6), (32, 7), (33, 8)))
    aligner.set_params(n_components=8).fit(Xs, ys)
    assert [len(Z) for Z in aligner.embeddings_] == [30, 31, 32, 33]
    assert stated.embeds_new_samples
    new = (Xs[2][:3] + Xs[2][3:6]) / 2
    Z = aligner.transform(new, 2)
    assert Z.shape == (3, aligner.n_components_)
    assert stated.nonlinear != np.allclose(aligner.transform(2 * new, 2), 2 * Z)


def test_classes_come_together(aligner, make_domains):
    Xs, ys = make_domains(((90, 8), (90, 11)), n_visible=6)
    truth = [make_domains(((90, 8), (90, 11)), n_visible=90)[1][domain] for domain in (0, 1)]
    Z_source, Z_target = aligner.fit_transform(Xs, ys)
    seen = ys[0] >= 0
    nearest = ((Z_target[:, None] - Z_source[seen]) ** 2).sum(axis=2).argmin(axis=1)
    assert (ys[0][seen][nearest] == truth[1]).mean() > 0.8


def test_euclidean_neighbours_take_zero_rows(aligner, make_domains):
    Xs, ys = make_domains()
    Xs[0][3] = 0
    aligner.set_params(metric="euclidean").fit(Xs, ys)
    assert np.isfinite(np.concatenate(aligner.embeddings_)).all()


def test_a_class_missing_in_one_domain(aligner, make_domains):
    Xs, ys = make_domains()
    ys[1] = np.where(ys[1] == 2, -1, ys[1])
    found = aligner.fit_transform(Xs, ys)
    ys[0] = np.where(ys[0] == 2, -1, ys[0])
    for Z, exact in zip(found, aligner.fit_transform(Xs, ys), strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-12)


def test_as_many_neighbours_as_samples(aligner, make_domains):
    Xs, ys = make_domains(((30, 6), (20, 6)))
    with pytest.raises(ValueError, match=r"domain 1: n_neighbors=20 for 20 samples; .* most 19"):
        aligner.set_params(n_neighbors=20).fit(Xs, ys)
    # One less is a complete graph, where all nonzero eigenvalues are nearly equal.
    aligner.set_params(n_neighbors=19, metric="euclidean").fit(Xs, ys)
    assert np.isfinite(np.concatenate(aligner.embeddings_)).all()


def test_more_components_than_there_are(aligner, make_domains):
    Xs, ys = make_domains(((30, 6), (20, 6)))
    with pytest.warns(ConvergenceWarning, match=r"n_components=\d+ (needs|exceeds)"):
        aligner.set_params(n_components=52).fit(Xs, ys)
    assert np.isfinite(np.concatenate(aligner.embeddings_)).all()
    assert aligner.n_components_ < 52


def test_every_sample_twice(aligner, make_domains):
    Xs, ys = make_domains()
    Xs, ys = [np.repeat(X, 2, axis=0) for X in Xs], [np.repeat(y, 2) for y in ys]
    aligner.set_params(metric="euclidean", symmetrize="mean")
    for Z in aligner.fit_transform(Xs, ys):
        assert np.isfinite(Z).all()
        apart = np.linalg.norm(Z[::2] - Z[1::2], axis=1)
        assert np.median(apart) < 0.3 * np.linalg.norm(Z - Z.mean(axis=0), axis=1).mean()


def test_domains_in_pieces(aligner):
    rng = np.random.default_rng(0)
    ys = [np.arange(n) % 3 for n in (60, 45)]
    Xs = [10 * np.eye(6)[y] + rng.normal(size=(len(y), 6)) for y in ys]
    Z = np.concatenate(aligner.fit_transform(Xs, ys))
    assert np.isfinite(Z).all()
    centres = [Z[np.concatenate(ys) == label].mean(axis=0) for label in range(3)]
    assert min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > 0.1


def test_a_few_isolated_samples_are_left_out(aligner, make_domains):
    """The others are embedded as without it; it is at 0 where features do not say more."""
    Xs, ys = make_domains()
    if aligner.level == "feature":  # there a label links the features of a sample
        ys[1][7] = -1
    Xs[1] += 20
    Xs[1][7] = -Xs[1].mean(axis=0)
    with pytest.warns(UserWarning, match=r"domain 1: 1 of 50 samples have no edge .* row 7"):
        found = aligner.fit_transform(Xs, ys)
    rest = np.arange(50) != 7
    without = clone(aligner).fit_transform([Xs[0], Xs[1][rest]], [ys[0], ys[1][rest]])
    np.testing.assert_allclose(found[0], without[0], atol=1e-8)
    np.testing.assert_allclose(found[1][rest], without[1], atol=1e-8)
    if aligner.level == "instance":
        assert not found[1][7].any()


def test_isolated_samples_leave_as_many_components_as_without_them(aligner, make_domains):
    Xs, ys = make_domains()
    Xs[1] += 20
    Xs[1][7] = -Xs[1].mean(axis=0)
    aligner.set_params(level="instance", n_components=120)
    rest = np.arange(50) != 7
    with pytest.warns(ConvergenceWarning):
        without = clone(aligner).fit([Xs[0], Xs[1][rest]], [ys[0], ys[1][rest]])
    with pytest.warns((UserWarning, ConvergenceWarning)):
        found = aligner.fit(Xs, ys)
    assert found.n_components_ == without.n_components_
    np.testing.assert_allclose(found.eigenvalues_, without.eigenvalues_, atol=1e-8)


def test_labels_of_isolated_samples_alone_link_nothing(aligner, make_domains):
    Xs, ys = make_domains()
    Xs[1] += 20
    Xs[1][7] = -Xs[1].mean(axis=0)
    ys[1] = np.where(np.arange(50) == 7, ys[1], -1)
    ys[1][7] = ys[0][0]
    aligner.set_params(level="instance")
    with (
        pytest.warns(UserWarning, match="1 of 50 samples have no edge"),
        pytest.raises(AlignmentError, match=r"domain 1: the graph isolates all of its labelled"),
    ):
        aligner.fit(Xs, ys)


def test_a_new_sample_without_a_neighbour_is_at_0(aligner, make_domains):
    Xs, ys = make_domains()
    Xs[1] += 20
    aligner.set_params(level="instance").fit(Xs, ys)
    new = Xs[1][:3].copy()
    apart = new.copy()
    apart[1] = -Xs[1].mean(axis=0)
    with pytest.warns(UserWarning, match=r"X: 1 of 3 samples have no neighbour .*first at row 1"):
        found = aligner.transform(apart, 1)
    known = aligner.transform(new, 1)
    np.testing.assert_allclose(found[[0, 2]], known[[0, 2]], atol=1e-10)
    assert not found[1].any()
    with pytest.warns(UserWarning, match="X: 1 of 1 samples"):
        assert not aligner.transform(apart[1:2], 1).any()


def test_many_isolated_samples_are_refused(aligner, make_domains):
    Xs, ys = make_domains()
    aligner.set_params(symmetrize="mutual", metric="euclidean", n_neighbors=1)
    with pytest.raises(AlignmentError, match=r"domain 0: \d+ of 60 samples have no edge"):
        aligner.fit(Xs, ys)
