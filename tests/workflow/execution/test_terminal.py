import io
import logging

import pytest

from workflow.lib.execution.terminal import calm


@pytest.fixture
def shown(tmp_path):
    """A logger as Snakemake has it, calmed: what it shows and what its log keeps."""
    logger = logging.Logger("snakemake")
    stream, path = io.StringIO(), tmp_path / "run.log"
    logger.addHandler(logging.StreamHandler(stream))
    logger.addHandler(logging.FileHandler(path))
    calm(logger)
    return logger, stream.getvalue, path.read_text


@pytest.mark.parametrize("event", ["job_info", "job_finished", "progress", "run_info"])
def test_single_jobs_are_told_to_the_log_alone(shown, event):
    logger, terminal, log = shown
    logger.info("rule align:", extra={"event": event})
    assert (terminal(), log()) == ("", "rule align:\n")


@pytest.mark.parametrize(
    "line", ["Select jobs to execute...", "Building DAG of jobs...", "Elapsed time: 0:01", ""]
)
def test_neither_is_what_it_says_of_itself(shown, line):
    logger, terminal, _ = shown
    logger.info(line)
    assert terminal() == ""


def test_errors_and_what_concerns_the_run_are_shown(shown):
    logger, terminal, _ = shown
    logger.info("Nothing to be done")
    logger.error("Error in rule align", extra={"event": "job_error"})
    logger.warning("Select another name")
    lines = ["Nothing to be done", "Error in rule align", "Select another name"]
    assert terminal().splitlines() == lines
