"""rule align: fit one method on a block of trials and predict the target."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0], keep=bool(snakemake.resources.given_up))

from pathlib import Path

from workflow.lib.config.suite import block_trials
from workflow.lib.execution.guard import Limits, Outgrown
from workflow.lib.execution.progress import Progress
from workflow.lib.storage.artifacts import read_meta, write_arrays, write_records
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.blocks import given_up, note_lost, run_aligned, unavailable
from workflow.lib.trials.kept import Kept, block_files
from workflow.lib.trials.measured import kept_folder, outgrown

w, params, resources = snakemake.wildcards, snakemake.params, snakemake.resources
trials = block_trials(w.block)
meta = read_meta(snakemake.input.trials)

block = {
    "features": list(snakemake.input.features),
    "trials": snakemake.input.trials,
    **params.block,
}

place = Path(snakemake.output.records)
folder = kept_folder(place.parent, w.method, w.block)
kept = Kept(
    folder,
    [block, params.code],
    [*block["features"], block["trials"]],
    block_files(place.parent, w.method, trials),
)

progress = None
if "unavailable" in meta:
    records, arrays, answered = unavailable(block, trials, meta["unavailable"]), {}, []
    computed = []
elif resources.given_up:
    records, arrays, answered = given_up(block, trials, kept)
    computed = answered
    if any(record["status"] == "lost" for record in records):
        note_lost(snakemake.output.records)
else:
    progress = Progress(terminal, place.parent.parent, resources.trials_asked)
    limits, scratch = Limits.of(resources, snakemake.threads), Path(resources.tmpdir)
    try:
        records, arrays, answered = run_aligned(block, trials, limits, scratch, progress.tell, kept)
    except Outgrown:
        kept.write()
        folder.mkdir(parents=True, exist_ok=True)
        outgrown(folder).touch()
        raise
    computed = trials

write_arrays(snakemake.output.predictions, arrays, {})
made = {"n_trials": len(trials), **made_from(params), **kept.header(answered, computed)}
write_records(snakemake.output.records, records, made)
if progress:
    progress.finish()
