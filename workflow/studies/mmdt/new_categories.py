r"""Classifiers of categories without a labelled target sample, transferred by the transform.

The official 20 trials with categories held out. In each, a transform of LS-MMDT is learned on the
first 15 classes: 20 labelled amazon images of each, 10 of dslr. The other 16 classes are seen in
the source alone: a linear SVM per class is trained on 20 amazon images each, and applied to mapped
dslr images. Scored are all dslr images of these classes, 250, among the 16.

Oracles on the same images use labelled dslr images of the held-out classes: an SVM of the target,
and MMDT and LS-MMDT, which also have the source's 20 images per class. They get a few random images
per class and are scored on the rest, and so is the transfer at that number of labels. Chance is one
in 16; the other baseline always predicts the most frequent class.

The features are different in both domains (800 and 600 visual words of two codebooks), so the
source's classifiers do not apply without a transform. Rows have length 1, then features are
z-scored per domain. The transform is regularised towards zero; its cost is chosen on the training
categories alone: of these, 5 are held out in turn, the classes 1-10 learning the transform for
11-15 and so on, and the cost with the best accuracy on the held-out 5 is taken, in each trial anew.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count, listed, p_text
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve, values_of
from workflow.studies.mmdt._data import domain, only, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "new_categories": "Accuracy on dslr images of the 16 held-out categories against the labelled "
    "target images of these categories: mean and standard deviation over the trials. The transfer "
    "uses none; its line is over the images that are scored at each number.",
}
TABLES = ("new_categories", "costs")

N_TRAINING, N_HELD_OUT = 15, 5
METHODS = {
    "transfer": "Transform of the other categories",
    "untrained": "Transform of shuffled labels",
    "svm_target": "SVM, target (oracle)",
    "mmdt": "MMDT (oracle)",
    "ls_mmdt": "LS-MMDT (oracle)",
}
SOURCE = "office31_surf.amazon"
TARGET = "office31_surf.dslr"
TRIALS = {SOURCE: "office31_new_categories.amazon", TARGET: "office31_new_categories.dslr"}


def run(
    domains: Mapping,
    n_trials: int = 20,
    oracle_labels: Sequence[int] = (1, 2, 3, 4),
    costs: Sequence[float] = (1e-3, 1e-2, 1e-1, 1.0),
    svm_cost: float = 0.05,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Learn, transfer and score; a record per trial, method and number of oracle labels."""
    (Xs, ys), (Xt, yt) = (domain(domains, name) for name in (SOURCE, TARGET))
    drawn_s, drawn_t = (domains[TRIALS[name]][0] == 1 for name in (SOURCE, TARGET))
    new = np.arange(N_TRAINING, ys.max() + 1)
    records = []
    for trial in range(n_trials):
        labelled = np.flatnonzero(drawn_s[:, trial]), np.flatnonzero(drawn_t[:, trial])
        data = (Xs, ys, labelled[0]), (Xt, yt, labelled[1])
        cost = chosen_cost(data, costs, svm_cost)
        rng = np.random.default_rng([seed, trial])
        predicted = {"transfer": transfer(data, range(N_TRAINING), new, cost, svm_cost)}
        shuffled = data[0], (Xt, _shuffled(yt, labelled[1], rng), labelled[1])
        predicted["untrained"] = transfer(shuffled, range(N_TRAINING), new, cost, svm_cost)
        everything = np.flatnonzero(np.isin(yt, new))
        for n_labels in (0, *oracle_labels):
            shown = pick(yt, new, n_labels, rng) if n_labels else np.array([], dtype=int)
            scored = np.setdiff1d(everything, shown)
            found = dict(predicted)
            if n_labels:
                found |= oracles(Xs, only(ys, labelled[0]), Xt, only(yt, shown), new, svm_cost)
            for method, classes in found.items():
                accuracy = float(np.mean(classes[scored] == yt[scored]))
                place = {"trial": trial, "method": method, "labels": n_labels, "cost": cost}
                records.append({**place, "accuracy": accuracy, "n_scored": len(scored)})
        most = np.bincount(yt[everything]).max() / len(everything)
    return records, {"new": new, "most_frequent": np.array(most)}


def _shuffled(y: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels dealt out anew among the labelled rows."""
    dealt = y.copy()
    dealt[rows] = rng.permutation(y[rows])
    return dealt


def transfer(data, seen: Sequence[int], new: Sequence[int], cost: float, svm_cost: float):
    """Classes of all target images among `new`, by a transform that was learned on `seen`."""
    from domain_alignment.max_margin._mmdt import LSMMDT
    from domain_alignment.max_margin._one_vs_all import one_vs_all

    (Xs, ys, source), (Xt, yt, target) = data
    source_seen, target_seen = (
        rows[np.isin(y[rows], seen)] for y, rows in ((ys, source), (yt, target))
    )
    model = LSMMDT(svm_cost, C_transform=cost, regularize="zero", tol=1e-4, random_state=0).fit(
        [Xs[source_seen], Xt[target_seen]], [ys[source_seen], yt[target_seen]]
    )
    rows = source[np.isin(ys[source], new)]
    codes = np.searchsorted(new, ys[rows])
    with_constant = np.hstack([np.ones((len(rows), 1)), Xs[rows]])
    weights = np.full(len(rows), svm_cost)
    coef = one_vs_all(with_constant, codes, weights, len(new), random_state=0)
    return np.asarray(new)[model.predict_new(Xt, coef)]


def chosen_cost(data, costs: Sequence[float], svm_cost: float) -> float:
    """Cost with the best accuracy on training categories that are held out in turn."""
    if len(costs) == 1:
        return float(costs[0])
    _, (_, yt, target) = data
    hits = np.zeros(len(costs), dtype=int)
    for first in range(0, N_TRAINING, N_HELD_OUT):
        new = np.arange(first, first + N_HELD_OUT)
        seen = np.setdiff1d(np.arange(N_TRAINING), new)
        rows = target[np.isin(yt[target], new)]
        for number, cost in enumerate(costs):
            hits[number] += np.sum(transfer(data, seen, new, cost, svm_cost)[rows] == yt[rows])
    return float(costs[int(hits.argmax())])


def oracles(Xs, ys, Xt, yt, new: np.ndarray, svm_cost: float) -> dict[str, np.ndarray]:
    """Classes of all target images by methods that see labelled ones of the new categories."""
    from domain_alignment.max_margin._mmdt import LSMMDT, MMDT, DomainSVM

    rows = np.isin(ys, new), np.isin(yt, new)
    labels = [ys[rows[0]], yt[rows[1]]]
    models = {
        "svm_target": DomainSVM("target", random_state=0),
        "mmdt": MMDT(svm_cost, random_state=0),
        "ls_mmdt": LSMMDT(svm_cost, regularize="zero", tol=1e-4, random_state=0),
    }
    Xs = [Xs[rows[0]], Xt[rows[1]]]
    return {name: model.fit(Xs, labels).predict(Xt) for name, model in models.items()}


def _counts(records: list[dict]) -> list[int]:
    return sorted({record["labels"] for record in records})


def finding(records: list[dict], arrays: Mapping) -> str:
    """The transfer against shuffled labels and guesses, and the labels that oracles need."""
    counts = _counts(records)
    own, shuffled = (_percents(records, method, 0) for method in ("transfer", "untrained"))
    gains = np.subtract(own, shuffled)
    ahead, unequal = int(np.sum(gains > 0)), int(np.count_nonzero(gains))
    p = f"; sign test: p = {p_text(binomtest(ahead, unequal).pvalue)}" if unequal else ""
    chance, most = _guesses(arrays)

    def needed(method: str) -> str:
        for n in counts[1:]:
            if np.mean(_percents(records, method, n)) > np.mean(_percents(records, "transfer", n)):
                return f"{METHODS[method]} first with {n} labelled per category"
        return f"{METHODS[method]} at no number of labels"

    above = listed(needed(m) for m in METHODS if m not in ("transfer", "untrained"))
    oracles_are = f"Above it on the same images: {above}" if counts[1:] else "No oracle was run"
    return (
        "Without a labelled target image of the new categories, the transform of the others "
        f"reaches {np.mean(own):.1f} % on them, that of shuffled labels {np.mean(shuffled):.1f} % "
        f"(the transform is ahead in {ahead} of {count(len(own), 'trial')}{p}), chance "
        f"{chance:.1f} %, always their most frequent category {most:.1f} %. {oracles_are}."
    )


def _guesses(arrays: Mapping) -> tuple[float, float]:
    """Percent of guessing, and of always naming the most frequent category."""
    return 100 / len(arrays["new"]), 100 * float(arrays["most_frequent"])


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    counts = _counts(records)
    columns = (
        TableColumn("Method"),
        *(TableColumn(count(n, "label"), numeric=True, scores=True) for n in counts),
    )
    rows = [
        (word(label), *(spread_cell(_percents(records, method, n), 1) for n in counts))
        for method, label in METHODS.items()
    ]
    chance, most = _guesses(arrays)
    rows.append((word("Chance"), *(number_cell(chance, 1) for _ in counts)))
    rows.append((word("Most frequent category"), *(number_cell(most, 1) for _ in counts)))
    n_trials = len({record["trial"] for record in records})
    caption = (
        "Accuracy in percent on dslr images of the held-out categories, by labelled target images "
        f"of each of these categories: mean and standard deviation over {n_trials} trials."
    )
    return {
        "new_categories": Table("new_categories", caption, columns, tuple(rows)),
        "costs": _cost_table(records),
    }


def _cost_table(records: list[dict]) -> Table:
    chosen = values_of(records, "cost", method="transfer", labels=0)
    columns = (TableColumn("Cost of the transform", numeric=True), TableColumn("Trials", True))
    rows = [
        (number_cell(cost, 4), number_cell(chosen.count(cost), 0)) for cost in sorted(set(chosen))
    ]
    caption = "Costs that the training categories chose, and in how many trials."
    return Table("costs", caption, columns, tuple(rows))


def _percents(records: list[dict], method: str, n_labels: int) -> list[float]:
    return [100 * value for value in values_of(records, "accuracy", method=method, labels=n_labels)]


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"new_categories": lambda: _figure(records, arrays)}


def _figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH, legend, ruled

    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    axes = figure.subplots()
    counts, handles = _counts(records), {}
    for position, (method, label) in enumerate(METHODS.items()):
        drawn = [n for n in counts if values_of(records, "accuracy", method=method, labels=n)]
        values = [_percents(records, method, n) for n in drawn]
        handles[label] = curve(axes, position, drawn, values)
    for label, guess, dashes in zip(
        ("Chance", "Most frequent category"), _guesses(arrays), (":", "--"), strict=True
    ):
        handles[label] = axes.axhline(guess, color=INK, linestyle=dashes, linewidth=1.2)
    axes.set(xticks=counts, xlabel="Labelled target images of each held-out category")
    axes.set(ylabel="Accuracy (%)", ylim=(0, None))
    ruled(axes, "y")
    legend(figure, list(handles.values()), list(handles), columns=3)
    return figure
