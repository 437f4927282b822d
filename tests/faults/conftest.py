"""The fault matrix: every test injects a fault, and its docstring is the promise that is kept.

``pytest tests/faults --faults-table FILE`` writes the table (fault, promise, result, seconds).
Tests of other folders that are run with these are listed too, their names being the promises.
"""

import inspect
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.processes import wait_for
from tests.faults.tiny_runs import BLOCKS
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import RECORDS, make_tiny, records, snakemake
from workflow.lib.execution import forkserver

TABLE = "--faults-table"
HERE = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption(TABLE, metavar="FILE", help="write the table of faults and promises here")


def pytest_configure(config):
    # Of tests that run side by side the first process alone hears of all.
    if config.getoption(TABLE, None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(Path(config.getoption(TABLE))))


def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item, "function"):
            item.user_properties.append(("promise", promise_of(item)))


def promise_of(item):
    """What a test shows: its docstring, or the sentence that its name is."""
    if item.function.__doc__:
        return " ".join(inspect.cleandoc(item.function.__doc__).split())
    if HERE in item.path.parents:
        raise pytest.UsageError(f"{item.nodeid}: its docstring must state the promise")
    return item.function.__name__.removeprefix("test_").replace("_", " ").capitalize() + "."


class Table:
    """Gathers what became of each fault."""

    def __init__(self, path):
        self.path, self.rows = path, {}

    def pytest_runtest_logreport(self, report):
        told = dict(report.user_properties)
        result, seconds = self.rows.get(report.nodeid, ("kept", 0.0))[:2]
        if report.outcome != "passed":
            result = {"failed": "BROKEN", "skipped": "not run"}[report.outcome]
        case = (told["promise"], told.get("case", ""))
        self.rows[report.nodeid] = (result, seconds + report.duration, *case)

    def pytest_sessionfinish(self):
        files = {}
        for nodeid, row in self.rows.items():
            files.setdefault(nodeid.partition("::")[0], {})[nodeid] = row
        lines = ["# Faults and promises", "", f"{_counts(self.rows)}.", ""]
        lines += ["| file | cases | seconds |", "|---|---|---:|"]
        for file, rows in sorted(files.items()):
            lines.append(f"| `{file}` | {_counts(rows)} | {_seconds(rows):.0f} |")
        for file, rows in sorted(files.items()):
            lines += ["", f"## {file}", "", "| fault | promise | result | seconds |"]
            lines.append("|---|---|---|---:|")
            for nodeid, (result, seconds, promise, case) in sorted(rows.items()):
                fault = f"{_words(nodeid)} ({case})" if case else _words(nodeid)
                cells = (fault, promise, result, f"{seconds:.1f}")
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _counts(rows):
    counts = Counter(result for result, *_ in rows.values())
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))


def _seconds(rows):
    return sum(seconds for _, seconds, *_ in rows.values())


def _words(nodeid):
    """The fault, read from the name of its test: ``tests/faults/test_disk.py::test_a[b]``."""
    name, _, case = nodeid.rpartition("::")[2].removeprefix("test_").partition("[")
    return name.replace("_", " ") + (f": {case.removesuffix(']')}" if case else "")


@pytest.fixture
def notes(tmp_path):
    """Folder in which a misbehaving trial notes the processes that it starts."""
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def warm_address():
    """Address of a fork server that serves every test."""
    kept = dict(os.environ)
    process = forkserver.start()
    address = os.environ[forkserver.ADDRESS]
    os.environ.clear()
    os.environ.update(kept)
    yield address
    process.stdin.close()
    process.wait(20)


@pytest.fixture(params=["warm", "cold"])
def origin(request, monkeypatch, warm_address):
    """The worker is forked by a fork server, or a process of its own."""
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)
    if request.param == "warm":
        wait_for(lambda: f"@{warm_address}" in Path("/proc/net/unix").read_text())
        monkeypatch.setenv(forkserver.ADDRESS, warm_address)
    return request.param


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """The tiny experiment in a copy of the project; nothing has run."""
    project = copy_project(tmp_path_factory.mktemp("tiny") / "untouched")
    return make_tiny(project, methods=["slow", "fma_i"], protocol={"trials": 4})


@pytest.fixture(scope="module")
def finished(untouched):
    """The project after an undisturbed run."""
    project = shutil.copytree(untouched, untouched.with_name("finished"))
    snakemake(project, RECORDS, *BLOCKS)
    return project


@pytest.fixture(scope="module")
def whole(finished):
    """Records of an undisturbed run."""
    return records(finished)


@pytest.fixture
def project(untouched, tmp_path):
    return shutil.copytree(untouched, tmp_path / "project")
