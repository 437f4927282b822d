"""One cold fit on generated domains, in a process of its own: seconds and peak memory.

Run as ``python -m workflow.studies._measure SPEC`` with SPEC a JSON object of ``estimator``,
``params``, ``samples``, ``features`` and ``seed``; prints one JSON object in its last line.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from workflow.lib.startup import import_sklearn_without_pandas
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
    _forget_generation()
    before = _resident_mb("VmRSS")
    wall, processor = time.perf_counter(), time.process_time()
    estimator.fit(Xs, ys)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - processor
    peak = _resident_mb("VmHWM")
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mb": peak,
        "added_mb": max(peak - before, 0.0),
        "load_average": os.getloadavg()[0],
    }


def _forget_generation() -> None:
    """Give back what generating the data took, and let the peak start anew."""
    # Freed memory that stays in the process would serve the fit and hide what it takes. Neither
    # call exists everywhere; without them the figures are a little off.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _resident_mb(field: str) -> float:
    """Resident memory of this process now (VmRSS) or at most (VmHWM), in MiB."""
    # Not `ru_maxrss`: it starts at the size of the process that started this one.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        scale = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
