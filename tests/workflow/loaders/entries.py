"""The entries of config/datasets.yaml, the folder of the real files, and made-up entries."""

import os
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
DATASETS = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["datasets"]
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
