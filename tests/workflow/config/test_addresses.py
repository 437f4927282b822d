"""Addresses of the configuration: found without an import, and broken modules named."""

import pytest

from workflow.lib.config.addresses import (
    BrokenModule,
    home,
    module_file,
    resolve_estimator,
)


@pytest.mark.parametrize(
    ("address", "module"),
    [
        ("domain_alignment:KEMA", "domain_alignment.manifold._kema"),
        ("domain_alignment.manifold:KEMA", "domain_alignment.manifold._kema"),
        ("domain_alignment:NoAdaptation", "domain_alignment.baselines._no_adaptation"),
        ("sklearn.svm:SVC", "sklearn.svm"),
        ("domain_alignment:Nothing", "domain_alignment"),
    ],
)
def test_the_home_of_a_class_is_the_module_that_defines_it(address, module):
    assert home(address) == module


@pytest.mark.parametrize("address", ["domain_alignment:KEMA", "domain_alignment:MMDT"])
def test_the_home_found_in_the_text_is_the_one_that_python_finds(address):
    assert resolve_estimator(address).__module__ == home(address)


def test_only_modules_of_the_project_have_files(tmp_path):
    (tmp_path / "methods/domain_alignment").mkdir(parents=True)
    (tmp_path / "methods/domain_alignment/__init__.py").touch()
    (tmp_path / "methods/domain_alignment/base.py").touch()
    assert module_file(tmp_path, "domain_alignment.base").name == "base.py"
    assert module_file(tmp_path, "domain_alignment").name == "__init__.py"
    assert module_file(tmp_path, "domain_alignment.other") is None
    assert module_file(tmp_path, "numpy") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = (", r"line 1: .*never closed"),
        ("\n1 / 0", "line 2: ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(0)", "line 1: SystemExit: 0"),
    ],
)
def test_a_module_that_cannot_be_run_is_named_with_its_line(tmp_path, monkeypatch, text, words):
    name = f"broken_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BrokenModule, match=words) as caught:
        resolve_estimator(f"{name}:Class")
    assert f"{name}.py" in str(caught.value)


def test_a_wrong_address_is_no_broken_module():
    with pytest.raises(AttributeError, match="Nothing"):
        resolve_estimator("domain_alignment:Nothing")
    with pytest.raises(ModuleNotFoundError):
        resolve_estimator("no_such_package:Class")
