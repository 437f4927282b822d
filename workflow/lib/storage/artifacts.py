"""Files between the stages: written whole or not at all, and never trusted unread.

Snakemake trusts an existing output by its time stamp, so a file that was truncated, emptied or
damaged behind its back would flow into the tables. Every file that one stage hands to another
therefore carries a checksum of its own content and its place, and reading it checks both: the
predictions of another method would be scored under this one's name.
"""

import contextlib
import errno
import hashlib
import json
import mmap
import os
import secrets
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

# NumPy and zipfile are imported where arrays are handled: a third of what a job that only copies a
# file takes.
if TYPE_CHECKING:
    import numpy as np

SCHEMA_VERSION = 1
_MANIFEST = "manifest"
_SUMS = "SHA256SUMS"
# Arrays of so many bytes stay in their file where the reader asks for it; smaller ones are read at
# once, which costs no page faults.
MAPPED_BYTES = 2**26
# An array in a file begins at a multiple of this, a cache line; NumPy copies what is not aligned.
_ALIGNMENT = 64
_ALIGNING_FIELD = 0xD935  # of a zip entry's extra data; readers skip what they do not know
# Bytes of a zip entry's header: fixed; where its name and extra data say how long they are; what
# zipfile adds for entries beyond 4 GiB.
_ENTRY_HEADER, _ENTRY_LENGTHS, _ENTRY_ZIP64 = 30, slice(26, 30), 20
# Folders below which a file's path says what it holds.
_TOP = ("results", "resources")


class CorruptArtifact(RuntimeError):
    """A file is not what its writer left: truncated, emptied, changed or of another kind."""

    def __init__(self, path: Path, what: str):
        # Deleted it would not be missed where all that was made of it is there.
        super().__init__(
            f"{path}: {what}. The file was damaged after it was written. To make it, and what "
            f"follows from it, again: snakemake --cores all --forcerun {path} -- EXPERIMENT"
        )


@contextlib.contextmanager
def read_as_written(path: Path) -> Iterator[None]:
    """Name the file if it does not hold what it should; what cannot be opened is left alone."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError, MemoryError):
        raise
    except Exception as error:  # damaged bytes raise a dozen kinds, from zlib's to tokenize's
        # The system's own errors say of the file only that it could not be read now.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise CorruptArtifact(path, str(error) or type(error).__name__) from error


@contextlib.contextmanager
def atomic_write(path: Path | str) -> Iterator[Path]:
    """Give a temporary name beside ``path``; move it into place if the block succeeds.

    The name is unique, so that an orphan of a killed run and its successor cannot mix their bytes.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The ending is kept: writers such as matplotlib and pandas choose their format by it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}-{secrets.token_hex(3)}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.filename is None:  # a full disk does not say which file it was
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def sha256(path: Path | str) -> str:
    """Hexadecimal SHA-256 of a file's content."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _place(path: Path) -> str:
    """What a file is by its path: below ``results`` or ``resources``, wherever these lie."""
    parts = path.parts
    depths = [depth for depth, part in enumerate(parts[:-1]) if part in _TOP]
    return "/".join(parts[max(depths, default=len(parts) - 2) + 1 :])


def _check_place(path: Path, stored: str) -> None:
    if stored != _place(path):
        raise ValueError(f"it was written as {stored}")


def _array_sum(array: "np.ndarray") -> str:
    import numpy as np

    header = f"{array.dtype.str}{array.shape}".encode()
    total = hashlib.sha256(header)
    # The bytes where they are: an array may take half of the memory that a job has.
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, content.size, MAPPED_BYTES):
        total.update(content[start : start + MAPPED_BYTES])
        if isinstance(array.base, mmap.mmap):  # what was read counts as resident memory
            array.base.madvise(mmap.MADV_DONTNEED)
    return total.hexdigest()


def write_arrays(path: Path | str, arrays: dict[str, "np.ndarray"], meta: dict) -> None:
    """Write named arrays and JSON-able ``meta`` as one ``.npz`` with a checksum of each array."""
    import numpy as np

    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "place": _place(Path(path)),
        "meta": meta,
        "sums": {name: _array_sum(array) for name, array in arrays.items()},
    }
    text = json.dumps(manifest, sort_keys=True)
    with atomic_write(path) as temporary, open(temporary, "wb") as stream:
        _save(stream, {**arrays, _MANIFEST: np.array([_text_sum(text), text])})


def _save(stream: BinaryIO, arrays: dict[str, "np.ndarray"]) -> None:
    """What ``numpy.savez`` writes, with every array at an aligned place of the file."""
    import zipfile

    import numpy as np

    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            header = _ENTRY_HEADER + len(entry.filename.encode()) + _ENTRY_ZIP64
            missing = -(stream.tell() + header + 4) % _ALIGNMENT
            entry.extra = struct.pack("<HH", _ALIGNING_FIELD, missing) + bytes(missing)
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_arrays(path: Path | str, mapped: bool = False) -> tuple[dict[str, "np.ndarray"], dict]:
    """Read what `write_arrays` wrote; the arrays are read-only, for they are shared by trials.

    Parameters
    ----------
    path : path
    mapped : bool, default=False
        Whether arrays of `MAPPED_BYTES` or more stay in the file: read once for their checksum, and
        from then on as they are used. Processes share what the system keeps of them in memory. A
        file that is replaced, as all writers here do, stays what it was; one that is cut short
        where it lies, or replaced by another machine of a network file system, ends the process.

    Raises
    ------
    CorruptArtifact
        If the file is damaged, of another kind, or another file of its kind.
    """
    import numpy as np

    path = Path(path)
    with read_as_written(path):
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: _array(path, stored, name, mapped) for name in stored.files}
        manifest = _checked_manifest(path, arrays.pop(_MANIFEST))
        if sorted(manifest["sums"]) != sorted(arrays):
            raise ValueError("it does not hold the arrays that its manifest lists")
        for name, expected in manifest["sums"].items():
            if _array_sum(arrays[name]) != expected:
                raise ValueError(f"array {name!r} does not fit its checksum")
            arrays[name].flags.writeable = False
        return arrays, manifest["meta"]


def _array(path: Path, stored: "np.lib.npyio.NpzFile", name: str, mapped: bool) -> "np.ndarray":
    """One array of an open file, in it or read."""
    import zipfile

    import numpy as np

    entry = stored.zip.getinfo(f"{name}.npy")
    if not mapped or entry.file_size < MAPPED_BYTES or entry.compress_type != zipfile.ZIP_STORED:
        return stored[name]
    with stored.zip.open(entry) as member:
        version = np.lib.format.read_magic(member)
        first = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(member)
        inside = member.tell()
    with open(path, "rb") as stream:
        stream.seek(entry.header_offset)
        lengths = struct.unpack("<HH", stream.read(_ENTRY_HEADER)[_ENTRY_LENGTHS])
    start = entry.header_offset + _ENTRY_HEADER + sum(lengths) + inside
    if dtype.hasobject or start % dtype.alignment:  # not from here
        return stored[name]
    return np.memmap(path, dtype, "r", start, shape, "F" if by_columns else "C")


def read_meta(path: Path | str) -> dict:
    """The ``meta`` of what `write_arrays` wrote, without its arrays, which are not checked.

    Raises
    ------
    CorruptArtifact
        As `read_arrays`, as far as it can be seen without them.
    """
    return _manifest(path)["meta"]


def content_sum(path: Path | str) -> str:
    """One sum of all that `write_arrays` wrote, from the sums in the file: no array is read.

    Raises
    ------
    CorruptArtifact
        As `read_meta`.
    """
    return _text_sum(json.dumps(_manifest(path), sort_keys=True))


def _manifest(path: Path | str) -> dict:
    import numpy as np

    path = Path(path)
    with read_as_written(path), np.load(path, allow_pickle=False) as stored:
        return _checked_manifest(path, stored[_MANIFEST])


def _checked_manifest(path: Path, stored: "np.ndarray") -> dict:
    checksum, text = (str(item) for item in stored)
    if _text_sum(text) != checksum:
        raise ValueError("its manifest does not fit its checksum")
    manifest = json.loads(text)
    _check_place(path, manifest["place"])
    return manifest


def write_records(path: Path | str, records: list[dict], meta: dict) -> None:
    """Write records as JSON lines behind a header line with their number and checksum."""
    place = _place(Path(path))
    body = "".join(json.dumps(record, sort_keys=True, allow_nan=False) + "\n" for record in records)
    header = {
        "schema_version": SCHEMA_VERSION,
        "place": place,
        "n_records": len(records),
        "sha256": _text_sum(place + json.dumps(meta, sort_keys=True) + body),
        "meta": meta,
    }
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(header, sort_keys=True) + "\n" + body, encoding="utf-8")


def read_records(path: Path | str) -> tuple[list[dict], dict]:
    """Read what `write_records` wrote.

    Raises
    ------
    CorruptArtifact
        If the file is damaged, of another kind, or another file of its kind.
    """
    path = Path(path)
    with read_as_written(path):
        head, _, body = path.read_text(encoding="utf-8").partition("\n")
        header = json.loads(head)
        place, meta = header["place"], header["meta"]
        if _text_sum(place + json.dumps(meta, sort_keys=True) + body) != header["sha256"]:
            raise ValueError("its lines do not fit the checksum in its first line")
        _check_place(path, place)
        records = [json.loads(line) for line in body.splitlines()]
        if len(records) != header["n_records"]:
            raise ValueError(f"{len(records)} records, its first line says {header['n_records']}")
        return records, meta


def read_header(path: Path | str) -> dict:
    """The ``meta`` of what `write_records` wrote, without its records, which are not checked.

    Raises
    ------
    CorruptArtifact
        If the first line is no header.
    """
    path = Path(path)
    with read_as_written(path):
        with open(path, encoding="utf-8") as stream:
            meta = json.loads(stream.readline())["meta"]
        if not isinstance(meta, dict):
            raise ValueError("its first line is no header")
        return meta


def write_json(path: Path | str, note: Mapping) -> None:
    """Write a note: a JSON object without a checksum. Mappings in it become objects, too."""
    with atomic_write(path) as temporary:
        text = json.dumps(note, indent=1, ensure_ascii=False, default=dict)
        temporary.write_text(f"{text}\n", encoding="utf-8")


def read_json(path: Path | str) -> dict:
    """Read a note: a JSON object without a checksum.

    Raises
    ------
    CorruptArtifact
        If it holds anything else.
    """
    path = Path(path)
    with read_as_written(path):
        note = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(note, dict):
            raise ValueError("it is no JSON object")
        return note


def _text_sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_sums(folder: Path | str, names: Iterable[str]) -> None:
    """Write ``SHA256SUMS`` for files of a folder (also checked by ``sha256sum -c``)."""
    folder = Path(folder)
    lines = [f"{sha256(folder / name)}  {name}\n" for name in sorted(names)]
    with atomic_write(folder / _SUMS) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")


def verify_sums(folder: Path | str, names: Iterable[str]) -> None:
    """Check files of a folder against its ``SHA256SUMS``, which lists exactly these.

    Raises
    ------
    CorruptArtifact
        Naming the first file that is missing or changed, or the list where it is another one.
    """
    folder = Path(folder)
    sums = folder / _SUMS
    with read_as_written(sums):
        lines = [line.partition("  ") for line in sums.read_text(encoding="utf-8").splitlines()]
    if [name for _, _, name in lines] != sorted(names):
        raise CorruptArtifact(
            sums, f"it does not list {', '.join(sorted(names))} and no other file"
        )
    for expected, _, name in lines:
        if not (folder / name).is_file():
            raise CorruptArtifact(folder / name, "it is listed in SHA256SUMS but missing")
        if sha256(folder / name) != expected:
            raise CorruptArtifact(folder / name, "it does not fit its line in SHA256SUMS")


def results_sum(folder: Path) -> str | None:
    """Sum that changes with the results in an experiment's folder; None without any."""
    files = [folder / name for name in ("SHA256SUMS", "study.jsonl")]
    return next((sha256(path) for path in files if path.is_file()), None)
