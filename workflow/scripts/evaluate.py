"""rule evaluate: score predictions against held-out labels."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.storage.artifacts import read_arrays, read_records, write_records
from workflow.lib.storage.computed_with import computed_by_all
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.choices import evaluate_choices
from workflow.lib.trials.evaluate import evaluate, without_data
from workflow.lib.trials.kept import clear_kept
from workflow.lib.trials.protocols import read_trials

params = snakemake.params
trials, meta = read_trials(snakemake.input.trials)
labels = read_arrays(snakemake.input.labels)[0].get("y")

records, headers, statuses = [], [], {}
if not snakemake.input.aligned:
    records = without_data(
        meta["unavailable"],
        params.methods,
        params.classifiers,
        params.settings,
        params.n_trials,
        params.coordinates,
    )
for aligned, predictions in zip(snakemake.input.aligned, snakemake.input.predictions, strict=True):
    (rows, header), arrays = read_records(aligned), read_arrays(predictions)[0]
    answers = rows, arrays, labels, trials
    coordinates = {**params.coordinates, "method": Path(aligned).name.split(".")[0]}
    asked = params.n_trials, params.settings, coordinates
    if params.tuned:
        records += evaluate_choices(*answers, params.classifiers, *asked)
    else:
        records += evaluate(*answers, *asked)
    headers.append(header)
    statuses[aligned] = {row["status"] for row in rows}

write_records(snakemake.output[0], records, {**made_from(params), **computed_by_all(headers)})
for aligned, found in statuses.items():
    clear_kept(Path(aligned), found)
