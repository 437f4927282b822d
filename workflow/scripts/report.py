"""rule report: tables, figures and the page of one experiment."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.report import page
from workflow.lib.report.card import write_card
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.tables import scores as score_tables
from workflow.lib.report.tables.model import write_tables
from workflow.lib.results.load import load_views, top_of

suite = load_suite(snakemake.params.root, snakemake.config)
top = top_of(snakemake.input.shown)
folder = Path(snakemake.output.html).parent
(view,) = load_views(suite, [snakemake.params.experiment], top)

tables = score_tables.all_tables(view)
write_tables(tables.values(), folder / "tables")
drawn = score_figures.write_all(view, folder / "figures")
page.build(view, snakemake.output.html, drawn, tables)
write_card(view, snakemake.output.card)
terminal.write(f"report: {snakemake.output.html}\n")
