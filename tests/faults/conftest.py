"""The fault matrix: every test injects a fault, and its docstring is the promise that is kept.

``pytest tests/faults --faults-table FILE`` writes the table (fault, promise, result, seconds).
"""

import inspect
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.processes import wait_for
from workflow.lib.execution import forkserver

TABLE = "--faults-table"


def pytest_addoption(parser):
    parser.addoption(TABLE, metavar="FILE", help="write the table of faults and promises here")


def pytest_configure(config):
    if config.getoption(TABLE, None):
        config.pluginmanager.register(Table(Path(config.getoption(TABLE))))


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents and hasattr(item, "function"):
            if not item.function.__doc__:
                raise pytest.UsageError(f"{item.nodeid}: its docstring must state the promise")
            item.user_properties.append(("promise", inspect.cleandoc(item.function.__doc__)))


class Table:
    """Gathers what became of each fault."""

    def __init__(self, path):
        self.path, self.rows = path, {}

    def pytest_runtest_logreport(self, report):
        promise = dict(report.user_properties).get("promise")
        if promise is None:
            return
        result, seconds = self.rows.get(report.nodeid, ("kept", 0.0, ""))[:2]
        if report.outcome != "passed":
            result = {"failed": "BROKEN", "skipped": "not run"}[report.outcome]
        self.rows[report.nodeid] = (result, seconds + report.duration, " ".join(promise.split()))

    def pytest_sessionfinish(self):
        lines = ["| fault | promise | result | seconds |", "|---|---|---|---:|"]
        for nodeid, (result, seconds, promise) in sorted(self.rows.items()):
            lines.append(f"| {_words(nodeid)} | {promise} | {result} | {seconds:.1f} |")
        counts = Counter(result for result, *_ in self.rows.values())
        told = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
        text = f"# Faults and promises\n\n{len(self.rows)} cases: {told}.\n\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


def _words(nodeid):
    """The fault, read from the name of its test: ``tests/faults/test_disk.py::test_a[b]``."""
    file, _, name = nodeid.partition("::")
    stage = Path(file).stem.removeprefix("test_").replace("_", " ")
    name, _, case = name.removeprefix("test_").partition("[")
    words = name.replace("_", " ") + (f": {case.removesuffix(']')}" if case else "")
    return f"{stage}: {words}".replace("|", "\\|")


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
