"""Accuracy of classifiers on a domain with nearly all of its labels.

Eight-fold cross-validation within each domain trains on seven eighths of the labels: a ceiling for
few labels of that domain, with the same features. The best of several standard classifiers and
scalings is shown, selected by its cross-validated score, which biases the ceiling slightly upwards.
Labels of another domain can exceed it where both show the same objects: on W→D, without one label
of D, most methods of fma_table1_full_source do. For C no such domain is known: a published number
far above it there is hardly an accuracy on these features.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import count, fixed, listed, some
from workflow.studies.common._cells import word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "ceiling": "Published accuracies on each target domain, a dot per pair, and the best of the "
    "cross-validated classifiers that see seven eighths of its labels (bar, ± standard deviation "
    "over folds)."
}
TABLES = ("ceiling", "classifiers")

PUBLISHED = Path(__file__).parents[3] / "config/published/fma_table1_surf.csv"
READS = (PUBLISHED,)
SHORT = {"amazon": "A", "caltech": "C", "dslr": "D", "webcam": "W"}


def run(
    domains: Mapping[str, tuple], n_folds: int = 8, seed: int = 0
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Accuracy of every classifier on every fold of every domain."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    records = []
    for name, (X, y) in domains.items():
        for label, (classifier, features) in classifiers(X).items():
            scores = cross_val_score(classifier, features, y, cv=folds)
            records += [
                {"domain": name, "classifier": label, "fold": fold, "accuracy": float(score)}
                for fold, score in enumerate(scores)
            ]
    return records, {}


def classifiers(X: np.ndarray) -> dict[str, tuple]:
    """Classifiers with the features or the kernel that each is given, by label."""
    from domain_alignment.kernels._tiled import Kernel
    from sklearn.metrics.pairwise import chi2_kernel
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, normalize
    from sklearn.svm import SVC

    shares = normalize(X, "l1")
    kernels = {
        "intersection": Kernel("histogram_intersection")(shares, shares),
        "χ²": chi2_kernel(shares),
        "Hellinger": np.sqrt(shares) @ np.sqrt(shares).T,
    }
    tried = {
        f"SVM, {name} kernel, C = {C:g}": (SVC(C=C, kernel="precomputed"), kernel)
        for name, kernel in kernels.items()
        for C in (0.1, 1.0, 10.0)
    }
    for C in (0.0001, 0.001, 0.01):
        machine = make_pipeline(StandardScaler(), SVC(C=C, kernel="linear"))
        tried[f"SVM, linear, C = {C:g}, z-scored"] = (machine, shares)
    for C in (1.0, 10.0):
        machine = make_pipeline(StandardScaler(), SVC(C=C))
        tried[f"SVM, RBF, C = {C:g}, z-scored"] = (machine, shares)
    tried["1-NN, z-scored"] = (make_pipeline(StandardScaler(), KNeighborsClassifier(1)), shares)
    return tried


def best(records: list[dict], domain: str) -> tuple[str, np.ndarray]:
    """Classifier with the highest mean accuracy on a domain, and its accuracies per fold."""
    folds: dict[str, list[float]] = {}
    for record in records:
        if record["domain"] == domain:
            folds.setdefault(record["classifier"], []).append(record["accuracy"])
    label = max(folds, key=lambda name: np.mean(folds[name]))
    return label, np.array(folds[label])


def _short(domain: str) -> str:
    return SHORT[domain.partition(".")[2]]


def finding(records: list[dict], arrays: Mapping) -> str:
    """What the best classifier reaches on each target, and the published numbers above that."""
    reached, above, n_printed = [], [], 0
    for domain in _domains(records):
        label, mean, spread = _ceiling(records, domain)
        printed = _printed(domain)
        reached.append(f"{fixed(mean, 1)} % on {_short(domain)} ({label})")
        above += _between(printed, mean + spread, np.inf)
        n_printed += len(printed)
    n_folds = len({record["fold"] for record in records})
    named = f": {some(above, 4)}" if above else ""
    return (
        f"With the labels of {n_folds - 1} of {count(n_folds, 'fold')}, the best classifier "
        f"reaches {listed(reached)}. Of {count(n_printed, 'published number')}, "
        f"{len(above) or 'none'} lie above that by more than the standard deviation over "
        f"folds{named}."
    )


def _ceiling(records: list[dict], domain: str) -> tuple[str, float, float]:
    """Best classifier of a domain, its mean accuracy and standard deviation over folds, percent."""
    label, folds = best(records, domain)
    return label, float(100 * folds.mean()), float(100 * folds.std(ddof=1))


def _printed(domain: str) -> list[dict]:
    """Published rows with the domain as their target."""
    from workflow.lib.results.published import read_published

    return [row for row in read_published(PUBLISHED) if row["target"] == _short(domain)]


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"ceiling": _ceiling_table(records), "classifiers": _classifiers_table(records)}


def _domains(records: list[dict]) -> list[str]:
    return list(dict.fromkeys(record["domain"] for record in records))


def _ceiling_table(records: list[dict]) -> Table:
    rows = []
    for domain in _domains(records):
        label, mean, spread = _ceiling(records, domain)
        printed = _printed(domain)
        rows.append(
            (
                word(_short(domain)),
                TableCell(fixed(mean, 1), mean, fixed(spread, 1), spread),
                word(label),
                number_cell(max(row["mean"] for row in printed), 1),
                word(", ".join(_between(printed, mean + spread, np.inf)) or "–"),
                word(", ".join(_between(printed, mean, mean + spread)) or "–"),
            )
        )
    n_folds = len({record["fold"] for record in records})
    return Table(
        "ceiling",
        f"Best cross-validated accuracy within each domain, percent, ± standard deviation over "
        f"{n_folds} folds, and the published numbers above it.",
        (
            TableColumn("Target"),
            TableColumn("All labels", numeric=True, scores=True),
            TableColumn("Best classifier"),
            TableColumn("Highest published", numeric=True),
            TableColumn("Published above mean + std"),
            TableColumn("Published between mean and that"),
        ),
        tuple(rows),
    )


def _between(printed: list[dict], low: float, high: float) -> list[str]:
    """Published numbers above ``low`` and at most ``high``, with method and pair."""
    found = [row for row in printed if low < row["mean"] <= high]
    return [f"{r['method']} {r['source']}→{r['target']} {r['mean']}" for r in found]


def _classifiers_table(records: list[dict]) -> Table:
    labels = list(dict.fromkeys(record["classifier"] for record in records))
    domains = _domains(records)
    rows = []
    for label in labels:
        cells = []
        for domain in domains:
            folds = [
                100 * record["accuracy"]
                for record in records
                if (record["domain"], record["classifier"]) == (domain, label)
            ]
            mean, spread = float(np.mean(folds)), float(np.std(folds, ddof=1))
            cells.append(TableCell(fixed(mean, 1), mean, fixed(spread, 1), spread))
        rows.append((word(label), *cells))
    return Table(
        "classifiers",
        "Accuracy of every classifier tried, percent, mean ± standard deviation over folds.",
        (
            TableColumn("Classifier"),
            *(TableColumn(_short(domain), numeric=True, scores=True) for domain in domains),
        ),
        tuple(rows),
    )


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"ceiling": lambda: _ceiling_figure(records)}


def _ceiling_figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH, colour, legend, marker, ruled
    from workflow.lib.results.published import read_published

    printed = read_published(PUBLISHED)
    methods = list(dict.fromkeys(row["method"] for row in printed))
    domains = _domains(records)
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    handles = []
    for position, method in enumerate(methods):
        places, values = [], []
        for place, domain in enumerate(domains):
            dots = [
                row["mean"]
                for row in printed
                if (row["target"], row["method"]) == (_short(domain), method)
            ]
            places += [place + 0.09 * (position - (len(methods) - 1) / 2)] * len(dots)
            values += dots
        style = {"color": colour(position), "marker": marker(position), "markersize": 4.5}
        handles += axes.plot(places, values, linestyle="", **style)
    for place, domain in enumerate(domains):
        _, mean, spread = _ceiling(records, domain)
        bar = axes.errorbar(place, mean, yerr=spread, color=INK, capsize=4, linewidth=1.2)
        axes.plot([place - 0.4, place + 0.4], [mean, mean], color=INK, linewidth=2)
    axes.set_xticks(range(len(domains)), [_short(domain) for domain in domains])
    axes.set(xlabel="Target domain", ylabel="Accuracy, percent", ylim=(0, 100))
    ruled(axes, "y")
    labels = [method.replace("_", "-").upper() for method in methods]
    legend(figure, [*handles, bar], [*labels, "all labels"], columns=8)
    return figure
