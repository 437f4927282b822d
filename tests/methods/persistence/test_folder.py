"""Saved models: the same answers in a fresh process, and what is refused."""

import errno
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import domain_alignment
import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, MMDT, TCA, AlignedClassifier, KernelPCAAligner
from domain_alignment.base import Capabilities
from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence import TargetModel, describe_model, load_model, save_model
from domain_alignment.persistence._folder import ARRAYS, CARD, STATE, SUMS
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from tests.methods.test_contract import ENTRIES, domains, make, needs_counts
from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import load_suite

CLASSES = np.array(["ash", "birch", "cedar, red"])
CLASSIFIERS = {
    name: entry
    for name, entry in load_suite(Path(__file__).parents[3]).classifiers.items()
    if entry["estimator"] != "own"
}
EMBEDDING = [name for name in ENTRIES if make(name).capabilities.embeds_new_samples]

FRESH = """
import sys
import numpy as np
from domain_alignment.persistence import load_model
folder = sys.argv[1]
for name in sys.argv[2:]:
    model = load_model(f"{folder}/{name}")
    X = np.load(f"{folder}/{name}.npy")
    np.savez(f"{folder}/{name}.answers.npz", y=model.predict(X), Z=model.transform(X))
"""


def stacked(seed=0):
    """Two domains of three classes with names, one above the other, and new target samples."""
    Xs, ys = domains(seed=seed)
    y = np.concatenate(ys)
    labels = np.where(y >= 0, CLASSES[y], None)
    new = Xs[1] + 0.1 * np.random.default_rng(1).normal(size=Xs[1].shape)
    return np.vstack(Xs), labels, np.repeat([1, -2], [len(X) for X in Xs]), new


def fitted(aligner=None, **settings):
    X, y, domain, _ = stacked()
    return AlignedClassifier(aligner or CORAL(), **settings).fit(X, y, domain)


def entry_model(name):
    """A model of an entry as the benchmark would build it: its own or its paper's classifier."""
    aligner = make(name)
    scaler = MinMaxScaler(clip=True) if needs_counts(name) else StandardScaler()
    if hasattr(aligner, "predict"):
        return fitted(aligner, classifier="own", preprocessing=scaler)
    entry = CLASSIFIERS[ENTRIES[name].get("classifier", "one_nn")]
    classifier = resolve_estimator(entry["estimator"])(**entry["params"])
    return fitted(aligner, classifier=classifier, preprocessing=scaler)


@pytest.mark.parametrize("name", ["source_logistic", "coral", "gfk", "ssma", "kema_rbf"])
def test_every_model_holds_its_aligned_training_samples_and_says_so(tmp_path, name):
    model = entry_model(name)
    folder = save_model(tmp_path / "model", model)
    text = (folder / CARD).read_text()
    assert "Every model holds the aligned training samples" in text
    assert "hand the folder on as you would the data" in text
    held = load_model(folder).aligner.embeddings_
    for Z, own in zip(held, model.aligner_.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, own)


def in_fresh_process(folder, names):
    code = [sys.executable, "-W", "ignore", "-c", FRESH, str(folder), *names]
    place = str(Path(domain_alignment.__file__).parents[1])
    subprocess.run(code, check=True, env={**os.environ, "PYTHONPATH": place})


@pytest.mark.whole_run
@pytest.mark.filterwarnings("ignore")
def test_every_entry_answers_alike_in_a_fresh_process_to_the_last_bit(tmp_path, record_property):
    new = stacked()[-1]
    models = {name: entry_model(name) for name in EMBEDDING}
    for name, model in models.items():
        folder = save_model(tmp_path / name, model)
        np.save(tmp_path / f"{name}.npy", new)
        record_property(name, sum(file.stat().st_size for file in folder.iterdir()))
    in_fresh_process(tmp_path, models)
    assert len(models) > 40
    for name, model in models.items():
        answers = np.load(tmp_path / f"{name}.answers.npz")
        expected = model.predict(new)
        assert set(expected) <= set(CLASSES)
        np.testing.assert_array_equal(answers["y"], expected, name)
        np.testing.assert_array_equal(answers["Z"], model.transform(new), name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_answers_alike(name, tmp_path):
    entry = CLASSIFIERS[name]
    model = fitted(classifier=resolve_estimator(entry["estimator"])(**entry["params"]))
    again = load_model(save_model(tmp_path / "model", model))
    new = stacked()[-1]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert hasattr(again, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize(
    "aligner",
    [
        KernelPCAAligner(3, landmarks=10),
        KernelPCAAligner(3, landmarks=10, random_state=np.random.RandomState(0)),
        TCA(3, landmarks=10, kernel="rbf", random_state=np.random.RandomState(0)),
        MMDT(random_state=np.random.RandomState(0)),
    ],
    ids=["Nystroem", "KernelPCAAligner", "TCA", "MMDT"],
)
def test_what_draws_at_random_is_saved_too(aligner, tmp_path):
    model, new = fitted(aligner), stacked()[-1]
    again = load_model(save_model(tmp_path / "model", model))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))


class Transductive(CORAL):
    """Embeds only what it was fitted on."""

    capabilities = Capabilities(labels="none", embeds_new_samples=False)


def test_a_method_without_new_samples_is_refused_before_anything_is_written(tmp_path):
    model = fitted(Transductive())
    with pytest.raises(SavedModelError, match=r"predicts no new ones.*embeds_new_samples"):
        save_model(tmp_path / "model", model)
    assert not list(tmp_path.iterdir())


def test_preprocessing_of_the_target_is_that_of_the_pipeline(tmp_path):
    X, y, domain, new = stacked()
    X[[3, 60], 2] = new[5, 1] = np.nan
    steps = make_pipeline(SimpleImputer(), Normalizer(), StandardScaler())
    model = AlignedClassifier(CORAL(), preprocessing=steps).fit(X, y, domain)
    again = load_model(save_model(tmp_path / "model", model))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))


@pytest.mark.parametrize("file", [STATE, ARRAYS, SUMS])
@pytest.mark.parametrize("place", [0, 0.3, 0.6, -1])
def test_a_changed_byte_is_refused_and_its_file_named(file, place, tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    data = bytearray((folder / file).read_bytes())
    at = -1 if place == -1 else int(place * len(data))
    data[at] ^= 1
    (folder / file).write_bytes(data)
    with pytest.raises(SavedModelError, match=r"its sha256 is .* changed or damaged"):
        load_model(folder)


@pytest.mark.parametrize("file", [STATE, ARRAYS, SUMS])
def test_a_missing_file_is_named(file, tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    (folder / file).unlink()
    with pytest.raises(SavedModelError, match=f"{file}: cannot be read.*folder of a saved model"):
        load_model(folder)


def rewritten(folder, change):
    """Change model.json as another version would have written it, with sums that are right."""
    import hashlib

    content = json.loads((folder / STATE).read_text())
    change(content)
    (folder / STATE).write_text(json.dumps(content))
    sums = [
        f"{hashlib.sha256((folder / f).read_bytes()).hexdigest()}  {f}\n" for f in (STATE, ARRAYS)
    ]
    (folder / SUMS).write_text("".join(sums))


@pytest.mark.parametrize("package", ["domain_alignment", "sklearn", "numpy", "scipy"])
def test_another_minor_version_is_refused_with_what_to_install(package, tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    rewritten(folder, lambda content: content["packages"].update({package: "0.0.7"}))
    with pytest.raises(SavedModelError, match=r"was saved with .* 0\.0\.7; here is .*==0\.0\.\*"):
        load_model(folder)


def test_another_patch_version_is_taken(tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    series = ".".join(np.__version__.split(".")[:2])
    rewritten(folder, lambda content: content["packages"].update(numpy=f"{series}.999"))
    assert load_model(folder).n_features_in_ == 6


def test_another_format_is_refused(tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    rewritten(folder, lambda content: content.update(format=2))
    with pytest.raises(SavedModelError, match=r"has the format 2; this version .* reads 1"):
        load_model(folder)


def test_an_address_of_a_file_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "intruder.py").write_text("raise SystemExit('was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    folder = save_model(tmp_path / "model", fitted())
    rewritten(folder, lambda content: content["model"].update({"$object": "intruder:Thing"}))
    with pytest.raises(SavedModelError, match="intruder:Thing: is not a class"):
        load_model(folder)
    assert "intruder" not in sys.modules


def test_a_package_that_a_file_names_is_not_imported(tmp_path, monkeypatch):
    folder = save_model(tmp_path / "model", fitted())
    (tmp_path / "intruder.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rewritten(folder, lambda content: content["packages"].update(intruder="1.0"))
    with pytest.raises(SavedModelError, match="intruder"):
        load_model(folder)
    assert "intruder" not in sys.modules


def test_numbers_of_numpy_may_be_said_of_a_model(tmp_path):
    told = {"data": {"samples": np.int64(3)}, "accuracy": np.float32(0.5)}
    folder = save_model(tmp_path / "model", fitted(), **told)
    assert repr(describe_model(folder)["about"]["data"]) == "{'samples': 3}"  # and not 3.0


@pytest.mark.parametrize("value", [date(2026, 1, 2), Path("here"), np.arange(3), {1}])
def test_what_is_neither_text_nor_number_is_not_said_of_a_model(value, tmp_path):
    with pytest.raises(SavedModelError, match="is part of what is said of the model; give text"):
        save_model(tmp_path / "model", fitted(), data={"made": value})
    assert not list(tmp_path.iterdir())


def test_a_state_that_is_no_model_is_refused(tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    rewritten(folder, lambda content: content.update(model=[1, 2]))
    with pytest.raises(SavedModelError, match="holds a list"):
        load_model(folder)


@pytest.mark.parametrize(
    "state",
    [
        {"$array": "a999"},
        {"$object": "domain_alignment.base:Aligner"},
        {"$random_state": {"$dict": []}},
    ],
)
def test_a_state_that_nothing_writes_is_refused(state, tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    rewritten(folder, lambda content: content.update(model=state))
    with pytest.raises(SavedModelError, match=r"model\.json is not what this format describes"):
        load_model(folder)


def test_no_pickle_and_nothing_that_needs_it(tmp_path):
    folder = save_model(tmp_path / "model", fitted(preprocessing=StandardScaler()))
    assert {file.name for file in folder.iterdir()} == {STATE, ARRAYS, SUMS, "MODEL_CARD.md"}
    with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
        assert all(not arrays[name].dtype.hasobject for name in arrays.files)


def test_saving_again_replaces_a_model_and_nothing_else(tmp_path):
    folder = save_model(tmp_path / "model", fitted())
    save_model(folder, fitted(classifier=KNeighborsClassifier(1)))
    assert isinstance(load_model(folder).classifier, KNeighborsClassifier)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    with pytest.raises(ValueError, match="is there and is no saved model"):
        save_model(other, fitted())
    assert (other / "chapter.txt").read_text() == "years of work"


def test_what_is_no_fitted_classifier_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"is a StandardScaler; give a fitted AlignedClassifier"):
        save_model(tmp_path / "model", StandardScaler())


def test_the_description_says_what_the_model_takes_and_gives(tmp_path):
    new = stacked()[-1]
    folder = save_model(tmp_path / "model", fitted(), accuracy=0.9, example=new[:2])
    told = describe_model(folder)
    assert told["classes"] == CLASSES.tolist()
    assert (told["features"], told["n_features"], told["probabilities"]) == (None, 6, True)
    assert told["about"]["accuracy"] == 0.9
    np.testing.assert_array_equal(told["example"], new[:2])


@pytest.mark.parametrize("form", [pd.DataFrame, sparse.csr_matrix, np.ndarray.tolist])
def test_an_example_of_any_form(form, tmp_path):
    new = stacked()[-1][:2]
    folder = save_model(tmp_path / "model", fitted(), example=form(new))
    np.testing.assert_array_equal(describe_model(folder)["example"], new)


def test_missing_cells_of_an_example(tmp_path):
    new = stacked()[-1][:2]
    new[1, 3] = np.nan
    model = fitted(preprocessing=SimpleImputer())
    told = describe_model(save_model(tmp_path / "model", model, example=new))
    assert told["example"][1][3] is None


def test_an_example_that_the_model_cannot_predict_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has 5 features"):
        save_model(tmp_path / "model", fitted(), example=np.zeros((2, 5)))


def test_domains_with_different_features(tmp_path):
    Xs, ys = domains(widths=(6, 4))
    aligner = make("kema_rbf").fit(Xs, ys)
    classifier = KNeighborsClassifier(1).fit(aligner.embeddings_[0], CLASSES[ys[0]])
    model = TargetModel(aligner, classifier, feature_names=["a", "b", "c", "d"])
    again = load_model(save_model(tmp_path / "model", model))
    np.testing.assert_array_equal(again.predict(Xs[1]), model.predict(Xs[1]))
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("theirs", [{"model.json": "{}"}, {"weights.bin": "years"}, {}])
def test_a_folder_of_others_is_not_replaced_nor_a_model_with_files_beside_it(theirs, tmp_path):
    folder = tmp_path / "model"
    if theirs:
        folder.mkdir()
    else:
        save_model(folder, fitted())
    for name, text in {**theirs, "thesis.txt": "years of work"}.items():
        (folder / name).write_text(text)
    before = sorted(file.name for file in folder.iterdir())
    told = "is there and is no saved model" if theirs else r"holds thesis\.txt too"
    with pytest.raises(ValueError, match=told):
        save_model(folder, fitted())
    assert sorted(file.name for file in folder.iterdir()) == before


def test_the_working_folder_may_be_the_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        save_model(".", fitted())
        monkeypatch.chdir(tmp_path)  # the folder was written anew
    assert isinstance(load_model(".").classifier, type(fitted().classifier_))


def test_an_accuracy_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(ValueError, match="accuracy=nan; give a number, or None"):
        save_model(tmp_path / "model", fitted(), accuracy=float("nan"))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("step", ["passthrough", None])
def test_steps_that_change_nothing_are_saved_too(step, at, tmp_path):
    steps = [("scale", StandardScaler())]
    steps.insert(at, ("nothing", step))
    model = fitted(preprocessing=Pipeline(steps))
    new = stacked()[-1]
    again = load_model(save_model(tmp_path / "model", model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_a_folder_that_cannot_be_replaced_keeps_its_model(tmp_path, monkeypatch):
    """As where a disk is mounted."""
    folder = save_model(tmp_path / "model", fitted(), title="first")
    rename = Path.rename

    def refuse(path, target):
        if path == folder:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ValueError, match=r"cannot be replaced .*busy.*give a folder in it"):
        save_model(folder, fitted(), title="second")
    assert describe_model(folder)["about"]["title"] == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_keeps_its_mode_and_a_link_its_folder(tmp_path):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for title in ("first", "second"):
        save_model(private, fitted(), title=title)
        assert private.stat().st_mode & 0o777 == 0o700
    (tmp_path / "current").symlink_to(private)
    save_model(tmp_path / "current", fitted(), title="third")
    assert (tmp_path / "current").is_symlink()
    assert describe_model(private)["about"]["title"] == "third"
