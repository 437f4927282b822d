"""rule page: one page over several experiments."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from workflow.lib.config.suite import load_suite
from workflow.lib.report import page
from workflow.lib.results.load import load_views

suite = load_suite(snakemake.params.root, snakemake.config)
views = load_views(suite, snakemake.params.experiments)
page.build(views, snakemake.output[0])
terminal.write(f"report: {snakemake.output[0]}\n")
