"""rule sample: sample the trials of a task."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.fetch import Unavailable, delivered_path, read_receipt
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.loading import LoadFailed, load_splits_guarded
from workflow.lib.trials.protocols import sample_varied, write_trials
from workflow.loaders._pairing import refuse_unpaired

params, resources = snakemake.params, snakemake.resources
*sources, target = map(DomainRef.parse, params.domains)
task = Task(tuple(sources), target)

try:
    labels, class_names, features = [], [], {}
    for domain, path in zip(params.domains, snakemake.input.labels, strict=True):
        arrays, meta = read_arrays(path)
        if "unavailable" in meta:
            raise Unavailable(meta["unavailable"], [])
        labels.append(arrays["y"])
        class_names.append(meta.get("class_names", ()))
        features[domain] = meta.get("feature_names")
    refuse_unpaired(features)
    splits = None
    for path in snakemake.input.splits:
        raw = Path("resources/raw") / params.protocol["splits"]
        stated = {"sha256": params.protocol.get("own_sha256")}
        own = {"path": snakemake.input.local[0], **stated} if snakemake.input.local else {}
        path, scratch = delivered_path(read_receipt(path), own, raw), Path(resources.tmpdir)
        splits = load_splits_guarded(params.splits_loader, path, Limits.of(resources), scratch)
    name, protocol = params.protocol_name, params.protocol
    trials = sample_varied(
        name, protocol, params.vary, task, labels, splits, params.n_training, class_names
    )
except Unavailable as failure:
    write_trials(snakemake.output[0], [], {"unavailable": failure.summary, **made_from(params)})
except (ValueError, LoadFailed) as refusal:
    terminal.write(f"{snakemake.wildcards.experiment}, {snakemake.wildcards.task}: {refusal}\n")
    raise
else:
    write_trials(snakemake.output[0], trials, made_from(params))
