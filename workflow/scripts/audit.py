"""rule audit: the published tables of all papers on one page."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from workflow.lib.config.suite import load_suite
from workflow.lib.report import page
from workflow.lib.results.load import load_views, top_of

suite = load_suite(snakemake.params.root, snakemake.config)
top = top_of(snakemake.input.shown)
views = load_views(suite, snakemake.params.experiments, top)
page.build_audit(views, snakemake.output.page)
terminal.write(f"audit: {snakemake.output.page}\n")
