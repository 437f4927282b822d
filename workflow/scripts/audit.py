"""rule audit: the published tables of all papers on one page."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.report import page
from workflow.lib.results.load import load_views

suite = load_suite(snakemake.params.root, snakemake.config)
# Where results/<experiment>/<file> lies: here, or where Snakemake brings files of a store.
top = Path(snakemake.input.shown[0]).parents[2]
views = load_views(suite, snakemake.params.experiments, top)
page.build_audit(views, snakemake.output.page)
terminal.write(f"audit: {snakemake.output.page}\n")
