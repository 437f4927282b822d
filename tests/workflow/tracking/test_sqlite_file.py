"""The database file of MLflow: never damaged by a writer that is killed, and soon written."""

import contextlib
import shutil
import sqlite3

import pytest
import sqlalchemy

from tests.workflow.tracking.toy_runs import client, write
from workflow.lib.tracking import sqlite_file
from workflow.lib.tracking.sqlite_file import is_whole, make_once
from workflow.lib.tracking.store import Store

FILE = "results/mlflow.db"
FINISHED = "SELECT count(*) FROM runs WHERE status IN ('FINISHED', 'FAILED')"


def asked(statement, path=FILE):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(statement).fetchone()[0]


@pytest.fixture
def watched(folder, monkeypatch):
    """Makes a list that gets what a function of the store finds after each run it creates."""

    def watch(look):
        create, found = Store._create, []

        def create_and_look(store, *run):
            made = create(store, *run)
            found.append(look(store))
            return made

        monkeypatch.setattr(Store, "_create", create_and_look)
        return found

    return watch


@pytest.mark.whole_run
def test_whenever_its_writer_is_killed_the_file_is_whole_and_has_what_was_done(watched, tmp_path):
    def copied(_):
        """The files as they are at this moment, opened elsewhere."""
        place = tmp_path / "copy"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for path in (tmp_path / "results").glob("mlflow.db*"):
            shutil.copy(path, place)
        return is_whole(place / "mlflow.db"), asked(FINISHED, place / "mlflow.db")

    found = watched(copied)
    created = write()["created"]
    assert found == [(True, number) for number in range(1, created + 1)]


def synchronous(store):
    """How long the client's connection waits for the disk: 1 seldom, 2 at each commit."""
    with store.client._tracking_client.store.engine.connect() as connection:
        return connection.execute(sqlalchemy.text("PRAGMA synchronous")).scalar()


def test_a_commit_does_not_wait_for_the_disk_and_leaves_no_log(watched, tmp_path):
    found = watched(lambda store: (synchronous(store), asked("PRAGMA journal_mode")))
    write()
    assert set(found) == {(1, "wal")}
    assert asked("PRAGMA journal_mode") == "delete"
    assert [path.name for path in (tmp_path / "results").glob("mlflow.db*")] == ["mlflow.db"]
    assert client().search_experiments()


def test_on_a_disk_of_the_network_it_does(watched, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_is_local", lambda path: False)
    found = watched(lambda store: (synchronous(store), asked("PRAGMA journal_mode")))
    write()
    assert set(found) == {(2, "delete")}


def test_a_log_that_a_killed_writer_left_ends_on_a_disk_of_the_network(folder, monkeypatch):
    write()
    assert asked("PRAGMA journal_mode = wal") == "wal"
    monkeypatch.setattr(sqlite_file, "_is_local", lambda path: False)
    write()
    assert asked("PRAGMA journal_mode") == "delete"


def test_a_page_that_has_the_file_open_sees_what_is_written(folder, tmp_path):
    with contextlib.closing(sqlite3.connect(FILE)) as page:
        assert page.execute(FINISHED).fetchone() == (0,)
        receipt = write()
        assert page.execute(FINISHED).fetchone() == (receipt["created"],)
        # The log stays for the page; what it holds is in the file, too.
        shutil.copy(FILE, tmp_path / "without_log.db")
        assert asked(FINISHED, tmp_path / "without_log.db") == receipt["created"]
    assert write()["kept"] == receipt["created"]
    assert asked("PRAGMA journal_mode") == "delete"


def test_tables_that_are_cut_off_leave_nothing(tmp_path):
    def cut_off(uri):
        with sqlalchemy.create_engine(uri).begin() as connection:
            connection.execute(sqlalchemy.text("CREATE TABLE runs (id int)"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_once(tmp_path / "mlflow.db", cut_off)
    assert not list(tmp_path.iterdir())


def test_what_is_no_database_is_not_whole(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"x" * 5000)
    assert not is_whole(tmp_path / "mlflow.db")


def test_a_writer_that_goes_elsewhere_leaves_nothing_there(folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "100% elsewhere?"
    elsewhere.mkdir()
    with Store(f"sqlite:///{FILE}"):
        monkeypatch.chdir(elsewhere)
    assert not list(elsewhere.iterdir())
    assert asked("PRAGMA journal_mode", tmp_path / FILE) == "delete"


def test_this_disk_is_local(tmp_path):
    assert sqlite_file._is_local(tmp_path / "mlflow.db")
