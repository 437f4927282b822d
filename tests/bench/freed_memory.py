"""What it saves that memory freed by one candidate serves the next, as in every job that tunes.

    python tests/bench/freed_memory.py

Two trials with few target labels on generated texts of 70 of 5000 words, eight candidates each of
MMDT and of JDA, in a process that keeps what is freed and in one that gives it back as glibc does
by default: together at most 0.97 of the CPU seconds, the system's included; each at most 0.7 of the
page faults and 256 MB more in memory, with equal predictions. The least of three processes each, in
turn. Linux with glibc only.

One BLAS thread. Exits with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_new_samples import texts
from bench_tuning import SUITE, TASK, drawn, run, written
from bounds import Bounds

from workflow.lib.trials import tuning
from workflow.lib.trials.protocols import sample_trials

METHODS = ("mmdt", "jda")
PROTOCOL = {
    "kind": "random", "trials": 2, "seed": 0, "source_per_class": 200, "target_per_class": 20,
    "unlabelled_per_domain": 800,
}  # fmt: skip
MOST_OF_SECONDS, MOST_OF_FAULTS, MOST_BEYOND_MB = 0.97, 0.7, 256
REPEATS = 3


def measured(name, kept):
    """CPU seconds, page faults and memory of a method's candidates in this process."""
    if not kept:
        tuning.keep_freed = lambda largest: None
    Xs, ys = zip(*(texts(seed) for seed in (0, 1)), strict=True)
    trials = sample_trials("bench", PROTOCOL, TASK, ys)
    entry = SUITE.methods[name]
    method = {key: entry[key] for key in ("estimator", "sees_labels", "params")}
    with tempfile.TemporaryDirectory() as folder:
        spec = written(Path(folder), Xs, trials, method, drawn(name, "sparse_counts", 8))
        before = resource.getrusage(resource.RUSAGE_SELF)
        found = run(spec)
        after = resource.getrusage(resource.RUSAGE_SELF)
    digest = hashlib.sha256()
    for _, arrays in found:
        for key in sorted(arrays):
            digest.update(arrays[key].tobytes())
    return {
        "user": after.ru_utime - before.ru_utime,
        "system": after.ru_stime - before.ru_stime,
        "faults": after.ru_minflt - before.ru_minflt,
        "peak": after.ru_maxrss / 1024,
        "predictions": digest.hexdigest(),
    }


def in_a_process(name, kept):
    """The same in a process of its own: what is set there cannot be unset."""
    line = [sys.executable, __file__, name, "kept" if kept else "given back"]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def compare(name, bounds):
    """Both ways in turn, beside their bounds; the CPU seconds of both."""
    pairs = [[in_a_process(name, kept) for kept in (True, False)] for _ in range(REPEATS)]
    if len({one["predictions"] for pair in pairs for one in pair}) > 1:
        raise RuntimeError(f"{name}: predictions differ")
    kept, default = (
        {key: min(one[key] for one in ways) for key in ("user", "system", "faults", "peak")}
        for ways in zip(*pairs, strict=True)
    )
    for way, found in (("kept", kept), ("given back", default)):
        print(
            f"{name}, {way}: {found['user']:.2f} s and {found['system']:.2f} s of the system, "
            f"{found['faults']:,} page faults, {found['peak']:.0f} MB"
        )
    faults = kept["faults"] / default["faults"]
    bounds.at_most(f"{name}: share of the page faults", faults, MOST_OF_FAULTS)
    bounds.at_most(f"{name}: MB beyond", max(0.0, kept["peak"] - default["peak"]), MOST_BEYOND_MB)
    return [one["user"] + one["system"] for one in (kept, default)]


def main():
    """Measure, print, and return the exit code."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(sys.argv[1], sys.argv[2] == "kept")))
        return 0
    bounds = Bounds()
    kept, default = map(sum, zip(*(compare(name, bounds) for name in METHODS), strict=True))
    bounds.at_most("share of the CPU seconds of both methods", kept / default, MOST_OF_SECONDS)
    return bounds.status()


if __name__ == "__main__":
    sys.exit(main())
