"""Three subjects as domains, on made-up images."""

import numpy as np

from tests.workflow.studies.kema.made_up_images import subject
from tests.workflow.studies.parts import complete
from workflow.studies.kema import faces as kema_faces


def test_faces_are_split_half_for_training_with_labels_for_some():
    y = np.repeat([0, 1, 2], 8)
    train, visible, test = kema_faces.split(y, 3, np.random.default_rng(0))
    assert np.bincount(y[train]).tolist() == [4, 4, 4]
    assert np.bincount(visible + 1).tolist() == [3, 3, 3, 3]
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(24))
    known = visible >= 0
    np.testing.assert_array_equal(visible[known], y[train][known])


def test_three_subjects_of_different_resolutions_are_aligned():
    domains = {"a": subject(0, (4, 4)), "b": subject(1), "c": subject(2)}
    records, arrays = kema_faces.run(
        domains, {"mixed": ["a", "b", "c"]}, n_realisations=2, dimensions=[2]
    )
    tables = complete(kema_faces, records, arrays)
    assert [row[2].text for row in tables["errors"].rows] == ["1", "2", "3"]
    said = kema_faces.finding(records, arrays)
    assert said.startswith("Error of LDA in 2 dimensions, mean over the subjects, lowest of the ")
    assert said.endswith("Guessing has 67 %.")  # some alignment is below it
    worse = {"baseline": 40.0, "ssma": 30.0, "linear": 20.0, "rbf_1": 25.0, "dealt": 66.0}
    changed = [{**r, "error": worse[r["method"]]} for r in records]
    assert "mixed: 20 % (KEMA, linear), no adaptation 40 %, labels dealt out anew 66 %." in (
        kema_faces.finding(changed, arrays)
    )
    hopeless = [{**r, "error": worse[r["method"]] + 47} for r in records]
    assert kema_faces.finding(hopeless, arrays).endswith(
        "Guessing has 67 %. In 1 of 1 setting no alignment is below that, so their errors rank no "
        "method there."
    )
    fewer = [r for r in records if r["method"] != "ssma"]
    fewer += [{**fewer[-1], "setting": "lost", "method": "baseline", "dimensions": None}]
    lost = kema_faces.finding(fewer, arrays)
    assert "SSMA" not in lost
    assert "; lost: no fit with 2, no adaptation " in lost
    binary = {"mixed/0/test_classes": np.arange(2)}
    assert "Guessing has 50 %." in kema_faces.finding(records, binary)
    for number in (1, 2, 3):
        place = {"setting": "mixed", "subject": number, "dimensions": 2}
        assert np.mean(kema_faces.errors_of(records, method="linear", **place)) < 25
        assert np.mean(kema_faces.errors_of(records, method="dealt", **place)) > 40
