"""rule findings: what the boards and the generated shifts say, in sentences."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from workflow.lib.config.suite import load_suite
from workflow.lib.report.board_page import board_of
from workflow.lib.report.findings_page import titles_not_run, write_findings
from workflow.lib.results.load import load_views, top_of
from workflow.lib.results.material import sorted_out
from workflow.lib.results.shifts import Shifts

suite = load_suite(snakemake.params.root, snakemake.config)
run, shifted, curves = (snakemake.params[what] for what in ("boards", "shifts", "curves"))
top = top_of(snakemake.input.results)
made = [board_of(name, load_views(suite, names, top)) for name, names in run.items()]
shifts = [Shifts(view) for view in load_views(suite, shifted, top)]
material = sorted_out(made, shifts, load_views(suite, curves, top))
links = {name: f"board_{name}.html" for name in run} | dict.fromkeys(shifted, "shifts.html")
links |= {name: f"{name}/report.html" for name in curves}
absent = titles_not_run(suite, run, shifted, curves)
write_findings(material, snakemake.output.page, snakemake.output.twin, links, absent)
terminal.write(f"findings: {snakemake.output.page}\n")
