"""rule answer: whether to adapt to a target of one's own, and with what."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.report.own_page import write_answer
from workflow.lib.results.own_view import view

suite, given = load_suite(snakemake.params.root, snakemake.config), snakemake.input
own = view(
    suite, snakemake.wildcards.experiment, given.features, given.labels, given.trials, given.aligned
)
write_answer(own, Path(snakemake.output.page).parent)
