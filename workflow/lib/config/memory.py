"""What earlier runs found out about the configuration, so that a run starts in a second.

Kept in the run's folder, beside Snakemake's own notes, by sums of what it was found out from: a
changed file is read anew. Whatever is wrong with the file of notes, they are made again.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

NOTES = Path(".snakemake")
FILE = NOTES / "configuration.json"
# Entries: several times as many as a run has.
MOST = 2000


class Memory:
    """Values by key, read from `FILE` when first asked and written back by `save`.

    Only JSON values that come back equal are kept. Without `NOTES`, as where no run was started,
    nothing is read or written.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] | None = None
        self._used: dict[str, str] = {}

    def get(self, key: str) -> Any:
        """A copy of the value of a key, or None."""
        if self._known is None:
            self._known = _read()
        if key in self._known:
            self._used[key] = self._known[key]
        return json.loads(self._used[key]) if key in self._used else None

    def put(self, key: str, value: Any) -> None:
        try:
            text = json.dumps(value)
        except (TypeError, ValueError):
            return
        if json.loads(text) == value:  # a key that is a number would come back as a text
            self._used[key] = text

    def save(self) -> None:
        """Write what is known; of too much what this process used alone, the rest is outdated."""
        known = {**(self._known or {}), **self._used}
        if known != self._known and NOTES.is_dir():
            self._known = known if len(known) <= MOST else dict(self._used)
            _write(self._known)


MEMORY = Memory()


def sum_of(*parts: bytes | str) -> str:
    """One key from several parts."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def sum_of_file(path: Path | str) -> str:
    """SHA-256 of a large file, read again only where its size or its time stamp has changed."""
    state = os.stat(path)
    key = sum_of("content", os.path.abspath(path), f"{state.st_size} {state.st_mtime_ns}")
    found = MEMORY.get(key)
    if found is None:
        with open(path, "rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        MEMORY.put(key, found)
    return found


def _read() -> dict[str, str]:
    try:
        found = json.loads(FILE.read_bytes())
        for text in found.values():
            json.loads(text)
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return found


def _write(values: dict[str, str]) -> None:
    # On a full or read-only disk the next start takes as long as this one.
    temporary = FILE.with_name(f"{FILE.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        temporary.write_text(json.dumps(values), encoding="utf-8")
        os.replace(temporary, FILE)
    temporary.unlink(missing_ok=True)
