"""Data sets whose tasks have a domain in common, from the tasks that a board compares."""

import dataclasses

from tests.workflow.board_example import made_board, suite, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.results.domain_jackknife import TaskDomains, shared_domains
from workflow.lib.results.shared_domains import EITHER, SOURCE, TARGET, Shared, shared_by_dataset


def tasks(*pairs):
    return [TaskDomains((source,), target) for source, target in pairs]


def test_a_domain_of_every_task_is_shared_where_others_can_be_left_out():
    assert shared_domains(tasks("AB", "AC")) == ["A"]
    assert shared_domains(tasks("AC", "BC")) == ["C"]
    assert shared_domains(tasks("AB", "CA")) == ["A"]
    assert shared_domains(tasks("AB", "BC", "CA")) == []
    assert shared_domains(tasks("AB", "BA")) == [], "its error is that of its tasks"
    assert shared_domains(tasks("AB")) == [], "and that of one task is that of its trials"


def board_with(*pairs):
    """A board whose tasks on the gas sensors are between these batches."""
    view = tuned_view("tuned_no_labels_gas")
    names = view.records["task"].drop_duplicates().tolist()[: len(pairs)]
    records = view.records[view.records["task"].isin(names)].copy()
    for name, (source, target) in zip(names, pairs, strict=True):
        records.loc[records["task"] == name, ["source", "target"]] = source, target
    return board_of("no_target_labels", [dataclasses.replace(view, records=records)])


def test_what_is_shared_has_its_role():
    assert shared_by_dataset(board_with("AB", "AC", "AD")) == [Shared("gas_drift", ("A",), SOURCE)]
    assert shared_by_dataset(board_with("AB", "CB")) == [Shared("gas_drift", ("B",), TARGET)]
    assert shared_by_dataset(board_with("AB", "CA")) == [Shared("gas_drift", ("A",), EITHER)]
    assert shared_by_dataset(board_with(("A+B", "C"), ("A+B", "D"))) == [
        Shared("gas_drift", ("A", "B"), SOURCE)
    ]
    assert shared_by_dataset(board_with("AB", "BC", "CA")) == []


def test_the_gas_sensors_of_the_boards_share_a_source_and_no_other_data_does():
    sources = {task.sources for task in suite().experiments["tuned_no_labels_gas"].tasks}
    assert len(sources) == 1
    found = shared_by_dataset(made_board())
    assert [(one.dataset, one.role) for one in found] == [("gas_drift", SOURCE)]


def test_tasks_that_are_not_compared_do_not_count():
    """Without the only task from another source the rest share theirs."""
    view = tuned_view("tuned_no_labels_gas")
    first = view.experiment.tasks[0].name
    turned = tuned_view("tuned_no_labels_gas", lacking={("coral", first, None): range(9)})
    for one in (view, turned):
        mine = one.records["task"] == first
        one.records.loc[mine, "source"] = "gas_drift.other"
    assert shared_by_dataset(board_of("no_target_labels", [view])) == []
    (found,) = shared_by_dataset(board_of("no_target_labels", [turned]))
    assert found.role == SOURCE
