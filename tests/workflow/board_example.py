"""Made-up records of tuned experiments, for the tests of boards and findings."""

import copy
import dataclasses
import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from tests.workflow.report_example import record
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.board_page import board_of
from workflow.lib.results.board import PROBABILISTIC, Board
from workflow.lib.results.views import ExperimentView

GAINS = {"source_only": 0.0, "pca": -0.02, "coral": 0.1, "tca": -0.15}
# What each way of choosing has less than the oracle; the others have 0.1.
GAPS = {"oracle": 0.0, "circular": 0.04, "labelled_accuracy": 0.04, "class_ami": 0.02,
        "entropy": 0.3, "default": 0.08, "average": 0.12}  # fmt: skip
OTHER_GAP = 0.1
# Gains that are not sure.
UNSURE = {"gains": {"source_only": 0.0, "coral": 0.035, "tca": 0.03}, "noise": 0.05}
SECONDS = {"source_only": 1.0, "pca": 2.0, "coral": 3.0, "tca": 9.0}


@functools.cache
def suite():
    return load_suite(PROJECT)


def tuned_view(
    name: str = "tuned_quick",
    gains: Mapping[str, float] = GAINS,
    gaps: Mapping[str, float] = GAPS,
    trials: int = 3,
    noise: float = 0.01,
    lacking: Mapping = {},
    seed: int = 0,
    by_dataset: Mapping[tuple[str, str], float] = {},
) -> ExperimentView:
    """View of an experiment of the project with the methods of ``gains`` and made-up scores.

    ``lacking`` holds ``(method, task, choice): trials`` of what has no score; a task or choice of
    None stands for all. ``by_dataset`` holds further gains on (method, data set).
    """
    experiment = dataclasses.replace(suite().experiments[name], methods=tuple(gains))
    rng = np.random.default_rng(seed)
    own = {(m, t.name): noise * rng.normal() for m in gains for t in experiment.tasks}
    rows = []
    for task in experiment.tasks:
        level = 0.5 + 0.05 * rng.normal()
        for trial in range(trials):
            base = level + noise * rng.normal()
            for method, gain in gains.items():
                gain += by_dataset.get((method, task.target.dataset), 0.0)
                top = base + gain + own[method, task.name] + 0.3 * noise * rng.normal()
                for choice in experiment.recorded:
                    gap = gaps.get(choice, OTHER_GAP)
                    score = top - gap * (1 + 0.2 * rng.normal() * (noise > 0))
                    if gone(lacking, method, task.name, choice, trial):
                        score = None
                    place = (task, method, choice, trial)
                    more = {"candidate": 0, "seconds": SECONDS.get(method, 1.0) + trial}
                    if choice == PROBABILISTIC and score is not None:
                        more |= {"log_loss": 1 - score, "calibration_error": score / 10}
                    rows.append(record(experiment, place, score, **more))
    known = dataclasses.replace(suite(), experiments={**suite().experiments, name: experiment})
    return ExperimentView(experiment, known, pd.DataFrame(rows))


def gone(lacking, method, task, choice, trial):
    places = [(method, t, c) for t in (task, None) for c in (choice, None)]
    return any(trial in lacking.get(place, ()) for place in places)


def made_board(name: str = "quick", view: str = "tuned_quick", **changed) -> Board:
    if changed:
        return board_of(name, [tuned_view(view, **changed)])
    return copy.deepcopy(_unchanged(name, view))  # tests change what they are given


@functools.cache
def _unchanged(name: str, view: str) -> Board:
    return board_of(name, [tuned_view(view)])
