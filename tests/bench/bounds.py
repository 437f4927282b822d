"""Every bench, its bounds, and whether they were kept in each of several runs.

    python tests/bench/bounds.py [BENCH ...] [--runs 3] [--folder DIR]

Without `--folder` it only runs them. With it, bounds.csv and bounds.md of that folder are written
after each run. Exits with 1 if a bound was missed or a bench failed. One BLAS thread; bounds are
shares and counts of what was measured in the same run, so they are the same on any machine.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sections import this_machine, told_machines, told_searched

ROOT = Path(__file__).resolve().parents[2]
# Where a bench that runs as one of all leaves what it found.
FILE = "ALIGNMENT_BOUNDS"
FIELDS = ("run", "began", "bench", "seconds", "what", "found", "sign", "bound", "kept", "machine")
NAME = "bench_*.py"


class Bounds:
    """What a bench found, beside its bounds; each is printed as it is found."""

    def __init__(self):
        self.rows = []

    def at_most(self, what, found, bound):
        """Whether ``found`` is no larger."""
        return self._add(what, found, "<=", bound, found <= bound)

    def at_least(self, what, found, bound):
        """Whether ``found`` is no smaller."""
        return self._add(what, found, ">=", bound, found >= bound)

    def _add(self, what, found, sign, bound, kept):
        row = {"what": what, "found": float(found), "sign": sign, "bound": float(bound)}
        self.rows.append(row | {"kept": bool(kept)})
        print(
            f"{what:64} {found:8.3g}   {sign} {bound:<6g} {'ok' if kept else 'MISSED'}", flush=True
        )
        return kept

    def status(self):
        """The exit status of the bench: 0 if all are kept."""
        if FILE in os.environ:
            Path(os.environ[FILE]).write_text(json.dumps(self.rows), encoding="utf-8")
        missed = [row["what"] for row in self.rows if not row["kept"]]
        print(f"MISSED: {', '.join(missed)}" if missed else f"{len(self.rows)} bounds kept")
        return 1 if missed or not self.rows else 0


def run_bench(script):
    """Run a bench; its rows, and one without a number if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "bounds.json"
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        start = time.monotonic()
        ran = subprocess.run([sys.executable, script], env=os.environ | threads | {FILE: str(left)})
        seconds = round(time.monotonic() - start)
        rows = json.loads(left.read_text(encoding="utf-8")) if left.exists() else []
    if not rows or (ran.returncode and all(row["kept"] for row in rows)):  # it failed
        rows.append(dict.fromkeys(("what", "found", "sign", "bound"), "") | {"kept": False})
    about = {"bench": script.stem, "seconds": seconds}
    return [about | row for row in rows]


def page(rows):
    """A table of every bench: what was found in each run, beside the bound."""
    from workflow.lib.config.suite import load_suite  # not above: a bench imports this file too

    entries = load_suite(ROOT).methods
    runs = sorted({int(row["run"]) for row in rows})
    began = [next(row["began"] for row in rows if int(row["run"]) == run) for run in runs]
    missed = sum(str(row["kept"]) != "True" for row in rows)
    told = f"{missed} of {len(rows)} MISSED" if missed else f"all {len(rows)} kept"
    lines = [
        "# Bounds",
        "",
        f"What `make bench` judges, in {len(runs)} runs on one thread of {told_machines(rows)}, "
        f"begun {', '.join(began)} UTC: {told}. Shares and counts of what was measured in the same "
        "run; each script says what its numbers are of, and what its bounds stand for. Written by "
        "tests/bench/bounds.py.",
        "",
        told_searched(entries, entries),
    ]
    for bench in dict.fromkeys(row["bench"] for row in rows):
        own = [row for row in rows if row["bench"] == bench]
        seconds = {int(row["run"]): row["seconds"] for row in own}
        took = ", ".join(str(seconds[run]) for run in runs if run in seconds)
        numbers = " | ".join(f"Run {run}" for run in runs)
        lines += ["", f"## {bench}", "", f"{took} s.", ""]
        lines += [f"| | Bound | {numbers} |", "|---|---|" + "---|" * len(runs)]
        for what in dict.fromkeys(row["what"] for row in own):
            of_runs = {int(row["run"]): row for row in own if row["what"] == what}
            one = next(iter(of_runs.values()))
            bound = f"{one['sign']} {float(one['bound']):g}" if what else ""
            cells = " | ".join(_cell(of_runs.get(run)) for run in runs)
            lines.append(f"| {what or 'it failed'} | {bound} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(row):
    if row is None or row["found"] == "":
        return "failed" if row else ""
    return f"{float(row['found']):.3g}" + ("" if str(row["kept"]) == "True" else " MISSED")


def write(rows, folder):
    """Both files."""
    with (folder / "bounds.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "bounds.md").write_text(page(rows), encoding="utf-8")


def main(given=None):
    """Run them all, write, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("benches", nargs="*", help="names of scripts; all by default")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the page of all is written")
    asked = parser.parse_args(given)
    if asked.folder and asked.benches:
        parser.error("--folder: the page is of all benches; leave out their names")
    scripts = sorted(Path(__file__).parent.glob(NAME))
    if unknown := set(asked.benches) - {script.stem for script in scripts}:
        parser.error(f"there is no {', '.join(sorted(unknown))} beside this file")
    rows = []
    for run in range(1, asked.runs + 1):
        began = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        for script in scripts:
            if asked.benches and script.stem not in asked.benches:
                continue
            print(f"== {script.stem}", flush=True)
            found = run_bench(script)
            about = {"run": run, "began": began, "machine": this_machine()}
            rows += [about | row for row in found]
        if asked.folder:
            write(rows, asked.folder)
    return int(not all(row["kept"] for row in rows))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # for `workflow`
    sys.exit(main())
