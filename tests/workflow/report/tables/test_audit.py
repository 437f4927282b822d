"""The tables of an audit: a row per column, and a row per printed number."""

import dataclasses

import pytest

from workflow.lib.report.tables.audit import (
    audit_column_table,
    audit_summary_table,
    audit_table,
    compared_columns,
    remarks,
)
from workflow.lib.results.audit import audit


@pytest.fixture(scope="module")
def checked(view):
    return audit(view)


def texts(rows):
    return [[cell.text for cell in row] for row in rows]


def test_the_summary_has_a_row_per_published_column(checked):
    table = audit_summary_table(checked)
    assert [row[0].text for row in table.rows] == [column.label for column in checked.columns]
    assert [row[2].text for row in table.rows] == [column.verdict for column in checked.columns]
    assert checked.published_file in table.caption


def test_numbers_of_a_search_are_marked_as_such_in_the_summary_too(checked):
    column = dataclasses.replace(checked.columns[0], note="A note.", readings_tried="this one 51.5")
    table = audit_summary_table(dataclasses.replace(checked, columns=(column,)))
    said = table.rows[0][-1].text
    assert said.endswith(
        "A note. Readings tried (numbers of the search, not of this run): this one 51.5"
    )


def test_every_printed_number_has_a_row(checked):
    table = audit_table(checked)
    assert len(table.rows) == sum(len(column.rows) + 1 for column in checked.columns)
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_column_by_itself_has_its_mean_in_the_footer(checked):
    column = compared_columns(checked)[0]
    table = audit_column_table(column)
    assert len(table.rows) == len(column.rows)
    assert len(table.footer) == 1
    whole = texts(audit_table(checked).rows)
    assert all([column.label, *row] in whole for row in texts([*table.rows, *table.footer]))


def test_remarks_are_what_the_experiment_file_says(checked):
    for column in checked.columns:
        said = " ".join(text for _, text in remarks(column))
        for words in (column.reason, column.note, column.readings_tried):
            assert " ".join(words.split()) in said
