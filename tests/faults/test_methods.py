"""Methods that misbehave: what becomes of their trials, of the other trials and of the machine."""

import time

import numpy as np
import psutil
import pytest
from scipy import sparse

from tests.faults.processes import is_alive, noted, wait_for
from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import BlockFailed, Limits, run_block
from workflow.lib.storage.features import write_features
from workflow.lib.trials.protocols import Trial, write_trials


@pytest.fixture
def run(scratch, notes, origin):
    """Function that runs a block of one misbehaving and one good trial."""

    def run_it(kind, *more, seconds=2.0, memory_mb=2000, lost=3):
        block = {"kinds": [kind, *(more or ["fine"])], "notes": str(notes)}
        trials = range(len(block["kinds"]))
        limits = Limits(seconds, memory_mb, lost)
        return list(run_block("tests.faults.hostile", block, trials, limits, scratch))

    return run_it


def statuses(outcomes):
    return [outcome.status for outcome in outcomes]


def test_forks_and_leaves_the_child(run, notes):
    """Computed trials are kept at once, and no process outlives its block."""
    started = time.monotonic()
    assert statuses(run("forks and leaves the child", seconds=20)) == ["ok", "ok"]
    assert time.monotonic() - started < 60
    assert wait_for(lambda: not is_alive(noted(notes / "child")))


def test_forks_and_both_return(run):
    """One trial gives one outcome."""
    outcomes = run("forks and both return", "fine", "fine", seconds=20)
    assert [outcome.trial for outcome in outcomes] == [0, 1, 2]
    assert statuses(outcomes) == ["ok"] * 3
    assert len({outcome.records[0]["pid"] for outcome in outcomes}) == 1


@pytest.mark.parametrize("kind", ["hangs with a child in its own session", "hangs with a daemon"])
def test_a_limit_ends_the_whole_tree(run, notes, kind):
    """When a limit is broken, every process that the method started ends."""
    assert statuses(run(kind)) == ["timeout", "ok"]
    assert wait_for(lambda: not is_alive(noted(notes / "child")))


@pytest.mark.whole_run
@pytest.mark.parametrize(
    "kind", ["closes its descriptors and hangs", "writes steadily to every pipe", "works in c"]
)
def test_limits_hold(run, kind):
    """The limit of seconds holds whatever the method does with its descriptors."""
    started = time.monotonic()
    outcomes = run(kind)
    assert statuses(outcomes) == ["timeout", "ok"]
    assert outcomes[0].seconds < 20
    assert time.monotonic() - started < 120


def test_closes_its_descriptors(run):
    """The trial whose result cannot be told is lost, and no other."""
    assert statuses(run("closes its descriptors")) == ["killed", "ok"]


def test_closes_its_output(run, origin):
    """The trial is kept, and the fork server still serves."""
    for _ in range(2):
        assert statuses(run("closes its output")) == ["ok", "ok"]


def test_writes_junk_to_every_pipe(run):
    """What is no event is ignored."""
    assert statuses(run("writes junk to every pipe", seconds=20)) == ["ok", "ok"]


def test_leaves_by_sys_exit(run):
    """A method that leaves by sys.exit has failed; its process goes on."""
    outcomes = run("leaves by sys exit")
    assert statuses(outcomes) == ["error", "ok"]
    assert outcomes[0].error == "SystemExit: 0"


@pytest.mark.parametrize("kind", ["returns what is not json", "returns nan"])
def test_records_that_cannot_be_written(run, kind):
    """Records that are not JSON are the trial's error, not the block's."""
    outcomes = run(kind)
    assert statuses(outcomes) == ["error", "ok"]
    assert "JSON" in outcomes[0].error


def test_an_error_of_megabytes(run):
    """An error is recorded with its beginning and its end, in bounded length."""
    (outcome, _) = run("raises five megabytes")
    assert outcome.error.startswith("ValueError: xxx")
    assert outcome.error.endswith("xxx")
    assert "characters left out" in outcome.error
    assert len(outcome.error) < 10_000


def test_an_error_that_is_no_text(run):
    """An error text can be written by every writer: no lone surrogates."""
    (outcome, _) = run("raises broken text")
    assert outcome.status == "error"
    outcome.error.encode("utf-8")


def test_many_warnings(run):
    """Warnings are recorded in bounded number and length, and their count is told."""
    (outcome, _) = run("returns many warnings", seconds=20)
    warnings = outcome.records[0]["warnings"]
    assert len(str(warnings)) < 100_000
    assert "more" in warnings[-1]


def test_prints_much(run, capfd):
    """The log is bounded; it keeps the beginning and the last words."""
    assert statuses(run("prints much", seconds=60)) == ["ok", "ok"]
    printed = capfd.readouterr().out
    assert len(printed) < 20 * 2**20
    assert "left out" in printed
    assert "the last words" in printed


def test_kills_its_parent(run, notes):
    """The trial is lost, and no process of its method lives on."""
    assert statuses(run("kills its parent", seconds=20)) == ["killed", "ok"]
    assert wait_for(lambda: not is_alive(noted(notes / "child")))


def test_after_every_misdeed_nothing_is_left(run, notes):
    """A block leaves no process and no open descriptor behind."""
    me = psutil.Process()

    def living():
        return {child.pid for child in me.children(recursive=True) if is_alive(child.pid)}

    run("fine")  # what the first block imports stays
    before, family = me.num_fds(), living()
    run("hangs with a child in its own session", seconds=1)
    assert me.num_fds() == before
    assert wait_for(lambda: living() <= family and not is_alive(noted(notes / "child")))


@pytest.mark.whole_run
def test_a_damaged_input(scratch, origin):
    """A block whose inputs cannot be read fails, blaming no trial."""
    block = {"features": ["none.npz"], "trials": "none.npz"}
    outcomes = run_block("workflow.lib.trials.align", block, [0], Limits(20, 2000, 3), scratch)
    with pytest.raises(BlockFailed, match=r"FileNotFoundError.*none"):
        next(outcomes)


@pytest.mark.parametrize("what", ["features", "labels", "sparse features"])
@pytest.mark.parametrize("steps", [["zscore"], []], ids=["preprocessed", "as they are"])
def test_changes_its_inputs(scratch, tmp_path, monkeypatch, warm_address, what, steps):
    """A method that writes to what it is handed fails; the trials behind it are as without it."""
    if what.startswith("sparse") and steps:
        steps = ["l2_rows"]
    monkeypatch.setenv(forkserver.ADDRESS, warm_address)
    stored = sparse.csr_array if what.startswith("sparse") else np.asarray
    honest, meddled = (
        predictions(scratch, tmp_path, kind, steps, stored) for kind in ("nothing", what)
    )
    assert honest[0][0]["status"] == "ok"
    assert meddled[0][0]["status"] == "error"
    assert "read-only" in meddled[0][0]["error"]
    assert meddled[1][0]["status"] == "ok"
    np.testing.assert_array_equal(meddled[2], honest[2])


def predictions(scratch, folder, what, steps, stored):
    """Records of two equal trials, and the predictions of the second."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = [rng.normal(size=(40, 5)) + y[:, None] for _ in range(2)]
    for d, features in enumerate(X):
        write_features(folder / f"{d}.npz", stored(features), {})
    rows = (np.arange(40), np.arange(40))
    trial = Trial(rows, (y, np.where(np.arange(40) < 4, y, -1)), np.arange(4, 40))
    write_trials(folder / "trials.npz", [trial, trial], {})
    logistic = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}}
    block = {
        "features": [str(folder / "0.npz"), str(folder / "1.npz")],
        "trials": str(folder / "trials.npz"),
        "method": {
            "estimator": "tests.faults.meddling:Meddler",
            "sees_labels": "source+target",
            "params": {"what": what},
            "varied_params": [{}],
        },
        "classifiers": {"logistic": logistic},
        "classifier_rows": "source",
        "preprocess": steps,
        "preprocess_rows": "seen",
        "pictured_trial": None,
        "probabilities": False,
    }
    job = "workflow.lib.trials.align"
    outcomes = list(run_block(job, block, [0, 1], Limits(60, 2000), scratch))
    with np.load(scratch / "1.npz") as arrays:
        (predicted,) = (arrays[name] for name in arrays.files)
    return [*(outcome.records for outcome in outcomes), predicted]
