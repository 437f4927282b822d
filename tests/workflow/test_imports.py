"""Who may import whom, and that every method has its test."""

import ast
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = sorted((ROOT / "methods/domain_alignment").rglob("*.py"))
BENCHMARK = sorted((ROOT / "workflow/lib").rglob("*.py"))
LOADERS = sorted((ROOT / "workflow/loaders").rglob("*.py"))

# Beside the standard library.
LIBRARY_MAY_IMPORT = {"domain_alignment", "numpy", "scipy", "sklearn", "cvxpy", "numba", "ot"}
NOT_THE_PROJECT = {".venv", ".git", ".snakemake", "results", "resources", "logs", "__pycache__"}
STANDARD = sys.stdlib_module_names


def imported(text):
    """Full names of the modules and objects that a piece of Python imports, wherever it does."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value


def _called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", LIBRARY, ids=relative)
def test_the_library_knows_nothing_of_the_workflow(path):
    packages = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
    strangers = packages - LIBRARY_MAY_IMPORT - STANDARD
    assert not strangers, f"{relative(path)} imports {sorted(strangers)}"


@pytest.mark.parametrize("path", BENCHMARK + LOADERS, ids=relative)
def test_the_benchmark_knows_methods_only_by_their_entries(path):
    # An estimator is resolved from the text of its entry, so that adding one changes no code here.
    for name in imported(path.read_text(encoding="utf-8")):
        if name.partition(".")[0] == "domain_alignment":
            assert name.startswith("domain_alignment.base"), f"{relative(path)} imports {name}"


@pytest.mark.parametrize("path", BENCHMARK + LOADERS, ids=relative)
def test_the_benchmark_runs_without_snakemake(path):
    packages = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
    assert "snakemake" not in packages, "a library function takes values, not Snakemake's objects"


def test_mlflow_is_imported_in_one_place():
    users = {
        path.name
        for path in BENCHMARK
        if any(name.split(".")[0] == "mlflow" for name in imported(path.read_text()))
    }
    assert users == {"store.py"}, "it costs a second, and its telemetry is turned off there"


@pytest.mark.parametrize(
    "text",
    [
        "import pandas as pd",
        "from mlflow import MlflowClient",
        "def f():\n    import matplotlib.pyplot",
        "__import__('snakemake')",
        "import importlib\nimportlib.import_module('workflow.lib.trials.align')",
    ],
)
def test_every_way_of_importing_is_seen(text):
    found = {name.partition(".")[0] for name in imported(text)} - STANDARD
    assert found
    assert not found & LIBRARY_MAY_IMPORT


def test_every_module_of_the_library_has_its_test():
    modules = {path.stem for path in LIBRARY if path.name != "__init__.py"}
    tests = {
        path.stem.removeprefix("test_") for path in (ROOT / "tests/methods").rglob("test_*.py")
    }
    missing = {name for name in modules if name.lstrip("_") not in tests}
    assert not missing, f"no tests/methods/test_X.py for {sorted(missing)}"


def test_only_continuous_integration_names_the_folder_beside_the_project():
    beside = "/".join(["..", "shared"])
    named = {relative(path) for path in _text_files() if beside in path.read_text(encoding="utf-8")}
    assert named <= {".ci/run"}


def _text_files():
    endings = (".py", ".smk", ".yaml", ".yml", ".md", ".toml", ".sh", ".cff", ".j2", ".rst", ".csv")
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_THE_PROJECT]
        for name in files:
            if name.endswith(endings) or name in ("Snakefile", "Makefile", "run"):
                yield Path(folder) / name
