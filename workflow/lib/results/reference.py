"""A new run beside the reference run: ``python -m workflow.lib.results.reference [RESULTS]``.

``reports/reference`` holds the summaries of earlier results (`report.reference` copies them). For
every experiment of it that RESULTS (``results`` by default) has too, this says which mean scores
have moved, by how many points and how many standard errors, and exits with 1 if one moved beyond
the bound, if trials failed that did not, if the audit has another verdict, another published
number or a mean of ours beyond the bound, or if a file of the new run does not fit its sum. Boards
are compared by their tables, measured times not at all. Trials and seeds are the same in both, so
on one machine nothing moves.
"""

import argparse
import csv
import dataclasses
import re
import sys
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.metrics import METRICS
from workflow.lib.config.suite import Suite, load_suite
from workflow.lib.results.computed import computed_in_words, computed_of_suite
from workflow.lib.results.environment import describe
from workflow.lib.results.kept_scores import FOLDER as SCORES
from workflow.lib.results.records import FILES, PARTIAL_MEAN
from workflow.lib.results.run_log import read_run_log
from workflow.lib.results.significance import ALPHA
from workflow.lib.results.text import count, listed, moment
from workflow.lib.storage.artifacts import (
    CorruptArtifact,
    read_json,
    read_records,
    results_sum,
    verify_sums,
)

REFERENCE = PROJECT / "reports/reference"
SUMMARY, AUDIT = "summary.csv", "audit_summary.csv"
# What the folders of boards are called.
BOARD = "board_"
# A mean may move by half a standard error; where none is known (one trial, most metrics) and on
# boards by half a point; a number of a study, and a score that is no share, by 5 percent.
BOUND = 0.5
SHARE = 0.05
# Columns of boards in units of their own, by their labels: a share of the tasks, standard
# deviations. A p may move as long as it stays on its side of ALPHA: only that is read from it.
_BOUNDS = {"Harms": 0.05, "Effect size": 0.1}
_P = "p"
# Ends of intervals, as columns are called.
_ENDS = "interval low", "interval high"
_NO_SHARES = tuple(metric.title for metric in METRICS.values() if not metric.is_share)
_CELL = ("task", "method", "classifier", "setting")
_COUNTS = ("n_asked", "n_ok")
_ROUNDING = 1e-9
# Columns of boards that depend on the machine and its other work.
_MEASURED = ("Seconds", "MiB")


@dataclasses.dataclass(frozen=True)
class Difference:
    """What differs, in words; ``beyond``: more than the bound allows."""

    words: str
    beyond: bool = True

    def __str__(self) -> str:
        return f"{self.words}{'  BEYOND THE BOUND' if self.beyond else ''}"


def differences(reference: Path, new: Path) -> list[Difference] | None:
    """What of an experiment differs between its folder of the reference and that of a new run;
    None where the reference keeps no table of it, for what it measures are times.
    """
    if reference.name.startswith(BOARD):
        return _of_board(reference, new)
    is_study = not (reference / SUMMARY).is_file()
    try:
        if is_study:
            _, state = read_records(new / "study.jsonl")
        else:
            verify_sums(new, FILES)
    except CorruptArtifact as error:
        return [Difference(f"damaged: {error}")]
    if is_study and state["status"] != "ok":
        return [Difference(f"it ended with {state['status']}: {state['error']}")]
    if _is_of_earlier_results(new):
        return [Difference(f"its tables are of earlier results; run snakemake {new.name}")]
    if is_study:
        tables = sorted(reference.glob("*.csv"))
        found = [one for path in tables for one in _of_study(path, new / "tables" / path.name)]
        return found if tables else None
    old, now = _cells(reference / SUMMARY), _cells(new / SUMMARY)
    return [
        *_moved(old, _kept_too(old, now)),
        *_other_audit(reference / AUDIT, new / "tables" / AUDIT),
    ]


def _is_of_earlier_results(folder: Path) -> bool:
    """Whether the tables beside the results were made before them."""
    card = folder / "card.json"
    return card.is_file() and read_json(card).get("of") not in (None, results_sum(folder))


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file by the names of their columns."""
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _cells(path: Path) -> dict[tuple, dict[str, str]]:
    return {tuple(row[name] for name in _CELL): row for row in read_rows(path)}


def _kept_too(old: Mapping[tuple, dict], now: Mapping[tuple, dict]) -> Mapping[tuple, dict]:
    """Cells of a new run; of a tuned experiment those of the way of choosing that is kept."""
    if not any(row["classifier"] == "oracle" for row in now.values()):
        return now
    kept = {row["classifier"] for row in old.values()}
    return {place: row for place, row in now.items() if row["classifier"] in kept}


def _moved(old: Mapping[tuple, dict], new: Mapping[tuple, dict]) -> Iterator[Difference]:
    """Cells that only one run has, that lost trials, or whose mean scores are others.

    Means over other trials cannot be compared; of cells that lost trials the accuracy alone is.
    """
    for place in [*old, *(place for place in new if place not in old)]:
        name = ", ".join(part for part in place if part)
        if place not in new:
            yield Difference(f"{name}: not in the new run")
        elif place not in old:
            yield Difference(f"{name}: not in the reference", beyond=False)
        else:
            before, after = old[place], new[place]
            if any(before[key] != after[key] for key in _COUNTS):
                told = " -> ".join(f"{row['n_ok']} of {row['n_asked']}" for row in (before, after))
                yield Difference(f"{name}: trials that ended well {told}")
            elif before["n_ok"] == before["n_asked"]:
                yield from _moved_means(name, before, after)
            else:
                yield from _ended_otherwise(name, before, after)
                place = f"{name}, accuracy of {before['n_ok']} of {before['n_asked']} trials"
                means = before.get(PARTIAL_MEAN, ""), after.get(PARTIAL_MEAN, "")
                yield from _moved_points(place, means, None, METRICS["accuracy"].scale)


def _ended_otherwise(name: str, before: Mapping, after: Mapping) -> Iterator[Difference]:
    """As many trials without a score as before, of other outcomes."""
    outcomes = [key for key in before if key.startswith("n_") and key not in _COUNTS]
    if moved := [key for key in outcomes if key in after and before[key] != after[key]]:
        told = (f"{key.removeprefix('n_')} {before[key]} -> {after[key]}" for key in moved)
        yield Difference(f"{name}: trials that ended otherwise: {', '.join(told)}")


def _moved_means(name: str, before: Mapping, after: Mapping) -> Iterator[Difference]:
    """Every metric, for an audit may judge by another one than the accuracy."""
    for metric in METRICS.values():
        column, place = f"{metric.name}_mean", f"{name}, {metric.title}"
        if column not in before:
            continue
        means = before[column], after.get(column, "")
        if metric.is_share:
            error = _number(before.get(f"{metric.name}_standard_error", ""))
            yield from _moved_points(place, means, error, metric.scale)
        elif means[0] != means[1]:
            yield Difference(_arrow(place, means), not _near(*means))


def _moved_points(
    place: str, means: tuple[str, str], error: float | None, scale: int = 1
) -> Iterator[Difference]:
    """Two means and the standard error of the first; ``scale`` makes points of them."""
    before, after = map(_number, means)
    if before is None or after is None:
        if before != after:
            yield Difference(_arrow(place, means), beyond=before is not None)
        return
    before, after, error = scale * before, scale * after, scale * (error or 0)
    points = after - before
    if abs(points) <= _ROUNDING:
        return
    told = f"{before:.2f} -> {after:.2f}, {points:+.2f} points"
    if error:
        told += f", {abs(points) / error:.1f} standard errors"
    yield Difference(f"{place}: {told}", abs(points) > BOUND * (error or 1.0))


def _arrow(place: str, values: tuple[str, str]) -> str:
    return f"{place}: {' -> '.join(value or 'none' for value in values)}"


def _other_audit(old: Path, new: Path) -> Iterator[Difference]:
    """Verdicts and published numbers that are others, and means of ours that moved."""
    if not old.is_file():
        return
    found = _by_first(read_rows(new)) if new.is_file() else {}
    for name, before in _by_first(read_rows(old)).items():
        place = f"audit of {name}"
        if name in found:
            yield from _other_column(place, before, found[name])
        else:
            yield Difference(f"{place}: not in the new run")


def _other_column(place: str, before: Mapping, after: Mapping) -> Iterator[Difference]:
    for label in ("Verdict", "Published"):
        if before[label] != after[label]:
            yield Difference(_arrow(f"{place}, {label}", (before[label], after[label])))
    ours = before["Ours"], after["Ours"]
    yield from _moved_points(f"{place}, Ours", ours, _number(before["SE"]))


def _of_board(reference: Path, new: Path) -> list[Difference]:
    """What differs in the tables of a board; words and intervals are told and never too much."""
    tables = sorted(path.name for path in reference.glob("*.csv"))
    if not tables:
        return [Difference("compared nothing in the reference", beyond=False)]
    found = []
    for name in tables:
        if not (new / name).is_file():
            found.append(Difference(f"{name}: not in the new run"))
            continue
        old, now = (_by_first(read_rows(folder / name)) for folder in (reference, new))
        found += [Difference(f"{name}, {row}: not in the new run") for row in old if row not in now]
        for row in filter(now.get, old):
            found += _moved_numbers(f"{name}, {row}", old[row], now[row])
    return found


def _by_first(rows: Sequence[dict[str, str]]) -> dict[str, dict[str, str]]:
    return {next(iter(row.values())): row for row in rows}


def _moved_numbers(name: str, old: Mapping, new: Mapping) -> Iterator[Difference]:
    for label in old:
        before, after = old[label], new.get(label, "")
        if label in _MEASURED or before == after:
            continue
        yield Difference(f"{name}, {label}: {before} -> {after}", _apart(label, before, after))


def _apart(label: str, one: str, other: str) -> bool:
    """Whether numbers of a column of a board are too far apart, or one is gone.

    Words and intervals never are.
    """
    before, after = map(_number, (one, other))
    if label.endswith(_ENDS):
        return False
    if before is None or after is None:
        return before != after
    if label == _P:
        return (before < ALPHA) != (after < ALPHA)
    if label in _NO_SHARES:
        return not _near(one, other)
    return abs(after - before) > _BOUNDS.get(label, BOUND) + _ROUNDING


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _of_study(old: Path, new: Path) -> Iterator[Difference]:
    """Numbers of a table of a study; those that are measured times are no part of the reference."""
    if not new.is_file():
        yield Difference(f"{old.stem}: not in the new run")
        return
    rows = [list(csv.reader(path.read_text("utf-8").splitlines())) for path in (old, new)]
    if [len(row) for row in rows[0]] != [len(row) for row in rows[1]]:
        yield Difference(f"{old.stem}: another number of rows or columns")
        return
    for line, (before, after) in enumerate(zip(*rows, strict=True)):
        for label, one, other in zip(rows[0][0], before, after, strict=True):
            if one != other:
                place = f"{old.stem}, row {line}, {label}: {one} -> {other}"
                yield Difference(place, not _near(one, other))


def _near(one: str, other: str) -> bool:
    before, after = map(_number, (one, other))
    if before is None or after is None:
        return False
    return abs(after - before) <= SHARE * abs(before)


def compare(
    reference: Path, results: Path, names: Sequence[str] = ()
) -> dict[str, list[Difference] | None]:
    """`differences` by experiment, for all that both have or for those that are named."""
    folders = {path.name for path in reference.iterdir() if path.is_dir()}
    return {
        name: differences(reference / name, results / name)
        for name in sorted(folders - {SCORES})
        if (results / name).is_dir() and (not names or name in names)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("results"))
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--only", nargs="*", default=[], metavar="EXPERIMENT")
    parser.add_argument("--page", type=Path, help="write what is printed to this page too")
    asked = parser.parse_args(arguments)
    found = compare(asked.reference, asked.results, asked.only)
    if not found:
        parser.error(f"{asked.results} has no experiment of {asked.reference}; run one first")
    lines = list(_told(found))
    print(*lines, sep="\n")
    if asked.page:
        asked.page.write_text(_page(lines, asked.reference, asked.results, found), encoding="utf-8")
    return int(any(one.beyond for told in found.values() for one in told or ()))


def _told(found: Mapping[str, list[Difference] | None]) -> Iterator[str]:
    for name, told in found.items():
        yield f"{name}: {_in_short(told)}"
        yield from (f"  {one}" for one in told or ())


def _page(lines: Sequence[str], reference: Path, results: Path, names: Container[str]) -> str:
    machine, day = describe(), time.strftime("%Y-%m-%d", time.gmtime())
    commit = (machine["git"]["commit"] or "unknown")[:10]
    suite = load_suite(PROJECT)
    computed = computed_of_suite(suite, results, names)
    where = f"Computed with {computed_in_words(computed)}. " if any(computed) else ""
    made = (
        f"{where}Compared on {day} by `python -m workflow.lib.results.reference` of commit "
        f"{commit}, on {machine['cpu']} ({machine['cores']} cores):"
    )
    head = "# A second run beside the reference run"
    sides = _sides(suite, reference, results)
    return "\n".join([head, "", sides, "", made, "", "```text", *lines, "```", ""])


def _sides(suite: Suite, reference: Path, results: Path) -> str:
    """Which runs stand before and after an arrow; a later reference may hold neither."""
    page = reference / "README.md"
    told = page.read_text("utf-8") if page.is_file() else ""
    ends = re.findall(r"^\| (\d{4}-\d\d-\d\d \d\d:\d\d UTC) \|", told, flags=re.MULTILINE)
    before = f" (of runs that ended {listed(ends)})" if ends else ""
    try:
        after = f"the run that ended {moment(read_run_log(suite, results).end)}"
    except (FileNotFoundError, CorruptArtifact):
        after = "the new results"
    return (
        f"Before an arrow stands the reference as it was then{before}, after it {after}. A verdict "
        "that is another one, or is worded in another way, counts as a difference, even if no "
        f"number moved: rules change. The bound: {BOUND:g} standard errors of a mean, {BOUND:g} "
        f"points where it has none, {100 * SHARE:g} % of a study's number or a score that is "
        "no share."
    )


def _in_short(found: Sequence[Difference] | None) -> str:
    if found is None:
        return "nothing to compare (measured times)"
    return count(len(found), "difference") if found else "nothing changed"


if __name__ == "__main__":
    sys.exit(main())
