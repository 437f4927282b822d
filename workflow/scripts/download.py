"""rule download: take a file from the first place that delivers the right sum."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.storage.fetch import Bounds, obtain, write_receipt
from workflow.lib.storage.mirror import resolve_mirror

w = snakemake.wildcards
raw = Path("resources/raw") / w.dataset
entry = load_suite(snakemake.params.root, snakemake.config).datasets[w.dataset]["files"][w.file]
bounds = Bounds.of(snakemake.config)
receipt = obtain(w.file, entry, raw, resolve_mirror(snakemake.config), bounds)
if receipt["status"] == "unavailable":
    terminal.write(f"data not available: {receipt['reason']}\n")

write_receipt(snakemake.output[0], receipt)
