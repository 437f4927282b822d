"""What the index says of an experiment, left beside its page so that nobody has to read records."""

from pathlib import Path

from workflow.lib.report.answer import answer_lines, study_lines
from workflow.lib.results.audit import audit
from workflow.lib.results.views import ExperimentView, StudyView
from workflow.lib.storage.artifacts import SCHEMA_VERSION, write_json


def card(view: ExperimentView | StudyView) -> dict:
    """Headline, verdicts of the audit and seconds of computing of one experiment."""
    if isinstance(view, StudyView):
        lines, checked = study_lines(view), None
        headline = lines[1].answer  # after the question
    else:
        checked = audit(view)
        headline = answer_lines(view, checked)[0].answer
    columns = checked.columns if checked else ()
    return {
        "schema_version": SCHEMA_VERSION,
        "headline": headline,
        "verdicts": [[one.label, one.verdict] for one in columns if one.method_label],
        "seconds": _seconds(view),
    }


def write_card(view: ExperimentView | StudyView, path: Path | str) -> None:
    """Write the card of an experiment as JSON."""
    write_json(path, card(view))


def _seconds(view: ExperimentView | StudyView) -> float | None:
    """Seconds that alignments took; every classifier of a trial repeats them. None for a study."""
    if isinstance(view, StudyView):
        return None
    trials = view.records.groupby(["task", "method", "setting", "trial"], dropna=False)
    return round(float(trials["seconds"].max().fillna(0).sum()), 1)
