"""rule shifts_page: generated kinds of shift, which method fits which trouble."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.report.shifts_page import write_shifts
from workflow.lib.results.load import load_views, top_of

suite = load_suite(snakemake.params.root, snakemake.config)
top = top_of(snakemake.input.results)
views = load_views(suite, snakemake.params.experiments, top)
write_shifts(views, snakemake.output.page, Path(snakemake.output.tables[0]).parent)
terminal.write(f"shifts: {snakemake.output.page}\n")
