"""Time one method on one task from a cold start, alone on the machine.

Runs in the guarded child with one BLAS thread. Nothing is prepared beforehand: the clock covers
everything from preprocessed features to embeddings. Timings come from here only; what `align`
notes is measured while other jobs run.
"""

import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.execution.memory import peak_mib, restart_peak
from workflow.lib.trials.fitting import Block, not_applicable
from workflow.lib.trials.fitting import setup as read_inputs
from workflow.lib.trials.preprocess import preprocessed
from workflow.lib.trials.protocols import handed_labels

BLAS_THREADS = 1


def setup(spec: dict) -> Block:
    """Read the inputs and preprocess the visible rows of the first trial."""
    block = read_inputs(spec)
    rows = block.trials[0].rows
    block.features = [
        preprocessed(spec, X, visible)[0] for X, visible in zip(block.features, rows, strict=True)
    ]
    return block


def run_trial(block: Block, repeat: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Fit once from the start; the record holds wall and processor seconds and memory."""
    method = block.spec["method"]
    estimator = resolve_estimator(method["estimator"])(**method.get("params", {}))
    if reason := not_applicable(estimator, block.features, block.trials[0]):
        return [{"status": "not_applicable", "error": reason}], {}
    labels = handed_labels(block.trials[0], method["sees_labels"])
    before = restart_peak()
    with threadpool_limits(BLAS_THREADS):
        wall, processor = time.perf_counter(), time.process_time()
        estimator.fit(block.features, labels)
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - processor
    peak = peak_mib()
    record = {
        "status": "ok",
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mb": peak,
        "added_mb": max(peak - before, 0.0),
        "n_samples": [int(X.shape[0]) for X in block.features],
        "n_features": [int(X.shape[1]) for X in block.features],
        "blas_threads": BLAS_THREADS,
        "load_average": os.getloadavg()[0],
    }
    return [record], {}
