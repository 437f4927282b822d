"""Records of two versions beside each other: what is equal, and what differs is named."""

import equal_records as module
import numpy as np
import pandas as pd
import pytest


def results(folder, accuracies, predicted, embedding, prefix=""):
    """A folder of results with one experiment: FMA-I on two trials, of which one has a picture."""
    task = folder / "some/a-b"
    task.mkdir(parents=True)
    cells = {"task": "a-b", "method": "fma_i", "classifier": None, "setting": None, "status": "ok"}
    cells |= {"experiment": "some", "source": "A", "target": "B"}
    rows = [cells | {"trial": n, "accuracy": accuracy} for n, accuracy in enumerate(accuracies)]
    pd.DataFrame(rows).to_csv(folder / "some/records.csv", index=False)
    arrays = {"0/0/own": np.array(predicted), "manifest": np.array([len(prefix)])}
    for domain, Z in enumerate(embedding):
        arrays[f"{prefix}picture/{domain}/embedding"] = Z
    np.savez(task / "fma_i.000-001.predictions.npz", **arrays)
    return folder


@pytest.fixture
def before(tmp_path):
    Z = np.random.default_rng(0).normal(size=(2, 5, 3))
    return results(tmp_path / "before", [0.5, 0.25], [0, 1, 1], Z), Z


def test_equal_records_whatever_the_signs_of_the_axes_and_the_names_of_pictures(before, tmp_path):
    folder, Z = before
    same = results(tmp_path / "same", [0.5, 0.25], [0, 1, 1], Z * [1, -1, 1], prefix="0/0/")
    found = module.compare(folder, same, "some")
    assert (found.n_records, found.n_equal, found.alone, found.largest) == (2, 2, 0, 0.0)
    assert (found.n_predictions, found.predictions.total()) == (3, 0)
    assert found.embeddings["fma_i"] < 1e-15
    page = module.markdown([found], ("0.1.0", "today"), "On one machine.")
    assert "# Records of 0.1.0 and of today" in page
    assert "of 0.1.0 and of today. On one machine. Equal:" in page
    assert "| some | 2 | 2 | 0.00 | 3 | 0 | fma_i " in page
    assert page.count("some") == 1


def test_what_differs_is_named(before, tmp_path):
    folder, Z = before
    other = results(tmp_path / "other", [0.5, 0.24, 0.1], [0, 0, 0], 2 * Z)
    found = module.compare(folder, other, "some")
    assert (found.n_records, found.n_equal, found.alone) == (2, 1, 1)
    assert found.largest == pytest.approx(0.01)
    assert found.embeddings["fma_i"] == pytest.approx(3.0)
    page = module.markdown([found], ("0.1.0", "today"))
    told = "some: fma_i: 1 record and 2 predictions; 1 record that one of them has not."
    assert told in page


def test_a_status_that_is_another_is_no_equal_record(before, tmp_path):
    folder, Z = before
    other = results(tmp_path / "other", [None, 0.25], [0, 1, 1], Z)
    table = pd.read_csv(other / "some/records.csv").assign(status=["error", "ok"])
    table.to_csv(other / "some/records.csv", index=False)
    assert module.compare(folder, other, "some").n_equal == 1


def test_settings_are_cells_of_their_own_and_missing_predictions_differ(before, tmp_path):
    folder, Z = before
    other = results(tmp_path / "other", [0.5, 0.25], [0, 1], Z)
    for one in (folder, other):
        table = pd.read_csv(one / "some/records.csv").assign(trial=0, setting=[0.1, 0.2])
        table.to_csv(one / "some/records.csv", index=False)
    found = module.compare(folder, other, "some")
    assert (found.n_records, found.n_equal) == (2, 2)
    assert found.predictions["fma_i"] == 3
