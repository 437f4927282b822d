"""rule collect: gather the records of an experiment."""

from workflow.lib.job import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.collect import collect, write_results
from workflow.lib.config import load_suite

suite = load_suite(snakemake.params.root, snakemake.config)
experiment = suite.experiments[snakemake.wildcards.experiment]
records = collect(experiment, snakemake.input.records, suite)

write_results(Path(snakemake.output.csv).parent, experiment, records, suite)
