"""A small project of its own for each test: the real files, with the changes a test makes."""

import shutil
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "workflow", "config", "methods", "reports", "envs")


def copy_project(folder):
    """Copy what a run needs of the project into a new folder."""
    folder.mkdir()
    for part in PARTS:
        path = ROOT / part
        if path.is_dir():
            shutil.copytree(path, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder / part)
    return folder


@pytest.fixture
def project(tmp_path):
    """Copy of the project in an empty folder."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def edit(project):
    """Function that changes a YAML file of the project: ``edit("config/x.yaml", change)``."""

    def change_file(name, change):
        path = project / name
        content = yaml.safe_load(path.read_text()) if path.exists() else {}
        content = change(content) or content
        path.write_text(yaml.safe_dump(content, allow_unicode=True))

    return change_file
