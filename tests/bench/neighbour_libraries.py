"""Libraries that search nearest neighbours beside the exact search: CPU seconds, memory, recall.

    python tests/bench/neighbour_libraries.py [LIBRARY ...] [--sizes 20000 100000]
                                              [--features 200] [--texts] [--seconds 1200]
                                              [--folder DIR]

The 12 nearest of every sample by the cosine, as the graphs of FMA and SMA need them. The samples
are those of large.py: ten classes on a surface of 20 dimensions, in 200 features or others. A
library has a process of its own on one thread, builds its index once and searches with growing
effort; CPU seconds count the building too, and the conversion of the samples to what the library
takes. Before it a small search, so imports and compilation do not count; a column has the seconds
with that search, which a process pays once. Memory: the most resident beyond the samples. Recall:
the share of the 12 nearest of 2,000 samples that is found. A process is ended after `--seconds` CPU
seconds.

The approximate search of the library takes its candidates from pynndescent, 34 of a sample, in few
directions where neighbours stay near, and compares them by their cosines in float64; its seconds
count the estimate of its recall. The page says from how many samples on it is faster than the exact
search, compilation included, which is what `auto_exact_up_to` of `utils/graphs.py` stands for.

With `--texts` the samples are sparse counts of 20,000 words, of which only both of ours are
measured, and no page is written.

faiss-cpu and hnswlib are not in the environment of the project; what is missing is said, and has no
row. Of all libraries it writes neighbours.md, after each size. Linux only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from domain_alignment.utils._approximate_neighbors import EXACT_UP_TO, approximate_neighbors
from domain_alignment.utils._rows import row_products, unit_rows
from domain_alignment.utils.graphs import auto_exact_up_to
from domain_alignment.utils.neighbors import nearest_neighbors
from large import write_domains
from measure import end_after, spent
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

from workflow.lib.results.environment import describe

ROOT = Path(__file__).resolve().parents[2]
N_FEATURES, N_NEIGHBORS, N_JUDGED = 200, 12, 2000
N_WORDS, N_TOPICS, WORDS_PER_TEXT = 20_000, 10, 70
SMALL = EXACT_UP_TO + 500  # below, ours has nothing to compile
EQUAL_RECALL = (0.95, 0.99, 0.999)
EXACT = 0.99999  # rounding to float32 exchanges a neighbour now and then


@dataclass(frozen=True)
class Library:
    """How a library is asked, and how hard.

    Attributes
    ----------
    package, module : str
        What is installed, and what is imported.
    setting : str
        What grows with the effort.
    build : callable
        ``build(X)``: an index of samples in float64.
    search : callable
        ``search(index, effort)``: the nearest of every sample, itself perhaps among them.
    efforts : tuple
        Ascending.
    """

    package: str
    module: str
    setting: str
    build: Callable
    search: Callable
    efforts: tuple


def directions(X):
    """Rows of length 1 in float32: inner products are cosines."""
    return unit_rows(X).astype(np.float32)


def by_pynndescent(X, n_candidates):
    """As many candidates a sample, the nearest of which are taken."""
    index = import_module("pynndescent").NNDescent(
        X, metric="euclidean", n_neighbors=n_candidates, random_state=0, low_memory=True, n_jobs=1
    )
    return index.neighbor_graph[0][:, : N_NEIGHBORS + 1]


def faiss_index(name, effort=None):
    """A function that builds an index of `faiss.index_factory` by inner products."""

    def build(X):
        faiss = import_module("faiss")
        faiss.omp_set_num_threads(1)
        X, kind = directions(X), name.format(lists=int(4 * np.sqrt(len(X))))
        index = faiss.index_factory(X.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        index.train(X)
        index.add(X)
        return index, X

    def search(index, value):
        index, X = index
        if effort:
            import_module("faiss").ParameterSpace().set_index_parameter(index, effort, value)
        return index.search(X, N_NEIGHBORS + 1)[1]

    return build, search


def hnswlib_index(X):
    """The graph of hnswlib with its own defaults."""
    X = directions(X)
    index = import_module("hnswlib").Index("ip", X.shape[1])
    index.init_index(len(X), M=16, ef_construction=200, random_seed=0)
    index.add_items(X, num_threads=1)
    return index, X


def by_hnswlib(index, effort):
    """Of a graph that was built."""
    index, X = index
    index.set_ef(effort)
    return index.knn_query(X, N_NEIGHBORS + 1, num_threads=1)[0]


def unbuilt(X):
    """Nothing: the search does it all."""
    return X


EFFORTS = (16, 32, 64, 128)
OURS = "exact search (ours)"
APPROXIMATE = "approximate search (ours)"
LIBRARIES = {
    OURS: Library(
        *("domain-alignment", "domain_alignment", "", unbuilt),
        lambda X, _: nearest_neighbors(X, N_NEIGHBORS)[0],
        (None,),
    ),
    APPROXIMATE: Library(
        *("pynndescent", "pynndescent", "", unbuilt),
        lambda X, _: approximate_neighbors(X, N_NEIGHBORS)[0],
        (None,),
    ),
    "pynndescent": Library(
        *("pynndescent", "pynndescent", "candidates", directions, by_pynndescent),
        (16, 34, 60),
    ),
    "faiss, exact": Library("faiss-cpu", "faiss", "", *faiss_index("Flat"), (None,)),
    "faiss, IVF": Library(
        *("faiss-cpu", "faiss", "lists searched"),
        *faiss_index("IVF{lists},Flat", "nprobe"),
        (4, 8, 16, 32),
    ),
    "faiss, HNSW": Library(
        *("faiss-cpu", "faiss", "ef"), *faiss_index("HNSW16,Flat", "efSearch"), EFFORTS
    ),
    "hnswlib": Library("hnswlib", "hnswlib", "ef", hnswlib_index, by_hnswlib, EFFORTS),
}


def write_texts(folder, n_samples):
    """Counts of 20,000 words, frequent ones first, in texts of 70 and ten topics."""
    rng, topics = np.random.default_rng(0), np.arange(N_TOPICS)[:, None]
    chances = (1 + 0.5 * np.sin(np.arange(N_WORDS) * (topics + 1))) / np.arange(10, N_WORDS + 10)
    chances /= chances.sum(axis=1, keepdims=True)
    words = np.empty((n_samples, WORDS_PER_TEXT), dtype=np.int64)
    for topic, own in enumerate(chances):
        ours = words[topic::N_TOPICS]
        ours[:] = rng.choice(N_WORDS, ours.shape, p=own)
    rows = np.repeat(np.arange(n_samples), WORDS_PER_TEXT)
    counts = sparse.coo_array((np.ones(rows.size), (rows, words.ravel())), (n_samples, N_WORDS))
    sparse.save_npz(folder / "texts.npz", counts.tocsr())


# ---- one library, in a process of its own


def measure(name, file, seconds):
    """Print a row per effort."""
    library, X = LIBRARIES[name], (sparse.load_npz if file.endswith(".npz") else np.load)(file)
    compiling, *_ = spent(small_search, library, X[:SMALL])
    judged = np.sort(np.random.default_rng(0).choice(X.shape[0], N_JUDGED, replace=False))
    nearest = true_neighbors(X, judged)
    end_after(seconds)
    building, held, index = spent(library.build, X)
    for effort in library.efforts:
        used, more, found = spent(library.search, index, effort)
        row = {
            "library": name,
            "samples": X.shape[0],
            "effort": effort,
            "building": building,
            "seconds": building + used,
            "compiling": compiling,
            "bytes": held + more,
            "recall": recall(found[judged], nearest),
        }
        print(json.dumps(row), flush=True)


def small_search(library, X):
    """Of every effort, so that nothing is left to import and to compile."""
    index = library.build(X)
    for effort in library.efforts:
        library.search(index, effort)


def true_neighbors(X, rows):
    """The nearest other samples of some, by all products in float64."""
    X = unit_rows(X)
    cosines = row_products(X[rows], X)
    cosines[np.arange(len(rows)), rows] = -np.inf
    return np.argpartition(-cosines, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS]


def recall(found, nearest):
    """The share of the nearest that is among those found."""
    return float(np.mean([np.isin(*pair).mean() for pair in zip(nearest, found, strict=True)]))


# ---- the page


def rows_of(name, file, seconds):
    """What a process of its own measures; fewer rows where it was ended."""
    command = [sys.executable, __file__, name, "--child", file, "--seconds", str(seconds)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode > 0:
        raise SystemExit(f"{name} failed")
    return [json.loads(line) for line in run.stdout.splitlines()]


def page(rows, missing, date, n_features=N_FEATURES):
    """Everything as Markdown."""
    machine = describe(date)
    packages = sorted({one.package for one in LIBRARIES.values()} - {"domain-alignment"} - missing)
    versions = ", ".join(f"{one} {metadata.version(one)}" for one in packages)
    left_out = f" Not installed, and left out: {', '.join(sorted(missing))}." if missing else ""
    sizes = sorted({row["samples"] for row in rows})
    lines = [
        "# Libraries that search nearest neighbours",
        "",
        f"The {N_NEIGHBORS} nearest of every sample by the cosine, ten classes on a surface of 20 "
        f"dimensions in {n_features} features: CPU seconds on one thread of {machine['cpu']} "
        f"({machine['cores']} cores, {machine['memory_gb']} GB), building the index included, "
        "compilation not; memory beyond the samples in float64, which the exact search takes "
        f"as they are. {machine['date']}; {versions}, NumPy "
        f"{machine['packages']['numpy']}.{left_out} Written by tests/bench/neighbour_libraries.py, "
        "which says more.",
        *("", "CPU seconds of the least effort that reaches a recall:", ""),
        *equal_recall(rows, sizes),
        *("", told_crossing(rows, n_features)),
        *("", "Every effort:", ""),
        "| Samples | Library | Effort | Building, s | CPU s "
        "| With imports and a first small search, s | MB | Recall |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        effort = f"{LIBRARIES[row['library']].setting} {row['effort']}" if row["effort"] else ""
        lines.append(
            f"| {row['samples']:,} | {row['library']} | {effort} | {row['building']:.1f} | "
            f"{row['seconds']:.1f} | {row['seconds'] + row['compiling']:.1f} | "
            f"{row['bytes'] / 1e6:.0f} | {row['recall']:.4f} |"
        )
    return "\n".join(lines) + "\n"


def told_crossing(rows, n_features=N_FEATURES):
    """Up to how many samples the exact search is the faster one, beside where it is chosen."""
    found = crossing(rows)
    if found is None:
        return "Too little was measured to say from where on the approximate search is faster."
    return (
        "By powers of the number of samples through the two largest sizes, the exact search takes "
        f"longer than the approximate one with its compilation above {found:,} samples; by default "
        f"up to {auto_exact_up_to(np.empty((1, n_features))):,} are searched exactly."
    )


def crossing(rows):
    """The samples, to two digits, above which the exact search takes longer; None if not known."""
    taken = {(row["library"], row["effort"], row["samples"]): row for row in rows}
    sizes = sorted({row["samples"] for row in rows})[-2:]
    pairs = [[taken.get((one, None, size)) for size in sizes] for one in (OURS, APPROXIMATE)]
    if len(sizes) < 2 or any(None in pair for pair in pairs):
        return None
    number = np.geomspace(1e3, 1e8, 5001)
    powers = [
        np.polyfit(np.log(sizes), np.log([row["seconds"] for row in pair]), 1) for pair in pairs
    ]
    exact, approximate = (np.exp(np.polyval(power, np.log(number))) for power in powers)
    slower = exact > approximate + pairs[1][-1]["compiling"]
    return int(float(f"{number[np.argmax(slower)]:.1e}")) if slower.any() else None


def equal_recall(rows, sizes):
    """A line per library: its seconds at each recall and size."""
    columns = [(size, least) for size in sizes for least in (*EQUAL_RECALL, EXACT)]
    yield (
        "| Library | "
        + " | ".join(
            f"{size:,}: {'exact' if least == EXACT else f'{least:.1%}'}" for size, least in columns
        )
        + " |"
    )
    yield "|---" * (1 + len(columns)) + "|"
    for name in dict.fromkeys(row["library"] for row in rows):
        cells = []
        for size, least in columns:
            reached = [
                row["seconds"]
                for row in rows
                if (row["library"], row["samples"]) == (name, size) and row["recall"] >= least
            ]
            cells.append(f"{min(reached):.1f}" if reached else "")
        yield f"| {name} | {' | '.join(cells)} |"


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    parser.add_argument("--sizes", nargs="+", type=int, default=[20_000, 100_000])
    parser.add_argument("--features", type=int, default=N_FEATURES)
    parser.add_argument("--texts", action="store_true", help="sparse counts in place of these")
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--folder", type=Path, default=ROOT / "reports/reference")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if unknown := set(asked.libraries) - set(LIBRARIES):
        parser.error(f"unknown: {', '.join(unknown)}; known: {'; '.join(LIBRARIES)}")
    if asked.child:
        measure(asked.libraries[0], asked.child, asked.seconds)
        return
    if asked.texts:
        asked.libraries = [OURS, APPROXIMATE]
    missing = {one.package for one in LIBRARIES.values() if find_spec(one.module) is None}
    for package in sorted(missing):
        print(f"{package} is not installed, so it is left out: pip install {package}")
    chosen = [one for one in asked.libraries or LIBRARIES if LIBRARIES[one].package not in missing]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in asked.sizes:
            if asked.texts:
                write_texts(Path(folder), size)
            else:
                write_domains(Path(folder), size, asked.features)
            file = "texts.npz" if asked.texts else "source.npy"
            for name in chosen:
                found = rows_of(name, f"{folder}/{file}", asked.seconds)
                rows += found
                for row in found:
                    print(*row.values(), flush=True)
            if not asked.libraries:
                date = datetime.now(UTC).strftime("%Y-%m-%d")
                file = asked.folder / "neighbours.md"
                made = page(rows, missing, date, asked.features)
                file.write_text(made, encoding="utf-8")
    if not asked.texts:
        print(told_crossing(rows, asked.features))


if __name__ == "__main__":
    main()
