"""The version: of the metadata, or what a build without tags falls back to."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

from domain_alignment._version import FALLBACK, version

ROOT = Path(__file__).resolve().parents[2]


def test_it_is_that_of_the_installed_package():
    assert version() == metadata.version("domain-alignment")
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", version())


def test_a_checkout_that_is_not_installed_has_the_fallback(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert version() == FALLBACK


def test_one_last_version_everywhere():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        hatch = tomllib.load(stream)["tool"]["hatch"]
    assert hatch["version"]["fallback-version"] == FALLBACK
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert set(cited) <= {FALLBACK}  # none before a release: tests/test_metadata.py
