"""One cold fit on generated domains, in a process of its own: seconds and peak memory.

Run as ``python -m workflow.studies.common._measure SPEC`` with SPEC a JSON object of ``estimator``,
``params``, ``samples``, ``features`` and ``seed``; prints one JSON object in its last line.
"""

import importlib
import json
import os
import sys
import time

import numpy as np

from workflow.lib.execution.memory import peak_mib, restart_peak
from workflow.lib.execution.startup import import_sklearn_without_pandas
from workflow.loaders.mixtures import load

N_CLASSES = 5


def generated_domains(samples: int, features: int, seed: int):
    """Two mixtures of five classes, 20 labelled samples per class in the first, 3 in the second."""
    Xs, ys = [], []
    for domain, n_labelled in enumerate((20, 3)):
        X, y = load("", {}, samples, features, 2 * seed + domain, N_CLASSES)
        Xs.append(X)
        ys.append(np.where(np.arange(samples) < n_labelled * N_CLASSES, y, -1))
    return Xs, ys


def measure(spec: dict) -> dict:
    """Fit once; the estimator's modules are imported before the clock starts."""
    import_sklearn_without_pandas()
    module, _, name = spec["estimator"].partition(":")
    estimator = getattr(importlib.import_module(module), name)(**spec["params"])
    Xs, ys = generated_domains(spec["samples"], spec["features"], spec["seed"])
    before = restart_peak()
    wall, processor = time.perf_counter(), time.process_time()
    estimator.fit(Xs, ys)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - processor
    peak = peak_mib()
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mb": peak,
        "added_mb": max(peak - before, 0.0),
        "load_average": os.getloadavg()[0],
    }


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
