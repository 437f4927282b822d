"""The wheel alone, where only the packages that it requires are installed."""

import csv
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn
from domain_alignment.persistence import save_model
from sklearn.neighbors import KNeighborsClassifier

from tests.methods.persistence.test_folder import fitted, stacked
from tests.methods.test_contract import make

pytestmark = pytest.mark.whole_run  # wheels are built and tried in fresh processes

ROOT = Path(__file__).resolve().parents[2]

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


def build(kind, folder, source=ROOT):
    """Build a wheel or an sdist into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def sums(wheel):
    """Checksum of each module in a wheel."""
    files = zipfile.ZipFile(wheel).infolist()
    return {file.filename: file.CRC for file in files if file.filename.endswith(".py")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build("wheel", folder)
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
    version = wheel.name.split("-")[1]
    assert {name.partition("/")[0] for name in names} == {
        "domain_alignment",
        f"domain_alignment-{version}.dist-info",
    }


def test_the_sdist_builds_the_same_wheel_without_the_repository(wheel, tmp_path):
    build("sdist", tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert {path.name for path in source.iterdir()} >= {"LICENSE", "README.md", "methods"}
    build("wheel", tmp_path, source)
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    assert sums(again) == sums(wheel)


@pytest.mark.parametrize(
    ("tag", "commits", "expected"),
    [(None, 1, "0.1.1.dev1"), ("v0.2.0", 0, "0.2.0"), ("v0.2.0", 2, "0.2.1.dev2")],
)
def test_the_version_counts_from_the_latest_tag(tmp_path, tag, commits, expected):
    """Also in a clone without tags, where it counts from the version of pyproject.toml."""
    for name in ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(
        ROOT / "methods", tmp_path / "methods", ignore=shutil.ignore_patterns("__pycache__")
    )
    git = ["git", "-c", "user.name=anna", "-c", "user.email=anna@example.org"]

    def run(*arguments):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run("init")
    run("add", ".")
    if tag:
        run("commit", "-m", "first")
        run("tag", tag)
    for number in range(commits):
        run("commit", "--allow-empty", "-m", str(number))
    folder = tmp_path.parent / f"{tmp_path.name}_built"
    build("wheel", folder, tmp_path)
    (built,) = folder.glob("*.whl")
    assert built.name.split("-")[1] == expected


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
        ("ClassRegularizedOT(solver='sinkhorn_log')", "ot"),
        ('ExternalAligner("ot.da:EMDTransport", labels="none")', "ot"),
        ('TKL(solver="clarabel")', "tkl"),
    ],
)
def test_what_is_missing_is_named_with_its_extra_when_it_is_used(run_with_core, method, extra):
    done = run_with_core(f"method = {method}; print('made')\nmethod.fit(Xs, seen)\n")
    assert done.stdout == "made\n"
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert f"pip install '.[{extra}]'" in last


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Models of this environment, new samples, and what they answer here."""
    folder, new = tmp_path_factory.mktemp("saved"), stacked()[-1]
    np.save(folder / "new.npy", new)
    answers = {}
    for name in ("coral", "kema_rbf", "tca_rbf", "fma_i", "tkl"):
        model = fitted(make(name), classifier=KNeighborsClassifier(3))
        save_model(folder / name, model)
        answers[name] = model.predict(new).tolist()
    return folder, answers


def test_a_saved_model_predicts_the_same_with_the_wheel_alone(run_with_core, saved):
    folder, answers = saved
    done = run_with_core(
        "from domain_alignment.persistence import load_model\n"
        f"new = np.load({str(folder / 'new.npy')!r})\n"
        f"for name in {list(answers)}:\n"
        f"    print(load_model({str(folder)!r} + '/' + name).predict(new).tolist())\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(found) for found in answers.values()]


@pytest.mark.slow
def test_a_saved_model_predicts_the_same_in_a_fresh_environment(wheel, saved, tmp_path):
    folder, answers = saved
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    place = tmp_path / "venv/bin"
    versions = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    pins = [f"{name}=={module.__version__}" for name, module in versions.items()]
    command = [place / "python", "-m", "pip", "install", "--quiet", str(wheel), *pins]
    installed = subprocess.run(command, capture_output=True, text=True)
    if "Failed to establish a new connection" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    for name, expected in answers.items():
        done = subprocess.run(
            [place / "domain-alignment", "predict", folder / name, folder / "new.npy"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        with (tmp_path / "predictions.csv").open(newline="") as stream:
            assert [row["predicted"] for row in csv.DictReader(stream)] == expected
