r"""Objects in scenes whose set of categories is known: a simulation.

The data hold no scenes: the boxes of a simulated scene are random target images of Office–Caltech10
whose labels no method has seen. The number of categories of a scene is random; each category has at
least one box, further boxes are of any of them. The boxes and the set of categories are known, not
the count of each, as in the paper, which uses only images with more than one.

Per pair and trial, 20 labelled source samples per class (8 of caltech and webcam, as in the
official trials) and 3 of the target train an SVM of the source, an SVM of the target, one of both
with W = I, and LS-MMDT, with the settings of the table of accuracies (20 principal axes of labelled
source and all target samples). All label the same scenes by the largest score: of all ten
categories; of those present (the paper's rule); and of those present such that each gets a box, as
"present" implies.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import SEARCH_MARK, count, listed, signed
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve, values_of
from workflow.studies.mmdt._data import domain, only, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "categories": "Simulated scenes: accuracy against the number of categories that are present, "
    "by the paper's rule; mean and standard deviation over the trials.",
    "scenes": "Simulated scenes of the first trial: what each method calls each box by the "
    "paper's rule, correct ones in bold on a tint; the first column is the truth.",
}
TABLES = ("accuracy",)

METHODS = {
    "svm_source": "SVM (source)",
    "svm_target": "SVM (target)",
    "svm_joint": "SVM (W = I)",
    "ls_mmdt": f"LS-MMDT {SEARCH_MARK}",
}
RULES = {
    "none": "All categories",
    "present": "Those present",
    "cover": "Those present, each at least once",
}
PUBLISHED = {"svm_source": 53.14, "svm_target": 57.53, "ls_mmdt": 59.21}
NAMES = (
    "backpack",
    "bike",
    "calculator",
    "headphones",
    "keyboard",
    "laptop",
    "monitor",
    "mouse",
    "mug",
    "projector",
)


def run(
    domains: Mapping,
    pairs: Sequence[Sequence[str]],
    C_transform: float,
    n_trials: int = 10,
    n_scenes: int = 200,
    categories: Sequence[int] = (2, 3, 4, 5, 6),
    more_boxes: int = 4,
    few: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Train, simulate and label; a record per pair, trial, method, rule and number present."""
    records, arrays = [], {}
    for source, target in pairs:
        (Xs, ys), (Xt, yt) = domain(domains, source), domain(domains, target)
        for trial in range(n_trials):
            rng = np.random.default_rng([seed, trial])
            per_class = (few or {}).get(source, 20)
            shown = [
                only(y, pick(y, np.unique(y), count, rng))
                for y, count in ((ys, per_class), (yt, 3))
            ]
            scores = scores_of([Xs, Xt], shown, C_transform)
            hidden = np.flatnonzero(shown[1] < 0)
            scenes = [
                draw_scene(yt, hidden, int(rng.choice(categories)), more_boxes, rng)
                for _ in range(n_scenes)
            ]
            place = {"source": source, "target": target, "trial": trial}
            records += [{**place, **r} for r in label_scenes(scores, scenes, yt)]
            if not arrays:
                arrays = _kept(scores, scenes, yt)
    return records, arrays


def scores_of(
    Xs: list[np.ndarray], shown: list[np.ndarray], C_transform: float
) -> dict[str, np.ndarray]:
    """Scores of all target images by every method."""
    from domain_alignment.max_margin._base import principal_axes
    from domain_alignment.max_margin._mmdt import LSMMDT, MMDT, DomainSVM

    axes = principal_axes([Xs[0][shown[0] >= 0], Xs[1]], 20)
    Xs = [X @ axes for X in Xs]
    models = {
        "svm_source": DomainSVM("source", C=0.05, random_state=0),
        "svm_target": DomainSVM("target", random_state=0),
        "svm_joint": MMDT(n_iterations=0, random_state=0),
        "ls_mmdt": LSMMDT(C_transform=C_transform, random_state=0),
    }
    return {name: model.fit(Xs, shown).decision_function(Xs[1]) for name, model in models.items()}


def draw_scene(
    y: np.ndarray, allowed: np.ndarray, n_present: int, more_boxes: int, rng: np.random.Generator
) -> np.ndarray:
    """Rows of a scene's boxes: one of each category, then up to `more_boxes` of any of them."""
    present = rng.choice(np.unique(y[allowed]), n_present, replace=False)
    first = [rng.choice(allowed[y[allowed] == label]) for label in present]
    rest = np.setdiff1d(allowed[np.isin(y[allowed], present)], first)
    n_more = min(int(rng.integers(more_boxes + 1)), len(rest))
    return np.concatenate([first, rng.choice(rest, n_more, replace=False)]).astype(int)


def label_scenes(scores: Mapping, scenes: list[np.ndarray], y: np.ndarray) -> list[dict]:
    """Share of the boxes that are right, of all scenes with as many categories."""
    sizes = np.array([len(np.unique(y[boxes])) for boxes in scenes])
    records = []
    for method, values in scores.items():
        for rule in RULES:
            right = [label(values[boxes], y[boxes], rule) == y[boxes] for boxes in scenes]
            for size in np.unique(sizes):
                of_size = np.concatenate(
                    [r for r, n in zip(right, sizes, strict=True) if n == size]
                )
                found = {"present": int(size), "right": int(of_size.sum()), "boxes": of_size.size}
                records.append({"method": method, "rule": rule, **found})
    return records


def label(scores: np.ndarray, truth: np.ndarray, rule: str) -> np.ndarray:
    """Categories of the boxes of a scene whose set of categories is known."""
    from domain_alignment.max_margin._mmdt import classify_in_scene

    present = np.arange(scores.shape[1]) if rule == "none" else np.unique(truth)
    return classify_in_scene(scores, present, cover=rule == "cover")


def _kept(scores: Mapping, scenes: list[np.ndarray], y: np.ndarray, n: int = 3) -> dict:
    """The first scenes with 3 to 6 boxes, for the figure."""
    chosen = [boxes for boxes in scenes if 3 <= len(boxes) <= 6][:n]
    arrays = {}
    for number, boxes in enumerate(chosen):
        arrays[f"{number}/truth"] = y[boxes]
        for method in METHODS:
            arrays[f"{number}/{method}"] = label(scores[method][boxes], y[boxes], "present")
    return arrays


def _accuracies(records: list[dict], **place) -> list[float]:
    """Percent of the boxes that are right, per pair and trial."""
    chosen = [r for r in records if all(r[key] == value for key, value in place.items())]
    groups: dict[tuple, list[dict]] = {}
    for r in chosen:
        groups.setdefault((r["source"], r["target"], r["trial"]), []).append(r)
    return [
        100 * sum(r["right"] for r in group) / sum(r["boxes"] for r in group)
        for group in groups.values()
    ]


def by_trial(records: list[dict], **place) -> list[float]:
    """Percent per trial, the mean over the pairs."""
    trials = sorted({r["trial"] for r in records})
    return [float(np.mean(_accuracies(records, trial=t, **place))) for t in trials]


def finding(records: list[dict], arrays: Mapping) -> str:
    """What each rule brings LS-MMDT, and what LS-MMDT brings beyond the SVMs by the paper's."""
    own = {rule: by_trial(records, method="ls_mmdt", rule=rule) for rule in RULES}
    levels = {rule: float(np.mean(values)) for rule, values in own.items()}

    def against(method: str) -> str:
        differences = np.subtract(own["present"], by_trial(records, method=method, rule="present"))
        return (
            f"{signed(float(differences.mean()))} over {METHODS[method]} "
            f"(ahead in {np.count_nonzero(differences > 0)} of {count(len(differences), 'trial')})"
        )

    return (
        f"{METHODS['ls_mmdt']} gets {levels['none']:.1f} % of the boxes right among all "
        f"categories, {levels['present']:.1f} % among those present and {levels['cover']:.1f} % "
        "where each of these gets a box. Its lead among those present, in percentage "
        f"points: {listed(against(method) for method in METHODS if method != 'ls_mmdt')}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (
        TableColumn("Method"),
        *(TableColumn(label, numeric=True, scores=True) for label in RULES.values()),
        TableColumn("Paper, ImageNet to SUN2012, those present", numeric=True),
    )
    rows = []
    for method, name in METHODS.items():
        cells = [spread_cell(by_trial(records, method=method, rule=rule), 1) for rule in RULES]
        printed = PUBLISHED.get(method)
        absent = TableCell("none", kind="absent")
        last = absent if printed is None else number_cell(printed, 2)
        rows.append((word(name), *cells, last))
    pairs = len({(r["source"], r["target"]) for r in records})
    trials = len({r["trial"] for r in records})
    boxes = sum(values_of(records, "boxes", method="ls_mmdt", rule="none"))
    caption = (
        f"Percent of the boxes of simulated scenes that get their category: mean over {pairs} "
        f"pairs of domains, then mean and standard deviation over {trials} trials; {boxes} boxes."
    )
    note = "The paper’s numbers are published only: other data, real scenes, not comparable."
    return {"accuracy": Table("accuracy", caption, columns, tuple(rows), notes=(note,))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "categories": lambda: _categories_figure(records),
        "scenes": lambda: _scenes_figure(arrays),
    }


def _categories_figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH, legend, ruled

    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    axes = figure.subplots()
    sizes = sorted({r["present"] for r in records})
    handles = {}
    for position, (method, name) in enumerate(METHODS.items()):
        place = {"method": method, "rule": "present"}
        values = [by_trial(records, present=size, **place) for size in sizes]
        handles[name] = curve(axes, position, sizes, values)
    axes.set(xticks=sizes, xlabel="Categories present", ylabel="Right boxes, percent")
    ruled(axes, "y")
    legend(figure, list(handles.values()), list(handles), columns=4)
    return figure


def _scenes_figure(arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH, colour

    numbers = sorted({key.split("/")[0] for key in arrays})
    columns = {"truth": "Boxes", **METHODS}
    heights = [len(arrays[f"{number}/truth"]) for number in numbers]
    figure = Figure(figsize=(WIDTH, 0.5 + 0.27 * (sum(heights) + len(numbers))))
    grid = {"height_ratios": heights, "hspace": 0.25}
    panels = figure.subplots(len(numbers), 1, squeeze=False, gridspec_kw=grid)[:, 0]
    for axes, number, height in zip(panels, numbers, heights, strict=True):
        truth = arrays[f"{number}/truth"]
        for x, (name, title) in enumerate(columns.items()):
            for row, found in enumerate(arrays[f"{number}/{name}"]):
                right = name == "truth" or found == truth[row]
                look = {"ha": "left", "va": "center", "fontsize": 9}
                if name != "truth" and right:
                    tint = {"facecolor": colour(2), "alpha": 0.22, "linewidth": 0, "pad": 2}
                    look |= {"bbox": tint, "fontweight": "bold"}
                axes.text(x, height - row - 0.5, NAMES[int(found)], **look)
            if axes is panels[0]:
                axes.text(x, height + 0.45, title, ha="left", va="center", fontsize=9.5)
        axes.set(xlim=(-0.1, len(columns)), ylim=(0, height), xticks=[], yticks=[])
        axes.spines[["left", "right", "top"]].set_visible(False)
    return figure
