from pathlib import Path

import pytest

from workflow.lib.config.code_digest import PINNED, installed_files, named_modules, sources

ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path):
    library = tmp_path / "methods/domain_alignment"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("from domain_alignment import a, b\n")
    (library / "base.py").write_text("import numpy\n")
    (library / "a.py").write_text("from domain_alignment.base import Aligner\n")
    (library / "b.py").write_text("from . import base\nfrom .c import g\n")
    (library / "c.py").write_text("def f():\n    import domain_alignment.a\n")
    return tmp_path


def names(files):
    return [Path(file).stem for file in files]


def test_a_module_is_made_of_what_it_imports(project):
    assert names(sources(project, "domain_alignment.a")) == ["a", "base"]
    assert names(sources(project, "domain_alignment.b")) == ["a", "b", "base", "c"]


def test_modules_outside_the_project_give_no_file(project):
    assert sources(project, "sklearn.svm", "numpy") == []


def test_editing_one_method_touches_no_other():
    fma = sources(ROOT, "domain_alignment.manifold._fma")
    sma = sources(ROOT, "domain_alignment.manifold._sma")
    assert "methods/domain_alignment/manifold/_fma.py" in fma
    assert "methods/domain_alignment/baselines/_no_adaptation.py" not in fma + sma
    assert "methods/domain_alignment/manifold/_sma.py" not in fma


def test_the_guarded_jobs_do_not_hang_on_the_report():
    files = sources(
        ROOT,
        "workflow.lib.trials.align",
        "workflow.lib.trials.blocks",
        "workflow.lib.execution.worker",
    )
    asked = {"lib/trials/align.py", "lib/trials/blocks.py", "lib/execution/worker.py"}
    assert {f"workflow/{file}" for file in asked} <= {*files}
    assert not [file for file in files if file.startswith("workflow/lib/report/")]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package and a module outside the project."""
    package = tmp_path / "an_installed_package"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/__init__.py", "inner/methods.py", "data.txt"):
        (package / name).write_text("raise ValueError('is not imported')\n")
    (tmp_path / "an_installed_module.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    installed_files.cache_clear()
    return tmp_path


def test_an_installed_package_is_made_of_all_its_modules(installed):
    found = installed_files("an_installed_package.inner.methods")
    names = ["__init__.py", "inner/__init__.py", "inner/methods.py"]
    assert found == tuple(installed / "an_installed_package" / name for name in names)
    assert installed_files("an_installed_module") == (installed / "an_installed_module.py",)


@pytest.mark.parametrize("module", ["workflow.x", "domain_alignment", "json", "no_such_package"])
def test_no_file_is_looked_for_twice(module):
    assert installed_files(module) == ()


@pytest.mark.parametrize(
    ("value", "modules"),
    [
        ("an_own_module:Shift", ["an_own_module"]),
        ("an_own_package.inner.Shift", ["an_own_package.inner"]),
        ({"a": [{"b": "an_own_module:Shift"}], "c": ("x", 3)}, ["an_own_module"]),
        ("domain_alignment.KEMA", []),
        # Neither an address, nor there, nor one's own.
        (["an_own_module.csv", "an_own_module: Shift", "one.two.three", "a.b", "", None], []),
        (["no_such_package:Shift", "__main__:Shift", "json:JSONDecoder"], []),
        (["ot.da:EMDTransport", "sklearn.svm.SVC", "yaml:Loader", "pytest.Item"], []),
    ],
)
def test_classes_that_parameters_name_are_found_as_far_as_they_are_ones_own(
    tmp_path, monkeypatch, value, modules
):
    (tmp_path / "an_own_module.py").write_text("raise ValueError('is not imported')\n")
    (tmp_path / "an_own_package").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    kema = ["domain_alignment.manifold._kema"] if "KEMA" in str(value) else []
    assert named_modules(value, ROOT) == sorted([*modules, *kema])


def test_pinned_packages_are_those_of_the_lock():
    lock = (ROOT / "envs/requirements.lock").read_text(encoding="utf-8").lower()
    names = {"ot": "pot", "sklearn": "scikit-learn"}
    assert not [name for name in PINNED if f"\n{names.get(name, name)}==" not in lock]
    assert not any(installed_files(name) for name in PINNED)
