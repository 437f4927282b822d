"""The wheel alone, where only the packages that it requires are installed."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "methods/domain_alignment"

# What a plain `pip install` of the wheel brings; imports of anything optional fail.
CORE_ONLY = """
import sys
class Absent:
    def find_spec(name, *_):
        if name.partition(".")[0] in ("numba", "cvxpy", "ot", "skada", "pandas", "mlflow"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)
sys.path.insert(0, {folder!r})
import numpy as np
import domain_alignment
from domain_alignment import *
assert domain_alignment.__file__.startswith({folder!r}), domain_alignment.__file__
rng = np.random.default_rng(0)
y = np.repeat([0, 1], 20)
Xs = [4 * np.eye(2, 3)[y] + rng.normal(size=(40, 3)) for _ in range(2)]
seen = [y, np.where(np.arange(40) % 20 < 3, y, -1)]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def run_with_core(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)

    def run(code):
        return subprocess.run(
            [sys.executable, "-I", "-c", CORE_ONLY.format(folder=str(folder)) + code],
            capture_output=True,
            text=True,
        )

    return run


def test_the_wheel_holds_the_library_alone_and_its_version(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    version = re.search(r'__version__ = "(.+)"', (ROOT / LIBRARY / "__init__.py").read_text())[1]
    assert {name.partition("/")[0] for name in names} == {
        "domain_alignment",
        f"domain_alignment-{version}.dist-info",
    }
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_star_import_and_what_needs_no_extra(run_with_core):
    done = run_with_core(
        "for method in (TCA(2), CORAL(), JDA(2), GFK(1), TKL(), KEMA(n_components=2),\n"
        "               FMA(n_components=4, n_neighbors=5), HFA()):\n"
        "    method.fit(Xs, seen).transform(Xs[1], 1)\n"
        "print(len(domain_alignment.__all__), domain_alignment.__version__)\n"
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 30


@pytest.mark.parametrize(
    ("method", "extra"),
    [
        ("MMDT()", "mmdt"),
        ("LSMMDT()", "mmdt"),
        ("ARCt()", "mmdt"),
        ("MMDTCV(cv=2)", "mmdt"),
        ("ClassRegularizedOT()", "ot"),
        ('ExternalAligner("ot.da:EMDTransport", labels="none")', "ot"),
        ('TKL(solver="clarabel")', "tkl"),
    ],
)
def test_what_is_missing_is_named_with_its_extra_when_it_is_used(run_with_core, method, extra):
    done = run_with_core(f"method = {method}; print('made')\nmethod.fit(Xs, seen)\n")
    assert done.stdout == "made\n"
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert f"pip install 'domain-alignment[{extra}]'" in last
