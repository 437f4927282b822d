"""What results were computed with, through what lies in their folders, and in words."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.results.computed import (
    computed_in_words,
    computed_of_suite,
    in_sentences,
    processors_in_words,
    timed_with,
    versions_in_words,
)
from workflow.lib.storage.artifacts import write_records
from workflow.lib.storage.computed_with import COMPUTED_WITH, UNSAID

SUITE = load_suite(PROJECT)
ONE = {"python": "3.9.1", "numpy": "1.0", "processor": "Abacus"}
NEWER = ONE | {"numpy": "2.0"}
OTHERS = "others unknown (files of earlier versions)"
OTHER = ONE | {"processor": "Slide rule"}


def write_table(folder, computed):
    folder.mkdir(parents=True, exist_ok=True)
    said = {} if computed is None else {COMPUTED_WITH: json.dumps(computed)}
    table = pyarrow.table({"n": [1]}).replace_schema_metadata(said)
    pyarrow.parquet.write_table(table, folder / "records.parquet")


def sets_of(computed):
    """Without their order, which is that of the experiments."""
    return sorted(json.dumps(one, sort_keys=True) for one in computed)


def test_of_a_suite_it_is_of_tables_studies_and_timings(tmp_path):
    assert computed_of_suite(SUITE, tmp_path) == []
    write_table(tmp_path / "fma_table1", [OTHER, ONE])
    write_table(tmp_path / "of_nobody", [{"python": "1", "processor": "?"}])
    header = {"status": "ok", "error": "", COMPUTED_WITH: [ONE]}
    write_records(tmp_path / "fma_figure2/study.jsonl", [], header)
    assert sets_of(computed_of_suite(SUITE, tmp_path)) == sets_of([ONE, OTHER])
    experiment = SUITE.experiments["fma_table1"]
    task, method = experiment.timing["tasks"][0], experiment.timing["methods"][0]
    timing = tmp_path / f"fma_table1/timing/{task}.{method}.jsonl"
    write_records(timing, [], {COMPUTED_WITH: [NEWER]})
    assert timed_with(experiment, tmp_path / "fma_table1") == [NEWER]
    assert sets_of(computed_of_suite(SUITE, tmp_path)) == sets_of([ONE, OTHER, NEWER])
    assert computed_of_suite(SUITE, tmp_path, ["fma_figure2"]) == [ONE]
    write_table(tmp_path / "fma_table1", None)
    assert sets_of(computed_of_suite(SUITE, tmp_path)) == sets_of([ONE, UNSAID, NEWER])


@pytest.mark.parametrize(
    ("records", "timings", "expected"),
    [
        ([], [], []),
        ([UNSAID], [UNSAID], []),
        ([ONE], [], ["Python 3.9.1, numpy 1.0 on Abacus."]),
        ([ONE], [ONE], ["Python 3.9.1, numpy 1.0 on Abacus."]),
        (
            [ONE, OTHER],
            [ONE],
            [
                "Python 3.9.1, numpy 1.0 on Abacus; Python 3.9.1, numpy 1.0 on Slide rule.",
                "Timings: Python 3.9.1, numpy 1.0 on Abacus.",
            ],
        ),
        (
            [ONE, OTHER],
            [],
            [
                "Python 3.9.1, numpy 1.0 on Abacus; Python 3.9.1, numpy 1.0 on Slide rule.",
                "Processors differ: seconds of one are no measure beside those of another.",
            ],
        ),
        ([ONE, UNSAID], [], [f"Python 3.9.1, numpy 1.0 on Abacus; {OTHERS}."]),
        (
            [ONE],
            [ONE, NEWER],
            [
                "Python 3.9.1, numpy 1.0 on Abacus.",
                "Timings: Python 3.9.1, numpy 1.0 on Abacus; Python 3.9.1, numpy 2.0 on Abacus.",
                "Versions differ, and with them perhaps the last digits of what is compared.",
            ],
        ),
        (
            [ONE, NEWER],
            [],
            [
                "Python 3.9.1, numpy 1.0 on Abacus; Python 3.9.1, numpy 2.0 on Abacus.",
                "Versions differ, and with them perhaps the last digits of what is compared.",
            ],
        ),
    ],
)
def test_a_page_says_it_and_warns_where_it_matters(records, timings, expected):
    assert in_sentences(records, timings) == expected


def test_each_stands_once_and_what_is_not_said_is_said_not_to_be():
    assert versions_in_words([ONE, OTHER]) == "Python 3.9.1, numpy 1.0"
    assert processors_in_words([ONE, NEWER, OTHER]) == "Abacus and Slide rule"
    mixed = "Python 3.9.1, numpy 1.0 on Abacus; others unknown (files of earlier versions)"
    assert computed_in_words([ONE, UNSAID]) == mixed
