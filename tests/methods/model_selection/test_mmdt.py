import numpy as np
import pytest
from domain_alignment.max_margin import _base
from domain_alignment.max_margin._base import principal_axes
from domain_alignment.max_margin._mmdt import LSMMDT, MMDT
from domain_alignment.model_selection._mmdt import MMDTCV
from scipy import sparse
from sklearn.base import clone

COSTS = {"C_source": [0.05, 1e-4], "C_target": [1.0, 1e-4], "C_transform": [5e-5, 1.0]}


@pytest.mark.parametrize("method", ["mmdt", "ls_mmdt"])
def test_costs_are_scored_by_the_transforms_own_svms(method, make_domains):
    Xs, ys = make_domains(n_visible=3)
    Xs[1] += np.random.default_rng(1).normal(scale=3.0, size=Xs[1].shape)
    chosen = MMDTCV(method, **COSTS, cv=3, random_state=4).fit(Xs, ys)
    rows, folds = chosen._folds(ys[1])
    for params, scores in zip(
        chosen.cv_results_["params"], chosen.cv_results_["fold_scores"], strict=True
    ):
        for fold, score in enumerate(scores):  # the same by hand
            hidden = rows[folds == fold]
            target = ys[1].copy()
            target[hidden] = -1
            C = {key: params[key] for key in ("C_source", "C_target")}
            C_transform = params["C_transform"]
            model = {
                "mmdt": MMDT(**C, gamma=2 * C_transform, random_state=0),
                "ls_mmdt": LSMMDT(**C, C_transform=C_transform, random_state=0),
            }[method]
            right = model.fit(Xs, [ys[0], target]).predict(Xs[1][hidden]) == ys[1][hidden]
            assert score == right.mean()
    best = chosen.cv_results_["mean_score"].argmax()
    assert chosen.best_params_ == chosen.cv_results_["params"][best]
    again = clone(chosen.best_aligner_).fit(Xs, ys)
    np.testing.assert_array_equal(chosen.predict(Xs[1]), again.predict(Xs[1]))
    np.testing.assert_array_equal(chosen.embeddings_[1], again.embeddings_[1])
    np.testing.assert_array_equal(chosen.transform(Xs[1][:4], 1), again.transform(Xs[1][:4], 1))


def test_candidates_are_fitted_to_labelled_rows_alone(make_domains, monkeypatch):
    Xs, ys = make_domains(n_visible=3)
    fitted, fit = [], MMDT.fit

    def noted(self, Xs, ys, models=None):
        fitted.append([len(X) for X in Xs])
        return fit(self, Xs, ys, models)

    monkeypatch.setattr(MMDT, "fit", noted)
    MMDTCV("svm", cv=3).fit(Xs, ys)
    *folds, last = fitted
    known = [np.count_nonzero(y != -1) for y in ys]
    assert len(folds) == 3 * 9
    assert all(source == known[0] and target < known[1] for source, target in folds)
    assert last == [len(X) for X in Xs]


@pytest.mark.parametrize(
    ("method", "n_distinct"),
    # Of 24: three folds, of which LS-MMDT's first SVMs do not see the target.
    [("mmdt", 12 + 24), ("ls_mmdt", 2 + 3 * 24), ("svm", 12)],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_svms_that_candidates_share_are_trained_once(
    method, n_distinct, form, make_domains, monkeypatch
):
    Xs, ys = make_domains(n_visible=3)
    Xs[1] += np.random.default_rng(1).normal(scale=3.0, size=Xs[1].shape)
    Xs = [form(X) for X in Xs]
    trained, train = [], _base.one_vs_all

    def noted(*given, **options):
        trained.append(None)
        return train(*given, **options)

    monkeypatch.setattr(_base, "one_vs_all", noted)
    MMDTCV(method, **COSTS).fit(Xs, ys)
    last = {"mmdt": 2, "ls_mmdt": 4, "svm": 1}[method]
    assert len(trained) == n_distinct + last


def test_svms_that_are_known_leave_the_random_state_as_if_trained(make_domains):
    Xs, ys = make_domains(n_visible=3)
    known = {}
    for model in (MMDT(random_state=0), LSMMDT(random_state=0)):
        expected = clone(model).fit(Xs, ys)
        for _ in range(2):
            found = clone(model)
            found._known_svms = known
            found.fit(Xs, ys)
            np.testing.assert_array_equal(found.coef_, expected.coef_)
            np.testing.assert_array_equal(found.transform_.alpha, expected.transform_.alpha)
    assert len(known) == 2


def test_a_failed_fit_keeps_no_samples(make_domains):
    Xs, ys = make_domains()
    ys[1][np.flatnonzero(ys[1] != -1)[1:]] = -1
    model = MMDTCV("svm")
    with pytest.raises(ValueError, match="label"):
        model.fit(Xs, ys)
    assert not vars(model).keys() & {"_known", "_known_svms"}


def test_the_first_costs_are_the_demos():
    for method, expected in (
        ("mmdt", MMDT(random_state=0)),
        ("svm", MMDT(n_iterations=0, random_state=0)),
        ("ls_mmdt", LSMMDT(C_transform=5e-5, random_state=0)),
    ):
        params, first = MMDTCV(method)._candidates()[0]
        assert first.get_params() == expected.get_params()
        assert ("C_transform" in params) == (method != "svm")
    assert [len(MMDTCV(method)._candidates()) for method in ("svm", "mmdt")] == [9, 18]


def test_one_projection_serves_every_candidate(make_domains):
    Xs, ys = make_domains()
    axes = principal_axes([Xs[0][ys[0] >= 0], Xs[1]], 4)
    projected = MMDTCV("ls_mmdt", **COSTS, n_pca=4).fit(Xs, ys)
    hand = MMDTCV("ls_mmdt", **COSTS).fit([X @ axes for X in Xs], ys)
    assert projected.best_params_ == hand.best_params_
    np.testing.assert_array_equal(projected.axes_, axes)
    np.testing.assert_array_equal(projected.predict(Xs[0], 0), hand.predict(Xs[0] @ axes, 0))
    assert projected.n_features_in_ == [8, 8]
    assert projected.transform(Xs[1][:3], 1).shape == (3, 5)


def test_features_of_different_number_are_taken_where_they_can_be(make_domains):
    Xs, ys = make_domains(((60, 8), (50, 11)))
    costs = {key: values[:1] for key, values in COSTS.items()}
    assert MMDTCV("ls_mmdt", **costs).fit(Xs, ys).predict(Xs[1]).shape == (50,)
    for refused in (MMDTCV("svm", **costs), MMDTCV("mmdt", **costs, n_pca=3)):
        assert not refused.capabilities.heterogeneous
        with pytest.raises(ValueError, match="has 11 features, domain 0 has 8"):
            refused.fit(Xs, ys)


@pytest.mark.parametrize("params", [{"method": "arct"}, {"C_source": 1.0}, {"cv": 1}, {"n_pca": 0}])
def test_wrong_choices(params, make_domains):
    with pytest.raises(ValueError, match="parameter of MMDTCV must be"):
        MMDTCV(**params).fit(*make_domains())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C_source": []}, r"C_source=\[\]; give a list of at least one candidate, all positive"),
        ({"C_target": [1.0, 0]}, r"C_target=\[1.0, 0\]; give a list of at least one candidate"),
        ({"C_transform": ()}, r"C_transform=\(\); give a list of at least one candidate"),
    ],
)
def test_costs_that_are_none(params, message, make_domains):
    with pytest.raises(ValueError, match=message):
        MMDTCV(**params).fit(*make_domains())


def test_costs_that_svms_do_not_use(make_domains):
    costs = {key: values[:1] for key, values in COSTS.items()}
    assert MMDTCV("svm", **{**costs, "C_transform": []}).fit(*make_domains()).best_params_
