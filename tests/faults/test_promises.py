"""The promises of the manual and of SECURITY.md."""

import re
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT
from tests.workflow.test_whole_runs import edit
from workflow.lib.config.suite import load_suite

PAGE = ROOT / "reports/manual/benchmark/promises.md"
PROMISES = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda line: line.split("**")[1])
def test_names_its_tests(promise):
    """Every promise names tests, and they exist."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", promise)
    assert named
    for path, name in named:
        file = ROOT / path if path.startswith("tests/") else ROOT / "tests/workflow" / path
        assert f"\ndef {name}(" in Path(file).read_text(encoding="utf-8")


def test_the_statement_of_security_names_its_tests():
    """Every test that SECURITY.md names exists."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    assert named
    assert not {name for name in named if f"\ndef {name}(" not in sources}


def test_an_experiment_of_two_protocols(project):
    """An experiment has one protocol; a second one is refused before anything runs."""
    two = {"protocol": ["tiny", "tiny"]}
    edit(project, "experiments/tiny", lambda content: content | two)
    with pytest.raises(ValueError, match=r"experiments/tiny\.yaml: protocol"):
        load_suite(project, {})
