"""rule model: keep the candidate of an answer as a model for new samples."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.execution.guard import Limits
from workflow.lib.trials.saving import NotSaved, described, save_guarded

given, resources = snakemake.input, snakemake.resources
suite = load_suite(snakemake.params.root, snakemake.config)
block = described(
    suite, snakemake.wildcards.experiment, given.answer, given.features, given.labels, given.trials
)
folder = Path(snakemake.output.state).parent
try:
    save_guarded(block, folder, Limits.of(resources), Path(resources.tmpdir))
except NotSaved as failure:
    terminal.write(f"{failure}\n")
    raise
