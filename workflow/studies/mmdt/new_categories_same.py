r"""New categories between features of the same kind, against the cost of the transform.

Office–Caltech10, where the source's classifiers apply to the target as they are: W = I is the
baseline of a transform. In each trial five of the ten classes, drawn at random, are held out.
LS-MMDT learns its transform on the others, from 20 labelled source and 10 labelled target images
per class, regularised towards the identity or towards zero. SVMs of the held-out classes, from 20
source images each, are then applied to mapped target images of these classes, all of which are
scored among the five.

The cost of the transform is not selected: every value is shown. Other settings are those of the
table of accuracies: rows of length 1, z-scored per domain, on 20 principal axes of the labelled
source and all target images. The SVM of the target is given 3 images of each held-out class, and
scored on the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count, number_text, signed
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve, values_of
from workflow.studies.mmdt._data import domain, only, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "costs": "Accuracy on target images of categories that the transform never saw, against the "
    "cost of the target samples when it is learned: mean over the pairs, then mean and "
    "deviation over the trials. Horizontal: baselines without such a transform.",
}
TABLES = ("costs",)

TRANSFERS = {"identity": "Transform, towards identity", "zero": "Transform, towards zero"}
LEVELS = {"none": "No transform (W = I)", "svm_target": "SVM, target, 3 labels (oracle)"}


def run(
    domains: Mapping,
    pairs: Sequence[Sequence[str]],
    costs: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
    n_trials: int = 10,
    n_new: int = 5,
    target_per_class: int = 10,
    source_per_class: int = 20,
    svm_cost: float = 0.05,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Learn on half of the classes, score on the others."""
    records = []
    for source, target in pairs:
        (Xs, ys), (Xt, yt) = domain(domains, source), domain(domains, target)
        classes = np.unique(ys)
        for trial in range(n_trials):
            rng = np.random.default_rng([seed, trial])
            new = np.sort(rng.choice(classes, n_new, replace=False))
            old = np.setdiff1d(classes, new)
            rows = pick(ys, classes, source_per_class, rng)
            shown = only(ys, rows), only(yt, pick(yt, old, target_per_class, rng))
            few = only(yt, pick(yt, new, 3, rng))
            found = score(Xs, Xt, shown, few, yt, new, costs, svm_cost)
            place = {"source": source, "target": target, "trial": trial}
            records += [{**place, **record} for record in found]
    return records, {"chance": np.array(1 / n_new)}


def score(Xs, Xt, shown, few, yt, new, costs, svm_cost: float) -> list[dict]:
    """Accuracy of every transform and of both baselines on the new categories."""
    from domain_alignment.max_margin._base import principal_axes
    from domain_alignment.max_margin._mmdt import LSMMDT, DomainSVM

    axes = principal_axes([Xs[shown[0] >= 0], Xt], 20)
    Xs, Xt = Xs @ axes, Xt @ axes
    held = np.isin(shown[0], new)
    classifiers = DomainSVM("source", C=svm_cost, random_state=0)
    classifiers.fit([Xs[held], Xt], [shown[0][held], None])
    scored = np.isin(yt, new)
    taught = [np.where(held, -1, shown[0]), shown[1]]

    def record(method: str, cost: float | None, predicted, rows=scored) -> dict:
        right = float(np.mean(predicted[rows] == yt[rows]))
        return {"method": method, "cost": cost, "accuracy": right}

    target = DomainSVM("target", random_state=0).fit([Xs, Xt], [None, few])
    records = [
        record("none", None, classifiers.predict(Xt)),
        record("svm_target", None, target.predict(Xt), scored & (few < 0)),
    ]
    for method in TRANSFERS:
        for cost in costs:
            model = LSMMDT(svm_cost, C_transform=cost, regularize=method, random_state=0)
            model.fit([Xs, Xt], taught)
            records.append(record(method, cost, new[model.predict_new(Xt, classifiers.coef_)]))
    return records


def by_trial(records: list[dict], **place) -> list[float]:
    """Percent per trial, the mean over the pairs."""
    trials = sorted({r["trial"] for r in records})
    return [100 * float(np.mean(values_of(records, "accuracy", trial=t, **place))) for t in trials]


def _costs(records: list[dict]) -> list[float]:
    return sorted({r["cost"] for r in records if r["cost"] is not None})


def finding(records: list[dict], arrays: Mapping) -> str:
    """The classifiers as they are, and on samples mapped at the best of the costs."""
    plain = by_trial(records, method="none", cost=None)
    costs = _costs(records)

    def told(method: str, label: str) -> str:
        found = {cost: by_trial(records, method=method, cost=cost) for cost in costs}
        best = max(costs, key=lambda cost: np.mean(found[cost]))
        differences = np.subtract(found[best], plain)
        return (
            f"{np.mean(found[best]):.1f} % by “{label}” at a cost of {number_text(best)} "
            f"({signed(float(differences.mean()))} percentage points, better in "
            f"{np.count_nonzero(differences > 0)} of {count(len(plain), 'trial')})"
        )

    mapped = "No transform was learned"
    if costs:
        told_of = "; ".join(told(method, label) for method, label in TRANSFERS.items())
        mapped = (
            f"Mapped, at the best of {count(len(costs), 'cost')} by these very scores: {told_of}"
        )
    return (
        f"Unmapped, the source’s classifiers reach {np.mean(plain):.1f} % on the new categories "
        f"(chance {100 * float(arrays['chance']):.0f} %). {mapped}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    pairs = list(dict.fromkeys((r["source"], r["target"]) for r in records))
    columns = (
        TableColumn("Method"),
        TableColumn("Cost of the transform", numeric=True),
        TableColumn("Mean", numeric=True, scores=True),
        *(TableColumn(_pair(*pair), numeric=True) for pair in pairs),
    )
    places = [(method, label, None) for method, label in LEVELS.items()]
    places += [(m, label, cost) for m, label in TRANSFERS.items() for cost in _costs(records)]
    rows = []
    for method, label, cost in places:
        at = {"method": method, "cost": cost}
        each = [
            values_of(records, "accuracy", source=source, target=target, **at)
            for source, target in pairs
        ]
        means = [number_cell(100 * float(np.mean(sample)), 1) for sample in each]
        shown = word("–") if cost is None else number_cell(cost, 4)
        rows.append((word(label), shown, spread_cell(by_trial(records, **at), 1), *means))
    trials = len({r["trial"] for r in records})
    caption = (
        "Accuracy in percent on target images of categories without a labelled target image "
        f"(chance {100 * float(arrays['chance']):.0f}): mean over the pairs, then mean and "
        f"standard deviation over {trials} trials; and the mean of each pair."
    )
    return {"costs": Table("costs", caption, columns, tuple(rows))}


def _pair(source: str, target: str) -> str:
    return "→".join(name.rpartition(".")[2][0].upper() for name in (source, target))


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"costs": lambda: _figure(records, arrays)}


def _figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH, colour, legend, ruled, setting_axis

    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    costs, handles = _costs(records), {}
    for position, (method, label) in enumerate(TRANSFERS.items()):
        values = [by_trial(records, method=method, cost=cost) for cost in costs]
        handles[label] = curve(axes, position, costs, values)
    for position, (method, label) in enumerate(LEVELS.items(), start=len(TRANSFERS)):
        level = float(np.mean(by_trial(records, method=method, cost=None)))
        handles[label] = axes.axhline(level, color=colour(position), linestyle="--")
    chance = 100 * float(arrays["chance"])
    handles["Chance"] = axes.axhline(chance, color=INK, linestyle=":", linewidth=1.2)
    axes.set(xlabel="Cost of the target samples in the transform", ylim=(0, None))
    axes.set_ylabel("Accuracy, percent")
    setting_axis(axes, costs, "log", WIDTH - 0.9)
    ruled(axes, "y")
    legend(figure, list(handles.values()), list(handles), columns=3)
    return figure
