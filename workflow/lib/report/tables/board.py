"""Tables of a board: methods tuned alike, and their accuracies by data set."""

import re
from collections import Counter
from collections.abc import Callable, Container, Mapping
from typing import TypeVar

from workflow.lib.config.metrics import METRICS
from workflow.lib.report.figures.looks import group
from workflow.lib.report.tables.model import (
    EMPTY,
    INTERVAL,
    Table,
    TableCell,
    TableColumn,
    ends_of,
    number_cell,
)
from workflow.lib.report.tables.setup import search_notes
from workflow.lib.results.board import (
    FEWEST_DEGREES,
    OF_PROBABILITIES,
    PROBABILISTIC,
    SHOWN,
    Board,
    Row,
)
from workflow.lib.results.effects import ROUNDING, Effect
from workflow.lib.results.significance import ALPHA
from workflow.lib.results.text import (
    count,
    interval,
    listed,
    p_text,
    percent,
    signed,
)

K, V = TypeVar("K"), TypeVar("V")
_NUMBER = re.compile(r"\d[\d,]*")


def board_table(board: Board) -> Table:
    """One row per method: as chosen, against the best baseline, and what lies in its candidates."""
    reference = board.label(board.comparison.reference)
    columns = (
        TableColumn("Method"),
        TableColumn("Tier", True, title="1 holds all that no other method beats"),
        TableColumn("Accuracy", True, title="percent, as chosen by the board's selector"),
        TableColumn(
            "Rank",
            True,
            title="mean over the data sets of the mean rank over their tasks, 1 is best",
        ),
        TableColumn(
            "Gain",
            True,
            counts=INTERVAL,
            title=f"over {reference}, the best tuned baseline; points, {INTERVAL}",
        ),
        TableColumn("p", True, title="two-sided, corrected by Holm"),
        TableColumn(
            "Harms", True, title="tasks on which it is below that baseline by more than the error"
        ),
        TableColumn("Oracle", True, title="best candidate by the scored labels; not attainable"),
        TableColumn(
            "Gap",
            True,
            title="oracle minus chosen, points; part of it is chance, as equal candidates have one",
        ),
        TableColumn("Untuned", True, title="settings and classifier of the method's entry"),
        TableColumn("Seconds", True, title="for all candidates of one trial, mean over trials"),
    )
    return Table(
        name="board",
        caption=f"{board.title}: methods tuned alike, in percent.",
        columns=columns,
        rows=tuple(_row(board, row) for row in board.rows),
        notes=(
            "Bold: the highest accuracy, and gains that are surely above 0.",
            *_left_out(board),
            *_cautions(board),
            *search_notes(
                *board.views,
                where="below, under “Settings found by searching”",
                methods=scored_methods(board),
            ),
        ),
        methods="rows",
    )


def details_table(board: Board) -> Table:
    """One row per method: other measures, memory, and what was chosen."""
    columns = (
        TableColumn("Method"),
        *(TableColumn(METRICS[name].title, True) for name in SHOWN[1:]),
        TableColumn("Average", True, title="mean accuracy of the candidates"),
        *(
            TableColumn(METRICS[name].title, True, title=_probabilistic_title(board, name))
            for name in _of_probabilities(board)
        ),
        TableColumn("Effect size", True, title="gain, standardised (Hedges)"),
        TableColumn("MiB", True, title="largest resident memory"),
        TableColumn("Fewer", True, title="trials in which some of the candidates failed"),
        TableColumn("Chosen most often", title="settings, and in how many trials"),
    )
    return Table(
        name="board_details",
        caption=f"{board.title}: other measures as chosen, memory, and the settings chosen most "
        f"often.{_probabilities_told(board)}",
        columns=columns,
        rows=tuple(_details_row(board, row) for row in board.rows),
        notes=_fewer(board),
        methods="rows",
    )


def _cautions(board: Board) -> list[str]:
    """What gains of some methods must not be taken for."""
    return [
        f"{board.label(row.method)} {words}."
        for row in board.rows
        for words in board.cautions_of(row.method)
    ]


def _fewer(board: Board) -> tuple[str, ...]:
    """In how many trials a method had fewer candidates than others, and the first reason."""
    told = [
        f"{board.label(row.method)}, {row.n_short:,} (such as: {row.why_short})"
        for row in board.rows
        if row.n_short
    ]
    if not told:
        return ()
    return (
        "Fewer: trials in which some candidates failed, so that the choice was among the others: "
        f"{'; '.join(told)}.",
    )


def _of_probabilities(board: Board) -> list[str]:
    """Metrics of probabilities that a method of the board has."""
    return [n for n in OF_PROBABILITIES if any(row.scores[n] is not None for row in board.rows)]


def _probabilistic_title(board: Board, name: str) -> str:
    way = board.suite.label_of_classifier(PROBABILISTIC)
    return f"{_unit(name)}, lower is better: {way}"


def _unit(name: str) -> str:
    return "percent" if METRICS[name].is_share else "nats"


def _probabilities_told(board: Board) -> str:
    """Of what the measures of probabilities are, for they are not as chosen."""
    names = _of_probabilities(board)
    if not names:
        return ""
    told = listed(f"{METRICS[name].title} ({_unit(name)})" for name in names)
    way = board.suite.label_of_classifier(PROBABILISTIC)
    return f" {told}: not as chosen, but {way[0].lower()}{way[1:]}."


def _row(board: Board, row: Row) -> tuple[TableCell, ...]:
    first = row.scores["accuracy"]
    return (
        method_cell(board, row.method, row.left_out),
        number_cell(row.tier, 0),
        TableCell(percent(first), value=_points(first), bold=_is_highest(board, row)),
        number_cell(row.rank, 1),
        gain_cell(row.effect),
        TableCell(p_text(row.effect.p_holm), value=row.effect.p_holm) if row.effect else EMPTY,
        _harm(row.effect),
        share_cell(row.by_choice.get("oracle")),
        number_cell(_points(row.gap), 1),
        share_cell(row.by_choice.get("default")),
        number_cell(row.seconds, 1),
    )


def _is_highest(board: Board, row: Row) -> bool:
    """Whether no compared method, of which the best stands first, has more."""
    best = board.rows[0].scores["accuracy"]
    return row.tier is not None and row.scores["accuracy"] > best - ROUNDING


def _details_row(board: Board, row: Row) -> tuple[TableCell, ...]:
    return (
        method_cell(board, row.method, row.left_out),
        *(share_cell(row.scores[name]) for name in SHOWN[1:]),
        share_cell(row.by_choice.get("average")),
        *(_measure(name, row.scores[name]) for name in _of_probabilities(board)),
        number_cell(row.effect.standardised if row.effect else None, 2),
        number_cell(row.peak_mb, 0),
        number_cell(row.n_short, 0),
        TableCell(row.favourite, kind="text"),
    )


def method_cell(board: Board, method: str, left_out: str = "") -> TableCell:
    kind = "baseline" if method in board.baselines else ""
    title = f"not compared: {left_out}" if left_out else ""
    of = group(board.suite.methods[method])
    return TableCell(board.label(method), kind=kind, title=title, group=of)


def share_cell(fraction: float | None) -> TableCell:
    return TableCell(percent(fraction), value=_points(fraction))


def _measure(name: str, value: float | None) -> TableCell:
    return share_cell(value) if METRICS[name].is_share else number_cell(value, 3)


def _points(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def gain_cell(effect: Effect | None) -> TableCell:
    """A gain with its interval, bold if surely above 0."""
    if effect is None:
        return EMPTY
    return TableCell(
        signed(100 * effect.effect),
        value=100 * effect.effect,
        count=interval(effect.low, effect.high),
        ends=ends_of(effect.low, effect.high),
        bold=effect.surely_above,
    )


def _harm(effect: Effect | None) -> TableCell:
    if effect is None or effect.harm is None:
        return EMPTY
    return TableCell(
        f"{effect.n_harmed} of {effect.n_judged}",
        value=effect.harm,
        kind="failed" if effect.harm > 0.5 else "",
    )


def _left_out(board: Board) -> list[str]:
    found = board.comparison
    notes = []
    if found.tasks_left_out:
        reasons = {place: _lacking(board, *place) for place in found.tasks_left_out}
        tasks = [
            f"{listed(task for _, task in places)} ({why})"
            for why, places in _by_value(reasons).items()
        ]
        notes.append(
            f"{count(len(found.tasks_left_out), 'task')} not compared, for want of a score of the "
            f"methods in brackets: {'; '.join(tasks)}."
        )
    left = {m: why for m, why in found.methods_left_out.items() if m not in board.unsuited}
    if left:
        told = "; ".join(f"{board.label(name)}, {why}" for name, why in left.items())
        notes.append(f"Not compared, as the others would be on fewer tasks: {told}.")
    unsuited = {method: _unsuited(tasks) for method, tasks in board.unsuited.items()}
    for why, methods in _by_value(unsuited).items():
        notes.append(f"Do not apply here: {listed(map(board.label, methods))} ({why}).")
    return notes


def scored_methods(board: Board) -> set[str]:
    """Methods that have a score in some trial."""
    return set(board.chosen.loc[board.chosen["status"] == "ok", "method"])


def _unsuited(tasks: Counter[str]) -> str:
    """Why a method applies to no task; of several reasons the most frequent, with its tasks."""
    kinds: Counter[str] = Counter()  # reasons that differ in numbers alone are one
    for why, number in tasks.items():
        kinds[_NUMBER.sub("", why)] += number
    kind = min(kinds, key=lambda one: (-kinds[one], one))
    mine = {why: n for why, n in tasks.items() if _NUMBER.sub("", why) == kind}
    first = min(mine, key=lambda why: (-mine[why], why))
    if len(kinds) == 1:
        return first if len(mine) == 1 else f"such as, on one task: {first}"
    often = f"on {kinds[kind]} of {tasks.total()} tasks, and for other reasons on the others"
    return f"{often}: {first}"


def _lacking(board: Board, dataset: str, task: str) -> str:
    """Compared methods without a score in every trial of a task, by reason."""
    lacking = board.comparison.tasks_left_out[dataset, task]
    reasons = {method: board.absence(method, dataset, task) for method in lacking}
    return "; ".join(
        f"{why}: {listed(map(board.label, methods))}" for why, methods in _by_value(reasons).items()
    )


def _by_value(found: Mapping[K, V]) -> dict[V, list[K]]:
    """The keys of each value."""
    keys: dict[V, list[K]] = {}
    for key, value in found.items():
        keys.setdefault(value, []).append(key)
    return keys


def datasets_table(board: Board) -> Table:
    """Mean accuracy of every method on each data set."""
    best = {name: board.best_on(name) for name in board.datasets}
    rows = []
    for row in board.rows:
        cells = [_dataset_cell(board, row, name, best[name]) for name in board.datasets]
        rows.append((method_cell(board, row.method), *cells))
    return Table(
        name="board_datasets",
        caption="Accuracy by data set: mean over its tasks, in percent.",
        columns=(
            TableColumn("Method"),
            *(TableColumn(board.suite.label_of_dataset(name), True) for name in board.datasets),
        ),
        rows=tuple(rows),
        notes=(
            "Means over all tasks of a data set, also those that not every compared method "
            "completes. Failed: some trial has no score; –: not asked, or not applicable.",
            f"Bold: the highest mean, and every mean with p of {100 * ALPHA:g} % and more, "
            "uncorrected, by the error of the gains: of domains where a data set has several, else "
            f"of its tasks. With fewer than {FEWEST_DEGREES} degrees of freedom it tells nothing "
            "apart; there the highest mean alone.",
        ),
        methods="rows",
    )


def _dataset_cell(board: Board, row: Row, dataset: str, best: Container[str]) -> TableCell:
    mean = row.by_dataset[dataset]
    if mean is not None:
        return TableCell(percent(mean), value=_points(mean), bold=row.method in best)
    return absent_cell(board.absence(row.method, dataset))


def absent_cell(why: str) -> TableCell:
    """A cell without a mean, and why."""
    if why.endswith("failed"):
        return TableCell("failed", kind="failed", title=why)
    return TableCell("–", kind="absent", title=why)


def chooser_in_words(board: Board) -> Callable[[str], str]:
    """Words of a way of choosing inside a sentence."""
    selectors = board.suite.tuning["selectors"]

    def words(name: str) -> str:
        if name in selectors:
            return selectors[name]["label"]
        label = board.suite.label_of_classifier(name)
        return f"{label[0].lower()}{label[1:]}"

    return words
