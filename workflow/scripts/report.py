"""rule report: tables, figures and the page of one experiment."""

from workflow.lib.job import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib import figures, report, tables
from workflow.lib.config import load_suite
from workflow.lib.results import load_views

suite = load_suite(snakemake.params.root, snakemake.config)
folder = Path(snakemake.output.html).parent
(view,) = load_views(suite, [snakemake.params.experiment])

tables.write_all(view, folder / "tables")
figures.write_all(view, folder / "figures")
report.build([view], snakemake.output.html)
terminal.write(f"report: {snakemake.output.html}\n")
