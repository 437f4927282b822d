"""The front of the comparison hands its arguments on, and says what is missing."""

import subprocess
import sys

import pytest
from domain_alignment.cli import _compare, main


def test_arguments_reach_the_benchmark_as_they_are(monkeypatch):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda command, env: calls.append(command) or 7)
    given = ["compare", "a.csv", "b.csv", "--label", "kind", "--cores", "3"]
    assert main(given) == 7
    assert calls == [[sys.executable, "-m", "workflow.compare", *given[1:]]]


def test_without_a_checkout_it_says_where_the_benchmark_is(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(_compare, "__file__", str(tmp_path / "a/b/c/_compare.py"))
    assert main(["compare", "a.csv", "b.csv"]) == 2
    assert "run the command of a checkout" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["a.csv", "--budget", "huge"], ["a.csv", "--cores", "two"]])
def test_wrong_arguments_are_refused_before_anything_runs(words):
    with pytest.raises(SystemExit) as left:
        main(["compare", *words])
    assert left.value.code == 2
