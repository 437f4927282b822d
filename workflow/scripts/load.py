"""rule load: turn a dataset's files into one domain."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.storage.fetch import Unavailable, delivered_path, read_receipt
from workflow.lib.storage.made_from import made_from
from workflow.lib.trials.loading import LoadFailed, load_guarded

w, entry, resources = snakemake.wildcards, snakemake.params.entry, snakemake.resources
made = made_from(snakemake.params)
raw = Path("resources/raw") / w.dataset

try:
    receipts = [read_receipt(path) for path in snakemake.input.receipts]
    paths = {
        receipt["file"]: delivered_path(receipt, entry["files"][receipt["file"]], raw)
        for receipt in receipts
    }
except Unavailable as failure:
    write_arrays(snakemake.output.features, {}, {"unavailable": failure.summary})
    write_arrays(snakemake.output.labels, {}, {"unavailable": failure.summary, **made})
else:
    outputs = {"features": snakemake.output.features, "labels": snakemake.output.labels}
    limits, scratch = Limits.of(resources), Path(resources.tmpdir)
    try:
        load_guarded(w.dataset, entry, w.domain, paths, outputs, limits, scratch, made)
    except LoadFailed as failure:
        terminal.write(f"{failure}\n")
        raise
