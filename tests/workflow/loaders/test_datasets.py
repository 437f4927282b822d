"""The entries of config/datasets.yaml: their schema, their consistency, and the real files.

What is said about third-party files is checked when ALIGNMENT_MIRROR names a folder with them.
"""

import hashlib
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

from tests.workflow.loaders.entries import (
    DATASETS,
    GOOD_FILE,
    MIRROR,
    ROOT,
    SURF_COUNTS,
    needs_mirror,
    one_dataset,
)
from workflow.lib.storage.fetch import fetch
from workflow.loaders import check_entry, files_of, load_described

SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/datasets.yaml").read_text())


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
    for file in entry["files"].values():
        assert file["sha256"] is None or file["mirror"]


@pytest.mark.parametrize("name", DATASETS)
def test_every_file_has_a_public_address_at_a_fixed_commit_or_says_that_it_has_none(name):
    for path, file in DATASETS[name]["files"].items():
        if file["sha256"] is None:
            assert re.search("no copy|not public|unavailable|not published", file["why"]), path
        else:
            assert file["urls"], path
            assert all(re.search("/[0-9a-f]{40}(/|$)", url) for url in file["urls"]), path


def test_commented_example_fits_the_schema():
    lines = (ROOT / "config/datasets.yaml").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("#   my_sensors:"))
    last = next(i for i, line in enumerate(lines) if i > first and not line.startswith("#   "))
    example = yaml.safe_load("\n".join(line[1:] for line in lines[first:last]))
    assert schema_errors(example) == []
    check_entry("my_sensors", example["my_sensors"])


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


COUNTS = {
    "office_caltech_surf": SURF_COUNTS,
    "office_caltech_decaf6": {name: SURF_COUNTS[name] for name in ("dslr", "webcam")},
    "mnist_usps": {
        "mnist": [196, 227, 207, 202, 196, 179, 191, 206, 195, 201],
        "usps": [352, 241, 165, 166, 166, 126, 139, 172, 129, 144],
    },
    # Toluene, the last, is absent from batches 3 to 5.
    "gas_drift": {
        "batch1": [30, 70, 83, 90, 98, 74],
        "batch2": [109, 532, 100, 164, 334, 5],
        "batch3": [240, 275, 216, 365, 490],
        "batch4": [30, 12, 12, 64, 43],
        "batch5": [46, 63, 20, 28, 40],
        "batch6": [29, 606, 110, 514, 574, 467],
        "batch8": [33, 143, 40, 30, 30, 18],
        "batch9": [75, 78, 100, 61, 55, 101],
    },
    "amazon_reviews": {
        "books": [3201, 3264],
        "dvd": [2779, 2807],
        "electronics": [3824, 3857],
        "kitchen": [3991, 3954],
    },
    "amazon_reviews_5000": {
        "books": [3201, 3264],
        "dvd": [2779, 2807],
        "electronics": [3824, 3854],
        "kitchen": [3991, 3954],
    },
    "coil20": {"coil1": [36] * 20, "coil2": [36] * 20},
}


@needs_mirror
@pytest.mark.parametrize(("name", "domain"), [(n, d) for n in COUNTS for d in COUNTS[n]])
def test_real_domain_is_as_its_entry_says(name, domain, tmp_path):
    entry = DATASETS[name]
    paths = {
        file: fetch(file, {**entry["files"][file], "urls": []}, tmp_path, MIRROR)
        for file in files_of(entry, domain)
    }
    _, y, _ = load_described(name, entry, domain, paths)
    assert np.bincount(y).tolist() == COUNTS[name][domain]


@pytest.mark.parametrize(
    "described",
    [{"training_samples": 5, "samples": 5}, {"training_samples": 5}],
)
def test_training_samples_are_some_of_all(described):
    params = {"labels": "y", "features": "X"}
    entry = one_dataset(domains={"one": {**described, "params": params}})
    assert schema_errors({"mine": entry}) == []
    with pytest.raises(ValueError, match="one: training_samples must be below samples, which must"):
        check_entry("mine", entry)


@needs_mirror
def test_sums_are_those_of_the_files_in_the_mirror():
    for entry in DATASETS.values():
        for name, file in entry["files"].items():
            if file["sha256"] is not None:
                content = (Path(MIRROR) / file["mirror"]).read_bytes()
                assert hashlib.sha256(content).hexdigest() == file["sha256"], name
