"""rule load: turn a dataset's files into one domain."""

from workflow.lib.execution.logs import log_to

log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.storage.features import write_features
from workflow.lib.storage.fetch import Unavailable, delivered_path, read_receipt
from workflow.loaders import load_domain

w, entry = snakemake.wildcards, snakemake.params.entry
raw = Path("resources/raw") / w.dataset

try:
    receipts = [read_receipt(path) for path in snakemake.input.receipts]
    paths = {
        receipt["file"]: delivered_path(receipt, entry["files"][receipt["file"]], raw)
        for receipt in receipts
    }
except Unavailable as failure:
    for path in (snakemake.output.features, snakemake.output.labels):
        write_arrays(path, {}, {"unavailable": failure.summary})
else:
    X, y = load_domain(w.dataset, entry, w.domain, paths)
    write_features(snakemake.output.features, X, {})
    write_arrays(snakemake.output.labels, {"y": y}, {})
