"""Office-Caltech: features and official trials, made up and real."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from tests.workflow.loaders.entries import DATASETS, MIRROR, SURF_COUNTS, needs_mirror
from tests.workflow.loaders.matlab_files import cells
from workflow.lib.storage.fetch import fetch
from workflow.loaders import files_of, load_described, office_caltech

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("loader", "variable"),
    [(office_caltech.load_surf, "fts"), (office_caltech.load_decaf6, "feas")],
)
def test_office_caltech_features(tmp_path, loader, variable):
    counts = rng.integers(0, 200, (6, 4)).astype(np.uint8)
    labels = np.array([[1], [1], [2], [3], [10], [10]], dtype=np.uint8)
    savemat(tmp_path / "a.mat", {variable: counts, "labels": labels})
    X, y = loader("amazon", {"a.mat": tmp_path / "a.mat"})
    assert (X.dtype, y.dtype) == (np.float64, np.int64)
    assert np.array_equal(X, counts)
    assert y.tolist() == [0, 0, 1, 2, 9, 9]


def save_splits(path, source, target, scored):
    train = {"source": cells(*source), "target": cells(*target)}
    test = {"source": cells(*([9],) * len(scored)), "target": cells(*scored)}
    savemat(path, {"train": train, "test": test, "param": {"num_trials": len(source)}})
    return path


def test_splits_count_from_zero(tmp_path):
    path = save_splits(tmp_path / "s.mat", [[1, 3], [2, 4]], [[5], [6]], [[6, 7], [5, 7]])
    trials = office_caltech.load_splits(path)
    assert [{name: rows.tolist() for name, rows in trial.items()} for trial in trials] == [
        {"source_labelled": [0, 2], "target_labelled": [4], "target_scored": [5, 6]},
        {"source_labelled": [1, 3], "target_labelled": [5], "target_scored": [4, 6]},
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([[1]], [[2]], [[2, 3]]), "trial 0: 1 target rows are labelled and scored"),
        (([[0]], [[2]], [[3]]), "trial 0: source_labelled must be distinct rows counted from 1"),
        (([[1, 1]], [[2]], [[3]]), "trial 0: source_labelled must be distinct"),
        (([[1], [2]], [[2], [4]], [[3]]), "the numbers of trials differ"),
    ],
)
def test_unusable_splits_are_refused(tmp_path, rows, message):
    path = save_splits(tmp_path / "s.mat", *rows)
    with pytest.raises(ValueError, match=message):
        office_caltech.load_splits(path)


def test_splits_of_another_form_are_refused(tmp_path):
    savemat(tmp_path / "s.mat", {"fts": np.eye(2)})
    with pytest.raises(
        ValueError, match=r"no struct 'train' with a field 'source'\. It holds: fts\."
    ):
        office_caltech.load_splits(tmp_path / "s.mat")


@needs_mirror
@pytest.mark.parametrize("name", DATASETS["office_caltech_splits"]["files"])
def test_real_trials_give_the_stated_numbers_per_class(name):
    file = DATASETS["office_caltech_splits"]["files"][name]
    source, target = (np.repeat(range(10), SURF_COUNTS[file[d]]) for d in ("source", "target"))
    trials = office_caltech.load_splits(Path(MIRROR) / file["mirror"])
    assert len(trials) == 20
    for trial in trials:
        per_class = 20 if file["source"] == "amazon" else 8
        assert np.bincount(source[trial["source_labelled"]]).tolist() == [per_class] * 10
        assert np.bincount(target[trial["target_labelled"]]).tolist() == [3] * 10
        both = np.concatenate([trial["target_labelled"], trial["target_scored"]])
        assert np.array_equal(np.sort(both), np.arange(len(target)))


@needs_mirror
def test_decaf6_rows_are_the_images_of_the_surf_rows(tmp_path):
    """Similarity within a class agrees between the two feature sets; shuffled, it does not."""

    def similarities(name):
        (file,) = files_of(DATASETS[name], "webcam")
        path = fetch(file, DATASETS[name]["files"][file], tmp_path / name, MIRROR)
        X, y, _ = load_described(name, DATASETS[name], "webcam", {file: path})
        X = X - X.mean(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return X @ X.T, y

    surf, y = similarities("office_caltech_surf")
    decaf, _ = similarities("office_caltech_decaf6")
    pairs = np.triu(y[:, None] == y, 1)
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]  # shuffled inside the classes only
    assert np.corrcoef(surf[pairs], decaf[pairs])[0, 1] > 0.4
    assert np.corrcoef(surf[pairs], decaf[np.ix_(order, order)][pairs])[0, 1] < 0.2
