"""What the package and the citation say of the project and its papers; paths of the hooks."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# Where a paper can be found, or who has it if it is printed nowhere.
IDENTIFIERS = ("doi", "identifiers", "repository-code", "institution")


def test_the_package_shows_the_readme_and_says_for_whom_it_is():
    assert (ROOT / PROJECT["readme"]).is_file()
    kinds = {classifier.partition(" :: ")[0] for classifier in PROJECT["classifiers"]}
    assert {"Development Status", "Intended Audience", "Programming Language", "Topic"} <= kinds


def test_every_path_that_a_hook_names_exists():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    words = {word for hook in local["hooks"] for word in hook["entry"].split()}
    paths = {word for word in words if "/" in word and not word.startswith(".venv/")}
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_an_address_stands_in_both_places_or_in_none():
    addresses = set(PROJECT.get("urls", {}).values())
    assert addresses == {CITATION[key] for key in ("repository-code", "url") if key in CITATION}


def test_no_release_is_told_of_that_was_not_made():
    """A date of release stands with its version, and the changelog has both."""
    told = {"version", "date-released"} & set(CITATION)
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## \[(\d\S*)\] - (\S+)$", changes, flags=re.MULTILINE)
    if not told:
        assert not released
    else:
        assert (CITATION["version"], CITATION["date-released"]) == released[0]


def test_every_reproduced_paper_is_cited_with_what_identifies_it():
    assert all(any(key in work for key in IDENTIFIERS) for work in CITATION["references"])
    assert {work["title"] for work in CITATION["references"]} == {
        "Filtered Manifold Alignment",
        "Kernel Manifold Alignment for Domain Adaptation",
        "Domain-Invariant Transfer Kernel Learning",
        "Transform-based Domain Adaptation for Big Data",
        # Those of which columns of one table are compared.
        "Efficient Learning of Domain-invariant Image Representations",
        "Transfer Feature Learning with Joint Distribution Adaptation",
        "Domain-Adversarial Training of Neural Networks",
        # The method that the report on transfer kernel learning is about.
        "Domain Invariant Transfer Kernel Learning",
    }
