"""The first three dimensions of KEMA's common space for two tasks of Table 3.

The reading of Table 3: raw counts, intersection kernel, 21 neighbours, μ = 1; 20 labelled samples
per class in the source, 3 in the target, 300 unlabelled samples of each domain (fewer where there
are fewer). One trial. All samples that KEMA saw are shown, labelled or not.

What the picture suggests is measured by 1-NN trained on the labelled samples and scored on the
target's unlabelled ones: in the dimensions that are shown, in all that KEMA was asked for, and
without alignment, on raw counts and on unit rows, with the labels of both domains or the target's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import SEARCH_MARK, count
from workflow.studies.common._cells import word
from workflow.studies.kema._aligners import error_percent, labelled_rows, make_classifier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "latent": f"The first three dimensions {SEARCH_MARK}, two at a time, by domain (source: "
    "circles, target: triangles) and by class (colour).",
}
TABLES = ("accuracy",)

N_SHOWN = 3
# Spaces of the records; all others are without alignment.
SHOWN, KEMA_ALL = "KEMA, the dimensions shown", "KEMA, all dimensions"


def run(
    domains: Mapping[str, tuple],
    tasks: Sequence[Sequence[str]],
    n_components: int,
    source_per_class: int = 20,
    target_per_class: int = 3,
    unlabelled: int = 300,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    from domain_alignment.manifold._kema import KEMA
    from domain_alignment.utils._rows import unit_rows

    records, arrays = [], {}
    for names in tasks:
        rng = np.random.default_rng(seed)
        Xs, ys, truths = [], [], []
        for name, per_class in zip(names, (source_per_class, target_per_class), strict=True):
            X, y = domains[name]
            rows, visible = sample(y, per_class, unlabelled, rng)
            Xs.append(X[rows])
            ys.append(visible)
            truths.append(y[rows])
        kema = KEMA(n_components, kernel="histogram_intersection", n_neighbors=21).fit(Xs, ys)
        Zs = kema.embeddings_
        units = [unit_rows(X) for X in Xs]
        spaces = {
            SHOWN: [Z[:, :N_SHOWN] for Z in Zs],
            KEMA_ALL: Zs,
            "No alignment": Xs,
            "No alignment, unit rows": units,
            "No alignment, target’s labels alone": [Xs[0][:0], Xs[1]],
            "No alignment, unit rows, target’s labels alone": [units[0][:0], units[1]],
        }
        task = " → ".join(name.partition(".")[2] for name in names)
        hidden = ys[1] < 0
        for space, (source, target) in spaces.items():
            known = [ys[0][: len(source)], ys[1]]
            classifier = make_classifier("one_nn").fit(*labelled_rows(known, [source, target]))
            error = error_percent(classifier, target[hidden], truths[1][hidden])
            found = {"accuracy": 100 - error, "n_scored": int(hidden.sum())}
            records.append({"task": task, "space": space, "n_components": n_components, **found})
        for d, Z in enumerate(Zs):
            arrays |= {f"{task}/{d}": Z[:, :N_SHOWN], f"{task}/{d}/classes": truths[d]}
    return records, arrays


def sample(y: np.ndarray, per_class: int, unlabelled: int, rng: np.random.Generator):
    """Visible rows and their labels, -1 where hidden."""
    labelled = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)]
    )
    rest = np.setdiff1d(np.arange(len(y)), labelled)
    seen = rng.choice(rest, min(unlabelled, len(rest)), replace=False)
    return np.r_[labelled, seen], np.r_[y[labelled], np.full(len(seen), -1)]


def finding(records: list[dict], arrays: Mapping) -> str:
    """Accuracies in the common space, beside the best that there is without alignment."""
    tasks = list(dict.fromkeys(r["task"] for r in records))
    told, better = [], {SHOWN: 0, KEMA_ALL: 0}
    for task in tasks:
        own = {r["space"]: r["accuracy"] for r in records if r["task"] == task}
        without = max(own[space] for space in own if space not in better)
        for space in better:
            better[space] += own[space] > without
        told.append(f"{task} {own[SHOWN]:.1f} and {own[KEMA_ALL]:.1f} %, without {without:.1f}")
    shown, every = better.values()
    n_ways = len({r["space"] for r in records}) - len(better)
    return (
        f"1-NN finds the classes better than without alignment in {shown} of "
        f"{count(len(tasks), 'task')} by the {N_SHOWN} dimensions shown and in {every} by all of "
        f"{_space(records)}: {'; '.join(told)} (the highest of {n_ways} ways)."
    )


def _space(records: list[dict]) -> str:
    """The common space in words, with the mark of a search, by which its size was found."""
    return f"KEMA's {records[0]['n_components']} {SEARCH_MARK}"


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    tasks = list(dict.fromkeys(r["task"] for r in records))
    n_scored = {r["task"]: r["n_scored"] for r in records}
    labels = [f"{task} ({count(n_scored[task], 'sample')})" for task in tasks]
    columns = (
        TableColumn("Space"),
        *(TableColumn(label, numeric=True, scores=True) for label in labels),
    )
    rows = []
    for space in dict.fromkeys(r["space"] for r in records):
        found = {r["task"]: r["accuracy"] for r in records if r["space"] == space}
        rows.append((word(space), *(number_cell(found[task], 1) for task in tasks)))
    caption = (
        f"Accuracy (%) of 1-NN on the unlabelled samples of the target, in {N_SHOWN} and in all of "
        f"{_space(records)} dimensions and without alignment, by the labels of both domains unless "
        "said otherwise, for the trial that is shown."
    )
    return {"accuracy": Table("accuracy", caption, columns, tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"latent": lambda: _figure(records, arrays)}


def _figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import DOMAIN_MARKERS, WIDTH, class_colours, colour

    tasks = list(dict.fromkeys(r["task"] for r in records))
    figure = Figure(figsize=(WIDTH, 0.4 + 4.6 * len(tasks)), layout="constrained")
    panels = figure.subplots(2 * len(tasks), 3, squeeze=False)
    for position, task in enumerate(tasks):
        colours = class_colours(np.unique(arrays[f"{task}/0/classes"]))
        for column, (first, second) in enumerate(((0, 1), (0, 2), (1, 2))):
            pair = panels[2 * position : 2 * position + 2, column]
            for d in (0, 1):
                cloud = arrays[f"{task}/{d}"][:, [first, second]].T
                shades = [colours[int(y)] for y in arrays[f"{task}/{d}/classes"]]
                look = {"marker": DOMAIN_MARKERS[d], "s": 9, "linewidths": 0, "alpha": 0.7}
                pair[0].scatter(*cloud, color=colour(d), **look)
                pair[1].scatter(*cloud, c=shades, **look)
            for axes in pair:
                axes.set(xlabel=f"Dimension {first + 1}", ylabel=f"Dimension {second + 1}")
                axes.set(xticks=[], yticks=[])
        panels[2 * position, 1].set_title(f"{task}, by domain")
        panels[2 * position + 1, 1].set_title(f"{task}, by class")
    return figure
