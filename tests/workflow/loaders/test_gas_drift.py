"""Gas sensor drift on small made-up files of the published form, and on the real ones."""

import numpy as np
import pytest

from tests.workflow.loaders.entries import DATASETS
from workflow.loaders._check import check_domain
from workflow.loaders.gas_drift import N_FEATURES, load

ENTRY = {"class_names": ["acetone", "ethanol", "toluene"]}
FEATURES = np.random.default_rng(0).normal(size=(3, N_FEATURES)) * [[1e-3], [1.0], [1e6]]


def line(gas, values):
    return ",".join([gas, "10.000000", *(repr(float(value)) for value in values)])


def batch(tmp_path, *lines):
    path = tmp_path / "batch1.dat"
    path.write_text("\n".join(lines) + "\n")
    return {"batch1.dat": path}


def test_features_without_the_concentration_in_the_order_of_the_file(tmp_path):
    gases = ("Ethanol", "Acetone", "Ethanol")
    paths = batch(tmp_path, *map(line, gases, FEATURES))
    X, y = load("batch1", paths, ENTRY)
    check_domain("batch1", X, y, {"samples": 3, "features": N_FEATURES}, 3)
    np.testing.assert_array_equal(X, FEATURES)
    np.testing.assert_array_equal(y, [1, 0, 1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (line("Xenon", FEATURES[1]), r"line 2: expected a gas \(acetone, .*got 'Xenon' and 129"),
        (line("Ethanol", FEATURES[1][1:]), r"line 2: .* got 'Ethanol' and 128 numbers"),
        (line("Ethanol", FEATURES[1]) + "?", r"line 2: could not convert string to float"),
        ("", r"line 2: .* got '' and 0 numbers"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, wrong, message):
    paths = batch(tmp_path, line("Ethanol", FEATURES[0]), wrong)
    with pytest.raises(ValueError, match=message):
        load("batch1", paths, ENTRY)


def test_an_empty_file_is_a_domain_without_samples(tmp_path):
    (tmp_path / "batch1.dat").write_text("")
    X, y = load("batch1", {"batch1.dat": tmp_path / "batch1.dat"}, ENTRY)
    assert X.shape == (0, N_FEATURES)
    with pytest.raises(ValueError, match="no samples"):
        check_domain("batch1", X, y, {}, 3)


def test_every_batch_of_the_entry_reads_its_own_file():
    domains = DATASETS["gas_drift"]["domains"]
    assert all(domain["files"] == [f"{name}.dat"] for name, domain in domains.items())
