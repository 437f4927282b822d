"""The mirror: a folder or a server of the user's that holds the data files."""

import os
import re
import urllib.parse
import urllib.request
from pathlib import Path

from workflow.lib.storage.places import Place

MIRROR_VARIABLE = "ALIGNMENT_MIRROR"


def resolve_mirror(config: dict) -> str | None:
    """Folder or address of the mirror: ``config["mirror"]``, else ``ALIGNMENT_MIRROR``, else none.

    Raises
    ------
    ValueError
        If it is an address of a kind that cannot be read, or holds a password.
    """
    mirror = str(config.get("mirror") or os.environ.get(MIRROR_VARIABLE) or "").strip()
    if not mirror:
        return None
    if _holds_password(mirror):
        raise ValueError(
            f"the mirror, named by {MIRROR_VARIABLE} or `mirror`: its address holds a password "
            "or a token, which would end in receipts and logs. Leave it out and write name and "
            "password to ~/.netrc, readable by you alone: machine HOST login NAME password PASSWORD"
        )
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", mirror)
    if scheme and scheme[1].lower() not in {"http", "https", "file"}:
        raise ValueError(
            f"mirror {mirror!r}: addresses of kind {scheme[1]!r} cannot be read. "
            "Name a folder, or an http, https or file address."
        )
    return mirror


def _holds_password(mirror: str) -> bool:
    """Whether anything stands before its host, be it a password or a token, or behind a `?`."""
    try:
        parts = urllib.parse.urlsplit(mirror)
    except ValueError:
        return False  # no address: whoever reads it says so
    return "://" in mirror and ("@" in parts.netloc or bool(parts.query))


def check_mirror(mirror: str | None, datasets: dict[str, dict]) -> None:
    """Refuse a mirror that is a folder and can serve nothing, which a mistyped name is.

    Raises
    ------
    ValueError
        If there is no such folder, or none of the files that `datasets` place in a mirror is in it.
    """
    folder = _mirror_folder(mirror) if mirror else None
    if folder is None:
        return
    if not folder.is_dir():
        raise ValueError(
            f"mirror {mirror!r}: there is no such folder (looked for {folder.absolute()}). Correct "
            f"`--config mirror=...` or the environment variable {MIRROR_VARIABLE}, or name none."
        )
    entries = (entry for dataset in datasets.values() for entry in dataset["files"].values())
    placed = [entry["mirror"] for entry in entries if entry.get("mirror")]
    if placed and not any((folder / path).exists() for path in placed):
        raise ValueError(
            f"mirror {mirror!r}: it holds none of the {len(placed)} files of config/datasets.yaml, "
            f"the first of which would be {folder / placed[0]}. Name the folder above it, or none."
        )


def _mirror_folder(mirror: str) -> Path | None:
    """The folder that a mirror is, or None for a server."""
    if mirror.lower().startswith(("http://", "https://")):
        return None
    if mirror.lower().startswith("file://"):
        mirror = urllib.request.url2pathname(urllib.parse.urlsplit(mirror).path)
    return Path(mirror).expanduser()


def mirror_place(path: str, mirror: str) -> Place:
    """The place of a file below the mirror."""
    folder, origin = _mirror_folder(mirror), f"the mirror {mirror}"
    if folder is None:
        return Place("mirror", f"{mirror.rstrip('/')}/{urllib.parse.quote(path)}", origin)
    return Place("mirror", folder / path, origin)
