"""Bring a file of a dataset here: from the cache, a mirror, or its public addresses.

Content decides, not origin: a file is taken from the first place that delivers the sha256 of its
entry in ``config/datasets.yaml``, and anything else is refused with both sums. An entry is one of

- ``{sha256, mirror, urls}``: third-party data, the usual case; with ``content`` also an archive
  that holds the same files in another packing (`packed.content_sum`);
- ``{path}``: a file of the user's own, read where it lies (``sha256`` is optional);
- ``{sha256: null, why}``: an unavailable file; `Unavailable` without an attempt.

Where a file came from is noted in its receipt for people to read. No later step may read that
field: a result must not depend on which copy of the same bytes was used.
"""

import hashlib
import json
import logging
import math
import os
import threading
import time
from pathlib import Path

from workflow.lib.storage.artifacts import (
    SCHEMA_VERSION,
    CorruptArtifact,
    atomic_write,
    sha256,
    write_json,
)
from workflow.lib.storage.mirror import MIRROR_VARIABLE, mirror_place
from workflow.lib.storage.packed import content_sum
from workflow.lib.storage.places import (
    NOT_THERE,
    Bounds,
    Place,
    PlaceError,
    chunks,
    is_there,
    within,
)

ATTEMPTS = 3
BACKOFF = 1.0  # seconds before the second attempt; doubles with each further one
DEFAULT = Bounds()

_OWN_FILE = "own file"  # where the user's own come from, in receipts
_RECEIPT_KEYS = ("file", "status", "sha256", "bytes", "from", "tried", "reason")

_log = logging.getLogger(__name__)


class Unavailable(RuntimeError):
    """No place delivered the file; the message lists the places, the reasons and what to do.

    Attributes
    ----------
    tried : list of dict
        One ``{place, reason, refused}`` per place; refused: it held something else.
    """

    def __init__(self, message: str, tried: list[dict]):
        super().__init__(message)
        self.tried = tried

    @property
    def summary(self) -> str:
        """First line of the message: it names no place of this machine, so records may hold it."""
        return str(self).partition("\n")[0]


# -- where to look ----------------------------------------------------------------------------


def _places(name: str, entry: dict, raw: Path, mirror: str | None) -> list[Place]:
    if entry.get("sha256") is None:
        return []
    cached = Path(raw) / name
    places = [Place("cache", cached, f"the cache {cached}")]
    if mirror and entry.get("mirror"):
        places.append(mirror_place(entry["mirror"], mirror))
    return places + [Place("public", url, url) for url in entry.get("urls", [])]


# -- taking from one place ---------------------------------------------------------------------


def _accepts(entry: dict, path: Path, digest: str) -> bool:
    """Whether a file with this sum is what an entry states, or the same files packed otherwise."""
    if digest == entry["sha256"]:
        return True
    content = entry.get("content")
    return bool(content) and content_sum(path, content["folders"]) == content["sha256"]


def _wrong_sum(name: str, found: str, expected: str, place: Place) -> str:
    advice = {
        "cache": "It is fetched anew.",
        "mirror": "Delete it there, or correct the entry.",
        "public": "The file has changed there or something else answered; correct the entry.",
    }[place.kind]
    return f"{name}: sha256 is {found}, expected {expected} (from {place.origin}). {advice}"


def _transfer(name: str, entry: dict, place: Place, cached: Path, bounds: Bounds) -> None:
    """Copy a place's bytes into the cache; the final name appears only with the right content."""
    given_up = threading.Event()
    with atomic_write(cached) as temporary:
        try:
            found = within(bounds.seconds, lambda: _copy(place, temporary, bounds, given_up))
        finally:
            given_up.set()
        if not _accepts(entry, temporary, found):
            raise PlaceError(_wrong_sum(name, found, entry["sha256"], place), refused=True)


def _copy(place: Place, path: Path, bounds: Bounds, given_up: threading.Event) -> str:
    """Write a place's bytes to a file and give their sum."""
    digest = hashlib.sha256()
    with open(path, "wb") as stream:
        # Reading reports its failures as PlaceError; what else is raised in here is a full disk or
        # a forbidden folder, which no other place would cure.
        for chunk in chunks(place, bounds):
            if given_up.is_set():
                break
            digest.update(chunk)
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()


def _transfer_patiently(name: str, entry: dict, place: Place, cached: Path, bounds: Bounds) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _transfer(name, entry, place, cached, bounds)
            return
        except PlaceError as failure:
            if not failure.transient or attempt == ATTEMPTS:
                raise
            _log.warning("%s: %s (from %s). Trying again.", name, failure, place.origin)
        time.sleep(BACKOFF * 2 ** (attempt - 1))


def _check_cache(name: str, entry: dict, place: Place) -> None:
    digest = hashlib.sha256()
    for chunk in chunks(place, Bounds(math.inf)):
        digest.update(chunk)
    if not _accepts(entry, place.address, digest.hexdigest()):
        # Kept under another name for whoever wants to know what happened to it.
        aside = place.address.with_name(f"{place.address.name}.refused")
        os.replace(place.address, aside)
        reason = _wrong_sum(name, digest.hexdigest(), entry["sha256"], place)
        raise PlaceError(f"{reason} The refused one was moved to {aside}.", refused=True)


def _deliver(name: str, entry: dict, place: Place, cached: Path, bounds: Bounds) -> None:
    if place.kind == "cache":
        _check_cache(name, entry, place)
    else:
        _transfer_patiently(name, entry, place, cached, bounds)


# -- fetching ---------------------------------------------------------------------------------


def fetch(
    name: str, entry: dict, raw: Path, mirror: str | None = None, bounds: Bounds = DEFAULT
) -> Path:
    """Bring one file here and return where it lies.

    Parameters
    ----------
    name : str
        Key of the file in ``files:`` of its dataset.
    entry : dict
        Its entry; see the module's docstring for the forms.
    raw : Path
        Cache folder of the dataset, ``resources/raw/{dataset}``.
    mirror : str or None
        Folder or address, as `mirror.resolve_mirror` gives it.
    bounds : Bounds
        Most that a transfer may take.

    Raises
    ------
    Unavailable
        If no place delivers the right content, or the entry says that it is unavailable.
    FileNotFoundError
        If the user's own file is missing.
    ValueError
        If the user's own file has another sha256 than its entry states.
    """
    return _fetch(name, entry, Path(raw), mirror, bounds)[0]


def obtain(
    name: str, entry: dict, raw: Path, mirror: str | None = None, bounds: Bounds = DEFAULT
) -> dict:
    """Like `fetch`, but give a receipt, also (status ``unavailable``) when nothing delivers."""
    try:
        path, origin, tried = _fetch(name, entry, Path(raw), mirror, bounds)
    except Unavailable as failure:
        _log.warning("%s", failure)
        return _receipt(name, "unavailable", tried=failure.tried, reason=str(failure))
    # A stated sum was checked a moment ago.
    digest = sha256(path) if "content" in entry else entry.get("sha256") or sha256(path)
    return _receipt(name, "delivered", digest, path.stat().st_size, origin, tried)


def _fetch(
    name: str, entry: dict, raw: Path, mirror: str | None, bounds: Bounds
) -> tuple[Path, str, list[dict]]:
    if "path" in entry:
        return own_file(name, entry), _OWN_FILE, []
    if entry.get("sha256") is None:
        raise Unavailable(f"{name}: unavailable: {entry.get('why', 'no reason stated')}", [])
    cached, tried = raw / name, []
    for place in _places(name, entry, raw, mirror):
        try:
            _deliver(name, entry, place, cached, bounds)
        except PlaceError as failure:
            tried.append(_attempt(place, failure))
        else:
            return cached, place.origin, tried
    raise Unavailable(_nothing_delivered(name, entry, cached, mirror, tried), tried)


def own_file(name: str, entry: dict) -> Path:
    """Where a file of the user's own lies, after checking the sum that its entry states, if any.

    Raises
    ------
    FileNotFoundError
    ValueError
        If its content is another; with both sums.
    """
    path = Path(entry["path"]).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"{name}: no file at {path} (looked in {path.absolute().parent}). "
            "Correct its `path`: a relative one counts from the folder of your own configuration "
            "that the entry stands in, else from the folder of the run."
        )
    expected = entry.get("sha256")
    if expected and (found := sha256(path)) != expected:
        raise ValueError(
            f"{name}: sha256 is {found}, expected {expected} (own file {path}). "
            "Restore the file, or correct or drop the sha256 of its entry."
        )
    return path


def _attempt(place: Place, failure: PlaceError) -> dict:
    # A cache without the file is the normal case; anything else belongs in the log even if the
    # next place delivers.
    if place.kind != "cache" or str(failure) != NOT_THERE:
        _log.warning("%s: %s", place.origin, failure)
    return {"place": str(place.address), "reason": str(failure), "refused": failure.refused}


def _nothing_delivered(
    name: str, entry: dict, cached: Path, mirror: str | None, tried: list[dict]
) -> str:
    lines = [f"{name}: could not be downloaded", "Tried:"]
    lines += [f"  {attempt['place']}: {attempt['reason']}" for attempt in tried]
    if entry.get("mirror"):
        named = f"the mirror is {mirror}" if mirror else "no mirror is named"
        lines.append(
            f"Name a mirror (a folder or an address) that holds {entry['mirror']} with "
            f"`--config mirror=...` or the environment variable {MIRROR_VARIABLE} ({named}), "
            f"or put the file at {cached} yourself."
        )
    else:
        lines.append(f"Put the file at {cached} yourself, or add an address to its entry.")
    lines.append(f"Its sha256 is {entry['sha256']}.")
    return "\n".join(lines)


# -- receipts ---------------------------------------------------------------------------------


def _receipt(
    name: str,
    status: str,
    digest: str | None = None,
    size: int | None = None,
    origin: str | None = None,
    tried: list[dict] | None = None,
    reason: str | None = None,
) -> dict:
    return {
        "file": name,
        "status": status,
        "sha256": digest,
        "bytes": size,
        "from": origin,
        "tried": tried or [],
        "reason": reason,
    }


def write_receipt(path: Path | str, receipt: dict) -> None:
    """Write what `obtain` gave as JSON, with a checksum of itself."""
    stored = {"schema_version": SCHEMA_VERSION, **receipt, "checksum": _checksum(receipt)}
    write_json(path, stored)


def read_receipt(path: Path | str) -> dict:
    """Read what `write_receipt` wrote.

    Raises
    ------
    CorruptArtifact
        If the file is damaged, or not a receipt.
    """
    path = Path(path)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        receipt = {key: stored[key] for key in _RECEIPT_KEYS}
        if stored["checksum"] != _checksum(receipt):
            raise ValueError("it does not fit its checksum")
        if path.name != f"{receipt['file']}.json":
            raise ValueError(f"it is that of {receipt['file']}")
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptArtifact(path, f"it is not a receipt ({error})") from error
    return receipt


def _checksum(receipt: dict) -> str:
    return hashlib.sha256(json.dumps(receipt, sort_keys=True).encode()).hexdigest()


def delivered_path(receipt: dict, entry: dict, raw: Path) -> Path:
    """Where the bytes of a delivered file lie, after checking that they are still the same.

    The user's own file is as it is, unless its entry states a sum.

    Raises
    ------
    Unavailable
        If the receipt says that the file is unavailable.
    RuntimeError
        If the file is missing or has changed since.
    """
    if receipt["status"] != "delivered":
        raise Unavailable(receipt["reason"], receipt["tried"])
    if "path" in entry:
        return own_file(receipt["file"], entry)
    path, expected = Path(raw) / receipt["file"], receipt["sha256"]
    found = sha256(path) if path.is_file() else None
    if found != expected:
        what = (
            f"sha256 is {found}, expected {expected}" if found else "it was delivered, but is gone"
        )
        raise RuntimeError(
            f"{path}: {what}. Delete the receipt of this file in resources/receipts and run again; "
            "it is then fetched anew."
        )
    return path


def stale_receipts(
    folder: Path | str,
    datasets: dict[str, dict],
    mirror: str | None = None,
    raw: Path | str = "resources/raw",
) -> list[Path]:
    """Receipts of files that are to be tried again: what is unavailable may be had, or is another.

    The first is so if the cache or the mirror's folder now holds the right content, if an address
    is named that was not tried, or if an address that failed is there now (asked with a HEAD
    request, only when there is such a receipt; a server that does not answer is asked once). A
    public address that delivered other content is not asked again. The second is so if the sum that
    the entry states is no longer that of the delivered file, or the user's own file is theirs no
    longer. A damaged receipt is stale too. The
    marks that the Snakefile writes beside stale ones make the workflow try just these files again.

    Parameters
    ----------
    folder : path
        ``resources/receipts``; receipts lie at ``{dataset}/{file}.json``.
    datasets : dict
        The ``datasets`` of ``config/datasets.yaml``.
    mirror : str or None
        As `mirror.resolve_mirror` gives it.
    raw : path
        ``resources/raw``.
    """
    stale, silent = [], set()
    for dataset, described in datasets.items():
        for name, entry in described.get("files", {}).items():
            path = Path(folder) / dataset / f"{name}.json"
            places = _places(name, entry, Path(raw) / dataset, mirror)
            if path.is_file() and _is_stale(path, places, entry, silent):
                stale.append(path)
    return stale


def _is_stale(path: Path, places: list[Place], entry: dict, silent: set[str]) -> bool:
    try:
        receipt = read_receipt(path)
    except CorruptArtifact:
        return True
    if receipt["status"] == "delivered":
        # Of an archive that may be packed otherwise, only its content could tell.
        stated = None if "path" in entry or "content" in entry else entry.get("sha256")
        # What was the user's own file was never brought here, whatever it holds.
        moved = "path" not in entry and receipt["from"] == _OWN_FILE
        return moved or stated not in (None, receipt["sha256"])
    if "path" in entry:
        return True
    tried = {attempt["place"]: attempt for attempt in receipt["tried"]}
    return any(_may_deliver(place, entry, tried, silent) for place in places)


def _may_deliver(place: Place, entry: dict, tried: dict[str, dict], silent: set[str]) -> bool:
    if place.is_local:
        path = place.address
        try:
            return path.is_file() and _accepts(entry, path, sha256(path))
        except OSError:  # it cannot be read, as it could not then
            return False
    if place.address not in tried:
        return True
    # A mirror is the user's own: what it held that was wrong may have been put right since.
    refused = tried[place.address]["refused"] and place.kind != "mirror"
    return not refused and is_there(place.address, silent)
