"""Run one study. The guarded child knows this module by name; a study is a block of one trial."""

import numpy as np

from workflow.lib.config.addresses import study_module
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features


def setup(spec: dict) -> dict:
    """Read the domains that the study asks for."""
    domains = {
        name: (read_features(features), read_arrays(labels)[0]["y"])
        for name, (features, labels) in spec["domains"].items()
    }
    return {**spec, "domains": domains}


def run_trial(state: dict, trial: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Compute; the records and arrays are the study's own."""
    return study_module(state["module"]).run(state["domains"], **state["params"])
