"""The boards of the reference run, to be read on a code host: ``reports/reference/boards.md``.

One folder per board whose experiments were all run, with what its page shows: answers, tables,
figures, and the tables as CSV, with which `results.reference` compares a later run. On request also
boards of which a part was run, which is said on their pages.
"""

import dataclasses
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import boards
from workflow.lib.config.suite import Suite
from workflow.lib.report.board_answer import answers
from workflow.lib.report.board_page import board_of, drawings, how, tables_of
from workflow.lib.report.reference_findings import made_anew
from workflow.lib.report.reference_older_findings import FINDINGS, PAGE, ROW, mark_newer
from workflow.lib.report.reference_words import duration, row, run_words, searched, told, whence
from workflow.lib.report.tables.model import to_csv, to_markdown
from workflow.lib.results.board import Board
from workflow.lib.results.effects import UncomparableError
from workflow.lib.results.kept_scores import forget_scores, keep_scores
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FAILURES, FILES
from workflow.lib.results.reference import BOARD
from workflow.lib.results.run_log import RunLog
from workflow.lib.results.text import capitalized

PARTIAL = "python -m workflow.lib.report.reference --partial"


@dataclasses.dataclass(frozen=True)
class Cost:
    """Trials of a board's methods, all candidates of one method counted as one; their seconds."""

    trials: int
    failed: int
    seconds: float

    @classmethod
    def of(cls, board: Board) -> "Cost":
        ran = board.chosen[board.chosen["status"] != "not_applicable"]
        failed = ran["status"].isin(FAILURES).sum()
        return cls(len(ran), int(failed), float(ran["seconds"].astype(float).sum()))


def write_boards(
    suite: Suite, results: Path, out: Path, log: RunLog, partial: bool = False
) -> list[str]:
    """Write the folder of every board that was run whole, its scores, a page that lists all boards,
    and findings of all.

    Parameters
    ----------
    suite : Suite
    results : Path
    out : Path
    log : RunLog
    partial : bool, default=False
        Also boards of which only some experiments were run. Otherwise a run of one of them would
        replace the folder of all.

    Returns
    -------
    list of str
        Their names; where there are none nothing is written.

    Raises
    ------
    CorruptArtifact
        Naming the first file of the records that is damaged.
    """
    asked = boards(suite)
    run = {
        name: [one for one in experiments if (results / one / FILES[0]).is_file()]
        for name, experiments in asked.items()
    }
    run = {n: own for n, own in run.items() if own and (partial or len(own) == len(asked[n]))}
    lacking = {
        name: [suite.experiments[one].title for one in asked[name] if one not in own]
        for name, own in run.items()
    }
    domains = results.parent / "resources/domains"
    made = [
        board_of(name, [load_view(suite, one, results / one, domains) for one in own])
        for name, own in run.items()
    ]
    for board in made:
        _write_board(board, lacking[board.name], out / _folder(board))
        forget_scores(asked[board.name], out)
        keep_scores(board.views, out, run_words(log))
    if made:
        anew = made_anew(suite, out)
        (out / PAGE).write_text(_list(made, lacking, out, log), encoding="utf-8")
        if not anew:
            mark_newer(suite, out)
    return list(run)


def _write_board(board: Board, lacking: Sequence[str], out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        parts = _compared(board, out)
    except UncomparableError:
        parts = [_answer(board)]
    scored = set(board.chosen.loc[board.chosen["status"] == "ok", "method"])
    parts += searched(board.views, scored)
    parts = [how(board), *parts, "## Experiments", _experiments(board)]
    if lacking:
        told = "; ".join(lacking)
        parts.insert(0, f"**Not the whole board**: not run, and in no number here: {told}.")
    parts.insert(0, f"# Board: {board.title}")
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
        "## By data set",
        words["board_datasets"],
        "## What to choose by",
        figures["selectors"],
        words["selectors"],
        "### Does the answer hang on the choice?",
        words["board_choices"],
        "## Other measures",
        words["board_details"],
        "## What the numbers mean",
        *(f"{rule}." for rule in board.comparison.rules),
    ]


def _answer(board: Board) -> str:
    """The first line of a board's answers, or why it has none."""
    try:
        return answers(board)[0][1]
    except UncomparableError as error:
        return f"Nothing could be compared: {error}."


def _experiments(board: Board) -> str:
    return "\n".join(f"- {view.experiment.title} (`{view.name}`)" for view in board.views)


def _list(
    made: Sequence[Board], lacking: Mapping[str, Sequence[str]], out: Path, log: RunLog
) -> str:
    others = _others(made, out)
    kept = _kept(out / PAGE, others)
    unknown = [name for name in others if f"({name})" not in "".join(kept)]
    lines = [
        "# Boards: methods tuned alike",
        "Each run has a section, the one written last on top, with the boards that no later one "
        "has replaced. A trial is one method with all of its candidates; its time is that of fits, "
        "classifiers and selectors, in one process.",
        f"What the boards of one run say together (the page names it): [{FINDINGS}]({FINDINGS})."
        if (out / FINDINGS).is_file()
        else "",
        *(f"Of an earlier run: [{name}]({name})." for name in unknown),
        _section(made, lacking, log),
        *kept,
    ]
    return "\n\n".join(filter(None, lines)) + "\n"


def _section(made: Sequence[Board], lacking: Mapping[str, Sequence[str]], log: RunLog) -> str:
    """One run: what it took, and its boards."""
    costs = [Cost.of(board) for board in made]
    failed, trials = sum(cost.failed for cost in costs), sum(cost.trials for cost in costs)
    heads = ["Board", "Data sets", "Tasks", "Trials", "Time of all trials", "Answer"]
    rows = [
        row(_cells(board, lacking[board.name], cost))
        for board, cost in zip(made, costs, strict=True)
    ]
    by = PARTIAL if any(lacking.values()) else "make reference"
    return "\n\n".join(
        [
            f"## {capitalized(run_words(log))}",
            whence(log, by),
            told(log, {"Failed trials of all boards of this run": f"{failed:,} of {trials:,}"}),
            "\n".join([row(heads), row([":---", *["---:"] * 4, ":---"]), *rows]),
        ]
    )


def _kept(page: Path, others: Sequence[str]) -> list[str]:
    """Sections of the page as it is, without the rows of boards that are written anew."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    kept = []
    for section in re.split("^(?=## )", text, flags=re.MULTILINE)[1:]:
        lines = section.strip().splitlines()
        rows = {line: found["folder"] for line in lines if (found := ROW.match(line))}
        if set(rows.values()) & set(others):
            kept.append(
                "\n".join(line for line in lines if line not in rows or rows[line] in others)
            )
    return kept


def _others(made: Sequence[Board], out: Path) -> list[str]:
    """Folders of boards that this run does not have."""
    return sorted({path.name for path in out.glob(f"{BOARD}*")} - {_folder(b) for b in made})


def _folder(board: Board) -> str:
    return f"{BOARD}{board.name}"


def _cells(board: Board, lacking: Sequence[str], cost: Cost) -> list[str]:
    tasks = board.records[["experiment", "task"]].drop_duplicates()
    return [
        f"[{board.title}]({_folder(board)})" + (", not whole" if lacking else ""),
        str(len(board.datasets)),
        str(len(tasks)),
        f"{cost.trials:,}",
        duration(cost.seconds),
        _answer(board),
    ]
