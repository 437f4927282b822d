"""The table of what tests show."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.table import Table, promise_of
from workflow.lib.results import environment

ROOT = Path(__file__).parents[1]


def report(nodeid, outcome, duration, *told):
    told = [("promise", "It | holds."), *told]
    return SimpleNamespace(nodeid=nodeid, outcome=outcome, duration=duration, user_properties=told)


def test_a_row_has_the_result_and_the_seconds_of_all_parts_of_a_test(tmp_path):
    table = Table(tmp_path / "new/page.md", "Engines")
    for outcome, seconds in [("passed", 2.0), ("passed", 3.5), ("passed", 0.25)]:
        table.pytest_runtest_logreport(report("a.py::test_a_job[cold]", outcome, seconds))
    for outcome, seconds in [("passed", 1.0), ("failed", 1.0), ("passed", 0.0)]:
        table.pytest_runtest_logreport(report("a.py::test_late", outcome, seconds))
    table.pytest_runtest_logreport(report("b.py::test_far", "skipped", 0.0, ("case", "a case")))
    table.pytest_sessionfinish()
    lines = (tmp_path / "new/page.md").read_text().splitlines()
    machine, day = environment.describe(), time.strftime("%Y-%m-%d", time.gmtime())
    where = f"On {machine['cpu']} ({machine['cores']} cores), {day}."
    assert lines[:3] == ["# Engines", "", f"1 BROKEN, 1 kept, 1 not run. {where}"]
    assert [line for line in lines if re.match(r"\| [`a-z]", line)] == [
        "| file | cases | seconds |",
        "| `a.py` | 1 BROKEN, 1 kept | 8 |",
        "| `b.py` | 1 not run | 0 |",
        "| case | promise | result | seconds |",
        r"| a job: cold | It \| holds. | kept | 5.8 |",
        r"| late | It \| holds. | BROKEN | 2.0 |",
        "| case | promise | result | seconds |",
        r"| far (a case) | It \| holds. | not run | 0.0 |",
    ]


def test_a_promise_is_the_docstring_or_the_name():
    def test_nothing_is_lost():
        pass

    assert promise_of(test_nothing_is_lost) == "Nothing is lost."
    test_nothing_is_lost.__doc__ = """Lines\n\n    of it."""
    assert promise_of(test_nothing_is_lost) == "Lines of it."


@pytest.mark.whole_run
def test_pytest_writes_the_table_also_of_tests_side_by_side(tmp_path):
    name = "test_no_release_is_told_of_that_was_not_made"
    line = [sys.executable, "-m", "pytest", f"tests/test_metadata.py::{name}", "-n", "1"]
    line += ["--table", str(tmp_path / "page.md"), "--title", "Own words"]
    done = subprocess.run(line, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# Own words\n\n1 kept. On ")
    promise = "A date of release stands with its version, and the changelog has both."
    assert f"\n| no release is told of that was not made | {promise} | kept |" in page


def test_no_two_pages_of_the_makefile_have_one_title():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    lines = [line for line in makefile.splitlines() if "--table" in line]
    titles = [re.findall('--title "(.+?)"', line) for line in lines]
    assert len(lines) == 3
    assert len({*map(tuple, titles)}) == 3
