"""rule collect: gather the records of an experiment."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.results.records import collect, write_results
from workflow.lib.storage.artifacts import read_header
from workflow.lib.storage.computed_with import each_once, said_in

suite = load_suite(snakemake.params.root, snakemake.config)
experiment = suite.experiments[snakemake.wildcards.experiment]
records = collect(experiment, snakemake.input.records, suite)

computed = each_once(said_in(read_header(path)) for path in snakemake.input.records)
folder = Path(snakemake.output.csv).parent
write_results(folder, experiment, records, suite, computed)
