"""What fits of the same two domains share: computed once, the same answers, freed in the end."""

import gc
import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
from domain_alignment import JDA, SSTCA, TCA, AlignerSearchCV
from domain_alignment.distribution import _jda, _joint_features, _sstca
from domain_alignment.distribution._joint_features import _LATEST, JointFeatures
from sklearn.base import clone

METHODS = [JDA, SSTCA, TCA]
SHAPES = ((40, 6), (30, 6))


@pytest.fixture
def made(monkeypatch):
    """Counts of what is computed without labels."""
    counts = {"features": 0, "simplified": 0, "laplacian": 0}

    def counted(name, function):
        def call(*args, **kwargs):
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    init = JointFeatures.__init__
    monkeypatch.setattr(JointFeatures, "__init__", counted("features", init))
    for module, name, key in (
        (_joint_features, "simplified", "simplified"),
        (_sstca, "neighbor_laplacian", "laplacian"),
    ):
        monkeypatch.setattr(module, name, counted(key, getattr(module, name)))
    return counts


def labelled(n_samples, seed):
    return [np.random.default_rng(seed).integers(0, 3, size=n_samples), None]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fits_with_other_labels_share_what_saw_none(method, kernel, make_domains, made):
    Xs, _ = make_domains(SHAPES)
    aligner = method(n_components=3, formulation="dual", kernel=kernel)
    apart = [aligner.fit_transform(Xs, labelled(40, seed)) for seed in (0, 1)]
    alone = dict(made)
    prepared = [aligner.prepare(X) for X in Xs]
    for seed, expected in enumerate(apart):
        found = aligner.fit_transform(Xs, labelled(40, seed), prepared=prepared)
        np.testing.assert_array_equal(np.vstack(found), np.vstack(expected))
    # Two fits from nothing took twice what two that share do.
    assert made == {name: count + count // 2 for name, count in alone.items()}
    assert alone["features"] == 2


@pytest.mark.parametrize("scaling", ["unit", "constraint", "objective"])
@pytest.mark.parametrize(
    ("formulation", "shapes"),
    [
        ("primal", SHAPES),
        ("dual", SHAPES),
        ("primal", ((30, 90), (20, 90))),
        ("primal", ((140, 400), (110, 400))),
        ("dual", ((30, 90), (20, 90))),
    ],
)
def test_domains_that_change_places_share_it(formulation, shapes, scaling, make_domains, made):
    Xs, ys = make_domains(shapes, n_visible=1000)
    aligner = JDA(3, formulation=formulation, scaling=scaling)
    changed = Xs[::-1], [ys[1], None]
    expected = clone(aligner).fit(*changed)
    prepared = [aligner.prepare(X) for X in Xs]
    clone(aligner).fit(Xs, [ys[0], None], prepared=prepared)
    found = clone(aligner).fit(*changed, prepared=prepared[::-1])
    # Of a kernel matrix the samples are coordinates too.
    shared = formulation == "primal" or shapes[0][1] < shapes[0][0]
    assert made["features"] == (2 if shared else 3)
    assert made["simplified"] == made["features"]
    np.testing.assert_array_equal(found.pseudo_labels_, expected.pseudo_labels_)
    for one, other in zip(found.embeddings_, expected.embeddings_, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8 * np.abs(other).max())
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    np.testing.assert_allclose(found.transform(Xs[0], 1), found.embeddings_[1], atol=1e-8)


def test_the_graph_of_domains_that_change_places_is_of_their_samples(make_domains):
    Xs, ys = make_domains(SHAPES, n_visible=1000)
    aligner = SSTCA(n_components=3)
    prepared = [aligner.prepare(X) for X in Xs]
    expected = aligner.fit_transform(Xs[::-1], [ys[1], None])
    clone(aligner).set_params(n_neighbors=3).fit(Xs, [ys[0], None], prepared=prepared)
    found = aligner.fit_transform(Xs[::-1], [ys[1], None], prepared=prepared[::-1])
    np.testing.assert_allclose(np.vstack(found), np.vstack(expected), atol=1e-8)


def test_the_round_without_labels_is_shared(make_domains, monkeypatch):
    Xs, ys = make_domains(SHAPES, n_visible=1000)
    aligner, solved, solve = JDA(3, n_iterations=1), [], _jda.largest_components
    labels = [[ys[0], None], [np.where(ys[0] == 2, -1, ys[0]), None]]
    apart = [clone(aligner).fit_transform(Xs, own) for own in labels]
    monkeypatch.setattr(_jda, "largest_components", lambda *a: solved.append(a) or solve(*a))
    prepared = [aligner.prepare(X) for X in Xs]
    for own, expected in zip(labels, apart, strict=True):
        found = clone(aligner).fit_transform(Xs, own, prepared=prepared)
        np.testing.assert_array_equal(np.vstack(found), np.vstack(expected))
    assert len(solved) == 1
    clone(aligner).set_params(ridge=0.1).fit(Xs, labels[0], prepared=prepared)
    assert len(solved) == 2


def test_other_parameters_need_another_model(make_domains):
    Xs, ys = make_domains(SHAPES)
    prepared = [TCA(unit_rows=False).prepare(X) for X in Xs]
    assert not TCA().accepts(prepared[0], Xs[0])
    assert TCA(mu=0.1, unit_rows=False).accepts(prepared[0], Xs[0])
    with pytest.raises(ValueError, match=r"was prepared with .*; prepare it again"):
        TCA().fit(Xs, ys, prepared=prepared)


def scaled(X, Y, scale):
    return scale * X @ Y.T


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": partial(scaled, scale=2.0), "formulation": "dual"},
        {"random_state": np.random.RandomState(0)},
        {"kernel": "rbf", "landmarks": 10, "random_state": np.random.RandomState(0)},
    ],
    ids=["partial", "unused", "landmarks"],
)
def test_a_clone_takes_the_models(params, make_domains):
    Xs, ys = make_domains(SHAPES)
    aligner = TCA(3, **params)
    prepared = [aligner.prepare(X) for X in Xs]
    expected = clone(aligner).fit(Xs, ys).embeddings_
    found = clone(aligner).fit(Xs, ys, prepared).embeddings_
    np.testing.assert_array_equal(np.vstack(found), np.vstack(expected))
    search = AlignerSearchCV(aligner, {"n_components": [2, 3]}, cv=2)
    search.fit(Xs, ys, [search.prepare(X) for X in Xs])


def test_a_seed_that_draws_nothing_needs_no_other_model(make_domains):
    Xs, _ = make_domains(SHAPES)
    assert TCA(random_state=1).accepts(TCA(random_state=0).prepare(Xs[0]), Xs[0])
    drawn = TCA(kernel="rbf", landmarks=10, random_state=0).prepare(Xs[0])
    assert not TCA(kernel="rbf", landmarks=10, random_state=1).accepts(drawn, Xs[0])


def test_only_the_latest_pair_is_kept_and_no_longer_than_its_model(make_domains):
    Xs, ys = make_domains(SHAPES)
    aligner = JDA(n_components=3)
    first, second, third = (aligner.prepare(X) for X in (Xs[0], Xs[1], Xs[1]))
    aligner.fit(Xs, ys, prepared=[first, second])
    aligner.fit(Xs, ys, prepared=[first, third])
    assert [known[0]() for known in _LATEST.values()] == [third]
    del first
    gc.collect()
    assert not _LATEST
    aligner.fit(Xs, ys)  # its own models end with it
    gc.collect()
    assert not _LATEST


def test_one_model_for_both_domains_is_freed(make_domains):
    X = make_domains(SHAPES)[0][0]
    model = TCA().prepare(X)
    TCA().fit([X, X], prepared=[model, model])
    assert _LATEST
    del model
    gc.collect()
    assert not _LATEST


def test_what_was_shared_is_freed_before_the_next_is_made():
    rng = np.random.default_rng(0)
    aligner = TCA(n_components=2, kernel="rbf", gamma=0.1)
    pairs = [[rng.normal(size=(400, 3)) for _ in range(2)] for _ in range(2)]
    prepared = [[aligner.prepare(X) for X in Xs] for Xs in pairs]
    peaks = []
    tracemalloc.start()
    try:
        for Xs, models in zip(pairs, prepared, strict=True):
            tracemalloc.reset_peak()
            clone(aligner).fit(Xs, prepared=models)  # an aligner keeps its own until its next fit
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    kernel_matrix = 8 * 800**2
    assert kernel_matrix < peaks[0]
    assert peaks[1] < peaks[0] + kernel_matrix / 2


def test_labelled_source_rows_alone_are_nobody_elses(make_domains, made):
    Xs, _ = make_domains(SHAPES)
    y = np.where(np.arange(40) < 20, np.arange(40) % 3, -1)
    aligner = JDA(n_components=3, source_rows="labelled")
    prepared = [aligner.prepare(X) for X in Xs]
    for _ in range(2):
        aligner.fit(Xs, [y, None], prepared=prepared)
    assert made["features"] == 2


def test_prepared_models_can_be_sent_elsewhere(make_domains):
    Xs, ys = make_domains(SHAPES)
    aligner = SSTCA(n_components=3)
    prepared = [aligner.prepare(X) for X in Xs]
    expected = aligner.fit_transform(Xs, ys, prepared=prepared)
    sent = pickle.loads(pickle.dumps(prepared))
    found = aligner.fit_transform(Xs, ys, prepared=sent)
    np.testing.assert_array_equal(np.vstack(found), np.vstack(expected))
