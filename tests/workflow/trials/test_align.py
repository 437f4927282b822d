import dataclasses
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from domain_alignment.base import Aligner, Capabilities
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from workflow.lib.storage.features import write_features
from workflow.lib.trials import timing
from workflow.lib.trials.align import run_trial, setup
from workflow.lib.trials.protocols import HIDDEN, Trial, write_trials

SEEN = []


class Spy(Aligner):
    """Keeps what it is handed; its embedding is the first two features."""

    capabilities = Capabilities("source+target", 2, False, True, False, True, False)

    def __init__(self, width=2):
        self.width = width

    def _prepare(self, X, name):
        SEEN.append(("prepare", X))
        return X.sum()

    def _check_model(self, model, X, name):
        if model != X.sum():
            raise ValueError("prepared of another domain")

    def _fit(self, Xs, ys, models):
        SEEN.append(("fit", Xs, ys, models))
        return [X[:, : self.width] for X in Xs]

    def _transform(self, X, domain):
        SEEN.append(("transform", X, domain))
        return X[:, : self.width]


class Drawn(Spy):
    def __init__(self, random_state=None):
        self.random_state = random_state

    width = 2


class Warns(Spy):
    def _fit(self, Xs, ys, models):
        warnings.warn("few samples", stacklevel=2)
        return super()._fit(Xs, ys, models)


class Homogeneous(Spy):
    capabilities = Capabilities("source", 2, False, False, False, True, False)


class Answers(Spy):
    """Predicts what it is told to, which need not be labels."""

    def __init__(self, kind="labels"):
        self.kind = kind

    width = 2

    def predict(self, X, domain):
        return HOSTILE_ANSWERS[self.kind](np.arange(X.shape[0]) % 2)


HOSTILE_ANSWERS = {
    "labels": lambda labels: labels,
    "column": lambda labels: labels[:, None],
    "scalar": lambda labels: labels[0],
    "too few": lambda labels: labels[:3],
    "floats": lambda labels: labels + 0.5,
    "booleans": lambda labels: labels == 1,
    "words": lambda labels: labels.astype(str),
    "objects": lambda labels: labels.astype(object),
    "masked": lambda labels: np.ma.masked_equal(labels, 1),
    "unknown class": lambda labels: labels + 7,
    "unlabelled": lambda labels: labels - 1,
    "nothing": lambda labels: None,
    "nan": lambda labels: np.full(len(labels), np.nan),
}


class FirstFailsToConverge(LogisticRegression):
    def fit(self, X, y):
        raise FloatingPointError("no convergence")


RNG = np.random.default_rng(0)
Y = [np.arange(12) % 2, np.arange(10) % 2]
X = [RNG.normal(size=(12, 3)) + 3 * Y[0][:, None], RNG.normal(size=(10, 4)) + 3 * Y[1][:, None]]
# The second trial does not see two rows of the target.
TRIALS = [
    Trial(
        (np.arange(12), np.arange(10)),
        (np.where(np.arange(12) < 6, Y[0], HIDDEN), np.where(np.arange(10) < 2, Y[1], HIDDEN)),
        np.arange(2, 10),
    ),
    Trial(
        (np.arange(12), np.arange(8)),
        (np.where(np.arange(12) > 6, Y[0], HIDDEN), np.where(np.arange(8) < 2, Y[1][:8], HIDDEN)),
        np.arange(2, 10),
    ),
]


@pytest.fixture
def block(tmp_path):
    """Function that writes the inputs and opens a block with some entries changed."""
    SEEN.clear()

    def make(job=setup, features=X, method=None, **changes):
        for d, content in enumerate(features):
            write_features(tmp_path / f"{d}.npz", content, {})
        write_trials(tmp_path / "trials.npz", TRIALS, {})
        logistic = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}}
        entry = {"estimator": f"{__name__}:Spy", "sees_labels": "source+target", "params": {}}
        entry["varied_params"] = [{}]
        spec = {
            "features": [str(tmp_path / f"{d}.npz") for d in range(len(features))],
            "trials": str(tmp_path / "trials.npz"),
            "method": entry | (method or {}),
            "classifiers": {"logistic": logistic},
            "classifier_rows": "source",
            "preprocess": ["zscore"],
            "preprocess_rows": "seen",
            "pictured_trial": None,
            "probabilities": False,
        }
        return job(json.loads(json.dumps(spec | changes)))

    return make


def test_predictions_are_those_of_the_classifier_on_the_labelled_source(block):
    (record,), arrays = run_trial(block(), 0)
    Z = [StandardScaler().fit_transform(features)[:, :2] for features in X]
    expected = LogisticRegression().fit(Z[0][:6], Y[0][:6]).predict(Z[1])
    np.testing.assert_array_equal(arrays["0/logistic"], expected)
    assert (record["status"], record["classifier"], record["n_components"]) == ("ok", "logistic", 2)
    assert record["seconds"] >= 0


@pytest.mark.parametrize(
    ("roles", "chosen"), [("target", [(1, 2)]), ("source+target", [(0, 6), (1, 2)])]
)
def test_the_classifier_trains_on_the_rows_of_the_protocol(block, roles, chosen):
    _, arrays = run_trial(block(classifier_rows=roles), 0)
    Z = [StandardScaler().fit_transform(features)[:, :2] for features in X]
    train = np.vstack([Z[d][:n] for d, n in chosen])
    labels = np.concatenate([Y[d][:n] for d, n in chosen])
    expected = LogisticRegression().fit(train, labels).predict(Z[1])
    np.testing.assert_array_equal(arrays["0/logistic"], expected)


@pytest.mark.parametrize("sees", ["none", "source", "source+target"])
def test_a_method_is_handed_no_label_it_may_not_see(block, sees):
    run_trial(block(method={"sees_labels": sees}), 0)
    ((_, _, ys, _),) = [call for call in SEEN if call[0] == "fit"]
    assert (ys[0] != HIDDEN).any() == ("source" in sees)
    assert (ys[1] != HIDDEN).any() == ("target" in sees)
    assert (ys[1][2:] == HIDDEN).all()


def test_what_is_label_free_is_prepared_once_per_set_of_rows(block):
    opened = block()
    records = [run_trial(opened, trial)[0][0] for trial in (0, 0, 1)]
    assert len([call for call in SEEN if call[0] == "prepare"]) == 3  # source, target, 8 of target
    assert records[1]["seconds_prepare"] < 0.01


def test_a_fit_that_saw_no_label_is_that_of_every_trial_with_the_same_rows(block):
    varied = [{"width": 1}, {"width": 2}]
    opened = block(method={"sees_labels": "none", "varied_params": varied})
    first, *_, last = [run_trial(opened, trial) for trial in (0, 0, 1, 0)]
    assert len([call for call in SEEN if call[0] == "fit"]) == 2 * 3  # other rows, and back again
    seconds = [record["seconds"] for record in first[0]]
    again = run_trial(opened, 0)
    assert [record["seconds"] for record in again[0]] == [r["seconds"] for r in last[0]]
    assert min(seconds) > 0
    for name, predicted in first[1].items():
        np.testing.assert_array_equal(again[1][name], predicted)


@pytest.mark.parametrize("sees", ["source", "source+target"])
def test_a_fit_that_saw_labels_is_no_other_trials(block, sees):
    opened = block(method={"sees_labels": sees})
    for _ in range(2):
        run_trial(opened, 0)
    assert len([call for call in SEEN if call[0] == "fit"]) == 2


def test_what_is_drawn_is_drawn_in_each_trial(block):
    drawn = {"estimator": f"{__name__}:Drawn", "sees_labels": "none"}
    for seed, n_fits in ((None, 2), (0, 1)):
        SEEN.clear()
        opened = block(method={**drawn, "params": {"random_state": seed}})
        for _ in range(2):
            run_trial(opened, 0)
        assert len([call for call in SEEN if call[0] == "fit"]) == n_fits


def test_warnings_of_a_shared_fit_stand_in_every_record(block):
    opened = block(method={"estimator": f"{__name__}:Warns", "sees_labels": "none"})
    told = [run_trial(opened, 0)[0][0]["warnings"] for _ in range(2)]
    assert told[0] == told[1] == ["UserWarning: few samples"]


class WarnsInPreparing(Spy):
    def _prepare(self, X, name):
        warnings.warn("an isolated sample", stacklevel=2)
        return super()._prepare(X, name)


def test_warnings_of_what_is_prepared_once_stand_in_every_record(block):
    entry = {"estimator": f"{__name__}:WarnsInPreparing", "varied_params": [{}, {"width": 1}]}
    opened = block(method=entry)
    for _ in range(2):
        records, _ = run_trial(opened, 0)
        assert [r["warnings"] for r in records] == [["UserWarning: an isolated sample"]] * 2
    assert len([call for call in SEEN if call[0] == "prepare"]) == 2


class LogisticWarns(LogisticRegression):
    def predict(self, X):
        warnings.warn("not converged", stacklevel=2)
        return super().predict(X)


def test_warnings_of_a_classifier_stand_beside_those_of_the_fit(block):
    classifiers = {
        name: {"estimator": f"{__name__}:{kind}", "params": {}}
        for name, kind in (("loud", "LogisticWarns"), ("quiet", "LogisticRegression"))
    }
    opened = block(
        method={"estimator": f"{__name__}:Warns", "sees_labels": "none"}, classifiers=classifiers
    )
    told = {record["classifier"]: record["warnings"] for record in run_trial(opened, 0)[0]}
    assert told["quiet"] == ["UserWarning: few samples"]
    assert told["loud"] == ["UserWarning: few samples", "UserWarning: not converged"]


def test_a_trial_holds_nothing_of_rows_that_it_does_not_show(block):
    """The trials show the same rows of the source, and others of the target."""
    opened = block()
    run_trial(opened, 0)
    kept = {key for key in opened.cache if isinstance(key, tuple) and key[1] == 0}
    run_trial(opened, 1)
    of_source = {key for key in opened.cache if isinstance(key, tuple) and key[1] == 0}
    of_target = [key for key in opened.cache if isinstance(key, tuple) and key[1] == 1]
    assert of_source == kept
    assert len(of_target) == 2  # the scaled features and what is prepared, of this trial's rows
    run_trial(opened, 1)
    assert len([call for call in SEEN if call[0] == "prepare"]) == 3


def test_settings_run_inside_the_job_and_share_what_is_prepared(block):
    records, arrays = run_trial(block(method={"varied_params": [{"width": 1}, {"width": 2}]}), 0)
    widths = {record["setting"]: record["n_components"] for record in records}
    assert widths == {0: 1, 1: 2}
    assert set(arrays) == {"0/logistic", "1/logistic"}
    assert len([call for call in SEEN if call[0] == "prepare"]) == 2


def test_one_settings_failure_is_no_others(block, monkeypatch):
    varied = [{"width": 1}, {"width": "wide"}]
    records, arrays = run_trial(block(method={"varied_params": varied}), 0)
    outcomes = {record["setting"]: record["status"] for record in records}
    assert outcomes == {0: "ok", 1: "error"}
    assert set(arrays) == {"0/logistic"}


def test_rows_that_were_not_seen_are_embedded_as_new(block):
    _, arrays = run_trial(block(), 1)
    ((_, new, domain),) = [call for call in SEEN if call[0] == "transform"]
    scaler = StandardScaler().fit(X[1][:8])  # statistics of the rows that are seen
    np.testing.assert_allclose(new, scaler.transform(X[1][8:]))
    assert domain == 1
    assert arrays["0/logistic"].shape == (10,)


@pytest.mark.parametrize("trial", [0, 1], ids=["all seen", "some new"])
def test_sparse_embeddings_give_what_dense_ones_give(block, trial):
    narrow = [features[:, :3] for features in X]
    plain = {"estimator": "domain_alignment:NoAdaptation", "sees_labels": "none"}
    outcomes = [
        run_trial(block(features=features, method=plain, preprocess=["l2_rows"]), trial)
        for features in (narrow, [sparse.csr_array(features) for features in narrow])
    ]
    (dense, sparse_one) = (arrays["0/logistic"] for _, arrays in outcomes)
    np.testing.assert_array_equal(dense, sparse_one)


def test_the_pictured_trial_keeps_its_embeddings(block):
    assert not any("picture" in name for name in run_trial(block(), 0)[1])
    _, arrays = run_trial(block(pictured_trial=0), 0)
    assert arrays["0/picture/0/embedding"].shape == (12, 2)
    np.testing.assert_array_equal(arrays["0/picture/1/rows"], np.arange(10))


def test_a_method_that_does_not_apply_says_why(block):
    entry = {"estimator": f"{__name__}:Homogeneous"}
    (record,), arrays = run_trial(block(method=entry), 0)
    assert record["status"] == "not_applicable"
    assert record["error"] == "needs equal numbers of features; this task has 3 and 4"
    assert arrays == {}
    (record,), _ = run_trial(block(features=[X[0], X[0], X[1]]), 0)
    assert record["error"] == "aligns at most 2 domains, the task has 3"


def test_labels_and_pairs_that_a_task_does_not_have(block, monkeypatch):
    opened = block()
    trial = opened.trials[0]
    hidden = np.full(len(trial.labels[1]), HIDDEN)
    opened.trials[0] = dataclasses.replace(trial, labels=(trial.labels[0], hidden))
    (record,), _ = run_trial(opened, 0)
    assert record["status"] == "not_applicable"
    assert record["error"] == "learns from labels of the target, and the protocol shows none"
    paired = Capabilities("none", 2, True, True, False, True, False)
    monkeypatch.setattr(Spy, "capabilities", paired)
    (record,), _ = run_trial(opened, 1)
    assert record["error"].startswith("needs samples in pairs")


@pytest.mark.parametrize("domains", ["source", "target", "both"])
def test_a_baseline_on_target_labels_needs_some(block, domains):
    narrow = [features[:, :3] for features in X]
    plain = "domain_alignment:NoAdaptation"
    entry = {"estimator": plain, "sees_labels": "none", "params": {"domains": domains}}
    opened = block(features=narrow, method=entry)
    trial = opened.trials[0]
    hidden = np.full(len(trial.labels[1]), HIDDEN)
    opened.trials[0] = dataclasses.replace(trial, labels=(trial.labels[0], hidden))
    (record,), _ = run_trial(opened, 0)
    (timed,), _ = timing.run_trial(opened, 0)
    if domains == "source":
        assert [record["status"], timed["status"]] == ["ok", "ok"]
    else:
        assert [record["status"], timed["status"]] == ["not_applicable"] * 2
        assert "its classifier learns from labels of the target" in record["error"]


def test_an_embedding_that_is_not_finite_is_a_status(block, monkeypatch):
    endless = lambda self, Xs, ys, models: [np.full((len(x), 1), np.inf) for x in Xs]  # noqa: E731
    monkeypatch.setattr(Spy, "_fit", endless)
    (record,), _ = run_trial(block(), 0)
    assert record["status"] == "nonfinite"


def test_one_classifiers_failure_is_no_others(block):
    classifiers = {
        "bad": {"estimator": f"{__name__}:FirstFailsToConverge"},
        "good": {"estimator": "sklearn.linear_model:LogisticRegression"},
    }
    (bad, good), arrays = run_trial(block(classifiers=classifiers), 0)
    assert (bad["status"], bad["error"]) == ("error", "FloatingPointError: no convergence")
    assert good["status"] == "ok"
    assert set(arrays) == {"0/good"}


def test_a_classifier_without_two_classes_does_not_apply(block, monkeypatch):
    opened = block(classifier_rows="target")
    trial = opened.trials[0]
    one = np.where(np.arange(len(trial.labels[1])) < 1, trial.labels[1], HIDDEN)
    opened.trials[0] = dataclasses.replace(trial, labels=(trial.labels[0], one))
    (record,), _ = run_trial(opened, 0)
    assert record["status"] == "not_applicable"
    assert record["error"] == "the labelled rows of the target hold 1 classes; 2 are needed"


def test_timing_starts_cold(block):
    opened = block(job=timing.setup)
    for repeat in range(2):
        (record,), _ = timing.run_trial(opened, repeat)
        assert record["status"] == "ok"
        assert record["n_samples"] == [12, 10]
        assert record["n_features"] == [3, 4]
        assert record["blas_threads"] == 1
        assert record["cpu_seconds"] >= 0
    assert len([call for call in SEEN if call[0] == "prepare"]) == 4  # nothing is kept


@pytest.mark.whole_run
@pytest.mark.parametrize("job", ["align", "tuning", "timing"])
def test_workers_start_without_pandas_but_methods_may_import_it(job):
    code = (
        f"import sys, workflow.lib.trials.{job}; loaded = 'pandas' in sys.modules\n"
        "import pandas; print(loaded, pandas.Series([1]).sum())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["False", "1"], result.stderr


class Predicts(Spy):
    """Says that everything is of the larger class it saw."""

    def predict(self, X, domain=-1):
        SEEN.append(("predict", X, domain))
        return np.full(X.shape[0], 1)


def test_own_is_the_methods_predict_on_the_whole_target(block):
    opened = block(
        method={"estimator": f"{__name__}:Predicts"}, classifiers={"own": {"estimator": "own"}}
    )
    (record,), arrays = run_trial(opened, 1)
    assert record["status"] == "ok"
    np.testing.assert_array_equal(arrays["0/own"], np.ones(10))
    name, seen, domain = SEEN[-1]
    assert (name, seen.shape, domain) == ("predict", X[1].shape, -1)


def test_a_failing_predict_is_a_record(block, monkeypatch):
    monkeypatch.setattr(Predicts, "predict", lambda self, X, domain: X[:, 99])
    opened = block(
        method={"estimator": f"{__name__}:Predicts"}, classifiers={"own": {"estimator": "own"}}
    )
    (record,), arrays = run_trial(opened, 0)
    assert record["status"] == "error"
    assert "IndexError" in record["error"]
    assert arrays == {}


def test_a_method_without_a_classifier_says_what_to_add(block):
    (record,), arrays = run_trial(block(classifiers={"own": {"estimator": "own"}}), 0)
    assert record["status"] == "not_applicable"
    assert "add 'classifier: one_nn'" in record["error"]
    assert arrays == {}


def test_preprocessing_may_be_fitted_on_rows_that_are_not_seen(block):
    run_trial(block(preprocess_rows="all"), 1)
    seen = next(entry[1] for entry in SEEN if entry[0] == "fit")
    np.testing.assert_allclose(seen[1], StandardScaler().fit_transform(X[1])[:8])


@pytest.mark.parametrize(
    "kind", [kind for kind in HOSTILE_ANSWERS if kind not in ("labels", "nan")]
)
def test_what_is_not_one_known_label_per_row_is_an_error_of_that_classifier_alone(block, kind):
    """A column would be scored by an n x n comparison, floats would be cut to integers."""
    logistic = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}}
    method = {"estimator": f"{__name__}:Answers", "params": {"kind": kind}}
    classifiers = {"own": {"estimator": "own"}, "logistic": logistic}
    records, arrays = run_trial(block(method=method, classifiers=classifiers), 0)
    own, other = records
    assert own["status"] == "error"
    assert own["error"].startswith("InvalidPredictions: ")
    assert (other["status"], list(arrays)) == ("ok", ["0/logistic"])


def test_predictions_that_are_not_finite_have_the_status_of_an_embedding_that_is_not(block):
    method = {"estimator": f"{__name__}:Answers", "params": {"kind": "nan"}}
    records, arrays = run_trial(block(method=method, classifiers={"own": {"estimator": "own"}}), 0)
    assert records[0]["status"] == "nonfinite"
    assert arrays == {}
