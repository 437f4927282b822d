r"""Three subjects aligned at once by classes of their images, at one and at two resolutions.

Stand-in. The faces of the paper (185 frontal photographs of three subjects, about 20 per subject
and expression, 217 x 308 pixels) are unavailable; the CMU face images replace them: three subjects
as domains, the expressions neutral, happy and sad, 64 x 60 pixels, and only 8 images per subject
and expression, in four poses, half of them with sunglasses. Pose changes these images far more than
expression does, which makes a much harder problem: errors are not comparable with the paper's. As a
control, the poses left, straight and right of the same subjects are the classes.

Half of the images of each class and subject are for training, 3 of them labelled and the rest not;
the other half is for testing. KEMA aligns the three domains at once; LDA is trained on the labelled
images of all subjects in the common space. At multiple resolutions, subject 1 is averaged over
blocks of 2 x 2 or 4 x 4 pixels. 5 neighbours, μ = 1; the RBF kernel's width is the mean distance of
a domain's labelled images. Without adaptation LDA is trained on a subject's own labelled images.

With few images, each in a pose of its own, guessing is no sure reference: errors may lie above it.
So KEMA with a linear kernel is also run on labels that were dealt out anew among the images of each
subject, of which nothing can be learned.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.kema._aligners import (
    error_percent,
    errors_of,
    fit,
    labelled_rows,
    make_aligner,
    make_classifier,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "errors": "CMU faces (stand-in): error of LDA on new images of each subject in two dimensions "
    "of the common space; mean and standard deviation over the realisations. Dotted: guessing.",
    "projections": "CMU faces (stand-in): all images of one realisation in two dimensions of KEMA "
    "with a linear kernel, by class (above; test images filled) and by subject (below).",
}
TABLES = ("errors",)

METHODS = {
    "baseline": "No adaptation",
    "ssma": "SSMA",
    "linear": "KEMA, linear",
    "rbf_1": "KEMA, RBF",
    "dealt": "KEMA, linear, labels dealt out anew",
}
# No alignments by the classes.
REFERENCES = ("baseline", "dealt")


def run(
    domains: Mapping[str, tuple],
    settings: Mapping[str, Sequence[str]],
    n_realisations: int = 10,
    n_labelled: int = 3,
    dimensions: Sequence[int] = (2, 4, 8),
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Errors of every setting, a name for three domains."""
    records, arrays = [], {}
    for setting, names in settings.items():
        data = [domains[name] for name in names]
        for seed in range(n_realisations):
            found, embedded = _one(data, seed, n_labelled, dimensions)
            found += _dealt_out(data, seed, n_labelled, dimensions)
            records += [{"setting": setting, "realisation": seed, **record} for record in found]
            if seed == 0:
                arrays |= {f"{setting}/{name}": array for name, array in embedded.items()}
    return records, arrays


def split(y: np.ndarray, n_labelled: int, rng: np.random.Generator):
    """Rows for training, their visible labels, and rows for testing: half of each class."""
    train, visible = [], []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        half = rows[: len(rows) // 2]
        train.append(half)
        visible.append(np.where(np.arange(len(half)) < n_labelled, label, -1))
    train = np.concatenate(train)
    return train, np.concatenate(visible), np.setdiff1d(np.arange(len(y)), train)


def _dealt_out(data, seed: int, n_labelled: int, dimensions: Sequence[int]) -> list[dict]:
    """Errors on labels that say nothing about the images."""
    rng = np.random.default_rng([seed, 1])
    data = [(X, rng.permutation(y)) for X, y in data]
    records, _ = _one(data, seed, n_labelled, dimensions, ["linear"])
    return [{**r, "method": "dealt"} for r in records if r["method"] == "linear"]


def _one(
    data,
    seed: int,
    n_labelled: int,
    dimensions: Sequence[int],
    methods: Sequence[str] = ("ssma", "linear", "rbf_1"),
):
    rng = np.random.default_rng(seed)
    parts = [split(y, n_labelled, rng) for _, y in data]
    Xs = [X[train] for (X, _), (train, _, _) in zip(data, parts, strict=True)]
    ys = [visible for _, visible, _ in parts]
    tests = [(X[rows], y[rows]) for (X, y), (_, _, rows) in zip(data, parts, strict=True)]
    records, arrays = _baseline(Xs, ys, tests), {}
    for method in methods:
        aligner = fit(make_aligner(method, max(dimensions)).set_params(n_neighbors=5), Xs, ys)
        Z, y = labelled_rows(ys, aligner.embeddings_)
        embedded = [aligner.transform(X, d) for d, (X, _) in enumerate(tests)]
        for size in [n for n in dimensions if n <= aligner.n_components_]:
            classifier = make_classifier("lda").fit(Z[:, :size], y)
            for d, (test, (_, expected)) in enumerate(zip(embedded, tests, strict=True)):
                error = error_percent(classifier, test[:, :size], expected)
                place = {"method": method, "subject": d + 1, "dimensions": size}
                records.append({**place, "error": error})
        if method == "linear":
            for d, (train, _, rows) in enumerate(parts):
                arrays[f"{d}/train"] = aligner.embeddings_[d][:, :2]
                arrays[f"{d}/test"] = embedded[d][:, :2]
                arrays[f"{d}/train_classes"] = data[d][1][train]
                arrays[f"{d}/test_classes"] = data[d][1][rows]
    return records, arrays


def _baseline(Xs, ys, tests) -> list[dict]:
    records = []
    for d, (X, y, (X_test, expected)) in enumerate(zip(Xs, ys, tests, strict=True)):
        classifier = make_classifier("lda").fit(X[y >= 0], y[y >= 0])
        error = error_percent(classifier, X_test, expected)
        records.append({"method": "baseline", "subject": d + 1, "dimensions": None, "error": error})
    return records


def _names(records: list[dict], key: str) -> list:
    return list(dict.fromkeys(r[key] for r in records if r[key] is not None))


def finding(records: list[dict], arrays: Mapping) -> str:
    """The best alignment of every setting in the fewest dimensions, beside no adaptation."""
    size, told, lows = min(_names(records, "dimensions")), [], []
    for setting in _names(records, "setting"):
        place = {"setting": setting, "dimensions": size}
        found = {m: errors_of(records, method=m, **place) for m in METHODS}
        means = {method: np.mean(errors) for method, errors in found.items() if errors}
        alone, dealt = (means.pop(method, None) for method in REFERENCES)
        best = min(means, key=means.get, default=None)
        lowest = f"{means[best]:.0f} % ({METHODS[best]})" if means else f"no fit with {size}"
        meaningless = "" if dealt is None else f", labels dealt out anew {dealt:.0f} %"
        told.append(f"{setting}: {lowest}, no adaptation {alone:.0f} %{meaningless}")
        lows.append(means[best] if means else np.inf)
    guessing = _guessing(arrays)
    hopeless = sum(low >= guessing for low in lows)
    judged = (
        f" In {hopeless} of {count(len(lows), 'setting')} no alignment is below that, so their "
        "errors rank no method there."
    )
    return (
        f"Error of LDA in {count(size, 'dimension')}, mean over the subjects, lowest of the "
        f"alignments (chosen by these errors): {'; '.join(told)}. Guessing has "
        f"{guessing:.0f} %.{judged if hopeless else ''}"
    )


def _guessing(arrays: Mapping) -> float:
    """Error of guessing among the classes, in percent."""
    name = next(name for name in arrays if name.endswith("/test_classes"))
    return 100 - 100 / len(np.unique(arrays[name]))


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = [TableColumn("Setting"), TableColumn("Dimensions", numeric=True)]
    columns += [TableColumn("Subject", numeric=True)]
    columns += [TableColumn(label, numeric=True, scores=True) for label in METHODS.values()]
    rows = []
    for setting in _names(records, "setting"):
        for size in sorted(_names(records, "dimensions")):
            for subject in _names(records, "subject"):
                place = {"setting": setting, "dimensions": size, "subject": subject}
                cells = [
                    spread_cell(errors_of(records, method=method, **place), 0) for method in METHODS
                ]
                start = (word(setting), number_cell(size, 0), number_cell(subject, 0))
                rows.append((*start, *cells))
    caption = (
        "CMU faces, a stand-in: error of LDA in percent on new images, mean and standard deviation "
        f"over the realisations. Guessing has {_guessing(arrays):.0f}."
    )
    return {"errors": Table("errors", caption, tuple(columns), tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "errors": lambda: _errors_figure(records, _guessing(arrays)),
        "projections": lambda: _projections_figure(records, arrays),
    }


def _errors_figure(records: list[dict], guessing: float) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH, colour, legend, marker, ruled

    settings, subjects = _names(records, "setting"), _names(records, "subject")
    size = min(_names(records, "dimensions"))
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    panels = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for axes, setting in zip(panels, settings, strict=True):
        for position, (method, label) in enumerate(METHODS.items()):
            place = {"setting": setting, "method": method, "dimensions": size}
            values = [errors_of(records, subject=subject, **place) for subject in subjects]
            spread = [np.std(sample, ddof=len(sample) > 1) for sample in values]
            at = np.arange(len(subjects)) + 0.15 * (position - (len(METHODS) - 1) / 2)
            look = {"color": colour(position), "fmt": marker(position), "capsize": 2}
            axes.errorbar(at, [np.mean(sample) for sample in values], spread, label=label, **look)
        axes.axhline(guessing, color=INK, linestyle=":", linewidth=0.8)
        axes.set_xticks(range(len(subjects)), [f"subject {subject}" for subject in subjects])
        axes.set(title=setting, ylim=(0, 100))
        ruled(axes, "y")
    panels[0].set_ylabel("Error (%)")
    legend(figure, *panels[0].get_legend_handles_labels(), columns=3)
    return figure


def _projections_figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import DOMAIN_MARKERS, WIDTH, class_colours, colour

    settings, subjects = _names(records, "setting"), _names(records, "subject")
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, len(settings), squeeze=False)
    for column, setting in zip(panels.T, settings, strict=True):
        for d in range(len(subjects)):
            for part in ("train", "test"):
                cloud = arrays[f"{setting}/{d}/{part}"]
                classes = arrays[f"{setting}/{d}/{part}_classes"]
                names = class_colours(np.unique(classes))
                shades = [names[int(y)] for y in classes]
                look = {"marker": DOMAIN_MARKERS[d], "s": 16, "linewidths": 0.8}
                face = shades if part == "test" else "none"
                column[0].scatter(*cloud.T, facecolors=face, edgecolors=shades, **look)
                face = colour(d) if part == "test" else "none"
                column[1].scatter(*cloud.T, facecolors=face, edgecolors=colour(d), **look)
        column[0].set_title(setting)
        for axes in column:
            axes.set(xticks=[], yticks=[])
    panels[0, 0].set_ylabel("By class")
    panels[1, 0].set_ylabel("By subject")
    return figure
