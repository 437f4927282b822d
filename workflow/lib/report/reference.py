"""The reference run, to be read on a code host: ``python -m workflow.lib.report.reference``.

Leaves what the pages of a run show (tables as Markdown, small pictures, summaries), but no records,
of ``results`` in ``reports/reference``: one folder per experiment that answers to a paper
(`reference_page`), and a README with a row per published column (`reference_rows`); one per
question of our own that varies a protocol; the audit (`reference_audit`), the boards
(`reference_boards`) and the kinds of shift (`reference_shifts`). What the run has nothing of stays
as it is. `results.reference` compares a later run with it.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import Experiment, Suite, load_suite
from workflow.lib.report.index import entry
from workflow.lib.report.reference_audit import PAGE as AUDIT
from workflow.lib.report.reference_audit import write_audit
from workflow.lib.report.reference_boards import experiments_run, renew_boards, write_boards
from workflow.lib.report.reference_findings import renew_findings
from workflow.lib.report.reference_head import own_questions, with_head
from workflow.lib.report.reference_page import write_page
from workflow.lib.report.reference_rows import readme
from workflow.lib.report.reference_shifts import PAGE as SHIFTS
from workflow.lib.report.reference_shifts import renew_shifts, write_shifts
from workflow.lib.report.reference_standing import PAGE
from workflow.lib.report.reference_words import run_words
from workflow.lib.results.asked import differing
from workflow.lib.results.kept_scores import FOLDER as SCORES
from workflow.lib.results.records import load_asked
from workflow.lib.results.reference import REFERENCE
from workflow.lib.results.run_log import RunLog, read_run_log
from workflow.lib.results.text import count, some


def write_reference(suite: Suite, results: Path, out: Path, log: RunLog) -> list[str]:
    """Write the folders of what was run and answers to a paper or varies a protocol; the README.

    Returns
    -------
    list of str
        Their names. The README is left as it is where none of them answers to a paper; rows of
        experiments that were not run stay.
    """
    asked = [*filter(_answers_a_paper, suite.experiments.values()), *own_questions(suite)]
    found = [entry(one, results) for one in sorted(asked, key=_by_paper)]
    found = [one for one in found if one.finished]
    found = [write_page(suite, one, results, out / one.name, run_words(log)) for one in found]
    answering = [one for one in found if one.experiment.answers]
    if answering:
        text = with_head(readme(answering, suite, out, log), suite, out)
        (out / "README.md").write_text(text, encoding="utf-8")
    return [one.name for one in found]


def _answers_a_paper(experiment: Experiment) -> bool:
    return bool(experiment.answers)


def _by_paper(experiment: Experiment) -> tuple[str, str]:
    return (experiment.answers or {}).get("paper", ""), experiment.name


def made_otherwise(suite: Suite, results: Path) -> list[str]:
    """Experiments whose records are of other settings than the configuration has now."""
    told = []
    for name, one in suite.experiments.items():
        known = (results / name / "records.parquet").is_file() and load_asked(results / name)
        if known and (other := differing(suite, one, known)):
            told.append(f"{results / name} was made with other settings of {some(other, 4)}")
    return told


def renew_head(suite: Suite, out: Path) -> None:
    """Let the README that is there say what the pages beside it come to, and name them all."""
    readme = out / "README.md"
    if readme.is_file():
        text = readme.read_text("utf-8")
        readme.write_text(with_head(text, suite, out), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("results"))
    parser.add_argument("--out", type=Path, default=REFERENCE)
    asked = parser.parse_args(arguments)
    suite = load_suite(PROJECT)
    if stale := made_otherwise(suite, asked.results):
        parser.error(f"{'; '.join(stale)}. Run them again, or take the configuration of then")
    log = read_run_log(suite, asked.results)
    left = experiments_run(suite, asked.results)
    made = write_boards(suite, asked.results, asked.out, log)
    renew_boards(suite, asked.out, made)
    if left:
        print(f"{asked.out / SCORES}: {count(len(left), 'experiment')} of boards")
    if made:
        print(f"{asked.out / PAGE}: {count(len(made), 'board')}")
    shifted = write_shifts(suite, asked.results, asked.out, log)
    if not shifted:
        renew_shifts(suite, asked.out)
    if shifted:
        print(f"{asked.out / SHIFTS}: {count(len(shifted), 'experiment')}")
    if checked := write_audit(suite, asked.results, asked.out, log):
        print(f"{asked.out / AUDIT}: {count(len(checked), 'experiment')} with published numbers")
    if names := write_reference(suite, asked.results, asked.out, log):
        print(f"{asked.out / 'README.md'}: {count(len(names), 'experiment')}")
    renew_findings(suite, asked.out)
    renew_head(suite, asked.out)
    if not left and not shifted and not names and not checked:
        parser.error(
            f"{asked.results} holds no experiment of a board, not all kinds of shift, nothing of "
            "a paper and nothing that varies a protocol; run one of these first"
        )


if __name__ == "__main__":
    main()
