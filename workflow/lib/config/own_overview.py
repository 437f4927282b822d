"""What was read of one's own files, in a few lines before anything runs."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.own_doubts import Read, doubts
from workflow.lib.config.own_labels import class_labels, file_name
from workflow.lib.config.tasks import parts_of
from workflow.loaders._labels import listing
from workflow.loaders.generic import Reader

# Lines of files and of warnings, so that the whole is seen at once.
_FILES, _WARNINGS, _NAMES, _CLASSES = 5, 6, 20, 12
_FILLED = {
    "drop": "their rows are left out",
    "mean": "filled by the column's mean in the same file",
    "median": "filled by the column's median in the same file",
    "most_frequent": "filled by the column's most frequent value in the same file",
    "error": "none is allowed",
}


def overview(files: Mapping[str, dict]) -> list[str]:
    """Lines that say what the files hold, what is made of it, and what is odd.

    Parameters
    ----------
    files : mapping
        As `workflow.lib.config.own_data.configuration` gives them.
    """
    read = read_again(files)
    warnings = [f"warning: {sentence}." for sentence in doubts(read)]
    if len(warnings) > _WARNINGS:
        hidden = len(warnings) - _WARNINGS
        warnings = [*warnings[:_WARNINGS], f"warning: {hidden} more of this kind."]
    return [*_of_files(read), *_of_features(read), _of_target_labels(read), *warnings]


def read_again(files: Mapping[str, dict]) -> Read:
    """What the files hold; the last few tables that were parsed are not parsed again."""
    (entry,) = files["datasets.yaml"]["datasets"].values()
    (protocol,) = files["protocols.yaml"]["protocols"].values()
    (experiment,) = (content for name, content in files.items() if name.startswith("experiments/"))
    reader = Reader(entry, {name: Path(file["path"]) for name, file in entry["files"].items()})
    domains = _domains(experiment["tasks"][0], entry["domains"])
    tables = reader.tables()
    codings = reader.codings(tables)
    names = {domain: file_name(entry, domain) for domain in domains}
    labels, rows, kept = {}, {}, {}
    for domain in domains:
        if domain in codings:
            X, places = codings[domain].encode(tables[domain], names[domain])
        else:
            X, places, *_ = reader.features(domain)
        labels[domain] = _labels(reader, domain, set(places.tolist()))
        rows[domain], kept[domain] = X.shape
    return Read(names, labels, rows, tables, codings, kept, entry, protocol, experiment)


def _domains(task: Mapping, described: Mapping[str, dict]) -> list[str]:
    """Domains that are read from files of their own, the target last."""
    sources = task["source"] if isinstance(task["source"], list) else [task["source"]]
    named = [ref.partition(".")[2] for ref in (*sources, task["target"])]
    return [part for name in named for part in parts_of(described, name)]


def _labels(reader: Reader, domain: str, kept: Collection[int]) -> list[str] | None:
    """Labels of the rows that are read, without those that ``missing: drop`` leaves out."""
    found = class_labels(reader, domain)
    return None if found is None else [name for place, name in found.items() if place in kept]


def _of_files(read: Read) -> list[str]:
    lines = [_of_file(read, domain) for domain in read.files]
    if len(lines) > _FILES:
        lines = [*lines[: _FILES - 2], f"  and {len(lines) - _FILES + 1} more sources", lines[-1]]
    if len(read.files) > 2 and isinstance(read.experiment["tasks"][0]["source"], str):
        rows = sum(read.rows[domain] for domain in read.files if domain != read.target)
        lines.insert(-1, f"  the sources are put together into one of {rows} rows")
    return ["read:", *lines]


def _of_file(read: Read, domain: str) -> str:
    role = "target" if domain == read.target else "source"
    rows, in_file = read.rows[domain], len(read.tables.get(domain, ()))
    counted = f"{rows} of {in_file}" if in_file > rows else str(rows)
    told = f"  {read.files[domain]}: {role}, {counted} rows, "
    labels = read.labels[domain]
    told += "no column of labels" if labels is None else f"{len(labels)} labelled"
    if labels:
        counts = Counter(labels)
        classes = [name for name in read.entry["class_names"] if name in counts]
        more = f", … ({len(classes)} classes)" if len(classes) > _CLASSES else ""
        told += f": {', '.join(f'{n} {counts[n]}' for n in classes[:_CLASSES])}{more}"
    comma = read.entry["domains"][domain]["params"].get("decimal") == ","
    return f"{told}; decimal comma" if comma else told


def _of_features(read: Read) -> list[str]:
    lines = [f"  features: {_features(read)}"]
    if read.entry["values"] == "counts":
        lines.append("  whole numbers: taken for counts, whose share of the row's sum is used too")
    if read.codings:
        empty = {d: c.empty_cells(read.tables[d], read.files[d]) for d, c in read.codings.items()}
        some = [f"{read.files[domain]} {count}" for domain, count in empty.items() if count]
        missing = read.entry["params"]["missing"]
        filled = _FILLED[missing]
        if missing in ("mean", "median") and any(c.categories for c in read.codings.values()):
            filled += ", of text by the most frequent"
        lines.append(f"  empty cells: {f'{listing(some)}; {filled}' if some else 'none'}")
    return lines


def _features(read: Read) -> str:
    if len(set(read.kept.values())) > 1:
        counts = [f"{read.files[domain]} {count}" for domain, count in read.kept.items()]
        return listing(counts)
    n_features = read.kept[read.target]
    coding = read.codings.get(read.target)
    if coding is None:
        return str(n_features)
    columns: Sequence[str] = coding.columns
    told = str(n_features)
    if n_features != len(columns):
        told += f", made of {len(columns)} columns"
    if len(columns) > _NAMES:
        return told
    kinds = {name: f"{name} ({len(found)} kinds)" for name, found in coding.categories.items()}
    return f"{told}: {', '.join(kinds.get(name, name) for name in columns)}"


def _of_target_labels(read: Read) -> str:
    shown, labels = read.protocol["target_labels"], read.labels[read.target]
    if isinstance(shown, int):
        told = f"methods see {shown} times as many as classes, of rows drawn at random"
        return f"  target labels: {told}; the others check the answer"
    if shown == "known":
        return f"  target labels: methods see the {len(labels)} that there are, as labels to learn"
    if labels:
        return "  target labels: hidden from all methods, used to check the answer alone"
    return "  target labels: none"
