"""One MLflow store for several checkouts: whose a run is, and who writes now."""

import contextlib
import dataclasses
import getpass
import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy
import sqlalchemy.exc
from sqlalchemy.pool import NullPool

from workflow.lib.storage.artifacts import atomic_write

# Tag of every run: of several checkouts each replaces and deletes only its own.
CHECKOUT = "checkout"
_NOTE = Path("results/.checkout")
# Any number that no other user of the database locks; kept by all versions.
_LOCK_KEY = int.from_bytes(hashlib.sha256(b"domain-alignment benchmark").digest()[:7], "big")
_LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code


def ownership_tags(folder: Path = Path()) -> dict[str, str]:
    """Tags that say whose a run is: this checkout's, and who writes.

    The checkout is named by user, machine and folder, and noted beside the results: they keep their
    name when they move, and get it again when they are made anew in the same place. A copy of a
    checkout that is still there gets a name of its own, and so does what another user has brought
    to another machine.
    """
    user, host, here = _user(), socket.gethostname(), str(folder.resolve())
    noted, whose = _noted(folder), f"{user}@{host}"
    now = _Note(noted.name, here, whose, str(folder.stat().st_ino))
    if noted.name is None or _is_of_another(noted, folder) or _is_brought(noted, now):
        sum_of_place = hashlib.sha256(f"{whose}:{here}".encode()).hexdigest()
        now = dataclasses.replace(now, name=f"{user}-{sum_of_place[:12]}")
    if now != noted:
        with atomic_write(folder / _NOTE) as temporary:
            temporary.write_text("\n".join([*dataclasses.astuple(now), ""]), encoding="utf-8")
    return {CHECKOUT: now.name, "mlflow.user": user}


@dataclasses.dataclass(frozen=True)
class _Note:
    """What is noted beside results: their name, where they lay, who wrote at which machine, and the
    folder's number in its file system, which is the same for all who share that."""

    name: str | None = None
    place: str = ""
    whose: str = ""
    number: str = ""


def _is_of_another(note: _Note, folder: Path) -> bool:
    """Whether the checkout that was noted under a name is still there, and is not this folder."""
    try:
        there = note.place and not folder.samefile(note.place)
        return bool(there) and _noted(Path(note.place)).name == note.name
    except OSError:  # it is gone, or not for this user's eyes
        return False


def _is_brought(noted: _Note, now: _Note) -> bool:
    """Whether user, machine and folder all are others than was noted last."""
    (former, _, there), (user, _, host) = (one.whose.rpartition("@") for one in (noted, now))
    others = former != user and there != host and noted.number != now.number
    return bool(noted.whose) and others


def _noted(folder: Path) -> _Note:
    """A checkout's note; without one, or with one that says nothing, no name."""
    try:
        lines = (folder / _NOTE).read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return _Note()
    if not lines or not lines[0].strip():
        return _Note()
    return _Note(*(line.strip() for line in lines[:4]))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"


@contextlib.contextmanager
def database_lock(uri: str, seconds: float) -> Iterator[None]:
    """Connect to a database, and on PostgreSQL be its only writer of this project meanwhile.

    MLflow's migrations of an empty database end all but one of several that run them at once, and
    two writers would make the same experiment twice. SQLite has a lock file of its own; on other
    servers the first run must be alone. Connecting tells at once what is wrong with an address:
    MLflow itself tries it for almost two minutes.

    Raises
    ------
    TimeoutError
        If another writer holds the lock for ``seconds``.
    sqlalchemy.exc.SQLAlchemyError
        If the database cannot be reached.
    """
    engine = sqlalchemy.create_engine(uri, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            with _locked(connection, seconds):
                yield
            return
    yield


@contextlib.contextmanager
def _locked(connection: sqlalchemy.Connection, seconds: float) -> Iterator[None]:
    try:
        connection.execute(sqlalchemy.text(f"SET lock_timeout = {int(1000 * seconds)}"))
        connection.execute(sqlalchemy.text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK_KEY})
    except sqlalchemy.exc.OperationalError as error:
        if getattr(error.orig, "pgcode", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise TimeoutError(f"another run has been writing to it for {seconds:g} s") from error
    try:
        yield
    finally:
        # The server lets go of the lock of a connection that is lost.
        with contextlib.suppress(sqlalchemy.exc.SQLAlchemyError):
            connection.execute(
                sqlalchemy.text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK_KEY}
            )
