"""The model that is kept predicts what its candidate predicted, for every kind of candidate."""

import numpy as np
import pytest
from domain_alignment.persistence import load_model, save_model
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from tests.workflow.trials.tuned_block import entry_of, features_of, labels_of, sampled, write_tuned
from workflow.lib.trials import final_model, tuning
from workflow.loaders._arrays import read_svmlight

CLASSES = ["ash", "birch", "cedar"]


def made(folder, method, kind="real", few=False, budget=6, search=None):
    """What the trial of a tuned experiment predicts by candidate, and a function to keep one."""
    ys = labels_of()
    Xs = [features_of(kind, y, d) for d, y in enumerate(ys)]
    entry = entry_of(method)
    entry = {**entry, "search": search or entry["search"]}
    spec = write_tuned(folder, entry, Xs, sampled(ys, few), [kind] * 2, budget)
    records, predicted = tuning.run_trial(tuning.setup(spec), 0)
    assert {record["status"] for record in records} == {"ok"}
    pairs = [(a, c) for a in spec["tuning"]["alignments"] for c in a["classifiers"]]

    def kept(number):
        alignment, classifier = pairs[number]
        own = {"alignment": alignment, "classifier": classifier, "class_names": CLASSES}
        return final_model.fitted_model(final_model.setup({**spec, **own}), 0, None)

    return kept, predicted, Xs[-1], pairs


@pytest.mark.parametrize(
    ("method", "kind", "few"),
    [
        ("source_only", "real", False),
        ("coral", "counts", False),
        ("tca", "non_negative", False),
        ("jda", "real", False),
        ("gfk", "sparse_counts", False),
        ("target_only", "real", True),
        ("kema_linear", "real", True),
        ("ot_linear", "real", False),
    ],
)
def test_predictions_are_those_of_the_candidate(method, kind, few, tmp_path):
    kept, predicted, X, pairs = made(tmp_path, method, kind, few)
    for number in range(len(pairs)):
        model = load_model(save_model(tmp_path / f"model{number}", kept(number)))
        rows = X.toarray() if kind == "sparse_counts" else X
        expected = np.array(CLASSES)[predicted[str(number)]]
        assert model.predict(rows).tolist() == expected.tolist(), pairs[number]
        assert model.classes_.tolist() == CLASSES


@pytest.mark.parametrize(
    ("classifier", "kind"),
    [("one_nn", "real"), ("one_nn", "sparse_counts"), ("logistic", "real")],
)
def test_of_equal_distances_the_model_takes_the_same(classifier, kind, tmp_path, monkeypatch):
    """Answers of a questionnaire, from 1 to 5: many rows are equally near. Once they are scaled,
    or by cosines, equal distances differ by rounding, which is another in each.
    """

    def answers(kind, y, d, width=12):
        rng = np.random.default_rng(d)
        X = np.clip(rng.integers(1, 5, size=(len(y), 4)) + (y[:, None] > 1), 1, 5).astype(float)
        return sparse.csr_matrix(X) if kind == "sparse_counts" else X

    monkeypatch.setitem(globals(), "features_of", answers)
    search = {"classifiers": [classifier], "scalings": ["raw"]}
    kept, predicted, X, pairs = made(tmp_path, "source_only", kind, search=search)
    exact = [n for n, (_, c) in enumerate(pairs) if c["params"].get("metric") != "cosine"]
    assert [agreement(kept, predicted, X, number) for number in exact] == [1.0] * len(exact)
    assert exact


def agreement(kept, predicted, X, number):
    """Share of samples that the kept model gives the class that its candidate gave."""
    return (kept(number).predict(X) == np.array(CLASSES)[predicted[str(number)]]).mean()


def test_a_method_that_predicts_itself(tmp_path):
    kept, predicted, X, pairs = made(tmp_path, "meda", budget=24)
    own = [n for n, (_, classifier) in enumerate(pairs) if classifier["estimator"] == "own"]
    assert [agreement(kept, predicted, X, number) for number in own[:2]] == [1.0, 1.0]


def test_a_graph_method_embeds_new_samples_approximately(tmp_path):
    kept, predicted, X, _ = made(tmp_path, "sma", few=True, budget=24)
    assert agreement(kept, predicted, X, 0) >= 0.9


def test_reduced_features(tmp_path):
    search = {"classifiers": ["own"], "reduce": [5]}  # of 12 features
    kept, predicted, X, pairs = made(tmp_path, "ls_mmdt", few=True, search=search)
    reduced = [n for n, (alignment, _) in enumerate(pairs) if alignment["reduce"]]
    assert [agreement(kept, predicted, X, number) for number in reduced[:2]] == [1.0, 1.0]


def test_the_trial_is_saved_with_an_example_and_a_card(tmp_path):
    ys = labels_of()
    Xs = [features_of("real", y, d) for d, y in enumerate(ys)]
    spec = write_tuned(tmp_path, entry_of("coral"), Xs, sampled(ys, False), ["real"] * 2)
    alignment = spec["tuning"]["alignments"][0]
    about = {"title": "CORAL for b", "accuracy": 0.5, "interval": [0.25, 0.75]}
    saved = {"folder": str(tmp_path / "model"), "about": about}
    chosen = {"alignment": alignment, "classifier": alignment["classifiers"][0]}
    block = final_model.setup({**spec, **chosen, "class_names": CLASSES, "saved": saved})
    assert final_model.run_trial(block, 0) == ([], {})
    card = (tmp_path / "model/MODEL_CARD.md").read_text()
    assert card.startswith("# CORAL for b")
    assert "50.0 %" in card
    assert load_model(tmp_path / "model").reading is None


@pytest.mark.parametrize("zero_based", [True, False])
def test_the_first_feature_of_svmlight_is_counted_as_the_loader_does(zero_based, tmp_path):
    Xs = [np.array([[1.0, 2.0, 0.0]]), np.array([[0.0, 2.0, 3.0]])]
    paths = [tmp_path / "a.svmlight", tmp_path / "b.svmlight"]
    for X, path in zip(Xs, paths, strict=True):
        dump_svmlight_file(X, [0], str(path), zero_based=zero_based)
    for X, path in zip(Xs, paths, strict=True):
        np.testing.assert_array_equal(read_svmlight(path, paths)[0].toarray(), X)
    saved = {"counted": list(map(str, paths))}
    assert final_model._reading(saved) == {"zero_based": zero_based}
    paths[0].unlink()  # what cannot be told is not guessed from the others
    assert final_model._reading(saved) is None


def test_how_the_target_s_table_is_written_is_kept():
    assert final_model._reading({"reading": {"decimal": ","}}) == {"decimal": ","}
