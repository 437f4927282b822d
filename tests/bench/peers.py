"""Methods beside the same methods of other packages: CPU seconds, memory, accuracy.

    python tests/bench/peers.py [NAME ...] [--seconds 60] [--sizes 2000 10000] [--features 800 4096]
                                [--adapt-python PYTHON] [--folder DIR]

Amazon -> Caltech with SURF features (z-scored; generated where there is no mirror), then two
generated domains of n / 2 samples each. One fit to both domains per process and the embedding of
its training samples, on one BLAS thread: CPU seconds and the most memory resident beyond the data;
before it a small fit, so imports and compilation do not count. Of a fit below a second the least of
five counts; one is ended after 60 CPU seconds, or those of ``--seconds``.

"Difference" is the largest difference of the embeddings, signs of columns apart, of the largest
entry; accuracies are those of 1-NN trained on the embedded source. Where the packages do not define
the same problem the table says so, and the accuracies on A->C tell what it costs (the generated
domains are separable). Linux only.

Of a method that is measured again on a task all points are new, the others stand as they were;
peers.csv says when and where each was measured. The methods are in peer_methods.py.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import csv
import json
import math
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from growth import domains
from peer_methods import PEERS
from sections import this_machine, told_machines
from sklearn.preprocessing import scale
from surf import N_WORDS, SAMPLES
from surf import domains as surf_domains

ROOT = Path(__file__).resolve().parents[2]
POINT = Path(__file__).with_name("peer_methods.py")
NUMBERS = ("seconds", "accuracy", "difference")
FIELDS = (
    *("name", "by", "task", "status", "seconds", "megabytes", *NUMBERS[1:]),
    *("version", "when", "machine"),
)
REAL = "A->C"


def data(task):
    """Features of both domains, and their classes."""
    if task == REAL:
        read, _ = surf_domains("amazon", "caltech")
        (Xs, ys) = zip(*read.values(), strict=True)
        return [scale(X / X.sum(axis=1, keepdims=True)) for X in Xs], ys
    Xs, ys = domains(*shape(task), "dense")
    return [scale(X) for X in Xs], ys


def shape(task):
    """Numbers of samples, of both domains together, and of features."""
    if task == REAL:
        return SAMPLES["amazon"] + SAMPLES["caltech"], N_WORDS
    return tuple(map(int, task.split("x")))


def write_data(task, file):
    """What every process of a task reads: a small problem and the task's."""
    small, (small_labels, _) = domains(400, 60, "dense")
    large, (labels, target_labels) = data(task)
    np.savez(
        file,
        **dict(zip(("small_source", "small_target"), small, strict=True)),
        **dict(zip(("large_source", "large_target"), large, strict=True)),
        small_labels=small_labels,
        large_labels=labels,
        target_labels=target_labels,
    )


def point(name, by, task, folder, asked):
    """A measurement in a process of its own."""
    interpreter = asked.adapt_python if by == "adapt" else sys.executable
    command = [interpreter, POINT, name, by, folder / "data.npz", folder / f"{by}.npy"]
    command += ["--seconds", asked.seconds]
    child = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    place = {"name": name, "by": by, "task": task, "when": now, "machine": this_machine()}
    if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {**place, "status": f"over {asked.seconds:g} s", "seconds": asked.seconds}
    if child.returncode:
        return {**place, "status": child.stderr.splitlines()[-1][:150]}
    return {**place, "status": "ok", **json.loads(child.stdout.splitlines()[-1])}


def difference(one, other):
    """Of embeddings whose columns may differ in sign."""
    one, other = np.load(one), np.load(other)
    if one.shape != other.shape:
        return math.inf
    signs = np.sign((one * other).sum(axis=0))
    return float(np.abs(one - other * signs).max() / np.abs(one).max())


def compared(name, task, folder, asked):
    """Points of one method on one task: ours, then the others."""
    others = [by for by in PEERS[name].others if by != "adapt" or asked.adapt_python]
    rows = [point(name, by, task, folder, asked) for by in ("ours", *others)]
    for row in rows[1:]:
        if rows[0]["status"] == row["status"] == "ok":
            files = folder / "ours.npy", folder / f"{row['by']}.npy"
            row["difference"] = difference(*files)
    return rows


# ---- the table


def read(file):
    """Rows of earlier runs; none if there were none."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [
            {key: value for key, value in row.items() if value} for row in csv.DictReader(stream)
        ]
    for row in rows:
        numbers = {key: float(row[key]) for key in NUMBERS if key in row}
        row |= numbers | ({"megabytes": int(row["megabytes"])} if "megabytes" in row else {})
    return rows


def merged(old, new):
    """Rows in the order of the page; of a method measured again on a task the new ones alone.

    Ratios of a new one and an old one would be those of two machines, or of two days.
    """
    tasks = list(dict.fromkeys(row["task"] for row in (*old, *new)))
    again = {(row["name"], row["task"]) for row in new}
    old = [row for row in old if (row["name"], row["task"]) not in again]
    kept = {(row["name"], row["task"], row["by"]): row for row in (*old, *new)}

    def place(row):
        peers = PEERS[row["name"]]
        who = ("ours", *peers.others).index(row["by"])
        return list(PEERS).index(row["name"]), tasks.index(row["task"]), who

    return sorted(kept.values(), key=place)


def page(rows):
    """The table as Markdown."""
    told = __doc__.split("DIR]")[1].partition("Of a method that is")[0]
    lines = [
        "# Beside other packages",
        "",
        f"{' '.join(told.split())} Written by tests/bench/peers.py; all points are in peers.csv. "
        f"{told_when(rows)} Measured on {told_machines(rows)}.",
        "",
        verdict(rows),
        "",
        *([] if any(row["by"] == "adapt" for row in rows) else [NOT_MEASURED, ""]),
        "| Method | Task | By | CPU s | Ours / theirs | MB | 1-NN | Difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    mine = _ours(rows)
    lines += [_line(row, mine[row["name"], row["task"]]) for row in rows]
    lines += [
        "",
        *(f"- {name}: {peers.differs}." for name, peers in PEERS.items() if peers.differs),
    ]
    return "\n".join(lines) + "\n"


# Of the seconds of the fastest peer: in the median, and in no pair more.
GOAL_MEDIAN, GOAL_MOST = 0.2, 1.0

NOT_MEASURED = (
    "adapt was not measured: it needs TensorFlow, 2.4 GB that the project's environment does not "
    "hold. Give it one of its own: `python3 -m venv DIR && DIR/bin/pip install adapt`, then `make "
    "peers ADAPT_PYTHON=DIR/bin/python`."
)


def told_when(rows):
    """From when to when the points were measured."""
    dated = sorted(row["when"] for row in rows if "when" in row)
    if not dated:
        return ""
    undated = len(rows) - len(dated)
    before = f"; {undated} are of earlier runs" if undated else ""
    return f"{len(dated)} were measured from {dated[0]} to {dated[-1]} UTC{before}."


def verdict(rows):
    """Over every pair of measurements: how often ours is the faster, and by how much."""
    found = list(ratios(rows))
    other = [one for one in found if one[2] in PEERS[one[0]].other_problem]
    rough = [one for one in found if one not in other and approximates(*one[:3])]
    exact = [one for one in found if one not in other and one not in rough]
    told = [f"**{_compared('In', exact)}.**{_goal(exact)}{_bounded(exact)}"] if exact else []
    told += [f"{_compared('Against approximations, in', rough)}."] if rough else []
    told += [f"{_compared('Where the other solves another problem, in', other)}."] if other else []
    return " ".join([*told, "A fit that was ended counts with the seconds that it had."])


def _compared(where, found):
    slower = [
        f"{name} on {task} ({ratio:.2f} of {by})" for name, task, by, ratio in found if ratio > 1
    ]
    return (
        f"{where} {len(found)} pairs ours takes {_median(found):.2f} of the other's CPU seconds in "
        f"the median and is slower in {len(slower)}{': ' if slower else ''}{'; '.join(slower)}"
    )


def _goal(found):
    """Ours beside the fastest peer of each method and task, and what that should be."""
    fastest = {}
    for one in found:
        fastest[one[:2]] = max(one, fastest.get(one[:2], one), key=lambda pair: pair[-1])
    median, most = _median(fastest.values()), max(ratio for *_, ratio in fastest.values())
    reached = "reached" if median <= GOAL_MEDIAN and most <= GOAL_MOST else "missed"
    return (
        f" Beside the fastest of them on each task ({len(fastest)}) it is {median:.2f} in the "
        f"median. The goal, {GOAL_MEDIAN:g} there and {GOAL_MOST:g} at most, is {reached}."
    )


def _bounded(found):
    """What share of the pairs is one routine against itself, and what the others say."""
    same = [one for one in found if calls_the_same(*one[:3])]
    others = [one for one in found if one not in same]
    if not same or not others:
        return ""
    return (
        f" In {len(same)} of them both call the same routine of LAPACK or POT for the same problem "
        f"({', '.join(dict.fromkeys(name for name, *_ in same))}): the goal, a fifth of the "
        f"other's seconds, cannot be reached there, and the median is {_median(same):.2f}. "
        f"Without them it is {_median(others):.2f}."
    )


def approximates(name, task, by):
    """Whether the other's answer is not the problem's."""
    approximate = PEERS[name].approximate.get(by)
    return bool(approximate and approximate(*shape(task)))


def calls_the_same(name, task, by):
    """Whether both spend their time in one routine of a library, for the same problem."""
    same = PEERS[name].same.get(by)
    return bool(same and same(*shape(task)))


def _median(found):
    return statistics.median(ratio for *_, ratio in found)


def ratios(rows):
    """Ours by theirs; where ours was ended and theirs was not, at least so much."""
    mine = _ours(rows)
    for row in rows:
        own = mine[row["name"], row["task"]]
        told = "ok" in (own["status"], row["status"]) and own.get("seconds")
        if row is not own and told and row.get("seconds"):
            yield row["name"], row["task"], row["by"], own["seconds"] / row["seconds"]


def _ours(rows):
    return {(row["name"], row["task"]): row for row in rows if row["by"] == "ours"}


def _line(row, own):
    ok, own_ok = row["status"] == "ok", own["status"] == "ok"
    ratio = next((r for *_, r in ratios([own, row])), None) if row is not own else None
    cells = [
        *(row["name"], row["task"], f"{row['by']} {row.get('version', '')}".strip()),
        f"{row['seconds']:.2f}" if ok else row["status"],
        "" if ratio is None else f"{'' if own_ok and ok else '<>'[own_ok < ok] + ' '}{ratio:.2f}",
        f"{row['megabytes']}" if ok else "",
        f"{100 * row['accuracy']:.1f}" if ok else "",
        f"{row['difference']:.0e}" if row.get("difference") is not None else "",
    ]
    return f"| {' | '.join(cells)} |"


def write(rows, folder):
    """Both files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "peers.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "peers.md").write_text(page(rows), encoding="utf-8")


def parsed(given=None):
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join(PEERS)}; rows of the others are kept"
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2000, 10000])
    parser.add_argument("--features", type=int, nargs="*", default=[800, 4096])
    parser.add_argument(
        "--adapt-python", metavar="PYTHON", help="interpreter of an environment that has adapt"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    asked = parser.parse_args(given)
    if asked.adapt_python and not shutil.which(asked.adapt_python):
        parser.error(f"--adapt-python: {asked.adapt_python} is no program")
    if unknown := set(asked.names) - PEERS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return asked


def main():
    """Measure, and write both files after each task, so that an interrupted run leaves its own."""
    asked = parsed()
    rows = read(asked.folder / "peers.csv")
    for task in (REAL, *(f"{n}x{p}" for n in asked.sizes for p in asked.features)):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_data(task, folder / "data.npz")
            for name in asked.names or PEERS:
                new = compared(name, task, folder, asked)
                print(*(_line(row, row) for row in new), sep="\n", flush=True)
                rows = merged(rows, new)
                write(rows, asked.folder)


if __name__ == "__main__":
    main()
