"""REKEMA on the scaled spirals against the share of the samples that it is built from.

Toy experiment 1, made as in the authors' program but with 100 labelled samples per class and 150
unlabelled ones in each domain; the caption of Fig. 5 says 50 per class, here they fall as they do.
SSMA (the primal of KEMA with a linear kernel) is compared with REKEMA with an RBF kernel whose
width is the mean distance of the domain's labelled samples. The landmarks are drawn at random, in
proportion to the domains; a share of 1 is KEMA itself. Beside it stands rKEMA, which the figure
does not have, with the same widths and m random features per domain, half as many as there are
landmarks in all, so that both solve an eigenproblem of the same order. In the first two dimensions
a linear and an RBF support vector machine are trained on the labelled samples of both domains and
tested on 1000 new samples of each. The paper states neither the number of dimensions of its Fig. 5
(its plots show two) nor the parameters of the machines; here C = 1 and scikit-learn's "scale"
width.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import listed
from workflow.loaders.kema_toys import spirals
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve
from workflow.studies.kema._aligners import (
    ROLES,
    error_percent,
    fit,
    labelled_rows,
    make_aligner,
    make_classifier,
    training_set,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "accuracy": "Accuracy of the support vector machines on new samples of both domains against "
    "the share of training samples that are landmarks: mean and standard deviation over the "
    "realisations. Dotted: rKEMA with as many random features; dashed: SSMA.",
    "projections": "Test samples of one realisation in two dimensions, by domain (above) and by "
    "class (below).",
}
TABLES = ("accuracy",)

METHODS = {"ssma": "SSMA", "rekema": "REKEMA", "rkema": "rKEMA"}
CLASSIFIERS = {"linear_svm": "Linear SVM", "rbf_svm": "RBF SVM"}


def run(
    domains: Mapping,
    shares: Sequence[float] = (0.01, 0.1, 1.0),
    n_realisations: int = 10,
    labelled_per_class: int = 100,
    unlabelled: int = 150,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    records, arrays = [], {}
    for seed in range(n_realisations):
        data = spirals(seed, labelled_per_class, unlabelled)
        for method, share in _fits(shares):
            found, embedded = _one(data, method, share, seed)
            records += found
            if seed == 0 and method != "rkema":
                name = "ssma" if share is None else f"{share:g}"
                arrays |= {f"{name}/{r}": Z for r, Z in zip(ROLES, embedded, strict=True)}
                arrays |= {f"classes/{r}": d.test.y for r, d in zip(ROLES, data, strict=True)}
    return records, arrays


def _fits(shares: Sequence[float]) -> list[tuple[str, float | None]]:
    """Methods with the share of the samples that stands for the order of their eigenproblem."""
    features = [("rkema", share) for share in shares if share < 1]
    return [("ssma", None), *(("rekema", share) for share in shares), *features]


def _one(data, method: str, share: float | None, seed: int) -> tuple[list[dict], list[np.ndarray]]:
    """Accuracies of one fit."""
    Xs, ys = training_set(data)
    n_samples = sum(map(len, Xs))
    aligner = _aligner(method, share, n_samples, seed)
    fit(aligner, Xs, ys)
    embedded = [aligner.transform(domain.test.X, d) for d, domain in enumerate(data)]
    Z, y = labelled_rows(ys, aligner.embeddings_)
    records = []
    for name in CLASSIFIERS:
        classifier = make_classifier(name).fit(Z, y)
        for role, domain, test in zip(ROLES, data, embedded, strict=True):
            accuracy = 100 - error_percent(classifier, test, domain.test.y)
            place = {"method": method, "share": share, "realisation": seed}
            place |= {"classifier": name, "domain": role}
            records.append({**place, "n_samples": n_samples, "accuracy": accuracy})
    return records, embedded


def _aligner(method: str, share: float | None, n_samples: int, seed: int):
    if method == "ssma":
        return make_aligner("ssma", 2)
    # At least 4, so that each domain has the landmarks for two dimensions.
    order = max(4, round((share or 1) * n_samples))
    if method == "rkema":
        return make_aligner("rbf_1", 2, random_features=order // 2, random_state=seed)
    params = {} if share == 1 else {"landmarks": order, "random_state": seed}
    return make_aligner("rbf_1", 2, **params)


def accuracies(records: list[dict], method: str, share: float | None, classifier: str) -> list:
    """Mean accuracy over both domains of every realisation."""
    wanted = (method, share, classifier)
    chosen = [r for r in records if (r["method"], r["share"], r["classifier"]) == wanted]
    seeds = sorted({r["realisation"] for r in chosen})
    return [np.mean([r["accuracy"] for r in chosen if r["realisation"] == seed]) for seed in seeds]


def _shares(records: list[dict]) -> list[float]:
    return sorted({r["share"] for r in records} - {None})


def finding(records: list[dict], arrays: Mapping) -> str:
    """The smallest share from which on the accuracy stays within the spread of the largest."""
    shares, told = _shares(records), []
    for name, label in CLASSIFIERS.items():
        full = accuracies(records, "rekema", shares[-1], name)
        level = np.mean(full) - np.std(full, ddof=len(full) > 1)
        enough = shares[-1]
        for share in reversed(shares):
            if np.mean(accuracies(records, "rekema", share, name)) < level:
                break
            enough = share
        found = [np.mean(accuracies(records, "rekema", s, name)) for s in (enough, shares[-1])]
        ssma = np.mean(accuracies(records, "ssma", None, name))
        told.append(
            f"{100 * enough:g} % for the {label} ({found[0]:.1f} % accuracy; with "
            f"{100 * shares[-1]:g} % of the samples {found[1]:.1f} %, SSMA {ssma:.1f} %)"
        )
    return (
        f"The smallest share of the {records[0]['n_samples']:,} samples from which on REKEMA's "
        "mean accuracy is at most one standard deviation below that of the largest share is "
        f"{listed(told)}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (
        TableColumn("Method"),
        TableColumn("Order of the eigenproblem [% of samples]", numeric=True),
        *(TableColumn(label, numeric=True, scores=True) for label in CLASSIFIERS.values()),
    )
    rows = []
    for method, share in _fits(_shares(records)):
        label = "KEMA" if share == 1 else METHODS[method]
        cells = [spread_cell(accuracies(records, method, share, name), 1) for name in CLASSIFIERS]
        shown = None if share is None else 100 * share
        rows.append((word(label), number_cell(shown, 1), *cells))
    caption = (
        "Accuracy in percent on new samples, mean over both domains: mean and standard deviation "
        f"over the realisations; {records[0]['n_samples']} training samples."
    )
    return {"accuracy": Table("accuracy", caption, columns, tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "accuracy": lambda: _accuracy_figure(records),
        "projections": lambda: _projections_figure(records, arrays),
    }


def _accuracy_figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH, colour, marker, ruled, setting_axis

    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    shares = _shares(records)
    percents = [100 * share for share in shares]
    for position, (name, label) in enumerate(CLASSIFIERS.items()):
        values = [accuracies(records, "rekema", share, name) for share in shares]
        shade = colour(position)
        curve(axes, position, percents, values, markersize=6, label=f"REKEMA, {label}")
        fewer = [share for share in shares if share < 1]
        rkema = [np.mean(accuracies(records, "rkema", share, name)) for share in fewer]
        look = {"color": shade, "marker": marker(position), "linestyle": ":", "markersize": 4}
        axes.plot([100 * share for share in fewer], rkema, label=f"rKEMA, {label}", **look)
        ssma = np.mean(accuracies(records, "ssma", None, name))
        axes.axhline(ssma, color=shade, linestyle="--", label=f"SSMA, {label}")
    setting_axis(axes, percents, "log", WIDTH - 1)
    axes.set(
        xlabel="Order of the eigenproblem [% of the training samples], log scale",
        ylabel="Accuracy (%)",
    )
    ruled(axes, "y")
    axes.legend()
    return figure


def _projections_figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import DOMAIN_MARKERS, WIDTH, class_colours, colour

    names = {"ssma": "SSMA"}
    for share in _shares(records):
        label = "KEMA" if share == 1 else f"REKEMA, {100 * share:g} %"
        names[f"{share:g}"] = label
    if len(names) > 6:
        kept = np.linspace(0, len(names) - 1, 6).round().astype(int)
        names = dict(np.array(list(names.items()))[kept])
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(2, len(names), squeeze=False, sharex="col", sharey="col")
    colours = class_colours(np.unique(arrays["classes/source"]))
    for column, (name, label) in zip(panels.T, names.items(), strict=True):
        for d, role in enumerate(ROLES):
            cloud = arrays[f"{name}/{role}"].T
            look = {"s": 3, "linewidths": 0, "alpha": 0.6, "marker": DOMAIN_MARKERS[d]}
            shades = [colours[int(y)] for y in arrays[f"classes/{role}"]]
            column[0].scatter(*cloud, color=colour(d), rasterized=True, **look)
            column[1].scatter(*cloud, c=shades, rasterized=True, **look)
        column[0].set_title(label)
        for axes in column:
            axes.set(xticks=[], yticks=[])
    panels[0, 0].set_ylabel("By domain")
    panels[1, 0].set_ylabel("By class")
    return figure
