"""Archives by the files in them: the same posts or images in another packing are the same data.

A public repository delivers its folders in an archive of its own making, whose bytes may change
while the files in it do not. So an entry may state, beside the sum of the mirror's archive, one
over the files below some folders.
"""

import hashlib
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

# Most that the files of an archive may hold unpacked, in bytes.
MOST_UNPACKED = 2 * 10**9


def content_sum(path: Path, folders: Sequence[str]) -> str | None:
    """Sum over names and contents of the regular files below some folders of a tar archive.

    Parameters
    ----------
    path : Path
    folders : sequence of str
        Names of folders, wherever they lie in the archive; a file's name counts from there.
        Hidden files are left out.

    Returns
    -------
    str or None
        64 hex digits: the sha256 of the lines ``<sha256>  <name>``, sorted by name; None if the
        file is no tar archive that can be read to its end, or holds too much.
    """
    try:
        with tarfile.open(path) as archive:
            sums = dict(_sums(archive, folders))
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error):
        return None
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _sums(archive: tarfile.TarFile, folders: Sequence[str]):
    unpacked = 0
    for member in archive:
        name = _name_below(member.name, folders)
        if name is None or not member.isfile():
            continue
        unpacked += member.size
        if unpacked > MOST_UNPACKED:
            raise ValueError(f"more than {MOST_UNPACKED} bytes unpacked")
        yield name, hashlib.file_digest(archive.extractfile(member), "sha256").hexdigest()


def _name_below(name: str, folders: Sequence[str]) -> str | None:
    """A member's name from the first of the folders on; None outside of them and if hidden."""
    parts = PurePosixPath(name).parts
    start = next((place for place, part in enumerate(parts) if part in folders), None)
    if start is None or any(part.startswith(".") for part in parts[start:]):
        return None
    return "/".join(parts[start:])
