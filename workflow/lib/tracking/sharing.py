"""One MLflow store for several checkouts: whose a run is, and who writes now."""

import contextlib
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
    checkout that is still there gets a name of its own.
    """
    user, here = _user(), str(folder.resolve())
    name, place = _noted(folder)
    if name is None or (place and _is_of_another(place, folder, name)):
        named = f"{user}@{socket.gethostname()}:{here}"
        name, place = f"{user}-{hashlib.sha256(named.encode()).hexdigest()[:12]}", ""
    if place != here:
        with atomic_write(folder / _NOTE) as temporary:
            temporary.write_text(f"{name}\n{here}\n", encoding="utf-8")
    return {CHECKOUT: name, "mlflow.user": user}


def _is_of_another(place: str, folder: Path, name: str) -> bool:
    """Whether the checkout that was noted under a name is still there, and is not this folder."""
    try:
        return not folder.samefile(place) and _noted(Path(place))[0] == name
    except OSError:  # it is gone, or not for this user's eyes
        return False


def _noted(folder: Path) -> tuple[str | None, str]:
    """Name and place of a checkout's note; without a note no name, of an old one no place."""
    note = folder / _NOTE
    if not note.is_file():
        return None, ""
    name, _, place = note.read_text(encoding="utf-8").strip().partition("\n")
    return name, place


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
