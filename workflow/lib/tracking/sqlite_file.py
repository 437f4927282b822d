"""MLflow's database as an SQLite file: made whole or not at all, written without waiting, checked.

MLflow commits eight times a run, and by default SQLite waits for the disk at each of them: where
others write to that disk too, for longer than all the rest takes.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import sqlalchemy

# A write-ahead log is for processes of one machine: not for files that others see, too.
_LOCAL = {"apfs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "hfs", "ntfs", "overlay", "tmpfs"}
_LOCAL |= {"xfs", "zfs"}


def make_once(path: Path, make: Callable[[str], sqlalchemy.Engine]) -> None:
    """Have ``make`` make the tables of a database under another name, unless the file is there.

    A file that migrations were cut off from can never be used. To be called under a lock.
    """
    for left in path.parent.glob(f".{path.name}.making*"):  # by a writer that was killed
        left.unlink()
    if path.exists() and path.stat().st_size:  # SQLite itself leaves an empty file at times
        return
    making = path.with_name(f".{path.name}.making-{os.getpid()}").resolve()
    try:
        with _on_connect(sqlalchemy.Engine, "PRAGMA synchronous = OFF"):
            make(f"sqlite:///{making}").dispose()
        with open(making, "rb") as stream:
            os.fsync(stream)
        os.replace(making, path)
    finally:
        for left in path.parent.glob(f"{making.name}*"):  # and the journal
            left.unlink()


@contextlib.contextmanager
def write_ahead(path: Path, engine: sqlalchemy.Engine) -> Iterator[None]:
    """Let the commits of an engine go to a log, which is written to the file at the end.

    What is lost when the machine stops are the last commits, never the file; who reads meanwhile
    waits for nobody. On a disk of the network the file is written as before.
    """
    path = path.resolve()  # wherever this process is at the end
    if not _is_local(path):
        engine.dispose()
        _keeps_journal(path, "delete")  # a writer that was killed elsewhere may have left a log
        yield
        return
    if not _keeps_journal(path, "wal"):
        yield
        return
    with _on_connect(engine, "PRAGMA synchronous = NORMAL"):
        try:
            yield
        finally:
            engine.dispose()
            _write_log_to_file(path)
            # Not if the UI has it open: then it stays so until a later run.
            _keeps_journal(path, "delete")


def is_whole(path: Path) -> bool:
    """Whether a file is an SQLite database without damage, and one that MLflow has finished."""
    try:
        with contextlib.closing(_opened(path, "ro")) as database:
            (answer,) = database.execute("PRAGMA quick_check").fetchone()
            versions = database.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error:
        return False
    return answer == "ok" and len(versions) == 1


@contextlib.contextmanager
def _on_connect(target: type | sqlalchemy.Engine, statement: str) -> Iterator[None]:
    """Execute a statement in every new connection to an SQLite file."""

    def execute(connection: object, _: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute(statement)

    if isinstance(target, sqlalchemy.Engine):
        target.dispose()  # its connections are older
    sqlalchemy.event.listen(target, "connect", execute)
    try:
        yield
    finally:
        sqlalchemy.event.remove(target, "connect", execute)


def _keeps_journal(path: Path, mode: str) -> bool:
    """Ask for a kind of journal; whether the file has it now, which needs that nobody reads."""
    try:
        with contextlib.closing(_opened(path, "rw")) as database:
            return database.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
    except sqlite3.Error:
        return False


def _write_log_to_file(path: Path) -> None:
    """Have all commits on the disk, also where the journal must stay, and in the file if nobody is
    in the middle of reading it.
    """
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_opened(path, "rw")) as database:
        database.execute("PRAGMA wal_checkpoint").fetchone()


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a file that is there: SQLite would make it."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)


def _is_local(path: Path) -> bool:
    """Whether a file lies on a disk of this machine, by the name of its file system."""
    folder = path.resolve().parent
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    mount = next((place for place in [folder, *folder.parents] if place in mounts), None)
    return mounts.get(mount, "") in _LOCAL
