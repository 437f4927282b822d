"""The tree: every module with code has the test of its name at its place."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Folder of modules -> folder of their tests.
MIRRORED = {
    "methods/domain_alignment": "tests/methods",
    "workflow/lib": "tests/workflow",
    "workflow/loaders": "tests/workflow/loaders",
    "workflow/studies": "tests/workflow/studies",
}


def has_code(path):
    """Whether a module defines a function: names, texts and empty exceptions promise nothing."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, kinds) for node in ast.walk(ast.parse(path.read_text("utf-8"))))


def mirror(module, modules, tests):
    """``manifold/_kema.py`` -> ``manifold/test_kema.py``, a package -> ``test_init.py``."""
    return tests / module.relative_to(modules).parent / f"test_{module.stem.strip('_')}.py"


@pytest.mark.parametrize(("modules", "tests"), MIRRORED.items(), ids=MIRRORED)
def test_every_module_has_the_test_of_its_name_at_its_place(modules, tests):
    folder = ROOT / modules
    expected = {
        module: mirror(module, folder, ROOT / tests)
        for module in sorted(folder.rglob("*.py"))
        if has_code(module)
    }
    assert expected
    missing = [
        f"{module.relative_to(ROOT)}: {test.relative_to(ROOT)}"
        for module, test in expected.items()
        if not test.is_file()
    ]
    assert not missing, "modules without their test:\n" + "\n".join(missing)


@pytest.mark.parametrize(("modules", "tests"), MIRRORED.items(), ids=MIRRORED)
def test_no_two_modules_share_a_mirror(modules, tests):
    folder = ROOT / modules
    files = [
        mirror(module, folder, ROOT / tests) for module in folder.rglob("*.py") if has_code(module)
    ]
    assert len(files) == len(set(files))


def test_no_test_is_skipped_for_want_of_a_package_of_the_lock():
    skipping = "importor" + "skip"
    files = (ROOT / "tests").rglob("*.py")
    assert not [path for path in files if skipping in path.read_text("utf-8")]


def test_no_test_imports_snakemakes_command_line():
    """A process that has imported it dies with OSQP's first problem, whatever test that is of."""
    named = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if "snakemake.cli" in imported(node)
    ]
    assert not named, "ask it in a process of its own, as tests/test_readme.py does"


def imported(node):
    """Names of the modules that a statement imports, and of what it takes from them."""
    if isinstance(node, ast.ImportFrom):
        return {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return {name.name for name in node.names} if isinstance(node, ast.Import) else set()
