"""How time and memory of every method grow: each entry of config/methods.yaml, from 500 samples on.

    python tests/bench/growth.py [ENTRY ...] [--seconds 120] [--gigabytes 8] [--features 200 4096]
                                 [--kinds dense sparse] [--largest 64000] [--jobs 1]
                                 [--folder DIR] [--again] [--changed] [--page]

Writes growth.csv, one line per point, and growth.md, one line per entry, number of features and
kind of matrix. A point that stands in growth.csv is not measured again, unless a limit ended it and
the limit is higher now, or it is asked for with `--again`, or with `--changed` and the code of its
method is another now: a run may be interrupted and continued.
`--jobs 2` measures two series side by side: each point is still one process on one thread, but they
share memory and caches. All of it took 2.2 hours so on the machine that growth.md names. `--page`
measures nothing: it writes growth.md again, after a change of a docstring.

A point is one fit in a process of its own, on one BLAS thread: CPU seconds, and the most memory
resident beyond the data. The processes begin with all modules imported, and read the data from
files that the first of a size has written (6 GB where temporary files are). A fit of less than a
second is repeated, and the least seconds of three count. Before it the method fits a small problem,
so imports and compilation do not count. Two domains of n / 2 samples, ten classes; methods that see
labels of the source only have all of them, the others 20 per class of the source and 3 of the
target, as in the papers. A series ends at the first point beyond the limits of CPU seconds or of
resident memory, the data included.

The exponents are fitted to the last four sizes of which the class docstring's Cost paragraph claims
the same O() for the entry's parameters, read from there (claimed_cost.py); beside them stand those
of the bound that these O() come to, and all of these O(). "Products" are the CPU seconds in
products X X' of all pairs, at the speed of dgemm in that process, "passes" those in sums over all
values of the data, at the speed of a process that reads memory once from end to end: what a method
needs at least, if it compares all pairs or looks at every value. "Times its bound" says what the
method's own claims come to, with the time to fill the memory that the fit holds; see
growth_bounds.py. Linux only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import argparse
import ast
import contextlib
import csv
import hashlib
import itertools
import json
import multiprocessing
import signal
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import numpy as np
from claimed_cost import claims_for, cost_paragraph
from domain_alignment.exceptions import AlignmentError
from growth_bounds import (
    FAR,
    FASTER,
    claimed_exponents,
    conspicuous,
    exponents,
    reason,
    times_bound,
)
from measure import end_after, spent
from scipy import sparse
from sections import this_machine, told_machines, told_searched

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.code_digest import sources
from workflow.lib.config.suite import load_suite

ROOT = Path(__file__).resolve().parents[2]
SMALLEST = 500
# Limits of a fit, if no others are asked for.
SECONDS, GIGABYTES = 120, 8
N_CLASSES = 10
SHOWN = 0.15  # of the entries of a sparse matrix
SOURCE_PER_CLASS, TARGET_PER_CLASS = 20, 3
# Fits of fewer seconds are repeated, and the least of so many counts.
SHORT, REPEATS = 1.0, 3
# Speeds of the process of a point: products, values read, and values copied into fresh memory.
SPEEDS = ("flops", "read", "fresh")
FIELDS = (
    *("entry", "features", "kind", "samples", "status", "seconds", "bytes", "products", "passes"),
    *(*SPEEDS, "fits", "why", "when", "began", "jobs", "code", "machine"),
)
# Components and neighbours of methods that have no parameter for them.
FEW = 40
# Begins the processes of points, as copies of one that has imported what they need.
SERVER = multiprocessing.get_context("forkserver")
# Of two threads that ask at once how a process ended, one would not be told.
ONE_ASKS = Lock()


# ---- one point, in a process of its own


def domains(n_samples, n_features, kind, seed=0):
    """Non-negative features of two domains, and classes; the target's features are rescaled."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(N_CLASSES, n_features))
    Xs, ys = [], []
    for scale in (1.0, np.exp(0.3 * rng.normal(size=n_features))):
        y = np.arange(n_samples // 2) % N_CLASSES
        blocks = [
            _block(rng, centres, rows, scale, kind) for rows in np.array_split(y, 1 + len(y) // 500)
        ]
        Xs.append(sparse.vstack(blocks, format="csr") if kind == "sparse" else np.vstack(blocks))
        ys.append(y)
    return Xs, ys


def read_domains(folder, n_samples, n_features, kind):
    """As `domains`, from files."""
    files = drawn(folder, n_samples, n_features, kind)
    load = sparse.load_npz if kind == "sparse" else np.load
    return [load(file) for file in files], [np.arange(n_samples // 2) % N_CLASSES] * 2


def drawn(folder, n_samples, n_features, kind):
    """The files of both domains, written by whoever comes first: 64,000 x 4096 take a minute."""
    stem = f"{n_features}_{kind}_{n_samples}"
    files = [folder / f"{stem}_{domain}.{'npz' if kind == 'sparse' else 'npy'}" for domain in "ST"]
    if not files[-1].exists():
        for file, X in zip(files, domains(n_samples, n_features, kind)[0], strict=True):
            part = file.with_name(f"{os.getpid()}_{file.name}")
            if kind == "sparse":
                sparse.save_npz(part, X, compressed=False)
            else:
                np.save(part, X)
            part.replace(file)
    return files


def _block(rng, centres, y, scale, kind):
    X = np.abs(centres[y] + 2 * rng.normal(size=(len(y), centres.shape[1]))) * scale
    if kind == "dense":
        return X
    return sparse.csr_matrix(np.where(rng.random(X.shape) < SHOWN, X, 0))


def labels(seen, ys):
    """The labels that an entry sees: see the first lines of this file."""
    if seen != "source+target":
        return [ys[0], np.full_like(ys[1], -1)]
    counts = (SOURCE_PER_CLASS, TARGET_PER_CLASS)
    return [
        np.where(np.arange(len(y)) < k * N_CLASSES, y, -1) for y, k in zip(ys, counts, strict=True)
    ]


def flops_per_second():
    """Of dgemm, in this process."""
    A = np.random.default_rng(0).normal(size=(700, 700))
    A @ A.T
    start = time.process_time()
    for _ in range(3):
        A @ A.T[:, ::-1].copy()  # not dsyrk
    return 6 * 700**3 / (time.process_time() - start)


def bytes_per_second():
    """Read from memory in long runs, in this process."""
    values = np.ones(2**24)  # 128 MB, beyond any cache
    start = time.process_time()
    for _ in range(3):
        values.sum()
    return 3 * values.nbytes / (time.process_time() - start)


def fresh_bytes_per_second(n_bytes):
    """Copied into memory that the process has not had before: the least of three.

    As many as dense data hold, so that a virtual machine has the memory that a copy of them takes:
    what it has given back to its host comes at a thirtieth of the speed, and only the first time.
    """
    values, seconds = np.ones(n_bytes // 8), []
    for _ in range(3):
        start = time.process_time()
        values.copy()  # so large that it goes back to the system, and is cleared anew
        seconds.append(time.process_time() - start)
    return values.nbytes / min(seconds)


def dense_bytes(n_samples, n_features):
    """Of all samples; many methods embed sparse features as dense ones."""
    return 8 * n_samples * n_features


def size_of(Xs):
    """Bytes that hold the data: of sparse matrices also where the values stand."""
    parts = [(X.data, X.indices) if sparse.issparse(X) else (X,) for X in Xs]
    return sum(array.nbytes for part in parts for array in part)


def measure(name, n_samples, n_features, kind, seconds, folder):
    """Fit, a short one several times; the point's fields. The data lie in the folder, or will."""
    entry = load_suite(ROOT).methods[name]

    def fits(size, width):
        Xs, ys = read_domains(folder, size, width, kind)
        shown = labels(entry["sees_labels"], ys)
        while True:
            estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
            yield *spent(estimator.fit, Xs, shown)[:2], size_of(Xs)

    warnings.simplefilter("ignore")
    with contextlib.suppress(AlignmentError, ValueError):
        next(fits(SMALLEST, min(n_features, 200)))
    drawn(folder, n_samples, n_features, kind)
    touched = max(2**27, dense_bytes(n_samples, n_features))
    speeds = flops_per_second(), bytes_per_second(), fresh_bytes_per_second(touched)
    # Enough for the data; the kernel ends the process at the limit.
    end_after(1 + n_samples * n_features * 2e-7 + seconds + REPEATS * SHORT)
    try:
        used, held, size, n_fits = least(fits(n_samples, n_features))
    except (AlignmentError, ValueError, MemoryError) as error:
        return {"status": "refused", "why": " ".join(f"{type(error).__name__}: {error}".split())}
    return {
        "status": "time" if used > seconds else "ok",
        "seconds": round(used, 4),
        "bytes": held,
        "products": round(used / (2 * n_samples**2 * n_features / speeds[0]), 3),
        "passes": round(used / (size / speeds[1]), 1),
        **dict(zip(SPEEDS, map(round, speeds), strict=True)),
        "fits": n_fits,
    }


def least(fits):
    """The first of some fits and their number, with the least seconds of several if it is short.

    What it holds is that of the first: the others find memory that it has left.
    """
    used, *others = next(fits)
    n_fits = REPEATS if used < SHORT else 1
    return min([used, *(next(fits)[0] for _ in range(n_fits - 1))]), *others, n_fits


def guarded(point, seconds, limit, folder):
    """Run a point in a process, and end it when it holds more than `limit` bytes."""
    result, sent = SERVER.Pipe(duplex=False)
    child = SERVER.Process(target=_send, args=(sent, *point, seconds, folder))
    page = os.sysconf("SC_PAGE_SIZE")
    with ONE_ASKS:
        child.start()
    sent.close()
    with contextlib.suppress(OSError):  # it has just ended
        while _runs(child):
            if int(Path(f"/proc/{child.pid}/statm").read_text().split()[1]) * page > limit:
                child.kill()
                return {"status": "memory", "bytes": limit}
            time.sleep(0.02)
    while _runs(child):
        time.sleep(0.02)
    if child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"status": "time", "seconds": seconds}
    if child.exitcode:
        raise RuntimeError(f"{point}: its process ended with {child.exitcode}; see above")
    return result.recv()


def _send(connection, *asked):
    connection.send(measure(*asked))


def _runs(child):
    with ONE_ASKS:
        return child.is_alive()


# ---- the board


def groups(methods):
    """Entries with the same estimator and parameters: the first name, to all of them."""
    found = {}
    for name, entry in methods.items():
        same = json.dumps([entry["estimator"], entry.get("params", {}), entry["sees_labels"]])
        found.setdefault(same, []).append(name)
    return {names[0]: names for names in found.values()}


def code_of(entry):
    """A sum of what an entry runs: its method's module and all that it imports, its parameters and
    the labels that it sees.

    The same where only comments, docstrings or the place of a line differ.
    """
    cls = resolve_estimator(entry["estimator"])
    asked = [entry.get("params", {}), entry["sees_labels"]]
    found = hashlib.sha256(json.dumps(asked, sort_keys=True).encode())
    for path in sorted(sources(ROOT, cls.__module__)):
        found.update(_without_text((ROOT / path).read_bytes()))
    return found.hexdigest()[:12]


@cache
def _without_text(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [one for one in node.body if not _is_text(one)] or [ast.Pass()]
    return ast.dump(tree).encode()


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def read(file):
    """Points by (entry, features, kind, samples)."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        for field in ("features", "samples", "bytes", "jobs", *SPEEDS, "fits"):
            row[field] = int(row[field]) if row.get(field) else None
        for field in ("seconds", "products", "passes"):
            row[field] = float(row[field]) if row.get(field) else None
    return {key_of(row): row for row in rows}


def key_of(row):
    """What a point is known by."""
    return row["entry"], row["features"], row["kind"], row["samples"]


def write(file, points):
    """Points in the order of their names."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(points[key] for key in sorted(points))


def now():
    """The minute, in words that sort."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def is_final(row, args, code):
    """Whether a point need not be measured again with these limits."""
    if args.changed and row.get("code") != code:
        return False
    if row["status"] == "time":
        return row["seconds"] >= args.seconds
    if row["status"] == "memory":
        return row["bytes"] >= args.gigabytes * 2**30
    return True


def run_series(shape, args, points, file, writing, code):
    """Measure an entry from the smallest size on, until a limit ends it."""
    name, n_features, kind = shape
    size = SMALLEST
    while size <= args.largest:
        key = (*shape, size)
        if args.again or key not in points or not is_final(points[key], args, code):
            when = now()
            about = {"when": when, "began": args.began, "jobs": args.jobs}
            about |= {"code": code, "machine": this_machine()}
            limits = args.seconds, args.gigabytes * 2**30
            point = guarded((name, size, n_features, kind), *limits, args.data)
            row = dict.fromkeys(FIELDS) | dict(zip(FIELDS, key, strict=False)) | point | about
            with writing:
                points[key] = row
                write(file, points)
                print(*key, point.get("status"), point.get("seconds"), flush=True)
        if points[key]["status"] != "ok":
            with writing:
                drop_larger(key, points, file)
            return
        size *= 2


def drop_larger(key, points, file):
    """Leave nothing of a series above the size that ended it: it is of an earlier run."""
    for other in [one for one in points if one[:3] == key[:3] and one[3] > key[3]]:
        del points[other]
    write(file, points)


def reading(entry):
    """How to read an entry's claims: its Claims at a point, and the symbols' values there."""
    estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
    params, paragraph = estimator.get_params(), cost_paragraph(type(estimator))
    numbers = {name: value for name, value in params.items() if type(value) is int}
    numbers |= {
        f"len({name})": len(value)
        for name, value in params.items()
        if isinstance(value, list | tuple)
    }
    numbers |= {"d": params["n_components"]} if "n_components" in numbers else {}

    def values(row):
        given = symbols(row) | numbers
        if entry["sees_labels"] == "source":
            given |= dict.fromkeys(("l", "l_a", "l_S"), given["n_S"])
        if "n_eigen" in params:  # the largest rank of a kernel of the target's samples
            given["r"] = min(params["n_eigen"], given["n_T"], given["p"])
        return given

    def claimed(row):
        return claims_for(paragraph, values(row) | params | {"sparse": row["kind"] == "sparse"})

    return claimed, values


def symbols(row):
    """Of Cost paragraphs: what they are in the domains of a point. Ranks are the largest.

    With an index a, S or T a number is that of one domain.
    """
    n, p = row["samples"], row["features"]
    shown = SHOWN if row["kind"] == "sparse" else 1
    found = {"sum_a": 2, "nnz": n * p * shown}
    for value, names in (
        (n, "n N"),
        (n / 2, "n_a n_S n_T"),
        (p, "p p_a p_S p_T p_source p_target"),
        (min(n, p), "q"),
        (min(n / 2, p), "q_a m_a m_S m_T"),
        (N_CLASSES, "C n_classes"),
        (N_CLASSES * (SOURCE_PER_CLASS + TARGET_PER_CLASS), "l"),
        (N_CLASSES * SOURCE_PER_CLASS, "l_a l_S"),
        (N_CLASSES * TARGET_PER_CLASS, "l_T"),
        (FEW, "d n_components n_neighbors"),
        (1, "u"),  # nearly none of the source is unlabelled where its labels are seen
    ):
        found |= dict.fromkeys(names.split(), value)
    return found


def ending(series):
    """What ended a series, in words; runs with other limits may stand beside each other."""
    last = series[-1]
    if last["status"] == "ok":
        return "none"
    if last["status"] == "refused":
        return f"refuses {last['samples']:,}: {last['why'][:100]}"
    if last["status"] == "memory":
        return f"{last['bytes'] / 2**30:.0f} GB or more at {last['samples']:,}"
    more = " or more" if last["bytes"] is None else ""  # it was ended by the limit
    return f"{last['seconds']:.0f} s{more} at {last['samples']:,}"


def line(names, series, claimed, values):
    """A row of the table."""
    done = [row for row in series if row["status"] == "ok"]
    last = done[-1] if done else dict.fromkeys(FIELDS)
    told = claimed(done[-1] if done else series[0])
    of_time, of_memory = exponents(series, claimed)
    time_claimed, memory_claimed = claimed_exponents(series, claimed, values)
    times = times_bound(series, claimed, values)
    cells = [
        ", ".join(names),
        f"{series[0]['features']} {series[0]['kind']}",
        _number(last["samples"], ",d"),
        _number(last["seconds"], ".2f"),
        _number(last["products"], ".2g"),
        _number(last["passes"], ",.0f"),
        _number(last["bytes"] and last["bytes"] / 1e6, ".0f"),
        _number(of_time, ".1f"),
        _number(time_claimed, ".1f"),
        _number(of_memory, ".1f"),
        _number(memory_claimed, ".1f"),
        _number(times, ".2g" if times and times < 10 else ",.0f"),
        ", ".join(map(_quoted, told.time)),
        ", ".join(map(_quoted, told.memory)),
        ending(series),
    ]
    return f"| {' | '.join(cells)} |"


def _quoted(claim):
    """An O() as code, and what it is of or per in words."""
    cost, bracket, per = claim.rpartition(")")
    return f"`{cost}{bracket}`{per}"


def _number(value, how):
    return "" if value is None else format(value, how)


def page(points, methods):
    """The board as Markdown."""
    head = [
        *("Entry", "Features", "Largest n", "CPU s", "Products", "Passes", "MB"),
        *("Exponent, time", "as claimed", "Exponent, memory", "as claimed", "Times its bound"),
        *("Time claimed", "Memory claimed", "Ended by"),
    ]
    lines = ["# How time and memory grow", "", *reached(points, groups(methods)), ""]
    lines += [*above_claims(points, methods), ""]
    when = f"{told_when(points)} {by_code(points, methods)}"
    for told in (told_on(points), when, told_searched({name for name, *_ in points}, methods)):
        lines += [" ".join(told.split()), ""]
    lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [line(*told) for told in of_methods(points, methods)]
    return "\n".join(lines) + "\n"


def of_methods(points, methods):
    """Each series: the names of its entries, its points and how to read their claims."""
    for first, names in sorted(groups(methods).items()):
        claimed, values = reading(methods[first])
        ours = [points[key] for key in sorted(points) if key[0] == first]
        for shape in dict.fromkeys((row["features"], row["kind"]) for row in ours):
            series = [row for row in ours if (row["features"], row["kind"]) == shape]
            yield names, series, claimed, values


def above_claims(points, methods):
    """Names what is far above its bound or grows faster than claimed."""
    whole, in_part, named = [], [], {}
    for names, series, claimed, values in of_methods(points, methods):
        if reasons := conspicuous(series, claimed, values):
            shape = f"{series[0]['features']} {series[0]['kind']}"
            named.setdefault(reason(names[0], shape), []).append(names[0])
            counted = not any(" per " in claim for claim in claimed(series[-1]).time)
            (whole if counted else in_part).append(f"{names[0]} ({shape}: {reasons})")
    what = f"More than {FAR} times the bound, or {FASTER} above the claimed exponent"
    yield f"- {what}: {', '.join(whole) or 'none'}."
    yield (
        f"- {what}, of methods that claim a cost per step, pass or iteration, which the bound "
        f"counts once: {', '.join(in_part) or 'none'}."
    )
    if named:
        told = (f"{why} ({', '.join(dict.fromkeys(ours))})" for why, ours in named.items())
        yield f"- Why: {'; '.join(told)}."


def reached(points, named):
    """How many methods fit as many samples as any, and at how many the others end."""
    sizes = {}
    for (entry, *shape, n_samples), row in points.items():
        if entry in named:
            of_shape = sizes.setdefault(tuple(shape), {})
            of_shape[entry] = max(of_shape.get(entry, 0), n_samples * (row["status"] == "ok"))
    for (n_features, kind), largest in sorted(sizes.items()):
        most = max(largest.values())
        ended = sorted((n, entry) for entry, n in largest.items() if n < most)
        several = [f"{entry} ({f'{n:,}' if n else 'none'})" for n, entry in reversed(ended)]
        others = f"; the others, and how many they fit: {', '.join(several)}" if several else ""
        yield (
            f"- {n_features} {kind} features: {len(largest) - len(ended)} of {len(largest)} "
            f"methods fit {most:,} samples of both domains together within the limits{others}."
        )


def told_on(points):
    """What was measured, on what."""
    return f"""Fits in a process of its own per point, on one thread of
    {told_machines(points.values())}.
    A series ends at the first size beyond a limit, {SECONDS} CPU seconds or {GIGABYTES} GB unless
    others were asked for; its last column says what that size took. Where that is "none", at the
    largest size asked for.
    Two domains of n / 2 samples each. MB: resident beyond the data. Products: CPU seconds in
    products of all pairs of samples; passes: in reading all values once. Exponents: fitted by least
    squares of logarithms to the last four sizes, or three, of at least 0.05 s or 8 MB, of which the
    same is claimed. Time and memory claimed: every O() of a fit that the class's Cost paragraph
    states for the entry's parameters and these sizes. The bound: the dearest O() of time at the
    speed of the same products (two operations per term, two thirds of a cube; ranks the largest
    possible), of what is claimed as reads at the speed of memory, or, where that takes longer, to
    read the data once and to fill as much memory as the fit holds at most; what it gives back
    before is no part of it. As claimed: the exponents of the bound, and of the claims of memory,
    over the same sizes. What is claimed per pass, step or iteration counts once: how many there are
    is not said, and more samples may need more of them. A product of a matrix with a vector reads
    the matrix, and takes about ten times as long per operation as one of matrices: by so much are
    steps of Lanczos with a large matrix above the bound. What is claimed "at most" may be far above
    what is needed. Written by tests/bench/growth.py, which says more; all points are in
    growth.csv."""


def told_when(points):
    """Of which runs the points are, and how they were measured."""
    fits = f"Each is the least of {REPEATS} fits where one takes less than {SHORT:g} s."
    return f"{told_runs(points)} {fits}"


def told_runs(points):
    """From when to when the points of each run were measured, how many at a time, and whose."""
    parts = []
    for run in runs(points):
        first, last = points[run[0]], points[run[-1]]
        whose = f" ({', '.join(names_of(run, points))})" if parts else ""  # the first: all others
        ended = last["when"].removeprefix(first["when"][:11])  # of the same day
        jobs = first["jobs"] or 1
        parts.append(f"{len(run):,}{whose} from {first['when']} to {ended} UTC, {jobs} at a time")
    how = "of one run: " if len(parts) == 1 else "not of one run: "
    return f"{len(points):,} points, {how}{'; '.join(parts)}."


def runs(points):
    """Keys of the points of one run after the other: of one call of this script each."""
    found = {}
    for key in sorted(points, key=lambda key: (points[key]["when"], key)):
        found.setdefault(points[key]["began"], []).append(key)
    return [found[began] for began in sorted(found)]


def names_of(run, points):
    """Entries whose points are all of a run, and of others the features and kinds."""
    for entry in dict.fromkeys(sorted(key[0] for key in run)):
        ours = sorted({key[1:3] for key in run if key[0] == entry})
        whole = {key[1:3] for key in points if key[0] == entry} == set(ours)
        shapes = ", ".join(f"{n_features} {kind}" for n_features, kind in ours)
        yield entry if whole else f"{entry} with {shapes} features"


def by_code(points, methods):
    """Which entries were measured by other code than stands here."""
    ours = {first: code_of(methods[first]) for first in groups(methods)}
    changed = {row["entry"] for row in points.values() if row["code"] != ours.get(row["entry"])}
    if not changed:
        return "All by the code that stands here."
    return f"By other code than today's: {', '.join(sorted(changed))}."


def arguments(given):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("entries", nargs="*", help="of config/methods.yaml; all by default")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES)
    parser.add_argument("--features", type=int, nargs="+", default=[200, 4096])
    parser.add_argument(
        "--kinds", nargs="+", choices=["dense", "sparse"], default=["dense", "sparse"]
    )
    parser.add_argument("--largest", type=int, default=64000)
    parser.add_argument("--jobs", type=int, default=1, help="series measured side by side")
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    parser.add_argument("--again", action="store_true", help="measure points that are there")
    parser.add_argument(
        "--changed", action="store_true", help="measure points whose method has other code now"
    )
    parser.add_argument(
        "--page", action="store_true", help="write growth.md from growth.csv, and measure nothing"
    )
    return parser.parse_args(given)


def main(given=None):
    """Measure what is missing, and write both files; or the page alone."""
    args = arguments(given)
    methods = load_suite(ROOT).methods
    unknown = set(args.entries) - set(methods)
    if unknown:
        raise SystemExit(f"config/methods.yaml has no {', '.join(sorted(unknown))}")
    args.folder.mkdir(parents=True, exist_ok=True)
    args.began = now()
    file = args.folder / "growth.csv"
    points = read(file)
    asked = [
        first
        for first, names in groups(methods).items()
        if not args.entries or set(names) & set(args.entries)
    ]
    shapes = [] if args.page else list(itertools.product(asked, args.features, args.kinds))
    modules = {resolve_estimator(methods[first]["estimator"]).__module__ for first in asked}
    SERVER.set_forkserver_preload(["growth", *sorted(modules)])
    writing = Lock()
    with tempfile.TemporaryDirectory() as data, ThreadPoolExecutor(args.jobs) as pool:
        args.data = Path(data)
        codes = {first: code_of(methods[first]) for first in asked}
        runs = [
            pool.submit(run_series, shape, args, points, file, writing, codes[shape[0]])
            for shape in shapes
        ]
        try:
            for run in runs:
                run.result()
        except BaseException:  # Ctrl-C too: what has not begun does not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    (args.folder / "growth.md").write_text(page(points, methods), encoding="utf-8")
    return 0


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # where the server looks for `growth`
    sys.exit(main())
