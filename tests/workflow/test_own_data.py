"""Runs on a user's own folder of configuration and tables."""

import hashlib

import pandas as pd
import pytest
import yaml

from tests.workflow.test_whole_runs import snakemake
from workflow.lib.storage.artifacts import read_arrays

pytestmark = pytest.mark.whole_run

OLD = "size,colour,gas\n" + "".join(
    f"{n % 7},{'red' if n % 2 else 'blue'},{'ab'[n % 2]}\n" for n in range(40)
)
NEW = "gas,colour,size\n" + "".join(
    f"{'ab?'[n % 3]},{'red' if n % 3 else 'blue'},{n % 5}\n" for n in range(45)
)
DATASET = {
    "description": "Two batches.",
    "loader": "generic:load",
    "files": {"old.csv": {"path": "old.csv"}, "new.csv": {"path": "new.csv"}},
    "params": {"labels": "gas", "unlabelled": ["?"]},
    "domains": {"old": {"files": ["old.csv"]}, "new": {"files": ["new.csv"]}},
    "classes": 2,
}
PROTOCOL = {
    "kind": "random",
    "description": "Few labels.",
    "trials": 1,
    "seed": 0,
    "source_per_class": 50,
    "target_per_class": 2,
    "at_most": True,
    "classifier_rows": "source",
}
EXPERIMENT = {
    "title": "Gas",
    "tasks": [{"source": "gas.old", "target": "gas.new"}],
    "protocol": "gas_few",
    "methods": ["source_only"],
    "classifiers": ["logistic"],
}
RECORDS = "results/gas/records.csv"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))


@pytest.fixture
def own(project):
    folder = project.parent / "own"
    write(folder / "datasets.yaml", {"datasets": {"gas": DATASET}})
    write(folder / "protocols.yaml", {"protocols": {"gas_few": PROTOCOL}})
    write(folder / "experiments/gas.yaml", EXPERIMENT)
    write(folder / "old.csv", OLD)
    write(folder / "new.csv", NEW)
    return folder


def run(project, own, **more):
    return snakemake(project, RECORDS, "--config", f"own={own}", **more)


def test_own_data_ends_before_any_job_or_gives_records(project, own):
    wrong = {**DATASET, "files": {**DATASET["files"], "old.csv": {"path": "odl.csv"}}}
    write(own / "datasets.yaml", {"datasets": {"gas": wrong}})
    said = run(project, own, check=False)
    assert "gas.files.old.csv.path: " in said
    assert "odl.csv: no such file" in said
    write(own / "datasets.yaml", {"datasets": {"gas": DATASET}})
    write(own / "old.csv", OLD + ",red,a\n")
    write(own / "new.csv", NEW + "a,red,1,5\n")
    said = run(project, own, check=False)
    assert "nothing was run" in said
    assert "old.csv: column 'size': 1 of 41 cells hold no value (first in row 40" in said
    assert "new.csv: cannot be read as a table" in said
    assert "Traceback" not in said
    assert not list(project.glob("resources/*/*"))
    write(own / "old.csv", OLD)
    write(own / "new.csv", NEW)
    run(project, own)
    (record,) = pd.read_csv(project / RECORDS).to_dict("records")
    assert record["status"] == "ok"
    assert record["n_scored"] == 30 - 4
    labels, about = read_arrays(project / "resources/domains/gas/new.labels.npz")
    assert about["class_names"] == ["a", "b"]
    assert (labels["y"] == -1).sum() == about["unlabelled"] == 15
    _, about = read_arrays(project / "resources/domains/gas/new.features.npz")
    assert about["feature_names"] == ["colour=blue", "colour=red", "size"]
    loaded = (project / "resources/domains/gas/new.labels.npz").stat().st_mtime
    changed = {
        **DATASET,
        "domains": {**DATASET["domains"], "new": {"short": "N", "files": ["new.csv"]}},
    }
    write(own / "datasets.yaml", {"datasets": {"gas": changed}})
    run(project, own)
    assert (project / "resources/domains/gas/new.labels.npz").stat().st_mtime == loaded


def test_the_kind_of_features_that_an_own_dataset_states_is_checked_in_runs(project, own):
    write(own / "old.csv", OLD.replace("\n6,", "\n-6,"))
    loaded = "resources/domains/gas/old.labels.npz"

    def stating(values, target, **more):
        write(own / "datasets.yaml", {"datasets": {"gas": DATASET | {"values": values}}})
        return snakemake(project, target, "--config", f"own={own}", **more)

    refusal = "`values: counts` says that no feature is negative; the least is -6"
    said = stating("counts", RECORDS, check=False)
    assert "data that cannot be used; nothing was run" in said
    assert refusal in said
    stating("real", loaded)
    # The files are those that were loaded: it is the job that refuses what the entry says now.
    stating("counts", loaded, check=False)
    assert refusal in (project / "logs/load/gas/old.log").read_text()


def test_a_file_of_which_the_sum_is_stated_is_held_to_it_in_every_run(project, own):
    stated = hashlib.sha256(OLD.encode()).hexdigest()
    files = {**DATASET["files"], "old.csv": {"path": "old.csv", "sha256": stated}}
    write(own / "datasets.yaml", {"datasets": {"gas": {**DATASET, "files": files}}})
    loaded = "resources/domains/gas/old.labels.npz"
    snakemake(project, loaded, "--config", f"own={own}")
    edited = OLD.replace("6,red,", "5,red,")
    write(own / "old.csv", edited)
    told = f"sha256 is {hashlib.sha256(edited.encode()).hexdigest()}, expected {stated}"
    said = run(project, own, check=False)
    assert "nothing was run" in said
    assert told in said
    snakemake(project, loaded, "--config", f"own={own}", check=False)
    assert told in (project / "logs/load/gas/old.log").read_text()
