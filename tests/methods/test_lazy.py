"""Public names of a package are imported when they are first used."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import domain_alignment
import pytest
from domain_alignment._lazy import attach


def test_names_come_from_their_homes():
    getter, directory, names = attach("domain_alignment.manifold", {"KEMA": "_kema", "FMA": "_fma"})
    assert names == directory() == ["FMA", "KEMA"]
    assert getter("KEMA") is domain_alignment.KEMA
    with pytest.raises(AttributeError, match=r"'domain_alignment.manifold' has no attribute 'X'"):
        getter("X")


def test_one_method_does_not_import_another():
    code = (
        "import sys, domain_alignment; domain_alignment.CORAL; "
        "print('domain_alignment.mapping._coral' in sys.modules, "
        "'domain_alignment.manifold._kema' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(domain_alignment.__file__).parents[1])},
    )
    assert done.stdout.split() == ["True", "False"]


def test_a_broken_module_of_a_family_breaks_no_other(tmp_path, monkeypatch):
    family = tmp_path / "family_with_a_broken_module"
    family.mkdir()
    (family / "__init__.py").write_text(
        "from domain_alignment._lazy import attach\n"
        '__getattr__, __dir__, __all__ = attach(__name__, {"Good": "_good", "Bad": "_bad"})\n'
    )
    (family / "_good.py").write_text("class Good: pass\n")
    (family / "_bad.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module(family.name)
    assert dir(package) == package.__all__ == ["Bad", "Good"]
    assert package.Good.__name__ == "Good"
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        package.Bad  # noqa: B018
    monkeypatch.delitem(sys.modules, family.name)
    monkeypatch.delitem(sys.modules, f"{family.name}._good")
