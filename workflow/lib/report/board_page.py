"""The page of one board: which method to use when all are tuned alike, and what to choose it by."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from workflow.lib.config.candidates import PER_ALIGNMENT
from workflow.lib.config.tuning import CANDIDATES_FAILED
from workflow.lib.report.board_answer import answers
from workflow.lib.report.figures.board import gain_figure, selectors_figure
from workflow.lib.report.figures.looks import group
from workflow.lib.report.figures.style import render
from workflow.lib.report.html import rendered, written
from workflow.lib.report.page import Picture, inline_svg
from workflow.lib.report.tables.board import (
    board_table,
    datasets_table,
    details_table,
    scored_methods,
)
from workflow.lib.report.tables.board_choices import choices_table
from workflow.lib.report.tables.board_selectors import (
    selectors_datasets_table,
    selectors_methods_table,
    selectors_table,
)
from workflow.lib.report.tables.board_ways import tasks_table, ways_table
from workflow.lib.report.tables.model import Table, with_downloads, write_tables
from workflow.lib.report.tables.setup import search_readings
from workflow.lib.results.board import Board
from workflow.lib.results.effects import UncomparableError
from workflow.lib.results.shared_domains import EITHER, SOURCE, TARGET, Shared, shared_by_dataset
from workflow.lib.results.text import listed
from workflow.lib.results.views import ExperimentView


def board_of(name: str, views: Iterable[ExperimentView]) -> Board:
    """The board of some experiments, with the words of ``config/tuning.yaml``."""
    views = list(views)
    entry = views[0].suite.tuning["boards"][name]
    return Board(name, entry["title"], entry["chosen_by"], views)


def tables_of(board: Board) -> dict[str, Table]:
    tables = (
        board_table(board),
        ways_table(board),
        details_table(board),
        datasets_table(board),
        tasks_table(board),
        selectors_table(board),
        selectors_datasets_table(board),
        selectors_methods_table(board),
        choices_table(board),
    )
    return {table.name: table for table in tables}


def write_board(board: Board, page: Path | str, folder: Path | str) -> None:
    """Write the page, and every table as CSV, Markdown and LaTeX into a folder.

    A board without a task that every method completes is a page that says so.
    """
    try:
        tables, why = tables_of(board), ""
    except UncomparableError as error:
        tables, why = {}, str(error)
    write_tables(tables.values(), folder)
    written(
        rendered(
            "board.html.j2",
            title=f"Board: {board.title}",
            board=board,
            why=why,
            groups=sorted({group(board.suite.methods[method]) for method in board.methods}),
            answers=[] if why else answers(board),
            rules=[] if why else rules(board),
            tables={
                name: with_downloads(table, Path(folder).name) for name, table in tables.items()
            },
            pictures={} if why else _pictures(board),
            lead=lead(board),
            how=how(board),
            protocols=protocols(board),
            readings=[] if why else search_readings(*board.views, methods=scored_methods(board)),
            experiments=[
                (view.name, view.experiment.title, view.experiment.notes) for view in board.views
            ],
        ),
        page,
    )


def rules(board: Board) -> list[str]:
    """What the numbers mean, and of which data sets the error speaks of fewer domains."""
    first, *others = board.comparison.rules
    domains = [_shared_told(board, shared) for shared in shared_by_dataset(board)]
    return [first, *domains, *shared_samples(board), *others]


def shared_samples(board: Board) -> list[str]:
    """Of each data set, what makes its tasks less independent than the names of domains tell."""
    names = sorted({task.target.dataset for view in board.views for task in view.experiment.tasks})
    told = {name: board.suite.datasets[name].get("shared_samples") for name in names}
    return [
        f"Of {board.suite.label_of_dataset(name)}, {words}: the error takes them for independent "
        "and is rather too small"
        for name, words in told.items()
        if words
    ]


def _shared_told(board: Board, shared: Shared) -> str:
    speaks = {
        SOURCE: "of other targets only, not of other sources",
        TARGET: "of other sources only, not of other targets",
        EITHER: "of other domains beside it only, not of others in its place",
    }
    names = [name.rpartition(".")[2] for name in shared.domains]
    named = f"{shared.role}{'s' * (len(names) > 1)} {listed(names)}"
    return (
        f"All tasks of {board.suite.label_of_dataset(shared.dataset)} have the {named}: there the "
        f"error speaks {speaks[shared.role]}"
    )


def lead(board: Board) -> str:
    """How every method of a board was tuned, in short."""
    return (
        f"All methods are tuned alike: each chooses among {_n_candidates(board)} candidates, and "
        f"no choice sees a scored label. {board.suite.label_of_classifier(board.chosen_by)}."
    )


def _n_candidates(board: Board) -> int:
    return max(view.experiment.tuning["candidates"] for view in board.views)


def how(board: Board) -> str:
    """How every method of a board was tuned."""
    short = any(CANDIDATES_FAILED in words for words in board.chosen["warnings"].dropna())
    fewer = " (fewer where some failed: see the notes of the tables)" if short else ""
    return (
        f"Every method chooses among {_n_candidates(board)} candidates{fewer} of its search space. "
        "Scalings and kinds of classifier come in turn, its own settings and the values of the "
        f"classifiers are drawn with one seed: {PER_ALIGNMENT} classifiers to a scaling with "
        "settings, or more where there are too few of these; the first is its entry. "
        f"{board.suite.label_of_classifier(board.chosen_by)}; this was fixed before any"
        " of these experiments was run. No choice sees a scored label. Classifiers on an embedding "
        "train on every label that the protocol shows, those of baselines on what their names say, "
        f"a method's own classifier as its paper has it. {_chosen(board)}{_scored(board)} "
        f"{_trials(board)}"
    )


def protocols(board: Board) -> list[str]:
    """What methods see and what is scored: the protocol of most data sets, and those of others."""
    views: dict[str, list[ExperimentView]] = {}
    for view in board.views:
        views.setdefault(view.protocol["description"].strip(), []).append(view)
    usual = max(views, key=lambda description: len(views[description]))
    others = [description for description in views if description != usual]
    return [usual, *(f"Of {_targets(board, views[one])}: {one}" for one in others)]


def _targets(board: Board, views: Iterable[ExperimentView]) -> str:
    """Data sets of the targets of some experiments."""
    names = {task.target.dataset for view in views for task in view.experiment.tasks}
    return listed(sorted(map(board.suite.label_of_dataset, names)))


def _chosen(board: Board) -> str:
    """What is to be known of the selector."""
    told = board.suite.tuning["selectors"][board.chosen_by].get("how")
    return f"{told} " if told else ""


def _scored(board: Board) -> str:
    """Which samples the accuracies of a board are of; the protocols of its tasks may differ."""
    new = [view for view in board.views if view.protocol.get("scored_rows") == "test"]
    hidden = "Scored: samples of the target whose labels the methods did not see"
    return f"{hidden}; of {_targets(board, new)}, new ones." if new else f"{hidden}."


def _trials(board: Board) -> str:
    """How many trials a task has, and why some have another number."""
    numbers = {view.name: int(view.records["trial"].nunique()) for view in board.views}
    (usual, _), *_ = Counter(numbers.values()).most_common()
    told = [f"Trials of a task: {usual}"]
    for number in sorted({*numbers.values()} - {usual}):
        views = [view for view in board.views if numbers[view.name] == number]
        new = all(view.protocol.get("scored_rows") == "test" for view in views)
        why = ", each scored on all test samples of the target, which are many more" if new else ""
        told.append(f"of {_targets(board, views)}, {number}{why}")
    return f"{'; '.join(told)}."


def drawings(board: Board) -> dict[str, tuple[bytes, str]]:
    """The figures as SVG, with their captions, by name."""
    return {
        name: (render(lambda draw=draw: draw(board), "svg"), caption)
        for name, (draw, caption) in _DRAWN.items()
    }


_DRAWN = {
    "gain": (
        gain_figure,
        "Gain over the best baseline that adapts nothing, tuned alike. Dot and 95 % interval: "
        "as chosen without scored labels. Diamond: the best candidate by the scored labels.",
    ),
    "selectors": (
        selectors_figure,
        "What each way of choosing leaves to the best candidate by the scored labels, averaged "
        "over methods, tasks and trials, with 95 % intervals; grey: no criterion. Part of it is "
        "chance: the best of equal candidates is above the others too. The axis begins at 0, as no "
        "gap can be negative: what an interval has below 0 is not drawn.",
    ),
}


def _pictures(board: Board) -> dict[str, Picture]:
    return {
        name: Picture(inline_svg(source, name), caption)
        for name, (source, caption) in drawings(board).items()
    }
