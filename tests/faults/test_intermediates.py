"""Every kind of file between the stages of a real run, damaged behind its back with fixed seeds."""

import os
import random
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.workflow import study_example
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import RECORDS, add_own_data, make_tiny, snakemake, write
from workflow.lib.results.records import FILES, load_results
from workflow.lib.storage import artifacts
from workflow.lib.storage.artifacts import CorruptArtifact
from workflow.lib.storage.features import read_features
from workflow.lib.storage.fetch import read_receipt
from workflow.lib.trials.protocols import read_trials

ROOT = Path(__file__).parents[2]

STUDY = {
    "schema_version": 1,
    "title": "A study of a filter",
    "question": "How smooth?",
    "study": {"module": "example", "domains": [], "params": {"n_nodes": 5, "seed": 1}},
}
BOTH_WAYS = [
    {"source": "digits.full", "target": "digits.half"},
    {"source": "digits.half", "target": "digits.full"},
]
TIMING = {"tasks": ["full-half"], "methods": ["fma_i", "sma"], "repeats": 1}


def read_folder(path):
    return load_results(path.parent)


# Who reads each kind of file, as the scripts of the rules do.
READERS = {
    "resources/receipts/*/*.json": read_receipt,
    "resources/domains/*/*.features.npz": read_features,
    "resources/domains/*/*.labels.npz": artifacts.read_arrays,
    "results/*/*/trials.npz": read_trials,
    "results/*/*/*.predictions.npz": artifacts.read_arrays,
    "results/*/*/*.align.jsonl": artifacts.read_records,
    "results/*/*/records.jsonl": artifacts.read_records,
    "results/*/timing/*.jsonl": artifacts.read_records,
    "results/*/study.jsonl": artifacts.read_records,
    "results/*/study.npz": artifacts.read_arrays,
    **{f"results/*/{name}": read_folder for name in (*FILES, "SHA256SUMS")},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A project that has run: two experiments of two tasks and methods, two studies, own data."""
    project = make_tiny(
        copy_project(tmp_path_factory.mktemp("intermediates") / "project"),
        methods=["fma_i", "sma"],
        tasks=BOTH_WAYS,
        timing=TIMING,
    )
    shutil.copy(study_example.__file__, project / "workflow/studies/example.py")
    for name in ("filter", "second_filter"):
        write(project / f"config/experiments/{name}.yaml", STUDY)
    add_own_data(project)
    tiny, second = (project / f"config/experiments/{name}.yaml" for name in ("tiny", "second"))
    shutil.copy(tiny, second)
    targets = [RECORDS, "results/second/records.csv"]
    targets += [f"results/{name}/study.npz" for name in ("filter", "second_filter")]
    targets += [f"results/tiny/timing/full-half.{method}.jsonl" for method in TIMING["methods"]]
    targets += [f"resources/receipts/own/{name}.csv.json" for name in ("a", "b")]
    snakemake(project, *targets)
    return project


def damaged(content, rng):
    """Content with one fault, and its name."""
    at = rng.randrange(len(content))
    kind = rng.choice(["a bit flipped", "a byte changed", "cut off", "bytes left out", "zeros"])
    data = bytearray(content)
    if kind == "a bit flipped":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "a byte changed":
        data[at] = (data[at] + rng.randrange(1, 256)) % 256
    elif kind == "cut off":
        del data[at:]
    elif kind == "bytes left out":
        del data[at : at + rng.randrange(1, 40)]
    else:
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    return bytes(data)


def plain(found):
    """What a reader gave, as something that can be compared."""
    if isinstance(found, pd.DataFrame):
        return found.to_csv()
    if isinstance(found, np.ndarray):
        return (found.dtype.str, found.shape, found.tobytes())
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [plain(value) for value in found]
    return vars(found) and plain(vars(found)) if hasattr(found, "__dict__") else found


def outcome_of(read, path, right):
    try:
        return "no effect" if plain(read(path)) == right else "FALSE"
    except CorruptArtifact as error:
        return "named" if str(path.parent) in str(error) else "not told"


def each_fault(contents, faults, read, path, right):
    """The outcome of each fault in turn; the file is as it was afterwards."""
    whole, stamp = path.read_bytes(), path.stat()
    try:
        for content in faults(contents):
            path.write_bytes(content)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            yield outcome_of(read, path, right)
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


@pytest.mark.whole_run
@pytest.mark.parametrize("pattern", READERS)
def test_damaged(ran, pattern):
    """100 faults in each kind of file: its reader names it, or nothing is changed by it."""

    def faults(content):
        rng = random.Random(pattern)
        return [b"", *(damaged(content, rng) for _ in range(99))]

    path = sorted(ran.glob(pattern))[0]
    right = plain(READERS[pattern](path))
    found = list(each_fault(path.read_bytes(), faults, READERS[pattern], path, right))
    assert len(found) == 100
    assert set(found) <= {"named", "no effect"}
    assert found.count("named") > 50


@pytest.mark.whole_run
@pytest.mark.parametrize("pattern", READERS)
def test_in_the_place_of_another(ran, pattern):
    """A whole file of the same kind, of another task, method or experiment, is named."""
    files = sorted(ran.glob(pattern))
    assert len(files) > 1
    path = files[0]
    right = plain(READERS[pattern](path))
    others = [other.read_bytes() for other in files[1:]]
    others = [content for content in others if content != path.read_bytes()]
    found = list(each_fault(others, lambda contents: contents, READERS[pattern], path, right))
    assert set(found) == {"named"}


def test_no_script_reads_a_file_by_another_way():
    """What the stages hand to each other is read by the readers that check it, and by no other."""
    scripts = sorted((ROOT / "workflow/scripts").glob("*.py"))
    assert scripts
    for script in scripts:
        text = script.read_text()
        assert not [word for word in ("np.load", "json.load", "read_text", "open(") if word in text]


@pytest.mark.whole_run
def test_the_receipt_of_tracking(ran):
    """A receipt of tracking is a note for people: no rule reads it."""
    rules = "".join(path.read_text() for path in (ran / "workflow/rules").glob("*.smk"))
    inputs = [part.partition("output:")[0] for part in rules.split("input:")[1:]]
    assert not any("mlflow.json" in part for part in inputs)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["predictions.npz", "align.jsonl"])
def test_two_methods_are_exchanged(ran, tmp_path, ending):
    """The run stops and names the file, although its time stamp is old; no record is written."""
    project = shutil.copytree(ran, tmp_path / "project", symlinks=True)
    folder = project / "results/tiny/full-half"
    one, other = (folder / f"{name}.000-001.{ending}" for name in ("fma_i", "sma"))
    stamps = [path.stat().st_mtime_ns for path in (one, other)]
    contents = [path.read_bytes() for path in (other, one)]
    for path, content, stamp in zip((one, other), contents, stamps, strict=True):
        path.write_bytes(content)
        os.utime(path, ns=(stamp, stamp))
    scored = folder / "records.jsonl"
    scored.unlink()
    target = str(scored.relative_to(project))
    printed = snakemake(project, target, "--show-failed-logs", check=False)
    assert f"it was written as tiny/full-half/sma.000-001.{ending}" in printed
    assert not scored.exists()
