"""rule time_alone: time one method on one task from a cold start."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0], keep=bool(snakemake.resources.given_up))

from pathlib import Path

from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import read_meta, write_records
from workflow.lib.storage.computed_with import computed_by_all, computed_here
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.blocks import LOST, note_lost, run_timed

w, params, resources = snakemake.wildcards, snakemake.params, snakemake.resources
meta = read_meta(snakemake.input.trials)
computed = computed_by_all([])

if "unavailable" in meta:
    records = [{"repeat": 0, "status": "data_unavailable", "error": meta["unavailable"]}]
elif resources.given_up:
    records = [{"repeat": 0, "status": "lost", "error": LOST}]
    note_lost(snakemake.output[0])
else:
    block = {
        "features": list(snakemake.input.features),
        "trials": snakemake.input.trials,
        "method": params.method,
        "preprocess": params.preprocess,
        "preprocess_rows": params.preprocess_rows,
    }
    computed = computed_here()
    records = run_timed(block, params.repeats, Limits.of(resources), Path(resources.tmpdir))

coordinates = {"task": w.task, "method": w.method}
records = [{**coordinates, **record} for record in records]
write_records(snakemake.output[0], records, {**made_from(params), **computed})
