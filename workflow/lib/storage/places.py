"""One place of a file, a path or an address: read it within bounds, and say why it failed.

Servers, mirrors and what lies in the cache are not trusted: a name may be a pipe that nobody writes
to, a body may have no end or come one byte a minute. So nothing is awaited without a bound on the
whole, and no more is taken than a file may have.
"""

import base64
import http.client
import netrc
import os
import queue
import stat
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 30.0  # seconds without a byte, not for the whole transfer
PROBE_TIMEOUT = 5.0
NOT_THERE = "not there"

_USER_AGENT = "domain-alignment-benchmark/1 (python-urllib)"
_CHUNK = 1 << 16
# "Try again later" in the words of HTTP; any other status would be the same a second later.
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_DROPPED = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    http.client.IncompleteRead,
    http.client.RemoteDisconnected,
)


class PlaceError(Exception):
    """One place did not deliver.

    ``transient``: the same request may succeed in a moment. ``refused``: it delivered, but
    something else than the entry's content.
    """

    def __init__(self, reason: str, transient: bool = False, refused: bool = False):
        super().__init__(reason)
        self.transient = transient
        self.refused = refused


@dataclass(frozen=True)
class Bounds:
    """Most that one file may take: megabytes of 10^6 bytes, and seconds for one whole attempt."""

    mb: float = 2000
    seconds: float = 1800

    @classmethod
    def of(cls, config: dict) -> "Bounds":
        """Bounds of a run: ``downloads`` of ``config/config.yaml``."""
        named = config.get("downloads", {})
        return cls(named.get("max_mb", cls.mb), named.get("max_seconds", cls.seconds))

    def check_size(self, n_bytes: int) -> None:
        if n_bytes > self.mb * 1e6:
            bound = f"the bound of {self.mb:g} MB (downloads.max_mb in config/config.yaml)"
            raise PlaceError(f"larger than {bound}")


@dataclass(frozen=True)
class Place:
    kind: str  # cache | mirror | public
    address: Path | str
    origin: str  # how a person calls it

    @property
    def is_local(self) -> bool:
        return isinstance(self.address, Path)


def chunks(place: Place, bounds: Bounds) -> Iterator[bytes]:
    """The bytes of a place, piece by piece, no more of them than the bounds allow.

    Raises
    ------
    PlaceError
        If it does not deliver.
    """
    received = 0
    pieces = _read_file(place.address) if place.is_local else _read_url(place.address, bounds)
    for piece in pieces:
        received += len(piece)
        bounds.check_size(received)
        yield piece


def within(seconds: float, work: Callable[[], object]) -> object:
    """Result of ``work()``, or `PlaceError` if it takes longer.

    Run in a thread, because neither the look-up of a name nor the head of an answer can be given an
    end: a time-out of the socket starts anew with each byte.
    """
    done: queue.SimpleQueue = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # raised again below, in the thread that waits
            done.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result, error = done.get(timeout=seconds)
    except queue.Empty:
        bound = f"{seconds:g} s (downloads.max_seconds in config/config.yaml)"
        raise PlaceError(f"not complete after {bound}") from None
    if error is not None:
        raise error
    return result


def _read_file(path: Path) -> Iterator[bytes]:
    try:
        # Opened without waiting: a pipe would be waited for until somebody writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise PlaceError("not a regular file")
            while chunk := stream.read(_CHUNK):
                yield chunk
    except FileNotFoundError:
        raise PlaceError(NOT_THERE) from None
    except OSError as error:
        raise PlaceError(error.strerror or str(error)) from error


def _read_url(url: str, bounds: Bounds) -> Iterator[bytes]:
    received = 0
    try:
        with urllib.request.urlopen(_request(url), timeout=TIMEOUT) as answer:
            announced = _announced(answer)
            bounds.check_size(announced or 0)
            while chunk := answer.read1(_CHUNK):  # what is there; `read` waits for all of it
                received += len(chunk)
                yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _network_failure(error) from error
    # http.client ends a piecewise read of a dropped connection like that of a complete one.
    if announced is not None and received != announced:
        reason = f"the transfer broke off after {received} of {announced} bytes"
        raise PlaceError(reason, transient=True)


def _request(url: str, method: str = "GET") -> urllib.request.Request:
    """A request, with the user's name and password for this server if ``~/.netrc`` has them.

    They have no place in an address, which is noted in receipts, logs and messages.
    """
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT}, method=method)
    if found := _users().get(urllib.parse.urlsplit(url).hostname or ""):
        name, _, password = found
        words = base64.b64encode(f"{name}:{password}".encode()).decode("ascii")
        # Not for another server, to which this one may refer.
        request.add_unredirected_header("Authorization", f"Basic {words}")
    return request


def _users() -> dict[str, tuple]:
    """What ``~/.netrc`` has for each server; nothing if others may read it."""
    try:
        return netrc.netrc().hosts
    except (OSError, ValueError, netrc.NetrcParseError):  # most servers ask for no password
        return {}


def _announced(answer: http.client.HTTPResponse) -> int | None:
    """The stated length, if it is one; whether the content is right, its sum decides."""
    text = (answer.headers.get("Content-Length") or "").strip()
    return int(text) if text.isascii() and text.isdigit() else None


def _network_failure(error: Exception) -> PlaceError:
    if isinstance(error, urllib.error.HTTPError):
        status = f"HTTP {error.code} {error.reason}"
        if error.code == http.HTTPStatus.UNAUTHORIZED:
            status += "; name and password belong in ~/.netrc, readable by you alone"
        return PlaceError(status, transient=error.code in _TRANSIENT_STATUS)
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return PlaceError(f"no answer within {TIMEOUT:g} s", transient=True)
    # A dropped connection is worth another attempt at once. A name that does not resolve or a port
    # that nobody listens on is not: without network, every file would wait for nothing.
    return PlaceError(str(cause) or type(cause).__name__, transient=isinstance(cause, _DROPPED))


# What servers answer that have no HEAD, or addresses signed for GET alone: only a GET can tell.
_NO_HEAD = (403, 405, 501)


def is_there(url: str, silent: set[str]) -> bool:
    """Whether an address exists now; servers that do not answer at all are added to ``silent``."""
    server = urllib.parse.urlsplit(url).netloc
    if server in silent:
        return False

    def ask() -> bool:
        with urllib.request.urlopen(_request(url, "HEAD"), timeout=PROBE_TIMEOUT):
            return True

    try:
        return bool(within(2 * PROBE_TIMEOUT, ask))
    except urllib.error.HTTPError as error:
        return error.code in _NO_HEAD
    except (OSError, http.client.HTTPException, ValueError, PlaceError):
        silent.add(server)
        return False
