"""Run one study. Runs in the guarded child; a study is a block of one trial."""

import importlib
from types import ModuleType

import numpy as np

from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features


def study_module(name: str) -> ModuleType:
    """Module of ``workflow/studies``."""
    return importlib.import_module(f"workflow.studies.{name}")


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
