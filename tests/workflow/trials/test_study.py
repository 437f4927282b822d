"""A study in the guarded child: its domains are read, its parameters handed on."""

import numpy as np

from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.storage.features import write_features
from workflow.lib.trials.study import run_trial, setup


def test_a_study_is_given_its_domains_and_parameters(tmp_path):
    rng = np.random.default_rng(0)
    domains = {}
    for name in ("d.mnist", "d.usps"):
        X, y = rng.random((20, 16)), np.arange(20) % 10
        files = tmp_path / f"{name}.npz", tmp_path / f"{name}.labels.npz"
        write_features(files[0], X, {})
        write_arrays(files[1], {"y": y}, {})
        domains[name] = [str(path) for path in files]
    spec = {"module": "fma.digits_montage", "domains": domains, "params": {"n_images": 5}}
    records, arrays = run_trial(setup(spec), 0)
    assert [record["domain"] for record in records] == ["d.mnist", "d.usps"]
    assert {record["shown"] for record in records} == {5}
    assert arrays["d.usps/images"].shape == (5, 4, 4)
