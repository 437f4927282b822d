"""The first three dimensions of KEMA's common space for two tasks of Table 3.

The reading of Table 3: raw counts, intersection kernel, 21 neighbours, μ = 1; 20 labelled samples
per class in the source, 3 in the target, 300 unlabelled samples of each domain (fewer where there
are fewer). One trial. All samples that KEMA saw are shown, labelled or not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn
from workflow.lib.results.text import SEARCH_MARK, count, listed
from workflow.studies.common._cells import word
from workflow.studies.kema._aligners import error_percent, labelled_rows, make_classifier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "latent": f"The first three dimensions {SEARCH_MARK}, two at a time, by domain (source: "
    "circles, target: triangles) and by class (colour).",
}
TABLES = ("accuracy",)


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
        classifier = make_classifier("one_nn").fit(*labelled_rows(ys, kema.embeddings_))
        hidden = ys[1] < 0
        error = error_percent(classifier, kema.embeddings_[1][hidden], truths[1][hidden])
        task = " → ".join(name.partition(".")[2] for name in names)
        found = {"accuracy": 100 - error, "n_scored": int(hidden.sum())}
        records.append({"task": task, "n_components": n_components, **found})
        for d, Z in enumerate(kema.embeddings_):
            arrays |= {f"{task}/{d}": Z[:, :3], f"{task}/{d}/classes": truths[d]}
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
    """Accuracy on the unlabelled samples of each target, beside guessing."""
    told, better = [], 0
    for r in records:
        guess = 100 / len(np.unique(arrays[f"{r['task']}/1/classes"]))
        better += r["accuracy"] > guess
        told.append(
            f"{r['accuracy']:.1f} % of {count(r['n_scored'], 'unlabelled sample')} in {r['task']} "
            f"(guessing: {guess:.1f} %)"
        )
    return (
        f"The classes come together better than by guessing in {better} of "
        f"{count(len(records), 'task')}: in {_space(records)}, 1-NN recognises {listed(told)}."
    )


def _space(records: list[dict]) -> str:
    """The common space in words, with the mark of a search, by which its size was found."""
    return f"KEMA's {records[0]['n_components']} dimensions {SEARCH_MARK}"


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (TableColumn("Task"), TableColumn("Accuracy (%)", numeric=True))
    rows = tuple(
        (word(r["task"]), TableCell(f"{r['accuracy']:.1f}", value=r["accuracy"])) for r in records
    )
    caption = (
        f"1-NN in {_space(records)} on the unlabelled samples of the target that it saw, for the "
        "trial that is shown."
    )
    return {"accuracy": Table("accuracy", caption, columns, rows)}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"latent": lambda: _figure(records, arrays)}


def _figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import DOMAIN_MARKERS, WIDTH, class_colours, colour

    tasks = [r["task"] for r in records]
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
