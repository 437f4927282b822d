"""The boards of the reference run, to be read on a code host: ``reports/reference/boards.md``.

One folder per board, with what its page shows: answers, tables, figures, and the tables as CSV,
with which `results.reference` compares a later run. Every run leaves the scores of its experiments;
a board is written when each of its experiments has been run, be it in one run or in several, which
its page then names.
"""

import dataclasses
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import boards
from workflow.lib.config.suite import Suite
from workflow.lib.report.board_answer import answers
from workflow.lib.report.board_page import (
    board_of,
    drawings,
    how,
    lead,
    protocols,
    rules,
    tables_of,
)
from workflow.lib.report.reference_standing import FINDINGS, PAGE, ROW
from workflow.lib.report.reference_words import duration, row, run_words, searched, told, whence
from workflow.lib.report.run_rows import seconds_told, work_rows
from workflow.lib.report.tables.board import scored_methods
from workflow.lib.report.tables.model import markdown_text, to_csv, to_markdown
from workflow.lib.report.tables.setup import mark_told
from workflow.lib.results.board import Board
from workflow.lib.results.effects import UncomparableError
from workflow.lib.results.kept_scores import Kept, keep_scores, kept_scores
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FAILURES, FILES
from workflow.lib.results.reference import BOARD
from workflow.lib.results.run_log import RunLog
from workflow.lib.results.text import SEARCH_MARK, capitalized, count, listed
from workflow.lib.results.views import ExperimentView

MARK = mark_told("on the pages of the boards")
_HEADS = "\n".join(
    [
        row(["Board", "Data sets", "Tasks", "Records", "Failed", "Time of all records", "Answer"]),
        row([":---", *["---:"] * 5, ":---"]),
    ]
)
_REPLACED = "Its boards stand above, made of records of this run and of later ones."


@dataclasses.dataclass(frozen=True)
class Cost:
    """Records of a board: a method, with all its candidates, on a trial; their seconds."""

    records: int
    failed: int
    seconds: float

    @classmethod
    def of(cls, board: Board) -> "Cost":
        ran = board.chosen[board.chosen["status"] != "not_applicable"]
        failed = ran["status"].isin(FAILURES).sum()
        return cls(len(ran), int(failed), float(ran["seconds"].astype(float).sum()))


def write_boards(suite: Suite, results: Path, out: Path, log: RunLog) -> list[str]:
    """Leave the scores of the boards' experiments that were run; write the folder of every board
    of which each experiment has left some, and a page that lists all boards.

    Parameters
    ----------
    suite : Suite
    results : Path
    out : Path
    log : RunLog

    Returns
    -------
    list of str
        The boards of which some experiment was run and all have left scores.

    Raises
    ------
    CorruptArtifact
        Naming the first file of the records that is damaged.
    """
    asked, ran = boards(suite), experiments_run(suite, results)
    keep_scores(_views(suite, ran, results), out, run_words(log), log.commit)
    kept = {name: kept_scores(suite, own, out) for name, own in asked.items() if {*own} & {*ran}}
    made = {
        board_of(name, [one.view for one in own]): own
        for name, own in kept.items()
        if len(own) == len(asked[name])
    }
    for board, own in made.items():
        _write_board(board, own, out / _folder(board))
    if made:
        (out / PAGE).write_text(_list(suite, made, out, log), encoding="utf-8")
    return [board.name for board in made]


def renew_boards(suite: Suite, out: Path, written: Sequence[str]) -> None:
    """Make the other boards that stand here anew of their scores: pages, and answers in the list.

    So they say what today's code says, and have the marks of today's configuration.
    """
    for name, asked in boards(suite).items():
        folder = out / f"{BOARD}{name}"
        if name in written or not folder.is_dir():
            continue
        own = kept_scores(suite, asked, out)
        if len(own) == len(asked):
            board = board_of(name, [one.view for one in own])
            _write_board(board, own, folder)
            _answer_anew(board, out / PAGE)


def _answer_anew(board: Board, page: Path) -> None:
    lines = page.read_text("utf-8").splitlines() if page.is_file() else []
    for number, line in enumerate(lines):
        if (found := ROW.match(line)) and found["folder"] == _folder(board):
            first, _, _ = line.removesuffix(" |").rpartition(" | ")
            lines[number] = f"{first} | {row([_answer(board)])[2:]}"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def experiments_run(suite: Suite, results: Path) -> list[str]:
    """Experiments of boards that were run."""
    asked = (one for own in boards(suite).values() for one in own)
    return [one for one in asked if (results / one / FILES[0]).is_file()]


def _views(suite: Suite, names: Iterable[str], results: Path) -> Iterator[ExperimentView]:
    domains = results.parent / "resources/domains"
    for name in names:
        yield load_view(suite, name, results / name, domains)


def _write_board(board: Board, own: Sequence[Kept], folder: Path) -> None:
    """Write a board's folder anew; as it was, should that fail."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as temporary:
        made = Path(temporary) / folder.name
        made.mkdir()
        _write_into(board, own, made)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def _write_into(board: Board, own: Sequence[Kept], out: Path) -> None:
    try:
        parts = _compared(board, out)
    except UncomparableError:
        parts = [_answer(board)]
    parts += searched(board.views, scored_methods(board))
    parts = [f"# Board: {board.title}", lead(board), *parts]
    parts += ["## How methods are tuned, what they see, what is scored", how(board)]
    parts += [*map(markdown_text, protocols(board)), "## Experiments", _experiments(own)]
    (out / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _compared(board: Board, out: Path) -> list[str]:
    """The parts of a board's page; writes its tables and figures."""
    tables = tables_of(board)
    for table in tables.values():
        (out / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
    words = {name: to_markdown(table).strip() for name, table in tables.items()}
    figures = {}
    for name, (source, caption) in drawings(board).items():
        (out / f"{name}.svg").write_bytes(source)
        figures[name] = f"![{name}]({name}.svg)\n\n{caption}"
    said = [f"- *{question}* {answer}" for question, answer in answers(board)]
    return [
        "\n".join(said),
        "## Methods",
        figures["gain"],
        words["board"],
        "### With fixed classifiers, tuned, and by the oracle",
        words["board_ways"],
        "## By data set",
        words["board_datasets"],
        "Task by task: [board_tasks.csv](board_tasks.csv).",
        "## What to choose by",
        figures["selectors"],
        words["selectors"],
        words["selectors_datasets"],
        words["selectors_methods"],
        "### Does the answer hang on the choice?",
        words["board_choices"],
        "## Other measures",
        words["board_details"],
        "## What the numbers mean",
        *(f"{rule}." for rule in rules(board)),
    ]


def _answer(board: Board) -> str:
    """The first line of a board's answers, or why it has none."""
    try:
        return answers(board)[0][1]
    except UncomparableError as error:
        return f"Nothing could be compared: {error}."


def _experiments(own: Sequence[Kept]) -> str:
    told = []
    for one in own:
        experiment = one.view.experiment
        notes = f". {markdown_text(experiment.notes.strip())}" if experiment.notes else ""
        told.append(f"- {experiment.title} (`{one.view.name}`), {one.run}{notes}")
    return "\n".join(told)


def _n_trials(board: Board) -> int:
    """Draws of labels and rows: each is one trial of a task, for all methods that apply."""
    ran = board.chosen[board.chosen["status"] != "not_applicable"]
    return len(ran[["experiment", "task", "trial"]].drop_duplicates())


def _list(suite: Suite, made: Mapping[Board, Sequence[Kept]], out: Path, log: RunLog) -> str:
    others = _others(made, out)
    standing = {
        name: kept_scores(suite, own, out)
        for name, own in boards(suite).items()
        if (out / f"{BOARD}{name}").is_dir()
    }
    runs = {run for own in standing.values() for one in own for run in one.runs}
    kept = _kept(out / PAGE, others, runs - {run_words(log)})
    unknown = [name for name in others if f"({name})" not in "".join(kept)]
    sections = [_section(made, log), *kept]
    lines = [
        "# Boards: methods tuned alike",
        _total(standing, sections),
        "Each run of which a section was kept stands here, the one written last on top, with the "
        "boards that no later one has written anew. A record is one method with all of its "
        "candidates on one trial; its time is that of fits, classifiers and selectors, in one "
        "process.",
        f"What the boards say together (the page names their runs): [{FINDINGS}]({FINDINGS}).",
        *(f"Of an earlier run: [{name}]({name})." for name in unknown),
        *([MARK] if SEARCH_MARK in "".join(sections) else []),
        *sections,
    ]
    return "\n\n".join(lines) + "\n"


def _total(standing: Mapping[str, Sequence[Kept]], sections: Sequence[str]) -> str:
    """Records and time of all boards that the page lists."""
    text = "\n".join(sections)
    took = sum(map(seconds_told, sections))
    gone = [
        (one.view.name, Cost.of(board_of(name, [one.part(run)])).seconds)
        for name, own in standing.items()
        for one in own
        for run in one.runs
        if f"## {capitalized(run)}\n" not in text
    ]
    made = [board_of(name, [one.view for one in own]) for name, own in standing.items() if own]
    costs = [Cost.of(board) for board in made]
    n_records = sum(cost.records for cost in costs)
    trials = count(sum(map(_n_trials, made)), "trial")
    alone = duration(sum(cost.seconds for cost in costs))
    old = [
        found["title"]
        for line in text.splitlines()
        if (found := ROW.match(line)) and found["folder"] not in map(_folder, made)
    ]
    of = "scores are of other candidates or data than today's"
    but = f" but {listed(f'“{title}”' for title in old)}, whose {of}" if old else ""
    told = (
        f"All boards listed{but}: {count(n_records, 'record')} of {trials}, added up {alone} "
        f"of one process. The runs that have a section took {duration(took)} by the clock, pauses "
        "left out."
    )
    if gone:
        names, seconds = zip(*gone, strict=True)
        told += (
            f" In {count(len({*names}), 'experiment')} records are of other runs, which have no "
            f"section; these, added up, took {duration(sum(seconds))}."
        )
    return told


def _section(made: Mapping[Board, Sequence[Kept]], log: RunLog) -> str:
    """One run: what it took, and its boards."""
    costs = {board: Cost.of(board) for board in made}
    run = run_words(log)
    rows = [row(_cells(board, _part_of(run, own), costs[board])) for board, own in made.items()]
    return "\n\n".join(
        [
            f"## {capitalized(run)}",
            whence(log),
            told(log, work_rows(log)),
            "\n".join([_HEADS, *rows]),
        ]
    )


def _part_of(run: str, own: Sequence[Kept]) -> str:
    """What of a board is of a run, where not all is."""
    others = sum(run not in one.runs for one in own)
    mixed = [one for one in own if run in one.runs and len(one.runs) > 1]
    parts = [f"{others} of its {count(len(own), 'experiment')} of other runs"] if others else []
    if mixed:
        labels = dict.fromkeys(label for one in mixed for label in one.labels(run))
        parts.append(f"in {count(len(mixed), 'experiment')} only {listed(labels)} of this run")
    return "".join(f", {part}" for part in parts)


def _kept(page: Path, others: Collection[str], runs: Collection[str]) -> list[str]:
    """Sections of the page as it is, without the rows of boards that are written anew.

    One without rows stays while a board has records of its run, which is one of ``runs``.
    """
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    kept = []
    for section in re.split("^(?=## )", text, flags=re.MULTILINE)[1:]:
        about, _, table = section.strip().partition(f"\n\n{_HEADS}\n")
        rows = [line for line in table.splitlines() if ROW.match(line)["folder"] in others]
        if rows:
            kept.append("\n".join([f"{about}\n\n{_HEADS}", *rows]))
        elif any(about.startswith(f"## {capitalized(run)}\n") for run in runs):
            kept.append("\n\n".join([about.removesuffix(_REPLACED).strip(), _REPLACED]))
    return kept


def _others(made: Iterable[Board], out: Path) -> list[str]:
    """Folders of boards that this run does not have."""
    return sorted({path.name for path in out.glob(f"{BOARD}*")} - {_folder(b) for b in made})


def _folder(board: Board) -> str:
    return f"{BOARD}{board.name}"


def _cells(board: Board, part: str, cost: Cost) -> list[str]:
    tasks = board.records[["experiment", "task"]].drop_duplicates()
    link = f"[{board.title}]({_folder(board)})"
    return [
        link + part,
        str(len(board.datasets)),
        str(len(tasks)),
        f"{cost.records:,}",
        f"{cost.failed:,}",
        duration(cost.seconds),
        _answer(board),
    ]
