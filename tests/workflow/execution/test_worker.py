"""A worker by itself: the events of its trials, whatever they do."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest


def events_of(folder, trials, **block):
    """Run a worker as the guard does where there is no fork server; its events."""
    spec = {
        "job": "tests.workflow.guarded_job",
        "block": {"trials": trials, **block},
        "trials": list(range(len(trials))),
        "scratch": str(folder),
        "threads": 1,
        "memory_mb": 2000,
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "workflow.lib.execution.worker", str(folder / "spec.json")]
    # Standard input stays open: its end is how a worker hears that its guard is gone.
    with subprocess.Popen(
        [*command, str(writer)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[writer],
    ) as process:
        os.close(writer)
        with os.fdopen(reader) as lines:
            events = [json.loads(line) for line in lines if line.strip()]
        process.wait(60)
    return events


def test_every_trial_starts_and_ends_and_a_failed_one_stops_no_other(tmp_path):
    events = events_of(tmp_path, ["fine", "raise", "fine"])
    assert [(event["event"], event.get("trial")) for event in events] == [
        ("start", 0),
        ("done", 0),
        ("start", 1),
        ("error", 1),
        ("start", 2),
        ("done", 2),
        ("end", None),
    ]
    assert events[3]["error"] == "ValueError: bad trial"
    assert events[3]["seconds"] >= 0
    assert events[-1]["code"] == 0
    for trial in (0, 2):
        assert np.load(tmp_path / f"{trial}.npz")["square"] == trial**2
    assert not (tmp_path / "1.npz").exists()


def test_a_block_that_cannot_be_set_up_is_refused_with_the_reason(tmp_path):
    events = events_of(tmp_path, ["fine"], setup="no features")
    assert [event["event"] for event in events] == ["refused", "end"]
    assert events[0]["error"] == "RuntimeError: no features"


@pytest.mark.parametrize(("kind", "code"), [("die", -11), ("exit", 3)])
def test_a_trial_that_brings_the_worker_down_leaves_its_exit_code(tmp_path, kind, code):
    events = events_of(tmp_path, [kind, "fine"])
    assert [event["event"] for event in events] == ["start", "end"]
    assert events[-1]["code"] == code


@pytest.mark.parametrize(("given", "used"), [(1, 1), (2, 2), (99, 2)])
def test_numba_that_is_loaded_takes_no_more_than_it_was_given_nor_than_it_has(given, used):
    code = (
        "import numba\n"
        "from workflow.lib.execution import worker\n"
        f"worker._use_threads({given})\n"
        "print(numba.get_num_threads())"
    )
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) == used
