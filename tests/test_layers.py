"""Who may import whom: the tables of methods/README.md and workflow/README.md hold."""

import ast
import graphlib
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = sorted((ROOT / "methods/domain_alignment").rglob("*.py"))
BENCHMARK = sorted((ROOT / "workflow/lib").rglob("*.py"))
LOADERS = sorted((ROOT / "workflow/loaders").rglob("*.py"))

# Beside the standard library.
LIBRARY_MAY_IMPORT = {"domain_alignment", "numpy", "scipy", "sklearn", "cvxpy", "numba", "ot"}
LIBRARY_MAY_IMPORT |= {"threadpoolctl"}  # which scikit-learn brings along
SELECTION = "domain_alignment.model_selection."  # the selectors, which are no methods
PERSISTENCE = "domain_alignment.persistence."  # saved models, whatever the method
CELLS = "domain_alignment.utils.cells."  # what a cell of a table means
BASE_TYPES = (
    "domain_alignment.base.",
    "domain_alignment.exceptions.",
    SELECTION,
    PERSISTENCE,
    CELLS,
)
NOT_THE_PROJECT = {".venv", ".git", ".snakemake", "__pycache__"}
OUTPUTS = {ROOT / name for name in ("results", "resources", "logs")}
STANDARD = sys.stdlib_module_names


def imported(text):
    """Full names of the modules and objects that a piece of Python imports, wherever it does."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: a relative import, which no rule here sees"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value


def _called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def relative(path):
    return str(path.relative_to(ROOT))


def rooms(page):
    """Room -> rooms that it may import, from the table of a page, in the order of its rows."""
    table = (ROOT / page).read_text(encoding="utf-8").partition("| may import |")[2]
    rows = table.partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if "`" in row]
    return {room.strip("`"): set(re.findall(r"`(\w+)`", allowed)) for room, _, allowed in cells}


PACKAGES = {
    "domain_alignment": ("methods/README.md", ROOT / "methods/domain_alignment"),
    "workflow.lib": ("workflow/README.md", ROOT / "workflow/lib"),
}


PACKAGING = {"_lazy", "_version"}  # how names and the version are handed on; no rooms


def arrows(package, folder):
    """(room, room that it imports, file) for every import between rooms of a package."""
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0].removesuffix(".py")
        for name in imported(path.read_text(encoding="utf-8")):
            if name.startswith(f"{package}."):
                other = name.removeprefix(f"{package}.").partition(".")[0]
                if room not in (other, "__init__") and other not in PACKAGING:
                    yield room, other, relative(path)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_room_imports_only_what_its_row_allows(package):
    page, folder = PACKAGES[package]
    allowed = rooms(page)
    strangers = {
        f"{file}: {room} imports {other}"
        for room, other, file in arrows(package, folder)
        if other not in allowed[room]
    }
    assert not strangers


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_has_its_row_and_no_row_is_idle(package):
    page, folder = PACKAGES[package]
    allowed = rooms(page)
    present = {
        path.name.removesuffix(".py")
        for path in folder.iterdir()
        if path.stem not in {"__init__", "__pycache__", *PACKAGING}
        and (path.is_dir() or path.suffix == ".py")
    }
    assert present == set(allowed)
    used = {(room, other) for room, other, _ in arrows(package, folder)}
    idle = {(room, other) for room in allowed for other in allowed[room]} - used
    assert not idle, "an arrow that nothing uses is no permission to keep"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_arrow_runs_in_a_circle_or_back_up(package):
    allowed = rooms(PACKAGES[package][0])
    order = list(allowed)
    assert not [
        (room, other)
        for room in allowed
        for other in allowed[room]
        if order.index(other) > order.index(room)
    ]
    tuple(graphlib.TopologicalSorter(allowed).static_order())  # raises CycleError


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_import_each_other_in_no_circle(package):
    _, folder = PACKAGES[package]
    modules = {
        ".".join([package, *path.relative_to(folder).with_suffix("").parts]): path
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {
        name: {
            other
            for target in imported(path.read_text(encoding="utf-8"))
            for other in (target, target.rpartition(".")[0])
            if other in modules and other != name
        }
        for name, path in modules.items()
    }
    tuple(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("path", LOADERS, ids=relative)
def test_a_loader_imports_nothing_of_the_stages(path):
    names = imported(path.read_text(encoding="utf-8"))
    assert not [name for name in names if name.startswith("workflow.lib")]


def test_one_module_knows_scikit_learns_private_validation():
    users = {
        relative(path)
        for path in LIBRARY
        if any("_param_validation" in name for name in imported(path.read_text(encoding="utf-8")))
    }
    assert users == {"methods/domain_alignment/utils/_params.py"}


def test_the_pages_are_short():
    for page in ("methods/README.md", "workflow/README.md"):
        assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) < 80


def test_functions_and_modules_are_short():
    long = []
    for path in [*LIBRARY, *sorted((ROOT / "workflow").rglob("*.py"))]:
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > 450:
            long.append(relative(path))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and body[-1].end_lineno - body[0].lineno >= 60:
                    long.append(f"{relative(path)}: {node.name}")
    assert not long


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
            assert name.startswith(BASE_TYPES), f"{relative(path)} imports {name}"


@pytest.mark.parametrize("path", BENCHMARK + LOADERS, ids=relative)
def test_the_benchmark_runs_without_snakemake(path):
    packages = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
    assert "snakemake" not in packages, "a library function takes values, not Snakemake's objects"


def test_mlflow_is_imported_in_two_places():
    users = {
        path.name
        for path in BENCHMARK
        if any(name.split(".")[0] == "mlflow" for name in imported(path.read_text()))
    }
    # It costs a second, and its telemetry is turned off in the first, which the second imports.
    assert users == {"store.py", "models.py"}


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


def test_only_continuous_integration_names_the_folder_beside_the_project():
    beside = "/".join(["..", "shared"])
    named = {relative(path) for path in _text_files() if beside in path.read_text(encoding="utf-8")}
    assert named <= {".ci/run"}


def _text_files():
    endings = (".py", ".smk", ".yaml", ".yml", ".md", ".toml", ".sh", ".cff", ".j2", ".rst", ".csv")
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_THE_PROJECT and Path(folder) / name not in OUTPUTS
        ]
        for name in files:
            if name.endswith(endings) or name in ("Snakefile", "Makefile", "run"):
                yield Path(folder) / name
