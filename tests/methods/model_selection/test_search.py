import pickle

import numpy as np
import pytest
from domain_alignment._classifier import AlignedClassifier
from domain_alignment.base import Aligner, Capabilities
from domain_alignment.baselines._no_adaptation import NoAdaptation
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._fma import FMA
from domain_alignment.manifold._kema import KEMA
from domain_alignment.model_selection._search import FMACV, AlignerSearchCV
from domain_alignment.utils import graphs
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

GRID = {"symmetrize": ["union", "mean"], "alpha": [0.2, 2.0]}


class Turn(Aligner):
    """Turns the target of two features by an angle; notes the labels it was fitted with."""

    fits: list = []  # noqa: RUF012 - shared by clones on purpose

    def __init__(self, angle=0.0, fail=False):
        self.angle = angle
        self.fail = fail

    @property
    def capabilities(self):
        return Capabilities(labels="none", invertible=True)

    def _fit(self, Xs, ys, models):
        self.fits.append([y.copy() for y in ys])
        if self.fail:
            raise AlignmentError("no answer")
        return [Xs[0], self._transform(Xs[1], 1)]

    def _transform(self, X, domain):
        c, s = np.cos(self.angle * domain), np.sin(self.angle * domain)
        return X @ np.array([[c, -s], [s, c]])


def turned_domains(angle=np.pi / 2, n_labelled=3):
    """Three classes in the plane; the target is the source turned by `angle` clockwise."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    centres = 5 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    c, s = np.cos(-angle), np.sin(-angle)
    source = centres[y] + rng.normal(size=(36, 2))
    target = (centres[y] + rng.normal(size=(36, 2))) @ np.array([[c, -s], [s, c]])
    return [source, target], [y, np.where(np.arange(36) % 12 < n_labelled, y, -1)], y


def test_it_finds_the_parameter_that_undoes_the_shift():
    Xs, ys, truth = turned_domains()
    chosen = AlignerSearchCV(Turn(), {"angle": [0.0, np.pi / 2, np.pi]}).fit(Xs, ys)
    assert chosen.best_params_ == {"angle": np.pi / 2}
    assert chosen.cv_results_["mean_score"].argmax() == 1
    classifier = LogisticRegression().fit(chosen.embeddings_[0], truth)
    assert classifier.score(chosen.embeddings_[1], truth) > 0.95
    np.testing.assert_array_equal(chosen.transform(Xs[1][:4], -1), chosen.embeddings_[1][:4])


def test_every_labelled_row_is_hidden_once_and_scored_by_a_fit_without_its_label():
    Xs, ys, _ = turned_domains(n_labelled=4)
    Turn.fits.clear()
    chosen = AlignerSearchCV(Turn(), {"angle": [0.3]}, cv=3, random_state=5).fit(Xs, ys)
    *folds, last = Turn.fits
    np.testing.assert_array_equal(last[1], ys[1])
    hidden = np.array([(y[1] == -1) & (ys[1] != -1) for y in folds])
    np.testing.assert_array_equal(hidden.sum(axis=0), ys[1] != -1)
    assert all(np.isin([0, 1, 2], y[1]).all() for y in folds), "a class has vanished from a fold"
    hits = np.full(len(ys[1]), False)
    for rows in hidden:  # the same by hand
        turned = Turn(0.3).fit(Xs).embeddings_
        classifier = LogisticRegression(max_iter=1000).fit(turned[0], ys[0])
        hits[rows] = classifier.predict(turned[1][rows]) == ys[1][rows]
    assert chosen.cv_results_["mean_score"] == hits[ys[1] != -1].mean()
    shares = [hits[rows].mean() for rows in hidden]
    np.testing.assert_allclose(chosen.cv_results_["fold_scores"], [shares])


def test_folds_are_at_most_the_labelled_rows_of_the_most_frequent_class():
    Xs, ys, _ = turned_domains(n_labelled=4)
    ys[1][np.flatnonzero(ys[1] == 2)[2:]] = -1  # two of class 2, four of the others
    for cv, n_folds in ((3, 3), (10, 4)):
        chosen = AlignerSearchCV(Turn(), {"angle": [0.3, 0.4]}, cv=cv).fit(Xs, ys)
        assert chosen.cv_results_["fold_scores"].shape == (2, n_folds)


def test_ties_go_to_the_first_of_the_grid():
    Xs, ys, _ = turned_domains(angle=0.0)
    chosen = AlignerSearchCV(Turn(), {"angle": [0.02, 0.0, 0.01]}).fit(Xs, ys)
    assert np.ptp(chosen.cv_results_["mean_score"]) == 0
    assert chosen.best_params_ == {"angle": 0.02}


def test_hidden_labels_play_no_role(make_domains):
    Xs, ys = make_domains(shapes=((60, 8), (50, 8)))
    other = [X.copy() for X in Xs]
    one = AlignerSearchCV(FMA(n_components=6, n_neighbors=5), GRID).fit(Xs, ys)
    # What is not labelled is only features: permuting unlabelled rows changes their order alone.
    free = np.flatnonzero(ys[1] == -1)
    other[1][free] = Xs[1][free[::-1]]
    two = AlignerSearchCV(FMA(n_components=6, n_neighbors=5), GRID).fit(other, ys)
    np.testing.assert_array_equal(one.cv_results_["mean_score"], two.cv_results_["mean_score"])


def test_the_classifier_trains_on_the_rows_that_the_aligner_names():
    Xs, ys, _ = turned_domains(angle=np.pi)
    knn = KNeighborsClassifier(1)
    scores = {
        domains: AlignerSearchCV(NoAdaptation(), {"domains": [domains]}, knn)
        .fit(Xs, ys)
        .cv_results_["mean_score"][0]
        for domains in ("source", "target", "both")
    }
    assert scores["source"] < 0.5 < 0.9 < scores["target"]
    chosen = AlignerSearchCV(NoAdaptation("target"), {"domains": ["target"]}, knn)
    assert chosen.classifier_rows == "target"


def test_what_is_said_of_a_fitted_search_is_said_of_the_chosen_aligner():
    rng = np.random.default_rng(0)
    y = np.tile(np.repeat([0, 1], 20), 2)
    X = np.where(y == 1, 3.0, -3.0)[:, None] + rng.normal(size=(80, 2))
    X[:40] *= -1  # the source, whose labels say the contrary of the target's
    search = AlignerSearchCV(NoAdaptation(), {"domains": ["source", "target"]})
    model = AlignedClassifier(search).fit(X, y, sample_domain=np.repeat([1, -2], 40))
    assert model.aligner_.best_params_ == {"domains": "target"}
    assert model.aligner_.classifier_rows == "target"
    assert model.score(X[40:], y[40:]) == 1


def test_what_is_said_of_a_search_before_a_fit_is_said_of_its_first_candidate(make_domains):
    grid = {"aligner__domains": ["source", "both"]}
    search = AlignerSearchCV(AlignerSearchCV(NoAdaptation(), {}), grid)
    assert search.classifier_rows == "source"
    pair = AlignerSearchCV(Turn(), {"angle": [0.0]}).fit(*turned_domains()[:2])
    three = make_domains(shapes=[(30, 4)] * 3)
    pair.set_params(aligner=NoAdaptation(), grid={"domains": ["both"]})  # of any number of domains
    assert len(pair.fit(*three).embeddings_) == 3


def test_a_search_without_candidates_is_refused(make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match="grid is empty; give at least one candidate"):
        AlignerSearchCV(NoAdaptation(), []).fit(Xs, ys)
    with pytest.raises(ValueError, match="grid is empty; give at least one candidate"):
        AlignerSearchCV(NoAdaptation(), []).prepare(Xs[0])
    with pytest.raises(ValueError, match=r"grid: .*angle"):
        AlignerSearchCV(Turn(), {"angle": 0.2}).fit(Xs, ys)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_prepared_models_are_shared_and_change_nothing(make_domains, level):
    Xs, ys = make_domains()
    chosen = AlignerSearchCV(FMA(level, n_components=6, n_neighbors=5), GRID)
    prepared = [chosen.prepare(X) for X in Xs]
    assert [len(models) for models in prepared] == [2, 2]  # one per symmetrisation, not per alpha
    one, two = clone(chosen).fit(Xs, ys), clone(chosen).fit(Xs, ys, prepared)
    assert one.best_params_ == two.best_params_
    for Z, again in zip(one.embeddings_, two.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, again)
    wider = clone(chosen).set_params(grid={**GRID, "symmetrize": ["union", "mutual"]})
    assert chosen.accepts(prepared[0], Xs[0])
    assert not wider.accepts(prepared[0], Xs[0])
    with pytest.raises(ValueError, match=r"does not fit candidate.*mutual.*prepare it again"):
        wider.fit(Xs, ys, prepared)


def test_an_aligner_without_a_label_free_part_prepares_nothing():
    Xs, ys, _ = turned_domains()
    chosen = AlignerSearchCV(Turn(), {"angle": [0.0, 1.0]})
    assert chosen.prepare(Xs[0]) is None
    assert chosen.fit(Xs, ys, [None, None]).n_components_ == 2


def test_it_has_the_abilities_of_its_aligner_but_uses_the_target_labels():
    able = AlignerSearchCV(Turn(), {"angle": [0.0]}).capabilities
    assert able == Capabilities(labels="source+target", invertible=True)
    assert FMACV().capabilities == FMA().capabilities
    assert FMACV("feature").capabilities == FMA("feature").capabilities


def test_parameters_are_those_of_scikit_learn(make_domains):
    Xs, ys = make_domains()
    chosen = AlignerSearchCV(FMA(n_components=6), GRID, KNeighborsClassifier(1))
    chosen.set_params(aligner__n_neighbors=5, cv=2, classifier__n_neighbors=3)
    assert clone(chosen).aligner.n_neighbors == 5
    chosen.fit(Xs, ys)
    again = pickle.loads(pickle.dumps(chosen))
    assert again.best_params_ == chosen.best_params_
    np.testing.assert_array_equal(again.transform(Xs[1][:2], 1), chosen.transform(Xs[1][:2], 1))


def test_the_spectra_of_a_domain_share_one_copy_of_its_samples():
    X = np.random.default_rng(0).normal(size=(30, 4))
    one, other = FMACV(n_components=6, n_neighbors=5).prepare(X)
    assert one.params.symmetrize != other.params.symmetrize
    assert one.samples is other.samples
    np.testing.assert_array_equal(one.samples, X)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_one_search_of_neighbours_serves_every_way_to_symmetrise(level, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 4))
    alone = [
        FMA(level, n_components=6, n_neighbors=5, symmetrize=rule).prepare(X)
        for rule in ("union", "mean")
    ]
    searched, search = [], graphs.nearest_neighbors
    monkeypatch.setattr(
        graphs,
        "nearest_neighbors",
        lambda *args, **options: searched.append(1) or search(*args, **options),
    )
    prepared = FMACV(level, n_components=6, n_neighbors=5).prepare(X)
    assert len(searched) == 1
    for one, other in zip(prepared, alone, strict=True):
        assert one.params == other.params
        np.testing.assert_array_equal(one.eigenvalues, other.eigenvalues)
        np.testing.assert_array_equal(one.basis, other.basis)


@pytest.mark.parametrize("selected", [FMACV(), AlignerSearchCV(Turn(), {"angle": [0.0]})])
def test_a_class_with_one_labelled_row_is_refused(selected):
    Xs, ys, _ = turned_domains()
    ys[1][np.flatnonzero(ys[1] == 2)[1:]] = -1
    with pytest.raises(ValueError, match=r"fewer than 2 labelled samples of class \[2\]"):
        selected.fit(Xs, ys)


def test_a_target_without_labels_is_refused():
    Xs, ys, _ = turned_domains()
    with pytest.raises(ValueError, match="the target: none of its 36 samples is labelled"):
        AlignerSearchCV(Turn(), {"angle": [0.0]}).fit(Xs, [ys[0], None])


def test_a_source_of_one_class_is_refused():
    Xs, ys, _ = turned_domains()
    with pytest.raises(ValueError, match="labelled samples of domain 0 hold 1 classes"):
        AlignerSearchCV(Turn(), {"angle": [0.0]}).fit(Xs, [np.zeros(36, int), ys[1]])


def test_a_candidate_without_an_answer_is_named():
    Xs, ys, _ = turned_domains()
    with pytest.raises(AlignmentError, match=r"candidate \{'fail': True\}: no answer"):
        AlignerSearchCV(Turn(), {"fail": [False, True]}).fit(Xs, ys)


def test_an_invalid_candidate_is_refused(make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match="symmetrize"):
        FMACV(n_components=6, n_neighbors=5, symmetrize=["unoin"]).fit(Xs, ys)


# -- FMACV --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_a_larger_c_only_scales_the_embedding(make_domains, level):
    Xs, ys = make_domains()
    params = {"level": level, "n_components": 6, "n_neighbors": 5}
    plain = FMA(**params).fit(Xs, ys)
    scaled = FMACV(**params, symmetrize=["union"], C=[10.0]).fit(Xs, ys)
    for Z, Z_C in zip(plain.embeddings_, scaled.embeddings_, strict=True):
        np.testing.assert_allclose(Z_C, np.sqrt(10) * Z, rtol=1e-9, atol=1e-9)
    known = ys[0] != -1
    tight = {"tol": 1e-10, "max_iter": 10_000}
    one = LogisticRegression(C=10.0, **tight).fit(plain.embeddings_[0][known], ys[0][known])
    two = LogisticRegression(C=1.0, **tight).fit(scaled.embeddings_[0][known], ys[0][known])
    np.testing.assert_allclose(
        one.predict_proba(plain.embeddings_[1]),
        two.predict_proba(scaled.embeddings_[1]),
        atol=1e-5,
    )


def test_the_published_setting_is_the_first_candidate(make_domains):
    Xs, ys = make_domains()
    chosen = FMACV(n_components=6, n_neighbors=5)
    assert [params for params, _ in chosen._candidates()] == [
        {"C": 1.0, "symmetrize": "union"},
        {"C": 1.0, "symmetrize": "mean"},
        {"C": 10.0, "symmetrize": "union"},
        {"C": 10.0, "symmetrize": "mean"},
    ]
    chosen.fit(Xs, ys)
    assert len(chosen.cv_results_["params"]) == 4
    published = FMA(n_components=6, n_neighbors=5).fit(Xs, ys)
    first = clone(chosen).set_params(C=[1.0], symmetrize=["union"]).fit(Xs, ys)
    np.testing.assert_array_equal(first.embeddings_[1], published.embeddings_[1])


def test_it_chooses_what_the_general_one_chooses(make_domains):
    Xs, ys = make_domains(seed=3, n_visible=3)
    for X in Xs:
        X += np.random.default_rng(1).normal(scale=2.0, size=X.shape)
    special = FMACV(n_components=6, n_neighbors=5).fit(Xs, ys)
    grid = [
        {"alpha": [0.2 / C], "correspondence_weight": [1 / C], "symmetrize": ["union", "mean"]}
        for C in (1.0, 10.0)
    ]
    general = AlignerSearchCV(FMA(n_components=6, n_neighbors=5), grid).fit(Xs, ys)
    np.testing.assert_array_equal(
        special.cv_results_["fold_scores"], general.cv_results_["fold_scores"]
    )
    assert special.best_aligner_.get_params() == general.best_aligner_.get_params()


def test_a_candidate_with_too_few_components_is_named():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 20)
    Xs = [20 * np.eye(5, 9)[y] + rng.normal(size=(100, 9)) for _ in range(2)]  # in five pieces
    chosen = AlignerSearchCV(FMA(n_neighbors=5), {"n_components": [20, 8]})
    with pytest.raises(AlignmentError, match=r"candidate .*8.* more than 4 connected components"):
        chosen.fit(Xs, [y, np.where(np.arange(100) % 20 < 4, y, -1)])


@pytest.mark.parametrize(
    "parameters", [{"C": ()}, {"C": (0.0,)}, {"C": (np.inf,)}, {"C": ("1",)}, {"symmetrize": []}]
)
def test_values_that_cannot_be_chosen_from(make_domains, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        FMACV(n_components=6, n_neighbors=6, **parameters).fit(*make_domains())


def test_models_of_a_search_in_a_search_are_checked(make_domains):
    Xs, ys = make_domains()
    search = AlignerSearchCV(FMACV(n_neighbors=8), {"cv": [2, 3]})
    others = AlignerSearchCV(FMACV(n_neighbors=5), {"cv": [2, 3]})
    prepared = [search.prepare(X) for X in Xs]
    assert search.accepts(prepared[0], Xs[0])
    assert not search.accepts(others.prepare(Xs[0]), Xs[0])
    assert not search.accepts(prepared[0], Xs[0][:20])
    one, two = clone(search).fit(Xs, ys), clone(search).fit(Xs, ys, prepared)
    for Z, again in zip(one.embeddings_, two.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, again)
    nothing = AlignerSearchCV(Turn(), {"angle": [0.0, 1.0]})
    assert not nothing.accepts((prepared[0],), Xs[0])


def test_what_is_prepared_fits_where_a_candidate_has_no_label_free_part(make_domains):
    (S, _), ys = make_domains()
    K, y = S @ S.T, ys[0]
    search = AlignerSearchCV(
        KEMA(2, n_neighbors=5), {"kernel": ["linear", ["linear", "precomputed"]]}
    )
    one = clone(search).fit([S, K], [y, y])
    two = clone(search).fit([S, K], [y, y], [search.prepare(S), search.prepare(K)])
    assert one.best_params_ == two.best_params_
    for Z, again in zip(one.embeddings_, two.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, again)
