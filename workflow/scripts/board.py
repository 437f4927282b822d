"""rule board: methods that were tuned alike, over several data sets, on one page."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.report.board_page import board_of, write_board
from workflow.lib.results.load import load_views, top_of

suite = load_suite(snakemake.params.root, snakemake.config)
top = top_of(snakemake.input.results)
views = load_views(suite, snakemake.params.experiments, top)
board = board_of(snakemake.wildcards.board, views)
write_board(board, snakemake.output.page, Path(snakemake.output.tables[0]).parent)
terminal.write(f"board: {snakemake.output.page}\n")
