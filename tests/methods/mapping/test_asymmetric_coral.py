import pickle

import numpy as np
import pytest
from domain_alignment.mapping._asymmetric_coral import AsymmetricCORAL
from domain_alignment.mapping._coral import CORAL, RidgedCovariance
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from tests.methods.mapping.test_coral import SHAPES, paper_map
from tests.methods.office_caltech import needs_surf, shares


def labelled(make_domains, shapes=((60, 8), (50, 8))):
    """Domains whose source is labelled throughout, three classes."""
    Xs, ys = make_domains(shapes, n_visible=100)
    return Xs, [ys[0], None]


@pytest.mark.parametrize("shapes", SHAPES)
def test_sparse_samples_give_the_same(make_domains, shapes):
    rng = np.random.default_rng(0)
    Xs = [rng.poisson(0.5, size=shape).astype(float) for shape in shapes]
    y = np.arange(len(Xs[0])) % 2
    dense, thin = (
        AsymmetricCORAL(C=(1e-3, 1e-2)).fit(given, [y, None])
        for given in (Xs, [sparse.csr_array(X) for X in Xs])
    )
    np.testing.assert_array_equal(dense.n_correct_, thin.n_correct_)
    for domain, X in enumerate(Xs):
        expected = dense.predict(X, domain)
        np.testing.assert_array_equal(thin.predict(sparse.csr_array(X), domain), expected)


def test_wrong_input_is_named(make_domains):
    Xs, ys = make_domains()
    for C in ([], [0.0, 1.0], ["1"], [[1.0]]):
        with pytest.raises(
            ValueError, match=r"C=.*give a list of at least one candidate, all positive"
        ):
            AsymmetricCORAL(C=C).fit(Xs, ys)
    for y in (np.minimum(ys[0], 0), np.where(np.arange(60) == 3, 5, np.minimum(ys[0], 0))):
        with pytest.raises(ValueError, match=r"domain 0: its labelled samples hold . class"):
            AsymmetricCORAL().fit(Xs, [y, None])


def test_the_authors_classifier_step_by_step(make_domains):
    Xs, ys = make_domains()
    seen = np.flatnonzero(ys[0] >= 0)
    y, samples = ys[0][seen], Xs[0][seen]
    model = AsymmetricCORAL(C=(1e-3, 1e-2, 1.0)).fit(Xs, ys)
    A = paper_map(Xs, 1.0)
    K = samples @ A @ samples.T
    hits = np.zeros(3, dtype=int)
    for train, left_out in StratifiedKFold(2, shuffle=True, random_state=0).split(K, y):
        for position, C in enumerate((1e-3, 1e-2, 1.0)):
            machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
            hits[position] += np.sum(machine.predict(K[np.ix_(left_out, train)]) == y[left_out])
    np.testing.assert_array_equal(model.n_correct_, hits)
    assert model.best_C_ == (1e-3, 1e-2, 1.0)[hits.argmax()]
    machine = SVC(C=model.best_C_, kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(model.predict(Xs[1]), machine.predict(Xs[1] @ (samples @ A).T))
    np.testing.assert_array_equal(model.predict(Xs[0], 0), machine.predict(Xs[0] @ A @ samples.T))
    np.testing.assert_array_equal(model.predict(Xs[0], -2), model.predict(Xs[0], 0))


def test_the_classifier_learns_from_the_source_alone(make_domains):
    Xs, ys = make_domains()
    model = AsymmetricCORAL()
    assert model.classifier_rows == "source"
    assert CORAL().classifier_rows is None
    expected = model.fit(Xs, [ys[0], None]).predict(Xs[1])
    np.testing.assert_array_equal(model.fit(Xs, ys).predict(Xs[1]), expected)


def test_on_equal_domains_it_is_the_linear_machine(make_domains):
    Xs, ys = labelled(make_domains)
    model = AsymmetricCORAL(C=(0.1,)).fit([Xs[0], Xs[0]], ys)
    plain = SVC(C=0.1, kernel="linear").fit(Xs[0], ys[0])
    np.testing.assert_array_equal(model.predict(Xs[1]), plain.predict(Xs[1]))


def test_an_indefinite_kernel_cannot_keep_libsvm_busy_for_ever():
    rng = np.random.default_rng(0)
    Xs = [rng.poisson(0.5, size=(size, 8)).astype(float) for size in (60, 50)]
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        AsymmetricCORAL(C=(1e4,), max_iter=50).fit(Xs, [np.arange(60) % 2, None])


def test_names_of_classes_are_kept(make_domains):
    Xs, ys = labelled(make_domains)
    names = np.array([4, 6, 9])
    plain, renamed = (AsymmetricCORAL().fit(Xs, [y, None]) for y in (ys[0], names[ys[0]]))
    np.testing.assert_array_equal(renamed.predict(Xs[1]), names[plain.predict(Xs[1])])
    np.testing.assert_array_equal(renamed.classes_, names)


@needs_surf
def test_published_accuracies():
    """The column of the papers, where the choice of C is not a matter of the random folds."""
    published = {"AD": 39.5, "DA": 37.7, "DW": 84.7, "WD": 86.6}
    found = {}
    for source, target in published:
        (X, y), (X_target, y_target) = shares(source), shares(target)
        model = AsymmetricCORAL().fit([X, X_target], [y, None])
        found[source + target] = 100 * np.mean(model.predict(X_target) == y_target)
    assert found == pytest.approx(published, abs=0.1)


def test_columns_of_all_scales_end_with_a_warning_in_bounded_time(make_domains):
    Xs, ys = make_domains()
    scales = 10.0 ** np.array([-8, -4, -2, -1, 1, 2, 4, 8])
    with pytest.warns(ConvergenceWarning):
        model = AsymmetricCORAL(1e6, C=(1e4,)).fit([X * scales for X in Xs], ys)
    assert model.machine_.n_iter_.max() <= 200_000


def test_samples_that_changed_in_place_are_mapped_anew(make_domains):
    Xs, ys = labelled(make_domains)
    model = AsymmetricCORAL().fit(Xs, ys)
    expected = model.transform(Xs[0][::-1].copy(), 0), model.predict(Xs[0][::-1].copy(), 0)
    Xs[0][:] = Xs[0][::-1].copy()
    np.testing.assert_array_equal(model.transform(Xs[0], 0), expected[0])
    np.testing.assert_array_equal(model.predict(Xs[0], 0), expected[1])


def test_fits_of_other_labels_map_the_samples_once(make_domains, monkeypatch):
    Xs, ys = labelled(make_domains, ((60, 80), (50, 80)))
    fewer = [np.where(np.arange(60) % 3 > 0, ys[0], -1), None]
    alone = AsymmetricCORAL().fit(Xs, fewer)
    expected = [alone.predict(X, domain) for domain, X in enumerate(Xs)]
    prepared = [AsymmetricCORAL().prepare(X) for X in Xs]
    first = AsymmetricCORAL().fit(Xs, ys, prepared)
    first.embeddings_[0][:] = 0.0  # a user's own
    mapped, apply = [], RidgedCovariance.apply
    monkeypatch.setattr(RidgedCovariance, "apply", lambda *words: mapped.append(1) or apply(*words))
    again = AsymmetricCORAL().fit(Xs, fewer, prepared)
    np.testing.assert_array_equal(again.embeddings_[0], alone.embeddings_[0])
    assert not mapped
    for domain, X in enumerate(Xs):
        np.testing.assert_array_equal(again.predict(X, domain), expected[domain])
    mapped.clear()
    AsymmetricCORAL(ridge=2.0).fit(Xs, fewer, prepared)
    assert mapped
    assert pickle.loads(pickle.dumps(prepared[0]))._last_mapped is None


def test_fits_of_other_labels_of_the_same_samples_share_their_kernel(make_domains, monkeypatch):
    Xs, ys = labelled(make_domains, ((60, 80), (50, 80)))
    Xs = [sparse.csr_array(np.where(X > 0, X, 0.0)) for X in Xs]
    others = [np.roll(ys[0], 1), None]
    alone = AsymmetricCORAL().fit(Xs, others)
    prepared = [AsymmetricCORAL().prepare(X) for X in Xs]
    AsymmetricCORAL().fit(Xs, ys, prepared)
    monkeypatch.setattr(AsymmetricCORAL, "_products", None)
    again = AsymmetricCORAL().fit(Xs, others, prepared)
    monkeypatch.undo()
    again.embeddings_[0][:] = 0.0  # a user's own
    np.testing.assert_array_equal(again.n_correct_, alone.n_correct_)
    for domain, X in enumerate(Xs):
        np.testing.assert_array_equal(again.predict(X, domain), alone.predict(X, domain))
    fewer = [np.where(np.arange(60) % 3 > 0, ys[0], -1), None]
    again, alone = (AsymmetricCORAL().fit(Xs, fewer, models) for models in (prepared, None))
    np.testing.assert_array_equal(again.machine_.dual_coef_, alone.machine_.dual_coef_)


def test_no_kernel_of_more_values_than_the_samples_is_kept(make_domains):
    Xs, ys = labelled(make_domains)
    kept = []
    for n_labelled in (20, 60):
        prepared = [AsymmetricCORAL().prepare(X) for X in Xs]
        some = np.where(np.arange(60) < n_labelled, ys[0], -1)
        AsymmetricCORAL().fit(Xs, [some, None], prepared)
        kept.append(prepared[0]._last_mapped._last is not None)
    assert kept == [True, False]
