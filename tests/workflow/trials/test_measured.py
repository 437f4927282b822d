"""What a cluster is asked for follows the answers of an earlier run."""

import pytest

from workflow.lib.config.tuning import CANDIDATES_FAILED
from workflow.lib.storage.artifacts import write_records
from workflow.lib.trials.evaluate import complete
from workflow.lib.trials.measured import (
    LEAST_MB,
    Measured,
    guessed_mb,
    guessed_minutes,
    measured,
)


def row(trial, method="fma", setting=None, classifier="one_nn", **fields):
    """A record of `evaluate`."""
    found = {"status": "ok", "seconds": 3.0, "peak_mb": 135.0, "seconds_classify": 0.25}
    place = {"method": method, "trial": trial, "setting": setting, "classifier": classifier}
    return complete(place | found | fields, {})


def costs(tmp_path, *rows):
    path = tmp_path / "records.jsonl"
    write_records(path, list(rows), {})
    measured.cache_clear()
    return measured(str(path))


def test_the_largest_trial_counts_with_all_its_settings_and_classifiers(tmp_path):
    large = [
        row(1, setting=setting, classifier=name, peak_mb=400.0, seconds_prepare=1.0)
        for setting in (0.1, 0.2)
        for name in ("one_nn", "svm")
    ]
    found = costs(tmp_path, row(0), *large, row(0, "other", seconds=60.0))
    # Two fits of 3 s after 1 s each, four classifiers.
    assert found == {"fma": Measured(400.0, 9.0), "other": Measured(135.0, 60.25)}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "memory"},
        {"status": "error"},
        {"status": "lost", "seconds": None, "peak_mb": None},
        {"peak_mb": None},
        {"warnings": f"1 of 24 {CANDIDATES_FAILED}"},
    ],
)
def test_what_did_not_answer_every_time_was_not_measured(tmp_path, fields):
    assert set(costs(tmp_path, row(0), row(1, **fields), row(0, "other"))) == {"other"}


def test_without_a_whole_file_nothing_was_measured(tmp_path):
    path = tmp_path / "records.jsonl"
    assert measured(str(path)) == {}
    assert costs(tmp_path, row(0))
    path.write_text(path.read_text().replace("135", "13"))
    measured.cache_clear()
    assert measured(str(path)) == {}


def test_a_guess_leaves_as_much_again_and_room_for_imports():
    assert guessed_mb(Measured(1000.0, 1.0)) == 2000
    assert guessed_mb(Measured(135.0, 1.0)) == LEAST_MB
    assert guessed_minutes(Measured(135.0, 90.0), n_trials=20) == 61
    assert guessed_minutes(Measured(135.0, 0.01), n_trials=20) == 1
