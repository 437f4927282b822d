"""The MLflow store: killed while it is made, on a full disk, damaged behind its back."""

import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from tests.faults.processes import is_alive, wait_for
from workflow.lib.tracking.store import Store, TrackError

OPEN = "import sys; from workflow.lib.tracking.store import Store\nwith Store(sys.argv[1]): pass"


def opener(folder, **options):
    line = [sys.executable, "-c", OPEN, f"sqlite:///{folder}/mlflow.db"]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, **options)


def files_of(folder):
    return [path for path in folder.glob("*") if path.suffix != ".lock" and path.is_file()]


def usable(folder):
    """Open the store in another process; nothing half-made is left beside it."""
    process = opener(folder)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert [path.name for path in files_of(folder)] == ["mlflow.db"]
    return True


def test_killed_while_the_tables_are_made(tmp_path):
    """A store whose making was killed is made anew by the next run."""
    process = opener(tmp_path)
    wait_for(lambda: any(path.stat().st_size > 20_000 for path in files_of(tmp_path)), 120)
    process.kill()
    process.communicate()
    assert usable(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_killed_at_a_random_moment(tmp_path, seed):
    """Whenever the making of a store is killed, the next run makes or keeps a whole one."""
    process = opener(tmp_path)
    wait_for(lambda: files_of(tmp_path) or process.poll() is not None, 120)
    time.sleep(random.Random(seed).uniform(0, 4))
    process.kill()
    process.communicate()
    assert usable(tmp_path)


def test_the_disk_is_full_while_the_tables_are_made(tmp_path):
    """The error names the store, and once there is room the next run makes it."""
    limit = 100_000
    process = opener(
        tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "mlflow.db" in errors.splitlines()[-1]
    assert usable(tmp_path)


@pytest.mark.parametrize("how", ["emptied header", "truncated", "no database", "half-made"])
def test_damaged(tmp_path, how):
    """A damaged store is named, with the remedy for a file."""
    path = tmp_path / "mlflow.db"
    with Store(f"sqlite:///{path}"):
        pass
    content = path.read_bytes()
    if how == "half-made":
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE experiments (id INTEGER)")
            database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.close()
    else:
        changed = {
            "emptied header": bytes(200) + content[200:],
            "truncated": content[: len(content) // 2 + 100],
            "no database": b"something else\n" * 1000,
        }
        path.write_bytes(changed[how])
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/mlflow.json").write_text("{}")
    process = opener(tmp_path)
    _, errors = process.communicate(timeout=120)
    message = errors.strip().splitlines()[-1]
    assert process.returncode != 0
    assert str(path) in message
    assert "Delete it" in message
    assert "mlflow.json" in message


def test_a_store_that_is_written_by_another_version(tmp_path):
    """A store of another MLflow version is not called damaged; the message says how to bring it."""
    path = tmp_path / "mlflow.db"
    with Store(f"sqlite:///{path}"):
        pass
    with sqlite3.connect(path) as database:
        database.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
    database.close()
    with pytest.raises(TrackError, match=r"mlflow\.db.*version"), Store(f"sqlite:///{path}"):
        pass


def test_make_ui_is_killed(tmp_path):
    """With `make ui` its server ends, however it was killed."""
    (tmp_path / "results").mkdir()
    with Store(f"sqlite:///{tmp_path}/results/mlflow.db"):
        pass
    line = [sys.executable, "-m", "workflow.lib.tracking.ui", "--port", "0"]
    script = (
        "import sys, workflow.lib.tracking.ui as ui\n"
        "ui.wait_until_up = lambda server, port: print('started', flush=True) or "
        "__import__('time').sleep(300)\n"
        "sys.exit(ui.serve(sys.argv[1], int(sys.argv[2])))"
    )
    line = [sys.executable, "-c", script, f"sqlite:///{tmp_path}/results/mlflow.db", "0"]
    before = set(servers())
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("Starting")
    mine = wait_for(lambda: set(servers()) - before, 60)
    time.sleep(1)
    mine = set(servers()) - before
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert wait_for(lambda: not any(is_alive(pid) for pid in mine), 20)
    assert not set(servers()) - before


def servers():
    """Numbers of the processes that serve MLflow's pages."""
    import psutil

    found = []
    for process in psutil.process_iter(["cmdline", "pid"]):
        words = process.info["cmdline"] or []
        if "mlflow" in words or any("mlflow.server" in word for word in words):
            found.append(process.pid)
    return found
