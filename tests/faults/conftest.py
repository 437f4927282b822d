"""The fault matrix: every test injects a fault, and its docstring is the promise that is kept.

``make faults`` lists them with what became of each. Tests of other folders that are run with these
are listed too, their names being the promises.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.faults.processes import wait_for
from tests.faults.tiny_runs import BLOCKS
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import RECORDS, make_tiny, records, snakemake
from workflow.lib.execution import forkserver

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents and not item.function.__doc__:
            raise pytest.UsageError(f"{item.nodeid}: its docstring must state the promise")


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
