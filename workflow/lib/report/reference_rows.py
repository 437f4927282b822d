"""The README of the reference run: a row per published column, and the runs that they are of.

A run of some experiments renews their rows; rows of others stay, with the run that they are of.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import escape

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.outputs import figure_names
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.index import Entry
from workflow.lib.report.reference_words import ALIGNED, RUNS, duration, row, run_row
from workflow.lib.results.audit import label_of_column
from workflow.lib.results.published import misprints
from workflow.lib.results.reference import AUDIT, read_rows
from workflow.lib.results.run_log import RunLog
from workflow.lib.results.text import fixed, moment
from workflow.lib.results.verdicts import RULE

_HEADS = {
    "Artefact": ":---",
    "Experiment": ":---",
    "Column": ":---",
    "Published": "---:",
    "Ours": "---:",
    "Rows": "---:",
    "Verdict": ":---",
    "Trials": "---:",
    "Time": "---:",
    "Run": ":---",
    "": ":---",
}
NOT_HERE = (
    "Of the four papers nothing answers to Figure 3 of Dernbach & Towsley (photographs, which may "
    "not be redistributed) and Figure 1 of Tuia & Camps-Valls (a sketch). The figures of Rodner et "
    "al. are of other data than theirs (Bing and Caltech256, ImageNet and SUN2012), Figure 8 of "
    "Tuia & Camps-Valls of other faces: of those no copy with a checked sum is known. Which rows "
    "of a table lack their data, the pages say."
)
# The first row of an experiment names it; further rows of its columns follow without a name.
_FIRST = re.compile(r"\| [^|]*(?:\\\|[^|]*)* \| \[(?P<name>\w+)\]\((?P=name)\) \|")
_FURTHER = "|  |  | "
# Beside a verdict: then the mean is not over all that is printed.
_SOME_ROWS = re.compile(r"\d+ of \d+ rows")


def readme(entries: Sequence[Entry], suite: Suite, out: Path, log: RunLog) -> str:
    """The page: rows of a run, and those of earlier ones whose experiments it does not have.

    Without what `reference_head` writes above them.

    Parameters
    ----------
    entries : sequence of Entry
        Experiments of the run that answer to a paper.
    suite : Suite
    out : Path
        Folder of the reference, with the page as it is and the folders of the experiments.
    log : RunLog
    """
    kept = _kept(suite, out, {one.name for one in entries})
    rows = kept | {one.name: _rows(one, suite, out, moment(log.end)) for one in entries}
    papers: dict[str, list[str]] = {}
    for name in sorted(rows, key=lambda name: (_paper(suite, name), name)):
        papers.setdefault(_paper(suite, name), []).extend(rows[name])
    head = [row(list(_HEADS)), row(list(_HEADS.values()))]
    lines = [
        "# The reference run",
        "Tables and pictures of results, made by `make reference`, not by hand. Each experiment "
        "listed below has a page in its folder. A run of some experiments replaces their pages and "
        "rows and leaves the others: each row names its run by the time at which that ended. `make "
        "check-reference` compares later results with these.",
        "\n".join([row(RUNS), row(ALIGNED), *_runs(log, out, kept)]),
        "Percent; published and ours are means over the rows of the column that are compared, "
        "whose number stands beside them, and which percent of them are reproduced, close and "
        "neither; of a column that is published only, over all that are printed; where the paper "
        "prints another mean of these, it stands beside theirs. Beside a verdict "
        "stands the row that is farthest from the published number, in percentage points. "
        "† A setting or the reading of the protocol was found by searching against "
        "printed or scored numbers, these or others; what was tried stands on the experiment's "
        "page, below its table of methods, in its audit or below the table that has the mark. "
        "Times are wall seconds of the alignments of all trials, or of the computation, on a "
        "machine that may have had other work.",
        NOT_HERE,
    ]
    for paper, own in papers.items():
        lines += [f"## {paper}", "\n".join([*head, *own])]
    return "\n\n".join([*lines, "## Verdicts", RULE]) + "\n"


def _paper(suite: Suite, name: str) -> str:
    return suite.experiments[name].answers["paper"]


def _lines(out: Path) -> list[str]:
    page = out / "README.md"
    return page.read_text("utf-8").splitlines() if page.is_file() else []


def _kept(suite: Suite, out: Path, renewed: set[str]) -> dict[str, list[str]]:
    """Rows of the page as it is, by experiment: those that are not written anew and have a page."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in _lines(out):
        first = _FIRST.match(line)
        name = first["name"] if first else name if line.startswith(_FURTHER) else ""
        if name:
            found.setdefault(name, []).append(line)
    known = {name for name, one in suite.experiments.items() if one.answers}
    return {n: own for n, own in found.items() if n in known - renewed and (out / n).is_dir()}


def _runs(log: RunLog, out: Path, kept: Mapping[str, Sequence[str]]) -> list[str]:
    """A row per run of which some row is, the last on top."""
    told = "\n".join(line for lines in kept.values() for line in lines)
    rows = {moment(log.end): run_row(log)}
    for line in _lines(out):
        ended = re.match(r"\| (\d{4}-\d\d-\d\d \d\d:\d\d UTC) \|", line)
        if ended and f"| {ended[1]} |" in told:
            rows.setdefault(ended[1], line)
    return [rows[ended] for ended in sorted(rows, reverse=True)]


def _rows(one: Entry, suite: Suite, out: Path, run: str) -> list[str]:
    """A row per published column, and one first where none of them is compared."""
    experiment = one.experiment
    trials = "1" if experiment.study else str(suite.n_trials(one.name))
    names = [experiment.answers["artefact"], f"[{one.name}]({one.name})"]
    cost = [trials, duration(one.seconds), run, _picture(experiment, out / one.name)]
    audit = out / one.name / AUDIT
    printed = _printed(suite, experiment)
    compared, published_only = _columns(read_rows(audit), printed) if audit.is_file() else ([], [])
    first, *further = [*(compared or [["", "", "", "", _words(one)]]), *published_only]
    return [row([*names, *first, *cost]), *(row(["", "", *c, "", "", "", ""]) for c in further)]


def _printed(suite: Suite, experiment: Experiment) -> dict[str, float]:
    """Printed means of an experiment's columns, by label, that are not those of their rows."""
    asked = experiment.audit or {}
    entries = asked.get("columns", {})
    return {
        label_of_column(suite, name, entries.get(name) or {}): mean
        for (file, name), mean in misprints(PROJECT / "config").items()
        if file == asked.get("published")
    }


def _columns(
    rows: Sequence[Mapping[str, str]], printed: Mapping[str, float]
) -> tuple[list[list[str]], list[list[str]]]:
    """The compared columns of an audit, then the others: name, published, ours, compared rows and
    their grades, verdict.
    """
    found = [], []
    for column in rows:
        alone = column["Our method"] == "–"
        published, ours = map(_percent, (column["Published"], column["Ours"]))
        if column["Published column"] in printed and not _SOME_ROWS.search(column["Verdict"]):
            published += f" (printed {printed[column['Published column']]:.1f})"
        reason = f": {_reason(column['Remarks'])}" if alone and column["Remarks"] else ""
        told = ["", column["Verdict"] + reason] if alone else [_graded(column), _judged(column)]
        found[alone].append([column["Published column"], published, ours, *told])
    return found


def _graded(column: Mapping[str, str]) -> str:
    """How many rows are compared and, of several, the share with each grade."""
    shares = column["Reproduced / close / not"] if int(column["Rows"]) > 1 else ""
    return ": ".join(filter(None, (column["Rows"], shares)))


def _judged(column: Mapping[str, str]) -> str:
    """The verdict, with the row that a mean could hide."""
    return ", farthest ".join(filter(None, (column["Verdict"], column["Farthest row"])))


def _reason(remarks: str) -> str:
    """The first clause of why a column is published only; the experiment's page has the rest."""
    return re.split(r"[.:;](?: |$)", remarks)[0]


def _percent(number: str) -> str:
    return fixed(float(number), 1) if number else ""


def _words(one: Entry) -> str:
    """What an experiment that has no published number came to."""
    if one.experiment.study:
        return one.headline
    return one.headline or one.tally.words


def _picture(experiment: Experiment, folder: Path) -> str:
    """The first picture, small, as a link to the page."""
    files = (f"{name}.svg" for name in figure_names(experiment))
    first = next((file for file in files if (folder / file).is_file()), None)
    if first is None:
        return ""
    place = folder.name
    words = escape(experiment.title)
    return f'<a href="{place}"><img src="{place}/{first}" width="160" alt="{words}"></a>'
