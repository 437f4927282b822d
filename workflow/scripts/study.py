"""rule study: run one study."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0], keep=bool(snakemake.resources.given_up))

from pathlib import Path

from workflow.lib.execution.guard import Limits, Outcome
from workflow.lib.execution.progress import Pulse
from workflow.lib.storage.artifacts import read_arrays, write_arrays, write_records
from workflow.lib.storage.computed_with import computed_by_all, computed_here
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.blocks import LOST, note_lost, run_study

params, resources = snakemake.params, snakemake.resources
files = zip(params.domains, snakemake.input.features, snakemake.input.labels, strict=True)
domains = {name: (features, labels) for name, features, labels in files}
computed = computed_by_all([])
missing = [read_arrays(path)[1].get("unavailable") for path in snakemake.input.labels]

if any(missing):
    outcome, arrays = Outcome(0, "data_unavailable", error=next(filter(None, missing))), {}
elif resources.given_up:
    outcome, arrays = Outcome(0, "lost", error=LOST), {}
    note_lost(snakemake.output.records)
else:
    computed = computed_here()
    block = {"module": params.module, "params": params.params, "domains": domains}
    name = snakemake.wildcards.experiment
    with Pulse(terminal, name, Path(snakemake.log[0])):
        outcome, arrays = run_study(block, Limits.of(resources), Path(resources.tmpdir))
    terminal.write(f"{name}: {outcome.status}, {outcome.seconds:.0f} s\n")

write_arrays(snakemake.output.arrays, arrays, {})
state = {"status": outcome.status, "error": outcome.error, "seconds": outcome.seconds}
header = {**state, **made_from(params), **computed}
write_records(snakemake.output.records, outcome.records, header)
