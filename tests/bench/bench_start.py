"""CPU seconds before anything is computed: of a dry run, and of a job on a node of a cluster.

    python tests/bench/bench_start.py [--page reports/reference/accounting.md]

Of what Snakemake itself takes for an empty workflow, in the same run, `snakemake -n fma_table1` may
take 2.5 times as much, `-n papers` five times, with all data at hand (made up here: receipts of
their delivery, so that every job is planned) and the configuration checked by an earlier run. A job
on a node may take 2.5 times one of a workflow that has nothing but an empty script: of both the
very script that the plugin for any scheduler submits is run; ours reads features and trials,
records its trials as lost (`give_up`), and so does everything but the work.

Children are included; of three measurements in turn the least counts. Exits with 1 when a bound is
missed; ``--page FILE`` writes what was measured into a section of that page.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from account_run import PAGE
from bounds import Bounds
from sections import put_section

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "methods")]

REPEATS = 3
EMPTY = """
rule job:
    output: "done"
    log: "empty.log"
    script: "empty.py"
"""
SUBMIT = """#!/bin/sh
sed "s/ && touch '[^']*jobfinished'.*//" "$1" >{job}
exit 1
"""
CELL = "results/quickstart/full-scanner/fma_i.000-009.align.jsonl"
TRIALS = "results/quickstart/full-scanner/trials.npz"
START, JOB = "an empty workflow's -n", "an empty workflow's job on a node"
# What is measured: beside what, and how many times as much it may take.
BOUNDS = {
    "-n fma_table1": (START, 2.5),
    "-n papers": (START, 5.0),
    "a job on a node": (JOB, 2.5),
}
# What a shell with nothing of a run in it has.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def snakemake(folder, snakefile, *words):
    """A command line and where it runs."""
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), *words]
    return line, folder


def dry_run(folder, snakefile, *targets):
    return snakemake(folder, snakefile, "--dry-run", "--quiet", "all", "--", *targets)


def spent(line, folder, check=True):
    """CPU seconds of a command with its children."""
    before = os.times()
    with open(folder / "run.log", "wb") as log:
        done = subprocess.run(line, cwd=folder, stdout=log, stderr=log, env=ENVIRONMENT)
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, line))} ended with {done.returncode}: see {folder}/run.log")
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def deliver_everything(folder):
    """Receipts of all data files that were not fetched, as their downloads leave them."""
    from workflow.lib.config.suite import load_suite
    from workflow.lib.storage.fetch import write_receipt

    made_up = {"status": "delivered", "sha256": "0" * 64, "bytes": 1, "from": "nowhere"}
    for dataset, entry in load_suite(ROOT).datasets.items():
        for name in entry["files"]:
            path = folder / f"resources/receipts/{dataset}/{name}.json"
            if not path.exists():
                write_receipt(path, {"file": name, **made_up, "tried": [], "reason": None})


def submitted(folder, snakefile, target, *more):
    """The command of a job that a cluster is sent."""
    submit, job = folder / "submit.sh", folder / "job.sh"
    # Without the mark that it leaves for a main process, which will have ended.
    submit.write_text(SUBMIT.format(job=job), encoding="utf-8")
    submit.chmod(0o755)
    words = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", str(submit)]
    line, _ = snakemake(folder, snakefile, target, *words, "--jobs", "1", *more)
    spent(line, folder, check=False)
    # The job waits for a folder that goes with the main process.
    Path(re.search(r"'([^']+/\.snakemake/tmp\.[^']+)'", job.read_text())[1]).mkdir()
    return ["sh", str(job)], folder


def commands(base):
    """What is measured, by name."""
    own, none = base / "own", base / "none"
    for folder in (own, none):
        folder.mkdir()
    (none / "Snakefile").write_text(EMPTY, encoding="utf-8")
    (none / "empty.py").write_text("open(snakemake.output[0], 'w').close()\n", encoding="utf-8")
    ours = ROOT / "Snakefile"
    spent(*snakemake(own, ours, "--cores", "2", TRIALS))
    deliver_everything(own)
    return {
        START: dry_run(none, none / "Snakefile"),
        "-n fma_table1": dry_run(own, ours, "fma_table1"),
        "-n papers": dry_run(own, ours, "papers"),
        JOB: submitted(none, none / "Snakefile", "done"),
        "a job on a node": submitted(own, ours, CELL, "--config", "give_up=True"),
    }


def main():
    """Measure, print, write, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        lines = commands(Path(temporary))
        for line in lines.values():
            spent(*line)
        rounds = [{name: spent(*line) for name, line in lines.items()} for _ in range(REPEATS)]
    least = {name: min(one[name] for one in rounds) for name in lines}
    rows = list(compared(least))
    bounds = Bounds()
    for name, seconds, times, bound in rows:
        print(f"{name:36}{seconds:7.2f} CPU s")
        if bound is not None:
            bounds.at_most(f"{name}: times those of an empty workflow", times, bound)
    if asked.page:
        put_section(asked.page, PAGE, "Start", page_lines(rows))
    return bounds.status()


def compared(least):
    """Of each name its seconds, how many times those of what it stands beside, and the bound."""
    for name, seconds in least.items():
        beside, bound = BOUNDS.get(name, (None, None))
        yield name, seconds, None if bound is None else seconds / least[beside], bound


def judged(times, bound):
    return "ok" if times <= bound else "MISSED"


def page_lines(rows):
    """The section of the page."""
    table = [
        f"| {name} | {seconds:.2f} | "
        + (" | |" if bound is None else f"{times:.2f} | {bound:.1f} {judged(times, bound)} |")
        for name, seconds, times, bound in rows
    ]
    return [
        "CPU seconds before anything is computed, of tests/bench/bench_start.py: the least of "
        f"{REPEATS} in turn, and how many times those of an empty workflow.",
        "",
        "| | CPU s | Times the empty one's | Bound |",
        "| :--- | ---: | ---: | ---: |",
        *table,
    ]


if __name__ == "__main__":
    sys.exit(main())
