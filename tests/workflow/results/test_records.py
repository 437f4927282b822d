import subprocess

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report_example import (
    VARY,
    make_experiment,
    make_suite,
    record,
    rich_curves,
    shared_curves,
    view_of,
)
from workflow.lib.config.metrics import METRICS
from workflow.lib.results import records
from workflow.lib.results.records import (
    FILES,
    IncompleteResultsError,
    collect,
    load_computed_with,
    load_results,
    summarise,
    write_results,
)
from workflow.lib.storage.artifacts import CorruptArtifact, write_records
from workflow.lib.storage.computed_with import UNSAID

PAIRS = [("webcam", "dslr"), ("amazon", "caltech")]
METHODS = ("plain", "fma_i")


@pytest.fixture
def experiment():
    return make_experiment(PAIRS, METHODS)


def rows_of(experiment, task, trials=2):
    return [
        record(experiment, (task, method, "logistic", trial), 0.5)
        for trial in reversed(range(trials))
        for method in reversed(experiment.methods)
    ]


def write_tasks(folder, experiment, rows):
    paths = []
    for task in reversed(experiment.tasks):
        path = folder / task.name / "records.jsonl"
        write_records(path, [row for row in rows if row["task"] == task.name], {})
        paths.append(path)
    return paths


def test_rows_come_in_the_order_of_the_experiment_file(tmp_path, experiment):
    rows = [row for task in experiment.tasks for row in rows_of(experiment, task)]
    records = collect(
        experiment, write_tasks(tmp_path, experiment, rows), make_suite(experiment, 2)
    )
    cells = list(zip(records["task"], records["method"], records["trial"], strict=True))
    assert cells == [
        (f"{source}-{target}", method, trial)
        for source, target in PAIRS
        for method in METHODS
        for trial in range(2)
    ]
    assert list(records.columns[:4]) == ["schema_version", "experiment", "task", "source"]
    assert records["error"].isna().all()


def test_missing_and_doubled_cells_are_named(tmp_path, experiment):
    rows = [row for task in experiment.tasks for row in rows_of(experiment, task)]
    rows.append(dict(rows[0]))
    rows = [
        row
        for row in rows
        if (row["task"], row["method"], row["trial"]) != ("amazon-caltech", "plain", 1)
    ]
    with pytest.raises(IncompleteResultsError) as caught:
        collect(experiment, write_tasks(tmp_path, experiment, rows), make_suite(experiment, 2))
    message = str(caught.value)
    assert "1 of 8 cells missing: amazon-caltech/plain/logistic trial 1" in message
    assert "recorded more than once: webcam-dslr/fma_i/logistic trial 1" in message
    assert "run again" in message


def test_records_that_nobody_asked_for_are_named(tmp_path, experiment):
    rows = [row for task in experiment.tasks for row in rows_of(experiment, task, trials=3)]
    with pytest.raises(IncompleteResultsError, match=r"4 of 8 cells not asked for: .*trial 2"):
        collect(experiment, write_tasks(tmp_path, experiment, rows), make_suite(experiment, 2))


def test_damaged_records_are_refused(tmp_path, experiment):
    rows = [row for task in experiment.tasks for row in rows_of(experiment, task)]
    paths = write_tasks(tmp_path, experiment, rows)
    paths[0].write_text(paths[0].read_text().replace("0.5", "0.9"))
    with pytest.raises(CorruptArtifact, match="checksum"):
        collect(experiment, paths, make_suite(experiment, 2))


def test_an_unknown_status_is_refused(tmp_path, experiment):
    rows = [row for task in experiment.tasks for row in rows_of(experiment, task)]
    rows[0]["status"] = "okay"
    with pytest.raises(CorruptArtifact, match="unknown status 'okay'"):
        collect(experiment, write_tasks(tmp_path, experiment, rows), make_suite(experiment, 2))


@pytest.fixture
def view(experiment):
    late = {"status": "timeout", "error": 'too late, "quoted"\nsecond line'}
    scores = {
        ("webcam-dslr", "plain"): [0.5, 0.6, 0.7],
        ("webcam-dslr", "fma_i"): [0.4, late, 0.6],
        ("amazon-caltech", "plain"): [late] * 3,
        ("amazon-caltech", "fma_i"): [0.25, 0.25, 0.25],
    }
    return view_of(experiment, scores, 3)


def test_written_results_read_back_the_same(tmp_path, view):
    paths = write_results(tmp_path, view.experiment, view.records, view.suite)
    assert [path.name for path in paths] == [*FILES, "SHA256SUMS"]
    pd.testing.assert_frame_equal(load_results(tmp_path), view.records)
    text = pd.read_csv(tmp_path / "records.csv")
    np.testing.assert_array_equal(text["accuracy"].dropna(), view.records["accuracy"].dropna())
    assert (text["schema_version"] == 1).all()
    assert text["error"].dropna().iloc[0] == 'too late, "quoted"\nsecond line'
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_results_say_what_they_were_computed_with(tmp_path, view):
    write_results(tmp_path, view.experiment, view.records, view.suite)
    assert load_computed_with(tmp_path) == []
    view.records.to_parquet(tmp_path / "records.parquet")
    assert load_computed_with(tmp_path) == [UNSAID], "of an earlier version"
    computed = [{"python": "3.9.1", "processor": "Abacus"}]
    write_results(tmp_path, view.experiment, view.records, view.suite, computed)
    assert load_computed_with(tmp_path) == computed
    pd.testing.assert_frame_equal(load_results(tmp_path), view.records)
    (tmp_path / "records.parquet").write_bytes(b"PAR1")
    with pytest.raises(CorruptArtifact, match=r"records\.parquet"):
        load_computed_with(tmp_path)


def test_writing_twice_gives_the_same_bytes(tmp_path, view):
    for folder in ("one", "two"):
        write_results(tmp_path / folder, view.experiment, view.records, view.suite)
    for name in (*FILES, "SHA256SUMS"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_changed_results_are_refused(tmp_path, view):
    write_results(tmp_path, view.experiment, view.records, view.suite)
    (tmp_path / "summary.csv").write_text("")
    with pytest.raises(CorruptArtifact, match=r"summary\.csv"):
        load_results(tmp_path)


def test_summary_counts_and_moments(view):
    summary = summarise(view.experiment, view.records, view.suite).set_index(["task", "method"])
    plain = summary.loc[("webcam-dslr", "plain")]
    assert plain["accuracy_mean"] == pytest.approx(0.6)
    assert plain["accuracy_std"] == pytest.approx(0.1)
    assert plain["accuracy_standard_error"] == pytest.approx(0.1 / 3**0.5)
    assert plain["accuracy_entire_target_mean"] == pytest.approx(0.63)
    assert plain["balanced_accuracy_mean"] == pytest.approx(0.59)
    assert plain["macro_f1_mean"] == pytest.approx(0.58)
    assert plain["worst_class_accuracy_mean"] == pytest.approx(0.4)
    assert "macro_f1_std" not in plain
    assert plain["accuracy_low"] <= 0.6 <= plain["accuracy_high"]
    assert plain["seconds_median"] == pytest.approx(0.011)
    assert plain["peak_mb"] == 212
    assert np.isnan(plain["accuracy_partial_mean"])


def test_a_mean_over_part_of_the_trials_is_not_called_the_mean(view):
    summary = summarise(view.experiment, view.records, view.suite).set_index(["task", "method"])
    partial = summary.loc[("webcam-dslr", "fma_i")]
    assert list(partial[["n_asked", "n_ok", "n_timeout", "n_error"]]) == [3, 2, 1, 0]
    assert partial["accuracy_partial_mean"] == pytest.approx(0.5)
    scores = [name for name in summary if name.startswith(tuple(METRICS))]
    assert list(partial[scores].dropna().index) == ["accuracy_partial_mean"]
    failed = summary.loc[("amazon-caltech", "plain")]
    assert failed["n_ok"] == 0
    assert failed[scores].isna().all()


def test_the_order_and_the_index_of_the_rows_do_not_matter(view):
    summary = summarise(view.experiment, view.records, view.suite)
    shuffled = view.records.sample(frac=1, random_state=0)
    again = summarise(view.experiment, shuffled, view.suite)
    cell = ["task", "method", "classifier"]
    expected = summary.sort_values(cell, ignore_index=True)
    pd.testing.assert_frame_equal(again.sort_values(cell, ignore_index=True), expected)


def test_warnings_become_text():
    assert records._plain(["one", "two"]) == "one; two"
    assert records._plain([]) is None
    assert records._plain(float("nan")) is None


def test_settings_are_part_of_a_cell(tmp_path):
    vary = {**VARY, "values": [4, 8.5]}
    experiment = make_experiment(PAIRS[:1], METHODS, vary=vary)
    (task,) = experiment.tasks
    rows = [
        record(experiment, (task, method, "logistic", setting, trial), 0.5)
        for trial in range(2)
        for setting in reversed(vary["values"])
        for method in METHODS
    ]
    suite = make_suite(experiment, 2)
    records = collect(experiment, write_tasks(tmp_path, experiment, rows), suite)
    assert list(records["setting"]) == [4, 4, 8.5, 8.5] * 2
    assert list(records["trial"]) == [0, 1] * 4
    with pytest.raises(IncompleteResultsError) as caught:
        collect(experiment, write_tasks(tmp_path / "b", experiment, rows[1:]), suite)
    assert "1 of 8 cells missing: webcam-dslr/plain/logistic setting 8.5 trial 0" in str(
        caught.value
    )
    plain = make_experiment(PAIRS[:1], METHODS)
    paths = write_tasks(tmp_path / "c", plain, rows)
    with pytest.raises(IncompleteResultsError, match="8 of 4 cells not asked for"):
        collect(plain, paths, make_suite(plain, 2))


def test_the_summary_has_a_row_per_setting(tmp_path):
    view = rich_curves(trials=3)
    summary = summarise(view.experiment, view.records, view.suite)
    assert len(summary) == 12 * 2 * 8
    assert list(summary["setting"][:3]) == [4, 8, 12]
    assert set(summary["n_asked"]) == {3}
    write_results(tmp_path, view.experiment, view.records, view.suite)
    pd.testing.assert_frame_equal(load_results(tmp_path), view.records)


def test_seen_and_new_rows_are_summarised_apart():
    view = shared_curves(trials=3)
    summary = summarise(view.experiment, view.records, view.suite).set_index(["method", "setting"])
    half = summary.loc[("fma_i", 0.6)].iloc[0]
    assert half["accuracy_new_mean"] < half["accuracy_mean"] < half["accuracy_seen_mean"]
    assert half["accuracy_new_std"] > 0
    assert np.isnan(summary.loc[("fma_i", 1.0)].iloc[0]["accuracy_new_mean"])


def test_a_summary_without_settings_has_an_empty_column(tmp_path, view):
    write_results(tmp_path, view.experiment, view.records, view.suite)
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert list(summary.columns).index("setting") == list(summary.columns).index("classifier") + 1
    assert summary["setting"].isna().all()
    assert len(summary) == 4
