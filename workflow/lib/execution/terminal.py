"""What of Snakemake's own talk reaches the terminal: nothing about single jobs that went well.

The whole of it stays in the log of the run, below ``.snakemake/log``.
"""

import logging
import re

# Snakemake's events about single jobs and their number, and what it says without an event.
_EVENTS = {
    "workflow_started",
    "run_info",
    "resources_info",
    "job_info",
    "job_started",
    "job_finished",
    "progress",
}
_WORDS = re.compile(
    "Assuming |Building DAG|Select jobs|Using shell|Conda environments|Finished job|DAG of jobs"
    "|Updating checkpoint|Complete log|Elapsed time"
)


class Calm(logging.Filter):
    """Lets through what a person has to know: warnings, errors, and what is not about jobs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to show a record."""
        if record.levelno >= logging.WARNING:
            return True
        told = str(getattr(record, "event", None)) in _EVENTS
        return not told and bool(record.getMessage()) and not _WORDS.match(record.getMessage())


def calm(logger: logging.Logger) -> None:
    """Keep Snakemake's handlers that write to a terminal, not to its log, to the necessary."""
    for handler in logger.handlers:
        if not isinstance(handler, logging.FileHandler):
            handler.addFilter(Calm())
