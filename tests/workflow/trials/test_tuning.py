"""Candidates of one trial: what they are judged on, what they share, what becomes of failures."""

import dataclasses
import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from domain_alignment.base import Aligner, Capabilities
from domain_alignment.model_selection import SELECTORS
from scipy import sparse

from tests.workflow.trials.tuned_block import (
    SEARCHED,
    SHOWN,
    SUITE,
    entry_of,
    features_of,
    labels_of,
    sampled,
    write_tuned,
)
from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import OWN
from workflow.lib.config.tuning import choices
from workflow.lib.trials import candidate_fits, fitting, tuning
from workflow.lib.trials.choices import choose, evaluate_choices
from workflow.lib.trials.preprocess import make_preprocessing
from workflow.lib.trials.protocols import HIDDEN

CHOICES = list(choices(SUITE.tuning))
UNSCORED = [name for name in CHOICES if name not in ("average", "oracle")]
MEASURED = ("seconds", "peak_mb")
SEEN = []


class Spy(Aligner):
    """Leaves the features as they are and keeps the labels that it is handed."""

    capabilities = Capabilities("source+target", None, False, False, False, True, False)

    def __init__(self, width=2):
        self.width = width

    def _prepare(self, X, name):
        SEEN.append(("prepare", X))
        return X.shape

    def _check_model(self, model, X, name):
        if model != X.shape:
            raise ValueError("of another domain")

    def _fit(self, Xs, ys, models):
        SEEN.append(("fit", Xs, ys))
        return [self._embedded(X, y) for X, y in zip(Xs, ys, strict=True)]

    def _embedded(self, X, y):
        return X[:, : self.width]

    def _transform(self, X, domain):
        return X[:, : self.width]


class Leaks(Spy):
    """Its embedding of a row is the row's label where it is handed one, else noise."""

    def _embedded(self, X, y):
        noise = np.random.default_rng(0).normal(size=(len(y), 1))
        return np.where(y[:, None] == HIDDEN, noise, 100.0 * y[:, None])


class FailsWhenNarrow(Spy):
    """Has no solution for a width of 1."""

    def _fit(self, Xs, ys, models):
        if self.width == 1:
            raise FloatingPointError("too narrow")
        return super()._fit(Xs, ys, models)


class NeedsEveryLabel(Spy):
    """Has no solution as soon as a label of the source is missing."""

    def _fit(self, Xs, ys, models):
        if (ys[0] == HIDDEN).any():
            raise FloatingPointError("a label is missing")
        return super()._fit(Xs, ys, models)


class OwnOnSource(Spy):
    """As its own classifier, it would train one on the source alone."""

    classifier_rows = "source"


def made(estimator, **changes):
    search = {"params": {"width": [1, 2, 3]}}
    address = f"{estimator.__module__}:{estimator.__name__}"
    entry = {"estimator": address, "sees_labels": "source+target"}
    return {**entry, "params": {"width": 2}, "classifier": "logistic", "search": search} | changes


@pytest.fixture
def block(tmp_path):
    """Function that writes a task for a method and opens the block."""
    SEEN.clear()

    def make(entry, few=True, kinds=("real", "real"), ys=None, widths=(12, 12, 12), **asked):
        ys = labels_of() if ys is None else ys
        asked.setdefault("budget", 5)
        drawn = zip(kinds, ys, widths, itertools.count())
        Xs = [features_of(kind, y, d, width) for kind, y, width, d in drawn]
        trials = sampled(ys, few)
        entry = entry_of(entry) if isinstance(entry, str) else entry
        return tuning.setup(write_tuned(tmp_path, entry, Xs, trials, kinds, **asked))

    return make


@pytest.mark.parametrize("width", [12, 500])
def test_freed_memory_is_kept_for_arrays_of_what_a_trial_shows_and_embeds(
    block, monkeypatch, width
):
    told = []
    monkeypatch.setattr(tuning, "keep_freed", told.append)
    made = block("pca", widths=(width, 12))
    shown = max(sum(len(rows) for rows in trial.rows) for trial in made.trials)
    whole = max(shown, len(made.features[-1]))
    assert told == [8 * max(shown**2, whole * width)]


def test_fewer_selectors_score_as_all_do_and_the_others_are_not_computed(block, monkeypatch):
    both = block("pca")
    every, left = tuning.run_trial(both, 0)
    asked = both.spec["tuning"] | {"selectors": ["labelled_accuracy", "entropy"]}
    monkeypatch.setitem(both.spec, "tuning", asked)
    for name in set(SELECTORS) - set(asked["selectors"]):
        monkeypatch.delitem(SELECTORS, name)
    fewer, again = tuning.run_trial(both, 0)
    assert [list(record["selectors"]) for record in fewer] == [asked["selectors"]] * len(every)
    for record, complete in zip(fewer, every, strict=True):
        assert record["selectors"].items() <= complete["selectors"].items()
    assert left.keys() == again.keys()
    assert all((left[key] == again[key]).all() for key in left)


def test_a_classifier_on_an_embedding_trains_on_every_label_that_the_protocol_shows(block):
    def predicted(estimator, **changes):
        return tuning.run_trial(block(made(estimator, **changes)), 0)[1]

    left, source_only = predicted(OwnOnSource), predicted(OwnOnSource, baseline=True)
    spied = predicted(Spy)
    assert all((left[key] == spied[key]).all() for key in spied)
    assert any((left[key] != source_only[key]).any() for key in spied), "a baseline is its rows"


def unmeasured(records):
    return [{key: r[key] for key in r if key not in MEASURED} for r in records]


def scored(records, arrays, labels, trials):
    """Records of every way of choosing, by its name."""
    aligned = [{"trial": 0, **record} for record in records]
    predictions = {f"0/{name}": array for name, array in arrays.items()}
    found = evaluate_choices(aligned, predictions, labels, trials, CHOICES, len(trials), [None], {})
    return {record["classifier"]: record for record in found}


def undefined(name, few):
    """Selectors that have no score of any candidate."""
    entry = SUITE.methods[name]
    estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
    none = set() if few else {"labelled_accuracy"}
    if "target" in estimator.capabilities.labels:  # turned round there are none
        none |= {"circular"}
    if entry["search"].get("classifiers") == ["rbf_svm"]:  # a machine has no probabilities
        none |= {name for name in SELECTORS if "target_probabilities" in SELECTORS[name].needs}
    return none


@pytest.mark.parametrize("few", [False, True], ids=["no target label", "few target labels"])
@pytest.mark.parametrize("name", SEARCHED)
def test_random_scored_labels_change_no_choice(block, name, few):
    """The whole way, from the labels of the domains to the records, with either labels."""
    kinds = ("counts", "counts") if few or name == "kema_int" else ("real", "real")
    outcomes = []
    for seed in (None, 1):
        ys = labels_of()
        if seed is not None:
            unseen = slice(SHOWN if few else 0, None)
            ys[-1][unseen] = np.random.default_rng(seed).permutation(ys[-1][unseen])
        features = labels_of()  # the features stay as they are
        opened = block(name, few=few, kinds=kinds, ys=features)
        opened.trials[:] = sampled(ys, few)
        records, arrays = tuning.run_trial(opened, 0)
        outcomes.append((records, arrays, scored(records, arrays, ys[-1], opened.trials)))
    (records, arrays, true), (again, others, random) = outcomes
    assert unmeasured(records) == unmeasured(again)
    assert arrays.keys() == others.keys()
    assert all((arrays[key] == others[key]).all() for key in arrays)
    assert choose(records, CHOICES) == choose(again, CHOICES)
    for way in UNSCORED:
        kept = ("status", "candidate", "error", "warnings")
        assert [true[way][key] for key in kept] == [random[way][key] for key in kept]
    if records[0]["status"] == "not_applicable":
        assert not few
        assert len(records) == 1
        assert all(true[way]["status"] == "not_applicable" for way in CHOICES)
    else:
        assert {record["status"] for record in records} == {"ok"}
        assert len(records) == 5
        defined = {s for record in records for s, x in record["selectors"].items() if x is not None}
        assert defined == {*SELECTORS} - undefined(name, few)
        assert len({true[way]["candidate"] for way in UNSCORED}) > 1, "each chooses by itself"
        assert true["oracle"]["accuracy"] > random["oracle"]["accuracy"]


def turned_round(opened, alignment, classifier, pseudo):
    """Classes of the source by a candidate that learns from the target's pseudo-labels."""
    scaled = [
        make_preprocessing(steps).fit_transform(X)
        for steps, X in zip(alignment["steps"], opened.features, strict=True)
    ]
    estimator = candidate_fits.estimator_of(opened, alignment)
    hidden = np.full(len(scaled[0]), HIDDEN)
    if estimator.capabilities.labels == "none":
        source, target = estimator.fit(scaled).embeddings_
    else:
        target, source = estimator.fit(scaled[::-1], [pseudo, hidden]).embeddings_
    if classifier["estimator"] == OWN:
        return estimator.predict(scaled[0], domain=-1)
    model = resolve_estimator(classifier["estimator"])(**classifier["params"])
    return model.fit(target, pseudo).predict(source)


@pytest.mark.parametrize("name", ["jda", "sstca", "meda", "pca"])
def test_circular_validation_turns_the_whole_candidate_round_where_labels_shape_it(block, name):
    """An embedding that source labels shaped has them in it: any classifier finds them again."""
    opened = block(name, few=False, budget=8)
    records, arrays = tuning.run_trial(opened, 0)
    tried = [
        (alignment, classifier)
        for alignment in opened.spec["tuning"]["alignments"]
        for classifier in alignment["classifiers"]
    ]
    for number, (record, candidate) in enumerate(zip(records, tried, strict=True)):
        pseudo = arrays[str(number)].astype(int)
        right = turned_round(opened, *candidate, pseudo) == labels_of()[0]
        found = np.mean([right[labels_of()[0] == c].mean() for c in range(3)])
        assert record["selectors"]["circular"] == pytest.approx(found), candidate


@pytest.mark.parametrize("name", SEARCHED)
def test_sparse_counts_run_or_do_not_apply(block, name):
    records, _ = tuning.run_trial(block(name, kinds=("sparse_counts",) * 2, budget=5), 0)
    takes = SUITE.methods[name]["search"].get("values", ["sparse_counts"])
    expected = "ok" if "sparse_counts" in takes else "not_applicable"
    assert {record["status"] for record in records} == {expected}, records[0].get("error")
    told = " ".join(text for record in records for text in record.get("warnings", ()))
    assert "Error" not in told


@pytest.mark.whole_run
@pytest.mark.parametrize(("few", "width"), [(False, 12), (True, 12), (True, 90)])
@pytest.mark.parametrize("name", ["coral", "coral_kernel", "ot_linear", "ot_exact", "ot_lab"])
def test_sparse_and_dense_forms_of_a_target_that_does_not_move_answer_alike(
    block, name, few, width, monkeypatch
):
    kinds = ("sparse_counts",) * 2
    opened = block(name, few=few, kinds=kinds, widths=(width, width), budget=12)
    records, arrays = tuning.run_trial(opened, 0)
    monkeypatch.setattr(fitting, "_stays_sparse", lambda aligner, features: False)
    opened.cache.clear()
    dense_records, dense_arrays = tuning.run_trial(opened, 0)
    for one, other in zip(records, dense_records, strict=True):
        assert one["status"] == other["status"] == "ok"
        assert one["selectors"] == pytest.approx(other["selectors"], abs=1e-6)
    assert arrays.keys() == dense_arrays.keys()
    for key, predicted in arrays.items():
        np.testing.assert_array_equal(predicted, dense_arrays[key])


def test_classifiers_that_take_one_kind_have_a_dense_target(block):
    svm = {"estimator": "sklearn.svm:SVC", "params": {"kernel": "rbf"}, "fixed": None}
    opened = block("coral", kinds=("sparse_counts",) * 2, budget=1)
    alignment = {**opened.spec["tuning"]["alignments"][0], "classifiers": [svm]}
    opened.spec["tuning"]["alignments"] = [alignment]
    records, _ = tuning.run_trial(opened, 0)
    assert [record["status"] for record in records] == ["ok"]
    assert not records[0]["warnings"]


@pytest.mark.parametrize("name", SEARCHED)
def test_other_numbers_of_features_and_domains(block, name):
    """Each domain is scaled as its own kind of features is."""
    entry = entry_of(name)
    able = resolve_estimator(entry["estimator"])(**entry["params"]).capabilities
    for changes in (
        {"kinds": ("counts", "real"), "widths": (12, 7)},
        {"kinds": ("counts",) * 3, "ys": labels_of((24, 24, 30))},
    ):
        records, _ = tuning.run_trial(block(name, budget=2, **changes), 0)
        applies = (
            {*changes["kinds"]} <= {*entry["search"].get("values", changes["kinds"])}
            and (able.heterogeneous or "widths" not in changes)
            and (able.max_domains is None or len(changes["kinds"]) <= able.max_domains)
        )
        statuses = {record["status"] for record in records}
        assert statuses == {"ok" if applies else "not_applicable"}, records[0].get("error")


def test_domains_of_different_kinds_have_the_steps_of_their_own(block):
    entry = made(Spy, search={"scalings": ["standard"]})
    tuning.run_trial(block(entry, kinds=("counts", "real"), budget=2), 0)
    (source, target) = next(call[1] for call in SEEN if call[0] == "fit")
    counts, real = (
        features_of(kind, y, d)
        for d, (kind, y) in enumerate(zip(("counts", "real"), labels_of(), strict=True))
    )
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        source * frequencies.std(axis=0), frequencies - frequencies.mean(0), atol=1e-12
    )
    np.testing.assert_allclose(target * real.std(axis=0), real - real.mean(axis=0), atol=1e-12)


def test_sparse_features_stay_sparse(block):
    tuning.run_trial(block(made(Spy), kinds=("sparse_counts",) * 2, budget=32), 0)
    handed = [X for call in SEEN if call[0] == "fit" for X in call[1]]
    assert len(handed) >= 8
    assert all(sparse.issparse(X) for X in handed)


def test_a_class_may_be_missing_in_the_target(block):
    ys = labels_of()
    ys[-1] = np.arange(30) % 2
    for name in ("source_only", "pca", "jda", "fma_i", "ssma", "mmdt"):
        records, _ = tuning.run_trial(block(name, ys=ys), 0)
        assert {record["status"] for record in records} == {"ok"}, records[0].get("error")


def test_a_row_is_held_out_by_fits_without_its_label(block):
    opened = block(made(Spy, search={"params": {}}), budget=1)
    records, _ = tuning.run_trial(opened, 0)
    (whole, *folds) = [call[2] for call in SEEN if call[0] == "fit"]
    known = [y != HIDDEN for y in whole]
    assert [mask.sum() for mask in known] == [36, SHOWN]
    hidden = [[(y == HIDDEN) & mask for y, mask in zip(ys, known, strict=True)] for ys in folds]
    for domain, mask in enumerate(known):  # every labelled row once
        np.testing.assert_array_equal(sum(fold[domain].astype(int) for fold in hidden), mask)
    assert records[0]["selectors"]["labelled_accuracy"] is not None


@pytest.mark.parametrize(("estimator", "low", "high"), [(Leaks, 0.0, 0.5), (Spy, 0.8, 1.0)])
def test_an_embedding_that_gives_labels_away_is_not_rewarded(block, estimator, low, high):
    entry = made(estimator, params={"width": 12}, search={})
    records, _ = tuning.run_trial(block(entry), 0)
    for record in records:
        for name in ("source_accuracy", "labelled_accuracy"):
            assert low <= record["selectors"][name] <= high


@pytest.mark.parametrize("sees", ["none", "source", "source+target"])
def test_no_candidate_is_handed_a_label_that_the_method_may_not_see(block, sees):
    tuning.run_trial(block(made(Spy, sees_labels=sees), budget=8), 0)
    for _, _, ys in (call for call in SEEN if call[0] == "fit"):
        assert (ys[0] != HIDDEN).any() == ("source" in sees)
        assert (ys[1] != HIDDEN).any() == ("target" in sees)
        assert (ys[1][SHOWN:] == HIDDEN).all()


def test_fits_and_prepared_models_are_shared(block):
    opened = block(made(Spy, search={"scalings": ["raw", "standard"]}), budget=8)
    assert len(opened.spec["tuning"]["alignments"]) == 2
    for _ in range(2):
        tuning.run_trial(opened, 0)
    assert len([call for call in SEEN if call[0] == "prepare"]) == 4  # 2 domains, 2 scalings
    assert len([call for call in SEEN if call[0] == "fit"]) == 12  # 2 trials, 2 scalings, 3 fits
    SEEN.clear()
    tuning.run_trial(block(made(Spy, sees_labels="none", search={}), budget=4), 0)
    assert len([call for call in SEEN if call[0] == "fit"]) == 1  # labels change nothing


def two_trials(opened):
    """The same rows with labels of their own."""
    trial = opened.trials[0]
    shown = [y.copy() for y in trial.labels]
    shown[0][:5] = HIDDEN
    opened.trials.append(dataclasses.replace(trial, labels=shown))
    return [tuning.run_trial(opened, number) for number in range(2)]


def n_fits():
    return len([call for call in SEEN if call[0] == "fit"])


def test_trials_with_the_same_rows_share_a_fit_without_labels(block, monkeypatch):
    entry = made(Spy, sees_labels="none", search={})
    shared = two_trials(block(entry, budget=4))
    assert n_fits() == 1
    monkeypatch.setattr(candidate_fits, "_KEPT_BYTES", 0)
    SEEN.clear()
    apart = two_trials(block(entry, budget=4))
    assert n_fits() == 2
    for (records, arrays), (others, theirs) in zip(shared, apart, strict=True):
        assert unmeasured(records) == unmeasured(others)
        assert arrays.keys() == theirs.keys()
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, theirs[key])
    seconds = [sum(r["seconds"] for r in records) for records, _ in shared]
    assert seconds[1] > 0


def test_trials_do_not_share_a_fit_with_labels(block):
    two_trials(block(made(Spy, sees_labels="source", search={}), budget=4))
    assert n_fits() == 6


class Warns(Spy):
    """Warns in each fit."""

    def _fit(self, Xs, ys, models):
        warnings.warn("take care", stacklevel=1)
        return super()._fit(Xs, ys, models)


def test_a_shared_fit_warns_in_every_trial(block):
    for records, _ in two_trials(block(made(Warns, sees_labels="none", search={}), budget=4)):
        assert all("UserWarning: take care" in record["warnings"] for record in records)


def test_a_candidate_that_raises_is_a_record_and_never_chosen(block):
    opened = block(made(FailsWhenNarrow), budget=32)
    records, arrays = tuning.run_trial(opened, 0)
    widths = [
        a["params"]["width"] for a in opened.spec["tuning"]["alignments"] for _ in a["classifiers"]
    ]
    assert [record["candidate"] for record in records] == list(range(32))
    failed = {n for n, width in enumerate(widths) if width == 1}
    assert 0 < len(failed) < 32
    assert failed == {r["candidate"] for r in records if r["status"] != "ok"}
    first = records[min(failed)]
    assert (first["status"], first["error"]) == ("error", "FloatingPointError: too narrow")
    assert first["seconds"] >= 0
    assert set(arrays) == {str(n) for n in range(32) if n not in failed}
    picked = choose(records, CHOICES)
    assert all(picked[name] not in failed for name in SELECTORS)
    found = scored(records, arrays, labels_of()[-1], opened.trials)
    assert f"{len(failed)} of 32 candidates failed" in " ".join(found["default"]["warnings"])
    assert found["oracle"]["candidate"] not in failed


def test_a_trial_whose_candidates_all_fail_has_their_status(block):
    entry = made(FailsWhenNarrow, params={"width": 1}, search={"params": {"width": [1]}})
    opened = block(entry)
    records, arrays = tuning.run_trial(opened, 0)
    assert arrays == {}
    found = scored(records, arrays, labels_of()[-1], opened.trials)
    assert list(found) == CHOICES
    assert {record["status"] for record in found.values()} == {"error"}
    assert {record["error"] for record in found.values()} == {"FloatingPointError: too narrow"}


def test_a_fold_that_cannot_be_fitted_costs_no_candidate(block):
    records, arrays = tuning.run_trial(block(made(NeedsEveryLabel)), 0)
    assert len(arrays) == len(records)
    for record in records:
        assert record["status"] == "ok"
        assert record["selectors"]["source_accuracy"] is None
        assert record["selectors"]["class_ami"] is not None
        assert "FloatingPointError: a label is missing" in " ".join(record["warnings"])
        assert record["troubles"]["source_accuracy"] in record["warnings"]
        assert "class_ami" not in record["troubles"]
    found = scored(records, arrays, labels_of()[-1], sampled(labels_of(), True))
    assert found["source_accuracy"]["status"] == "error"
    assert "without the labels of a fold" in found["source_accuracy"]["error"]


def test_labels_of_which_none_can_be_hidden_leave_those_selectors_undefined(block):
    """One label of each class in either domain."""
    opened = block(made(Spy))
    trial = opened.trials[0]
    labels = tuple(np.where(np.arange(len(y)) < 3, y, HIDDEN) for y in trial.labels)
    opened.trials[0] = dataclasses.replace(trial, labels=labels)
    records, _ = tuning.run_trial(opened, 0)
    assert {record["status"] for record in records} == {"ok"}
    assert {record["selectors"]["labelled_accuracy"] for record in records} == {None}


def test_one_class_among_the_labels_does_not_apply(block):
    opened = block(made(Spy))
    trial = opened.trials[0]
    labels = tuple(np.where(y > 0, HIDDEN, y) for y in trial.labels)
    opened.trials[0] = dataclasses.replace(trial, labels=labels)
    records, _ = tuning.run_trial(opened, 0)
    assert {record["status"] for record in records} == {"not_applicable"}
    assert "hold 1 classes; 2 are needed" in records[0]["error"]


def test_no_candidate_is_begun_after_its_share_of_the_limit(block, monkeypatch):
    clock = itertools.count(0, 10)
    monkeypatch.setattr(tuning.time, "perf_counter", lambda: float(next(clock)))
    opened = block(made(Spy), budget=32, seconds=15.0)
    records, arrays = tuning.run_trial(opened, 0)
    statuses = [record["status"] for record in records]
    assert len(records) == 32
    assert statuses[0] == "ok"
    late = statuses.index("timeout")
    assert set(statuses[late:]) == {"timeout"}
    assert len(arrays) == late
    assert records[late]["error"].startswith("not tried: those before it took")


def test_a_fit_that_another_trial_paid_for_counts_as_if_it_had_not(block, monkeypatch):
    """Else the candidates that are tried would hang on which trials share a job."""
    entry = made(Spy, sees_labels="none", search={"params": {"width": [1, 2, 3]}})
    fit, now = candidate_fits.Fits._fit, [0.0]

    def fitted(self, *given, **asked):
        now[0] += 0.2
        return fit(self, *given, **asked)

    monkeypatch.setattr(candidate_fits.Fits, "_fit", fitted)
    for module in (candidate_fits, tuning):  # whatever else this machine does meanwhile
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    tried = [
        [record["status"] for record in records]
        for records, _ in two_trials(block(entry, budget=12, seconds=0.3))
    ]
    assert tried[0] == tried[1]
    assert "timeout" in tried[0]


def test_methods_for_other_kinds_of_features_do_not_apply(block):
    (record,), arrays = tuning.run_trial(block("kema_int"), 0)
    assert record["status"] == "not_applicable"
    assert record["error"] == "takes only dense counts and dense non-negative numbers"
    assert arrays == {}


@pytest.mark.parametrize(("largest", "kind"), [(32767, np.int16), (32768, np.int64)])
def test_stored_predictions_hold_every_label(block, largest, kind):
    ys = [np.where(y == 2, largest, y) for y in labels_of()]
    opened = block(made(Spy))
    opened.trials[:] = sampled(ys, few=True)
    records, arrays = tuning.run_trial(opened, 0)
    assert {record["status"] for record in records} == {"ok"}
    assert max(array.max() for array in arrays.values()) == largest
    assert {array.dtype for array in arrays.values() if array.max() == largest} == {np.dtype(kind)}


def test_every_selector_of_the_configuration_is_scored(block):
    records, _ = tuning.run_trial(block("jda"), 0)
    assert set(SUITE.tuning["selectors"]) <= set(records[0]["selectors"])
    for name, entry in SUITE.tuning["selectors"].items():
        assert SELECTORS[name].sees == entry["sees_labels"]
        assert any(record["selectors"][name] is not None for record in records), name


def test_an_answer_keeps_what_an_estimate_needs(block):
    opened = block("tca", few=False, budget=4)
    _, plain = tuning.run_trial(opened, 0)
    opened.spec["tuning"]["answer"] = True
    records, arrays = tuning.run_trial(opened, 0)
    n_source, n_target = (len(rows) for rows in opened.trials[0].rows)
    for name, predicted in plain.items():
        np.testing.assert_array_equal(arrays[name], predicted)
        source, target = np.split(arrays[f"{name}/held_out"], [n_source])
        assert np.mean(source == opened.trials[0].labels[0]) == pytest.approx(
            records[int(name)]["selectors"]["source_accuracy"]
        )
        assert (target == HIDDEN).all()
        assert len(arrays[f"{name}/log_ratios"]) == n_source + n_target
        assert arrays[f"{name}/disagreement"].shape == (2, 2)
    certain = [name for name in arrays if name.endswith("/held_out_confidence")]
    assert 0 < len(certain) < len(plain)  # a nearest neighbour has none
    for name in certain:
        own = arrays[name]
        assert np.isfinite(own[:n_source]).all()
        assert np.isnan(own[n_source:]).all()
        assert len(arrays[name.replace("held_out_", "")]) == n_target


def test_the_fixed_classifier_that_has_probabilities_leaves_them(block):
    opened = block("tca", few=True, budget=5)
    _, plain = tuning.run_trial(opened, 0)
    opened.spec["probabilities"] = True
    records, arrays = tuning.run_trial(opened, 0)
    (fixed,) = (str(r["candidate"]) for r in records if r["fixed"] == "logistic")
    assert set(arrays) - set(plain) == {f"{fixed}/probabilities", f"{fixed}/classes"}
    scored_rows = opened.trials[0].scored
    classes, values = arrays[f"{fixed}/classes"], arrays[f"{fixed}/probabilities"]
    np.testing.assert_array_equal(classes[values.argmax(axis=1)], arrays[fixed][scored_rows])
    found = scored(records, arrays, labels_of()[-1], opened.trials)
    truth = values[np.arange(len(scored_rows)), labels_of()[-1][scored_rows]]
    assert found["fixed_logistic"]["log_loss"] == pytest.approx(-np.log(truth).mean())
    assert found["average"]["log_loss"] is found["average"]["calibration_error"] is None
