"""The data of the tests of published numbers, as CI fetches them where no mirror is at hand."""

import importlib.util
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DATASETS = ("office_caltech_surf", "office_caltech_splits")


@pytest.fixture
def fetching():
    """The script, which lies in no package."""
    path = ROOT / ".ci/fetch_public_data.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_asks_for_the_files_of_two_data_sets_by_their_public_addresses(
    fetching, monkeypatch, tmp_path
):
    described = yaml.safe_load((ROOT / "config/datasets.yaml").read_text("utf-8"))["datasets"]
    files = {
        name: entry for dataset in DATASETS for name, entry in described[dataset]["files"].items()
    }
    asked = {}

    def fetch(name, entry, cache, *mirror):
        assert not mirror  # else a file of this machine would stand for one of the network
        asked[name] = entry["sha256"], entry["urls"]
        (cache / name).write_text(name)
        return cache / name

    monkeypatch.setattr(fetching, "fetch", fetch)
    fetching.main(tmp_path)
    assert asked == {name: (entry["sha256"], entry["urls"]) for name, entry in files.items()}
    assert all(url.startswith("https://") for _, urls in asked.values() for url in urls)
    placed = {
        str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*.*") if p.is_file()
    }
    assert placed == {entry["mirror"]: name for name, entry in files.items()}
