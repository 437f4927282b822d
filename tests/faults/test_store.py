"""The MLflow store: killed while it is made, on a full disk, damaged behind its back."""

import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest

from tests.faults.processes import is_alive, wait_for
from tests.workflow.ports import free_port
from workflow.lib.tracking.store import Store, TrackError

OPEN = "import sys; from workflow.lib.tracking.store import Store\nwith Store(sys.argv[1]): pass"


def opener(folder, **options):
    line = [sys.executable, "-c", OPEN, f"sqlite:///{folder}/mlflow.db"]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, **options)


def files_of(folder):
    return [path for path in folder.glob("*") if path.suffix != ".lock" and path.is_file()]


def usable(folder):
    """Whether the store can be opened; nothing half-made is left beside it."""
    with Store(f"sqlite:///{folder}/mlflow.db") as store:
        assert store.client.search_experiments()
    assert [path.name for path in files_of(folder)] == ["mlflow.db"]
    return True


KILLED = """
import os
from sqlalchemy import Engine, event

@event.listens_for(Engine, "after_cursor_execute")
def end(connection, cursor, statement, *_):
    if sys.argv[2] in statement:
        os.kill(os.getpid(), 9)
"""


@pytest.mark.whole_run
@pytest.mark.parametrize("statement", ["CREATE TABLE experiments", "CREATE TABLE webhooks"])
def test_killed_while_the_tables_are_made(tmp_path, statement):
    """A store whose making was killed is made anew by the next run."""
    script = f"import sys\n{KILLED}\n{OPEN}"
    line = [sys.executable, "-c", script, f"sqlite:///{tmp_path}/mlflow.db", statement]
    assert subprocess.run(line, capture_output=True, timeout=600).returncode == -signal.SIGKILL
    assert usable(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_killed_at_a_random_moment(tmp_path, seed):
    """Whenever the making of a store is killed, the next run makes or keeps a whole one."""
    process = opener(tmp_path)
    wait_for(lambda: files_of(tmp_path))
    time.sleep(random.Random(seed).uniform(0, 4))
    process.kill()
    process.communicate()
    assert usable(tmp_path)


@pytest.mark.whole_run
@pytest.mark.parametrize("limit", [100_000, 350_000])
def test_the_disk_is_full_while_the_tables_are_made(tmp_path, limit):
    """The error names the store, and once there is room the next run makes it."""
    process = opener(
        tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    _, errors = process.communicate(timeout=600)
    assert process.returncode != 0
    assert "mlflow.db" in errors.splitlines()[-1]
    assert usable(tmp_path)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A whole store, closed."""
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    with Store(f"sqlite:///{path}"):
        pass
    return path.read_bytes()


@pytest.mark.parametrize("how", ["emptied header", "truncated", "no database"])
def test_damaged(tmp_path, template, how):
    """A damaged store is named, with the remedy for a file."""
    path = tmp_path / "mlflow.db"
    changed = {
        "emptied header": bytes(200) + template[200:],
        "truncated": template[: len(template) // 2 + 100],
        "no database": b"something else\n" * 1000,
    }
    path.write_bytes(changed[how])
    remedy = r"mlflow\.db.*damaged\. Delete it.*mlflow\.json.*only the logging is repeated"
    with pytest.raises(TrackError, match=remedy), Store(f"sqlite:///{path}"):
        pass


@pytest.mark.whole_run
def test_half_made_by_an_earlier_release(tmp_path):
    """A store that a kill left half-made is named, with what to do about it."""
    path = tmp_path / "mlflow.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE experiments (id INTEGER)")
    database.close()
    remedy = r"mlflow\.db.*Delete it.*mlflow\.json"
    with pytest.raises(TrackError, match=remedy), Store(f"sqlite:///{path}"):
        pass


def test_of_another_version(tmp_path, template):
    """A store of another MLflow version is not called damaged; the message says what to do."""
    path = tmp_path / "mlflow.db"
    path.write_bytes(template)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
    database.close()
    with pytest.raises(TrackError, match=r"mlflow\.db.*upgrade"), Store(f"sqlite:///{path}"):
        pass


@pytest.mark.whole_run
def test_make_ui_is_killed(tmp_path, template):
    """With `make ui` its server ends, however it was killed."""
    (tmp_path / "mlflow.db").write_bytes(template)
    port = str(free_port())
    line = [sys.executable, "-m", "workflow.lib.tracking.ui", "--port", port]
    line += ["--uri", f"sqlite:///{tmp_path}/mlflow.db"]
    before = servers()
    with open(tmp_path / "printed", "w") as printed:
        process = subprocess.Popen(line, stdout=printed, stderr=printed)
    wait_for(lambda: "Ctrl-C" in (tmp_path / "printed").read_text())
    started = servers() - before
    assert started
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert wait_for(lambda: not any(is_alive(pid) for pid in started))


def servers():
    """Numbers of the processes that serve MLflow's pages."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "server" in words or any("mlflow.server" in word for word in words):
            found.add(process.pid)
    return found
