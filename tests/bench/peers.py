"""Methods beside the same methods of other packages: CPU seconds, memory, accuracy.

    python tests/bench/peers.py [NAME ...] [--seconds 60] [--sizes 2000 10000] [--features 800 4096]
                                [--folder DIR]

Amazon -> Caltech with SURF features (z-scored; generated where there is no mirror), then two
generated domains of n / 2 samples each. One fit to both domains per process and the embedding of
its training samples, on one BLAS thread: CPU seconds and the most memory resident beyond the data;
before it a small fit, so imports and compilation do not count. A fit is ended after ``--seconds``
CPU seconds.

"Difference" is the largest difference of the embeddings, signs of columns apart, of the largest
entry; accuracies are those of 1-NN trained on the embedded source. Where the packages do not define
the same problem the table says so, and the accuracies tell what it costs. Linux only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import csv
import json
import math
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import domain_alignment as ours
import numpy as np
from growth import domains, forget_most, most_resident
from sklearn.decomposition import PCA, KernelPCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale
from surf import domains as surf_domains

from workflow.lib.results.environment import describe

ROOT = Path(__file__).resolve().parents[2]
N_COMPONENTS = 20
FIELDS = ("name", "by", "task", "status", "seconds", "megabytes", "accuracy", "difference")


def aligned(estimator):
    """Embeddings of both domains by one of our methods."""

    def embed(Xs, y):
        return estimator().fit(Xs, [y, np.full(len(Xs[1]), -1)]).embeddings_

    return embed


def adapted(make):
    """Embeddings of both domains by an adapter of skada."""

    def embed(Xs, y):
        import skada

        X, sample_domain = np.vstack(Xs), np.repeat([1, -2], [len(X) for X in Xs])
        labels = np.concatenate([y, np.full(len(Xs[1]), -1)])
        adapter = make(skada)
        adapter.fit(X, labels, sample_domain=sample_domain)
        Z = adapter.transform(X, sample_domain=sample_domain, allow_source=True)
        return np.split(np.asarray(Z), [len(Xs[0])])

    return embed


def transported(make):
    """The source moved to the target by a transport of POT."""

    def embed(Xs, y):
        import ot.da

        return [make(ot.da).fit_transform(Xs=Xs[0], ys=y, Xt=Xs[1]), Xs[1]]

    return embed


def stacked(make):
    """A decomposition of scikit-learn of the stacked domains."""

    def embed(Xs, y):
        return np.split(make().fit_transform(np.vstack(Xs)), [len(Xs[0])])

    return embed


@dataclass(frozen=True)
class Peers:
    """One method: how we compute it and how others do; ``differs`` says why outputs may differ.

    ``approximate`` names those whose answer is not the problem's on large tasks.
    """

    mine: Callable
    others: dict[str, Callable] = field(default_factory=dict)
    differs: str = ""
    approximate: tuple[str, ...] = ()


PEERS = {
    "PCA": Peers(
        aligned(lambda: ours.PCAAligner(n_components=N_COMPONENTS)),
        {
            "scikit-learn": stacked(lambda: PCA(N_COMPONENTS, random_state=0)),
            "scikit-learn, exact": stacked(lambda: PCA(N_COMPONENTS, svd_solver="covariance_eigh")),
        },
        "from 500 samples on scikit-learn approximates by random projections, unless samples are "
        "ten times the features; exact is its `covariance_eigh`",
        ("scikit-learn",),
    ),
    "kernel PCA (RBF)": Peers(
        aligned(lambda: ours.KernelPCAAligner(n_components=N_COMPONENTS, gamma=1e-3)),
        {"scikit-learn": stacked(lambda: KernelPCA(N_COMPONENTS, kernel="rbf", gamma=1e-3))},
    ),
    "subspace alignment": Peers(
        aligned(lambda: ours.SubspaceAlignment(n_components=N_COMPONENTS)),
        {
            "skada": adapted(
                lambda skada: skada.SubspaceAlignmentAdapter(N_COMPONENTS, random_state=0)
            )
        },
        "skada takes scikit-learn's PCA, from 500 samples on an approximation",
        ("skada",),
    ),
    "CORAL": Peers(
        aligned(lambda: ours.CORAL(ridge=1.0)),
        {"skada": adapted(lambda skada: skada.CORALAdapter(reg=0.5))},
        "skada shrinks each covariance to its own mean variance, the paper adds the identity",
    ),
    "TCA (linear kernel)": Peers(
        aligned(lambda: ours.TCA(formulation="dual", kernel="linear", n_components=N_COMPONENTS)),
        {
            "skada": adapted(
                lambda skada: skada.TransferComponentAnalysisAdapter("linear", N_COMPONENTS, 1.0)
            )
        },
        "skada hands a matrix that is not symmetric to a solver for symmetric ones",
    ),
    "optimal transport (linear map)": Peers(
        aligned(lambda: ours.LinearOT(ridge=1.0)),
        {
            "POT": transported(lambda da: da.LinearTransport(reg=1.0)),
            "skada": adapted(lambda skada: skada.LinearOTMappingAdapter(reg=1.0)),
        },
    ),
    "optimal transport (exact)": Peers(
        aligned(lambda: ours.ExternalAligner("ot.da:EMDTransport", labels="none")),
        {
            "POT": transported(lambda da: da.EMDTransport()),
            "skada": adapted(lambda skada: skada.OTMappingAdapter()),
        },
        "equal samples may exchange their shares of the plan",
    ),
    "optimal transport (classes)": Peers(
        aligned(lambda: ours.ClassRegularizedOT(reg_e=1.0, reg_cl=0.1, cost_scaling="max")),
        {
            "POT": transported(lambda da: da.SinkhornLpl1Transport(1.0, 0.1, norm="max")),
            "skada": adapted(
                lambda skada: skada.ClassRegularizerOTMappingAdapter(1.0, 0.1, norm="lpl1")
            ),
        },
        "other numbers of iterations and tolerances; skada does not scale the costs",
    ),
}


def data(task):
    """Features of both domains, and their classes."""
    if task == "A->C":
        read, _ = surf_domains("amazon", "caltech")
        (Xs, ys) = zip(*read.values(), strict=True)
        return [scale(X / X.sum(axis=1, keepdims=True)) for X in Xs], ys
    n_samples, n_features = map(int, task.split("x"))
    Xs, ys = domains(n_samples, n_features, "dense")
    return [scale(X) for X in Xs], ys


def measure(name, by, task, file, seconds):
    """Fit once in this process; the point's fields. Leaves the embedding in a file."""
    warnings.simplefilter("ignore")
    embed = PEERS[name].mine if by == "ours" else PEERS[name].others[by]
    small, (labels, _) = domains(400, 60, "dense")
    embed(small, labels)
    Xs, ys = data(task)
    most = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    forget_most()
    before, start = most_resident(), time.process_time()
    source, target = embed(Xs, ys[0])
    used, held = time.process_time() - start, most_resident() - before
    np.save(file, np.vstack([source, target]))
    right = KNeighborsClassifier(1).fit(source, ys[0]).score(target, ys[1])
    return {"seconds": round(used, 3), "megabytes": held // 10**6, "accuracy": round(right, 4)}


def point(name, by, task, folder, seconds):
    """A measurement in a process of its own."""
    file = folder / f"{by}.npy"
    command = [sys.executable, __file__, "--point", name, by, task, str(file)]
    command += ["--seconds", str(seconds)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    place = {"name": name, "by": by, "task": task}
    if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {**place, "status": f"over {seconds:g} s", "seconds": seconds}
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


def compared(name, task, seconds):
    """Points of one method on one task: ours, then the others."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = [point(name, by, task, folder, seconds) for by in ("ours", *PEERS[name].others)]
        for row in rows[1:]:
            if rows[0]["status"] == row["status"] == "ok":
                files = folder / "ours.npy", folder / f"{row['by']}.npy"
                row["difference"] = difference(*files)
    return rows


def read(file):
    """Rows of an earlier run; none if there was none."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [
            {key: value for key, value in row.items() if value} for row in csv.DictReader(stream)
        ]
    for row in rows:
        numbers = {key: float(row[key]) for key in FIELDS[4:] if key in row}
        row |= numbers | ({"megabytes": int(row["megabytes"])} if "megabytes" in row else {})
    return rows


def page(rows):
    """The table as Markdown."""
    machine = describe()
    lines = [
        "# Beside other packages",
        "",
        f"{' '.join(__doc__.split('DIR]')[1].split())} Written by tests/bench/peers.py on "
        f"{machine['cpu']} ({machine['cores']} cores); all points are in peers.csv.",
        "",
        verdict(rows),
        "",
        "| Method | Task | By | CPU s | Ours / theirs | MB | 1-NN | Difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    mine = {(row["name"], row["task"]): row for row in rows if row["by"] == "ours"}
    lines += [_line(row, mine[row["name"], row["task"]]) for row in rows]
    lines += [
        "",
        *(f"- {name}: {peers.differs}." for name, peers in PEERS.items() if peers.differs),
    ]
    return "\n".join(lines) + "\n"


def verdict(rows):
    """Over every pair of measurements: how often ours is the faster, and by how much."""
    found = list(ratios(rows))
    exact = [one for one in found if one[2] not in PEERS[one[0]].approximate]
    rough = [one for one in found if one not in exact]
    return (
        f"**{_compared('In', exact)}.** {_compared('Against approximations, in', rough)}. A fit "
        "that was ended counts with the seconds that it had."
    )


def _compared(where, found):
    slower = [
        f"{name} on {task} ({ratio:.2f} of {by})" for name, task, by, ratio in found if ratio > 1
    ]
    median = statistics.median(ratio for *_, ratio in found)
    return (
        f"{where} {len(found)} pairs ours takes {median:.2f} of the other's CPU seconds in the "
        f"median and is slower in {len(slower)}{': ' if slower else ''}{'; '.join(slower)}"
    )


def ratios(rows):
    """Ours by theirs, where ours was not ended."""
    mine = {(row["name"], row["task"]): row for row in rows if row["by"] == "ours"}
    for row in rows:
        own = mine[row["name"], row["task"]]
        if row is not own and own["status"] == "ok" and row.get("seconds"):
            yield row["name"], row["task"], row["by"], own["seconds"] / row["seconds"]


def _line(row, own):
    ok = row["status"] == "ok"
    ratio = next((r for *_, r in ratios([own, row])), None) if row is not own else None
    cells = [
        *(row["name"], row["task"], row["by"]),
        f"{row['seconds']:.2f}" if ok else row["status"],
        "" if ratio is None else f"{'< ' if not ok else ''}{ratio:.2f}",
        f"{row['megabytes']}" if ok else "",
        f"{100 * row['accuracy']:.1f}" if ok else "",
        f"{row['difference']:.0e}" if row.get("difference") is not None else "",
    ]
    return f"| {' | '.join(cells)} |"


def main():
    """Measure, and write both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join(PEERS)}; rows of the others are kept"
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2000, 10000])
    parser.add_argument("--features", type=int, nargs="*", default=[800, 4096])
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    parser.add_argument("--point", nargs=4, metavar=("NAME", "BY", "TASK", "FILE"))
    asked = parser.parse_args()
    if asked.point:
        print(json.dumps(measure(*asked.point, asked.seconds)))
        return
    if unknown := set(asked.names) - PEERS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    file = asked.folder / "peers.csv"
    rows = [row for row in read(file) if row["name"] not in (asked.names or PEERS)]
    for task in ("A->C", *(f"{n}x{p}" for n in asked.sizes for p in asked.features)):
        for name in asked.names or PEERS:
            rows += compared(name, task, asked.seconds)
            print(
                *(_line(row, row) for row in rows[-1 - len(PEERS[name].others) :]),
                sep="\n",
                flush=True,
            )
    asked.folder.mkdir(parents=True, exist_ok=True)
    rows.sort(key=lambda row: list(PEERS).index(row["name"]))
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (asked.folder / "peers.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
