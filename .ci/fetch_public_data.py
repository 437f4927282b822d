"""Fetch SURF features and official trials of Office–Caltech10 (1 MB) into a folder as a mirror.

    PYTHONPATH=. python .ci/fetch_public_data.py FOLDER

For the tests of published numbers, where no mirror is at hand. Fails where an address does.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from workflow.lib.storage.fetch import fetch

ROOT = Path(__file__).parents[1]
DATASETS = ("office_caltech_surf", "office_caltech_splits")


def main(folder: Path) -> None:
    described = yaml.safe_load((ROOT / "config/datasets.yaml").read_text("utf-8"))["datasets"]
    with tempfile.TemporaryDirectory() as cache:
        for dataset in DATASETS:
            for name, entry in described[dataset]["files"].items():
                place = folder / entry["mirror"]
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(fetch(name, entry, Path(cache)), place)
                print(place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
