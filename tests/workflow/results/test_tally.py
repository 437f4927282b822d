import types

import pytest

from workflow.lib.results.records import STATUSES
from workflow.lib.results.tally import tally
from workflow.lib.storage.artifacts import write_records


def experiment(study=None):
    return types.SimpleNamespace(name="e", study=study, classifiers=("logistic",))


def write_summary(folder, *rows):
    names = ["classifier", "accuracy_mean", *(f"n_{status}" for status in STATUSES)]
    scored = [{"accuracy_mean": 0.5 if row.get("ok") else "", **row} for row in rows]
    known = [{"classifier": "logistic", **row} for row in scored]
    lines = [",".join(names)]
    lines += [",".join(str(row.get(name.removeprefix("n_"), 0)) for name in names) for row in known]
    (folder / "summary.csv").write_text("\n".join(lines) + "\n")


def test_records_are_counted_by_status(tmp_path):
    write_summary(tmp_path, {"ok": 1200}, {"ok": 20, "error": 15, "timeout": 5}, {"memory": 480})
    assert tally(experiment(), tmp_path).words == "1,220 of 1,720 scored, 500 failed"


def test_of_a_tuned_experiment_what_the_tables_show_is_counted(tmp_path):
    write_summary(tmp_path, {"ok": 5}, {"classifier": "oracle", "ok": 5})
    assert tally(experiment(), tmp_path).words == "5 of 5 scored"


def test_without_a_known_label_answers_are_predicted(tmp_path):
    write_summary(tmp_path, {"ok": 40, "accuracy_mean": ""}, {"ok": 4, "accuracy_mean": ""})
    found = tally(experiment(), tmp_path)
    assert found.words == "44 of 44 predicted"
    assert found.n_scored == 44  # so that the run is none in which everything failed


def test_what_could_not_run_is_no_failure(tmp_path):
    write_summary(tmp_path, {"data_unavailable": 3}, {"not_applicable": 2})
    found = tally(experiment(), tmp_path)
    assert found.words == "0 of 5 scored, 3 without data, 2 not applicable"
    assert (found.n_scored, found.n_failed) == (0, 0)


@pytest.mark.parametrize(
    ("status", "words"), [("ok", "one computation"), ("timeout", "0 of 1 scored, 1 failed")]
)
def test_a_study_is_one_computation(tmp_path, status, words):
    write_records(tmp_path / "study.jsonl", [{"a": 1}] * 3, {"status": status})
    assert tally(experiment(study={"module": "x"}), tmp_path).words == words


def test_what_has_not_run_has_no_tally(tmp_path):
    assert tally(experiment(), tmp_path) is None
    assert tally(experiment(study={"module": "x"}), tmp_path) is None
