"""rule collect: gather the records of an experiment."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.results.records import collect, write_results

suite = load_suite(snakemake.params.root, snakemake.config)
experiment = suite.experiments[snakemake.wildcards.experiment]
records = collect(experiment, snakemake.input.records, suite)

write_results(Path(snakemake.output.csv).parent, experiment, records, suite)
