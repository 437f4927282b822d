"""The note of the most memory that runs in a folder held at one time, MiB."""

from pathlib import Path

from workflow.lib.storage.artifacts import CorruptArtifact, read_json, write_json

# {"peak_mb": x}, of all runs in this folder so far, as Snakemake's own notes are.
PEAK_MEMORY = Path(".snakemake/peak_memory.json")


def write_peak(file: Path, mib: float) -> None:
    """Note a peak."""
    write_json(file, {"peak_mb": round(mib, 1)})


def read_peak(file: Path = PEAK_MEMORY) -> float | None:
    """What was noted; None if nothing was, or the note is damaged."""
    try:
        return float(read_json(file)["peak_mb"])
    except (OSError, CorruptArtifact, LookupError, TypeError, ValueError):
        return None
