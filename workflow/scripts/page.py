"""rule page: one page of links over several experiments."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from workflow.lib.config.suite import load_suite
from workflow.lib.report.index import write_index

suite = load_suite(snakemake.params.root, snakemake.config)
write_index(suite, snakemake.output[0], snakemake.params.experiments, snakemake.params.title)
