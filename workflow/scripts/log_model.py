"""rule log_model: the model of an answer in MLflow."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.suite import load_suite
from workflow.lib.storage.artifacts import write_json
from workflow.lib.tracking.models import log_saved_model
from workflow.lib.tracking.store import TrackError

name = snakemake.wildcards.experiment
suite = load_suite(snakemake.params.root, snakemake.config)
try:
    receipt = log_saved_model(
        Path(snakemake.input.state).parent,
        name,
        suite.config,
        name=name,
        description=suite.experiments[name].title,
    )
except TrackError as error:
    terminal.write(f"{error}\n")
    raise
write_json(snakemake.output[0], receipt)
