"""The entries of config/datasets.yaml: their schema, their consistency, and the real files.

What is said about third-party files is checked when ALIGNMENT_MIRROR names a folder with them.
"""

import hashlib
import os
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

from workflow.lib.storage.fetch import fetch
from workflow.loaders import check_entry, files_of, load_domain, office_caltech, splits_file

ROOT = Path(__file__).parents[3]
DATASETS = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["datasets"]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/datasets.yaml").read_text())


# -- the entries ------------------------------------------------------------------------------


def schema_errors(datasets):
    described = {"schema_version": 1, "datasets": datasets}
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(described)
    return [f"{'.'.join(map(str, e.path))}: {e.message}" for e in errors]


def test_configuration_fits_its_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert schema_errors(DATASETS) == []


@pytest.mark.parametrize("name", DATASETS)
def test_entry_is_consistent_and_states_its_origin(name):
    entry = DATASETS[name]
    check_entry(name, entry)
    assert entry["source"]
    assert entry["terms"]
    for path, file in entry["files"].items():
        assert file["sha256"] is None or file["mirror"]
        # An archive that was packed for the mirror has no public address.
        assert file.get("urls") or file["sha256"] is None or path.endswith(".tar.gz")


def test_commented_example_fits_the_schema():
    lines = (ROOT / "config/datasets.yaml").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("#   my_sensors:"))
    last = next(i for i, line in enumerate(lines) if i > first and not line.startswith("#   "))
    example = yaml.safe_load("\n".join(line[1:] for line in lines[first:last]))
    assert schema_errors(example) == []
    check_entry("my_sensors", example["my_sensors"])


GOOD_FILE = {"sha256": "0" * 64, "mirror": "a/b.mat", "urls": ["https://host/b.mat"]}


def one_dataset(**changes):
    entry = {
        "description": "made up",
        "loader": "generic:load",
        "files": {"b.mat": GOOD_FILE},
        "domains": {"one": {"params": {"labels": "y", "features": "X"}}},
        "classes": 2,
    }
    return {**entry, **changes}


@pytest.mark.parametrize(
    "file",
    [GOOD_FILE, {"path": "data/b.mat"}, {"sha256": None, "why": "lost"}, {"sha256": "a" * 64}],
)
def test_schema_accepts_each_form_of_a_file(file):
    assert schema_errors({"mine": one_dataset(files={"b.mat": file})}) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "'colour' was unexpected"),
        ({"files": {"b.mat": {}}}, "'sha256' is a required property"),
        ({"files": {"b.mat": {"sha256": None}}}, "'why' is a required property"),
        ({"files": {"b.mat": {"sha256": "ABC"}}}, "'ABC' does not match"),
        ({"files": {"b.mat": {**GOOD_FILE, "md5": "x"}}}, "'md5' was unexpected"),
        ({"files": {"b.mat": {**GOOD_FILE, "mirror": "../b.mat"}}}, "'../b.mat' does not match"),
        ({"files": {"b.mat": {**GOOD_FILE, "urls": ["ftp://h/b"]}}}, "'ftp://h/b' does not match"),
        ({"files": {"../b.mat": GOOD_FILE}}, "'../b.mat' does not match"),
        ({"domains": {"One": {}}}, "'One' does not match"),
        ({"domains": {"one": {"sample": 3}}}, "'sample' was unexpected"),
        ({"classes": ["a", "b"]}, "is not of type 'integer'"),
    ],
)
def test_schema_refuses(change, message):
    (error,) = schema_errors({"mine": one_dataset(**change)})
    assert message in error


def test_schema_refuses_names_that_paths_could_not_hold():
    assert "does not match" in schema_errors({"My-data": one_dataset()})[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loader": "genric:load"}, "loader: unknown module 'genric'. Did you mean 'generic'?"),
        ({"loader": "generic:lod"}, "loader: unknown function 'lod'. Did you mean 'load'?"),
        (
            {"domains": {"one": {"files": ["c.mat"]}}},
            "domains: one: files: unknown file 'c.mat'. Did you mean 'b.mat'? Known: b.mat",
        ),
        (
            {"domains": {"one": {"params": {"label": "y"}}}},
            "params: unknown parameter 'label'. Did you mean 'labels'? Known: labels, features",
        ),
        ({"domains": {"one": {}}}, "domains: one: params: 'labels' is missing"),
        ({"class_names": ["a", "b", "c"]}, "classes is 2, but class_names has 3"),
        ({"class_names": ["1", 1]}, "class_names: '1' stands there twice; keep one"),
        (
            {"domains": {d: {"short": "O", "params": {"labels": "y"}} for d in ("one", "other")}},
            "domains: two have the same `short` (O, O)",
        ),
    ],
)
def test_inconsistent_entry_is_refused(change, message):
    with pytest.raises(ValueError, match=r"^config/datasets\.yaml: mine: ") as caught:
        check_entry("mine", one_dataset(**change))
    assert message in str(caught.value)


def test_splits_find_their_file():
    entry = DATASETS["office_caltech_splits"]
    assert "amazon-dslr" in splits_file(entry, "amazon", "dslr")
    with pytest.raises(ValueError, match=r"no official trials for the pair amazon-mnist\. There"):
        splits_file(entry, "amazon", "mnist")
    files = {"a.mat": {"source": "a", "target": "b"}, "b.mat": {"source": "a", "target": "b"}}
    with pytest.raises(ValueError, match=r"two files for the pair a-b; keep one"):
        check_entry("s", {"kind": "splits", "loader": "office_caltech:load_splits", "files": files})


# -- the real files ---------------------------------------------------------------------------

MIRROR = os.environ.get("ALIGNMENT_MIRROR")
needs_mirror = pytest.mark.skipif(
    not MIRROR or "://" in MIRROR, reason="ALIGNMENT_MIRROR names no folder with the real files"
)
SURF_COUNTS = {
    "amazon": [92, 82, 94, 99, 100, 100, 99, 100, 94, 98],
    "caltech": [151, 110, 100, 138, 85, 128, 133, 94, 87, 97],
    "dslr": [12, 21, 12, 13, 10, 24, 22, 12, 8, 23],
    "webcam": [29, 21, 31, 27, 27, 30, 43, 30, 27, 30],
}
COUNTS = {
    "office_caltech_surf": SURF_COUNTS,
    "office_caltech_decaf6": {name: SURF_COUNTS[name] for name in ("dslr", "webcam")},
    "mnist_usps": {
        "mnist": [196, 227, 207, 202, 196, 179, 191, 206, 195, 201],
        "usps": [352, 241, 165, 166, 166, 126, 139, 172, 129, 144],
    },
}


@needs_mirror
@pytest.mark.parametrize(("name", "domain"), [(n, d) for n in COUNTS for d in COUNTS[n]])
def test_real_domain_is_as_its_entry_says(name, domain, tmp_path):
    entry = DATASETS[name]
    paths = {
        file: fetch(file, {**entry["files"][file], "urls": []}, tmp_path, MIRROR)
        for file in files_of(entry, domain)
    }
    _, y = load_domain(name, entry, domain, paths)
    assert np.bincount(y).tolist() == COUNTS[name][domain]


@needs_mirror
@pytest.mark.parametrize("name", DATASETS["office_caltech_splits"]["files"])
def test_real_trials_give_the_stated_numbers_per_class(name):
    file = DATASETS["office_caltech_splits"]["files"][name]
    source, target = (np.repeat(range(10), SURF_COUNTS[file[d]]) for d in ("source", "target"))
    trials = office_caltech.load_splits(Path(MIRROR) / file["mirror"])
    assert len(trials) == 20
    for trial in trials:
        per_class = 20 if file["source"] == "amazon" else 8
        assert np.bincount(source[trial["source_labelled"]]).tolist() == [per_class] * 10
        assert np.bincount(target[trial["target_labelled"]]).tolist() == [3] * 10
        both = np.concatenate([trial["target_labelled"], trial["target_scored"]])
        assert np.array_equal(np.sort(both), np.arange(len(target)))


@needs_mirror
def test_sums_are_those_of_the_files_in_the_mirror():
    for entry in DATASETS.values():
        for name, file in entry["files"].items():
            if file["sha256"] is not None:
                content = (Path(MIRROR) / file["mirror"]).read_bytes()
                assert hashlib.sha256(content).hexdigest() == file["sha256"], name


@needs_mirror
def test_decaf6_rows_are_the_images_of_the_surf_rows(tmp_path):
    """Similarity within a class agrees between the two feature sets; shuffled, it does not."""

    def similarities(name):
        (file,) = files_of(DATASETS[name], "webcam")
        path = fetch(file, DATASETS[name]["files"][file], tmp_path / name, MIRROR)
        X, y = load_domain(name, DATASETS[name], "webcam", {file: path})
        X = X - X.mean(axis=0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return X @ X.T, y

    surf, y = similarities("office_caltech_surf")
    decaf, _ = similarities("office_caltech_decaf6")
    pairs = np.triu(y[:, None] == y, 1)
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]  # shuffled inside the classes only
    assert np.corrcoef(surf[pairs], decaf[pairs])[0, 1] > 0.4
    assert np.corrcoef(surf[pairs], decaf[np.ix_(order, order)][pairs])[0, 1] < 0.2
