"""Files that could not be had, and what to do about them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.lib.storage.artifacts import CorruptArtifact
from workflow.lib.storage.fetch import read_receipt
from workflow.lib.storage.mirror import MIRROR_VARIABLE


def missing(receipts: Iterable[Path | str]) -> list[Path]:
    """Those of the receipts, ``.../{dataset}/{file}.json``, that say ``unavailable``."""
    return [path for path in sorted(set(map(Path, receipts))) if _is_unavailable(path)]


def _is_unavailable(path: Path) -> bool:
    try:
        return read_receipt(path)["status"] == "unavailable"
    except (OSError, CorruptArtifact):
        return False  # not tried yet, or about to be tried again


def remedy(receipts: Iterable[Path], datasets: Mapping[str, Mapping]) -> str:
    """What to do about missing files: names, sums and where to put them; empty without any.

    Parameters
    ----------
    receipts : iterable of Path
        As `missing` gives them.
    datasets : mapping
        The ``datasets`` of ``config/datasets.yaml``.
    """
    lines, lost = [], []
    for path in receipts:
        dataset, name = path.parent.name, path.name.removesuffix(".json")
        entry = datasets[dataset]["files"][name]
        if entry.get("sha256") is None:
            lost.append(f"  {dataset}/{name}: {entry.get('why', 'no reason stated')}")
            continue
        lines.append(f"  resources/raw/{dataset}/{name}\n    sha256 {entry['sha256']}")
        if "mirror" in entry:
            lines.append(f"    in a mirror: {entry['mirror']}")
    if lines:
        lines.insert(0, "Data could not be downloaded. Put these files here:")
        lines.append(
            "or name a folder or an address that holds them: --config mirror=... or the "
            f"environment variable {MIRROR_VARIABLE}. Then run the same again."
        )
    return "\n".join([*lines, *(["Data that cannot be had:"] if lost else []), *lost])
