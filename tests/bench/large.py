"""A million samples and a million more: which methods fit them on one machine, and how well.

    python tests/bench/large.py [METHOD ...] [--samples 1000000] [--features 200]
                                [--minutes 15] [--gigabytes 8] [--folder DIR] [--again] [--errors]
                                [--page]

Two domains of so many samples each in memory-mapped files, ten classes on a surface of 20
dimensions; that of the target is turned and moved. Each method fits them in a process of its own,
on one BLAS thread: wall seconds, CPU seconds, and the most memory of its own beyond the mapped
files, which the system can drop (RssAnon). A process is told its memory, as a job of the workflow
is, and ended beyond the limits. The accuracy is that of the nearest class mean on the target's
unlabelled samples, from the labels that the method saw: all of the source, 1,000 per class of it
(JDA, whose 1-NN compares each labelled source sample with each of the target), or 20 per class of
the source and 3 of the target; beside it, the same without adaptation. TKL with landmarks and rKEMA
approximate a kernel: its error is that of the matrix among 2,000 random samples of a domain,
relative to the exact one (Frobenius), the larger of both domains; `--errors` measures it alone and
leaves the times of rows that stand. FMA is fitted twice, with the default weight of an edge between
domains and with one in proportion to the samples: of edges as few as these the default ties a
million samples a thousand times more loosely than a thousand. Writes large.csv and large.md;
`--page` writes large.md again and measures nothing. Linux only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import domain_alignment
import numpy as np
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import LIMIT_MB
from sections import this_machine, told_machines
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import rbf_kernel

from workflow.lib.results.text import SEARCH_MARK, count

ROOT = Path(__file__).resolve().parents[2]
N_CLASSES, N_DIMENSIONS, BLOCK = 10, 20, 50_000
PER_CLASS = {"part": (1000, 0), "both": (20, 3)}
FIELDS = (
    *("method", "samples", "features", "status", "wall", "cpu", "bytes", "accuracy", "why"),
    *("kernel_error", "when", "code", "machine", "minutes", "gigabytes"),
)
MINUTES, GIGABYTES = 15, 8
MINUTE = timedelta(minutes=1)
N_JUDGED = 2000  # samples among which a kernel's error is measured

NEAR = {"neighbors": "approximate"}
TIED = {"correspondence_weight": lambda n_samples: n_samples / 1000}
SHOWN = {
    "none": "none",
    "source": "source",
    "part": "1,000 per class of the source",
    "both": "20 per class of the source, 3 of the target",
}
# Class, parameters (or functions of the number of samples of a domain), labels that it sees.
METHODS = {
    "no adaptation": ("NoAdaptation", {}, "source"),
    "no adaptation, few labels": ("NoAdaptation", {"domains": "both"}, "both"),
    "CORAL": ("CORAL", {}, "none"),
    "subspace alignment": ("SubspaceAlignment", {}, "none"),
    "GFK": ("GFK", {}, "none"),
    "TCA": ("TCA", {}, "none"),
    "JDA": ("JDA", {}, "part"),
    "LS-MMDT": ("LSMMDT", {}, "both"),
    "FMA-F": ("FMA", {"level": "feature", **NEAR}, "both"),
    "FMA-F, weight n / 1000": ("FMA", {"level": "feature", **NEAR, **TIED}, "both"),
    "FMA-I": ("FMA", NEAR, "both"),
    "FMA-I, weight n / 1000": ("FMA", {**NEAR, **TIED}, "both"),
    "KEMA, linear": ("KEMA", {"kernel": "linear", **NEAR}, "both"),
    "REKEMA": ("KEMA", {"landmarks": 200, "random_state": 0, **NEAR}, "both"),
    "rKEMA": ("KEMA", {"random_features": 200, "random_state": 0, **NEAR}, "both"),
    "TKL": ("TKL", {"landmarks": 100, "random_state": 0}, "none"),
    # What is refused, or exceeds the memory; most of it compares all pairs of samples.
    "MEDA": ("MEDA", {}, "source"),
    "TCA, RBF": ("TCA", {"kernel": "rbf"}, "none"),
    "SSTCA": ("SSTCA", {}, "part"),
    "kernel PCA": ("KernelPCAAligner", {}, "none"),
    "OT-lab": ("ClassRegularizedOT", {}, "part"),
    "CORAL, authors' kernel": ("AsymmetricCORAL", {}, "source"),
}
# Those whose kernel is an approximation of the one that their parameters name.
KERNELS = ("rKEMA", "TKL")


# ---- data


def write_domains(folder, n_samples, n_features):
    """Both domains as .npy files, in blocks; the classes are the rows' numbers modulo ten."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_CLASSES, N_DIMENSIONS))
    surface = rng.normal(size=(N_DIMENSIONS, n_features)) / np.sqrt(N_DIMENSIONS)
    turned = surface + 1.2 * rng.normal(size=surface.shape) / np.sqrt(N_DIMENSIONS)
    for name, axes, moved in (("source", surface, 0.0), ("target", turned, 0.3)):
        X = np.lib.format.open_memmap(
            folder / f"{name}.npy", "w+", np.float64, (n_samples, n_features)
        )
        for start in range(0, n_samples, BLOCK):
            rows = np.arange(start, min(start + BLOCK, n_samples))
            inner = centres[rows % N_CLASSES] + 0.8 * rng.normal(size=(len(rows), N_DIMENSIONS))
            X[rows] = inner @ axes + 0.1 * rng.normal(size=(len(rows), n_features)) + moved
        X.flush()


def shown(seen, n_samples):
    """Labels of both domains, as a method of this kind sees them."""
    y = np.arange(n_samples) % N_CLASSES
    hidden = np.full_like(y, -1)
    if seen not in PER_CLASS:
        return [y, hidden]
    counts = np.array(PER_CLASS[seen]) * N_CLASSES
    return [np.where(np.arange(n_samples) < count, y, hidden) for count in counts]


# ---- one method, in a process of its own


class Watch(threading.Thread):
    """The most anonymous memory of this process; ends it beyond a limit."""

    def __init__(self, limit):
        super().__init__(daemon=True)
        self.limit, self.most = limit, 0

    def run(self):
        while True:
            status = Path("/proc/self/status").read_text(encoding="ascii")
            self.most = max(self.most, 1024 * int(re.search(r"RssAnon:\s+(\d+)", status)[1]))
            if self.most > self.limit:
                print(json.dumps({"status": "memory", "bytes": self.most}), flush=True)
                os._exit(0)
            time.sleep(0.05)


def measure(method, folder, limit):
    """Fit, and judge the embedding; the fields of a point."""
    address, params, seen = METHODS[method]
    Xs = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("source", "target")]
    n_samples = len(Xs[0])
    params = {name: p(n_samples) if callable(p) else p for name, p in params.items()}
    ys = shown(seen, n_samples)
    aligner = getattr(domain_alignment, address)(**params)
    warnings.simplefilter("ignore")
    watch = Watch(limit)
    watch.start()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        aligner.fit(Xs, ys)
    except (AlignmentError, ValueError, MemoryError) as error:
        return {"status": "refused", "why": " ".join(f"{type(error).__name__}: {error}".split())}
    held, watch.limit = watch.most, float("inf")  # what follows is not the method's
    spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    recall = min(getattr(aligner, "neighbor_recall_", [1.0]))
    return {
        "status": "ok",
        **{name: round(value, 2) for name, value in spent.items()},
        "bytes": held,
        "accuracy": round(accuracy(aligner.embeddings_, ys), 4),
        "why": f"recall {recall:.3f}" if recall < 1 else "",
        **(
            {"kernel_error": float(f"{kernel_error(aligner, Xs):.2g}")} if method in KERNELS else {}
        ),
    }


def kernel_error(aligner, Xs):
    """Of the approximated kernel of a domain, relative to the exact one, the larger of both."""
    approximated = nystrom if isinstance(aligner, domain_alignment.TKL) else random_features
    errors = []
    for domain, X in enumerate(Xs):
        n_judged = min(N_JUDGED, len(X))
        rows = np.sort(np.random.default_rng(1).choice(len(X), n_judged, replace=False))
        exact, other = approximated(aligner, X, domain, X[rows])
        errors.append(np.linalg.norm(other - exact) / np.linalg.norm(exact))
    return max(errors)


def nystrom(aligner, X, domain, judged):
    """TKL's kernel of some samples, and that of its landmarks in the domain."""
    anchors = X[aligner.landmarks_[domain]]
    gamma = aligner.gamma_
    similarities = rbf_kernel(judged, anchors, gamma)
    root = np.linalg.pinv(rbf_kernel(anchors, gamma=gamma), rcond=1e-10, hermitian=True)
    return rbf_kernel(judged, gamma=gamma), similarities @ root @ similarities.T


def random_features(aligner, X, domain, judged):
    """rKEMA's kernel of some samples, and that of its random features."""
    columns = aligner._columns_of[domain]
    Z = getattr(columns, "factored", columns).mapped(judged)
    return rbf_kernel(judged, gamma=0.5 / aligner.sigma_[domain] ** 2), Z @ Z.T


def accuracy(embeddings, ys):
    """Of the nearest class mean of the labelled rows, on up to 100,000 others of the target."""
    domains = list(zip(embeddings, ys, strict=True))
    sums = [sum(Z[y == label].sum(axis=0) for Z, y in domains) for label in range(N_CLASSES)]
    means = np.array(sums) / sum(np.bincount(y[y >= 0], minlength=N_CLASSES) for y in ys)[:, None]
    rest = np.flatnonzero(ys[1] < 0)[:100_000]
    nearest = pairwise_distances_argmin(embeddings[1][rest], means)
    return float(np.mean(nearest == rest % N_CLASSES))


# ---- the table


def run(method, folder, args):
    """One method in its process; its line of the table."""
    command = [sys.executable, __file__, method, "--child", str(folder)]
    command += ["--gigabytes", str(args.gigabytes)]
    told = {**os.environ, **memory_told(args.gigabytes)}
    limit = 60 * args.minutes
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=told)
    except subprocess.TimeoutExpired:
        return {"status": "time", "wall": limit}
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def memory_told(gigabytes):
    """The environment of a process that may take so much memory."""
    return {LIMIT_MB: str(int(gigabytes * 1e9 / 2**20))}


def code_of(method):
    """A sum of what a method runs, as on the board of growth; functions count by a value."""
    from growth import code_of  # not above: a measured process needs none of it

    address, given, seen = METHODS[method]
    params = {name: value(1000) if callable(value) else value for name, value in given.items()}
    estimator = f"domain_alignment:{address}"
    return code_of({"estimator": estimator, "params": params, "sees_labels": seen})


def has_searched_default(method, entries):
    """Whether a parameter that is left as it is by default has a value found by searching."""
    address, given, _ = METHODS[method]
    defaults = getattr(domain_alignment, address)().get_params()
    for entry in entries.values():
        if entry["estimator"] == f"domain_alignment:{address}":
            own = defaults | entry.get("params", {})
            left = entry.get("found_by_search", {}).keys() - given.keys()
            if any(own[name] == defaults[name] for name in left):
                return True
    return False


def told_when(rows):
    """When the rows were measured, and of which the code is another now, as far as they say."""
    dated = sorted(row["when"] for row in rows if row.get("when"))
    told = [f"{len(dated)} from {dated[0]} to {dated[-1]} UTC"] if dated else []
    if together := sum(is_beside(row, rows) for row in rows):
        told.append(
            f"{together} while another was measured on the same machine for more than a minute"
        )
    if undated := len(rows) - len(dated):
        told.append(f"{undated} do not say when, nor by which code, which may have changed since")
    changed = sorted(
        {row["method"] for row in rows if row.get("code") not in (None, "", code_of(row["method"]))}
    )
    told += [f"by other code than today's: {', '.join(changed)}"] if changed else []
    return f"{count(len(rows), 'row')}: {'; '.join(told)}."


def is_beside(row, rows):
    """Whether a row was measured while another was on its machine; a minute is not told apart."""
    if not row.get("when"):
        return False
    first, last = span(row)
    others = [
        span(other)
        for other in rows
        if other is not row and other.get("when") and other.get("machine") == row.get("machine")
    ]
    return any(min(last, end) - max(first, begin) > MINUTE for begin, end in others)


def span(row):
    """When the fit of a row began, to the minute, and when it ended."""
    begin = datetime.strptime(row["when"], "%Y-%m-%d %H:%M")
    return begin, begin + timedelta(seconds=float(row.get("wall") or 0))


def told_limits(rows):
    """Under which limits the rows were measured; those that do not say, under the usual ones."""
    limits = dict.fromkeys(
        (float(row.get("minutes") or MINUTES), float(row.get("gigabytes") or GIGABYTES))
        for row in rows
    )
    told = (f"{minutes:g} minutes, {size:g} GB beyond the files" for minutes, size in limits)
    return ", of some rows ".join(told)


NOTES = (
    f"{SEARCH_MARK} A parameter has its default, and that was found by searching: by the printed "
    "numbers or the scores of other data than these (`found_by_search` in config/methods.yaml).",
    "FMA with few labels: the edges between the domains are those of the labelled samples, and "
    "what so few add to an eigenvalue falls as their number by that of all samples. From some size "
    "on vectors that tell the domains apart, not the classes, count as much as those that both "
    "share. A `correspondence_weight` of n / 1000 keeps the share that the default has at 1,000 "
    "samples (the Notes of `FMA`).",
    "KEMA with the linear kernel: by default its directions are as many as the labelled samples, "
    "less one, which few labels do not determine; `rank=20` mends it, at any size, and so do more "
    "labels (single fits of 2026-11-26 with 2,000 and 10,000 samples, no rows of this table).",
    "JDA with all labels of a million compares each of them with each target sample in every "
    "round: hours, which nothing refuses.",
    "Beyond the files: a job of the workflow counts their pages too while they are in memory, so "
    "its limit (`memory_mb`) is to hold the files as well.",
    "TKL's lower accuracy comes neither from the size nor from the landmarks: with 2,000 samples, "
    "or all of them as landmarks, it is the same (single fits, too).",
)


def table(rows, args):
    """The page, as Markdown."""
    from workflow.lib.config.suite import load_suite  # not above: a measured process needs none

    entries = load_suite(ROOT).methods
    lines = [
        "# Large domains",
        "",
        f"One fit per method, in a process of its own on one thread of {told_machines(rows)}, of "
        f"two domains in memory-mapped files; limits: {told_limits(rows)}. Accuracy: of the "
        "nearest class mean, in percent; generated data. Kernel error: of the "
        f"approximated kernel matrix among {N_JUDGED:,} samples, relative to the exact one. "
        f"{told_when(rows)} Written by tests/bench/large.py, which says more.",
        "",
        "| Method | Samples, each | Features | Labels | s | CPU s | GB | Accuracy | |",
        "|---|---|---|---|---|---|---|---|---|",
        *(line(row, entries) for row in rows),
    ]
    return "\n".join([*lines, *(f"\n{note}" for note in NOTES)]) + "\n"


def line(row, entries):
    """A row of the table."""
    mark = f" {SEARCH_MARK}" if has_searched_default(row["method"], entries) else ""
    ended = {"time": "over the time", "memory": "over the memory"}.get(row["status"], "")
    error = f"kernel error {row['kernel_error']}" if row.get("kernel_error") else ""
    cells = [
        f"{row['method']}{mark}",
        f"{int(row['samples']):,}",
        f"{int(row['features']):,}",
        SHOWN[METHODS[row["method"]][2]],
        f"{float(row['wall']):.0f}" if row.get("wall") else "",
        f"{float(row['cpu']):.0f}" if row.get("cpu") else "",
        f"{float(row['bytes']) / 1e9:.1f}" if row.get("bytes") else "",
        f"{100 * float(row['accuracy']):.1f}" if row.get("accuracy") else "",
        ", ".join(filter(None, [row.get("why") or ended, error])),
    ]
    return f"| {' | '.join(cells)} |"


def in_order(known):
    """Rows in the order of the sizes and of METHODS."""
    return [
        known[one] for one in sorted(known, key=lambda one: (one[1:], [*METHODS].index(one[0])))
    ]


def write(rows, file):
    """All rows as large.csv."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def measured_now(method, folder, args, before):
    """One method's row of today; of kernels' errors alone the others of its fields stand."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    point = run(method, folder, args)
    if args.errors and before:
        if "kernel_error" not in point:
            raise SystemExit(f"{method}: no kernel to judge, since the fit ended: {point}")
        return before | {"kernel_error": point["kernel_error"]}
    size = {"method": method, "samples": args.samples, "features": args.features}
    limits = {"minutes": args.minutes, "gigabytes": args.gigabytes}
    by = {"code": code_of(method), "machine": this_machine()}
    return {**size, **point, "when": when, **by, **limits}


def main():
    """Measure what is asked for, and write the table."""
    args = parsed()
    if args.child:
        point = measure(args.methods[0], args.child, args.gigabytes * 1e9)
        print(json.dumps(point), flush=True)
        os._exit(0)  # the watch is at work
    file, page = args.folder / "large.csv", args.folder / "large.md"
    rows = []
    if file.exists():
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    known = {(row["method"], int(row["samples"]), int(row["features"])): row for row in rows}
    if args.page:
        page.write_text(table(rows, args), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        for method in args.methods or METHODS:
            key = method, args.samples, args.features
            if key in known and not (args.again or (args.errors and method in KERNELS)):
                continue
            if not any(Path(folder).iterdir()):
                write_domains(Path(folder), args.samples, args.features)
            known[key] = measured_now(method, Path(folder), args, known.get(key))
            print(known[key], flush=True)
            write(in_order(known), file)
            page.write_text(table(in_order(known), args), encoding="utf-8")


def parsed(given=None):
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("methods", nargs="*", choices=[*METHODS, []], metavar="METHOD")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES)
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    parser.add_argument("--again", action="store_true", help="measure what is there")
    parser.add_argument(
        "--errors", action="store_true", help="measure kernels' errors of rows that are there"
    )
    parser.add_argument(
        "--page", action="store_true", help="write large.md from large.csv, and measure nothing"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
