"""What the index says of an experiment, left beside its page so that nobody has to read records."""

from pathlib import Path

from workflow.lib.report.answer import answer_lines, study_lines
from workflow.lib.results.audit import audit
from workflow.lib.results.records import seconds_of
from workflow.lib.results.views import ExperimentView, StudyView
from workflow.lib.storage.artifacts import SCHEMA_VERSION, results_sum, write_json


def card(view: ExperimentView | StudyView) -> dict:
    """Headline, verdicts of the audit and seconds of computing of one experiment."""
    if isinstance(view, StudyView):
        lines, checked = study_lines(view), None
        headline = lines[0].answer
    else:
        checked = audit(view)
        first = answer_lines(view, checked)[0]
        headline = f"{first.question} {first.answer}"
    columns = checked.columns if checked else ()
    return {
        "schema_version": SCHEMA_VERSION,
        "headline": headline,
        "verdicts": [[one.label, one.verdict] for one in columns if one.method_label],
        "seconds": _seconds(view),
    }


def write_card(view: ExperimentView | StudyView, path: Path | str) -> None:
    """Write the card of an experiment as JSON, with what tells the results that it is of."""
    write_json(path, {**card(view), "of": results_sum(Path(path).parent)})


def _seconds(view: ExperimentView | StudyView) -> float | None:
    """Seconds that alignments took; None for a study."""
    return None if isinstance(view, StudyView) else round(seconds_of(view.records), 1)
