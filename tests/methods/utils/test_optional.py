import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.utils._optional import EXTRAS, compiler, how_to_install, needed

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


def test_every_package_is_in_the_extra_that_is_named():
    listed = PROJECT["optional-dependencies"]
    for extra, distribution in EXTRAS.values():
        assert [requirement.partition(">=")[0] for requirement in listed[extra]] == [distribution]
    extras = sorted(extra for extra, _ in EXTRAS.values())
    assert listed["all"] == [f"domain-alignment[{','.join(extras)}]"]


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    assert needed("cvxpy", "TKL").__name__ == "cvxpy"
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"TKL needs .* cvxpy; .*'\.\[tkl\]'\), or wait"):
        needed("cvxpy", "TKL", ", or wait")


def test_compiled_functions_raise_only_when_called_without_the_compiler(monkeypatch):
    assert compiler("MMDT")(lambda x: x + 1)(np.int64(1)) == 2
    monkeypatch.setitem(sys.modules, "numba", None)
    function = compiler("MMDT")(cache=True)(lambda x: x + 1)
    with pytest.raises(ImportError) as error:
        function(1)
    assert str(error.value) == how_to_install("numba", "MMDT")
