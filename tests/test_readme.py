"""Sentences of the README and of the manual that a file of the project can contradict."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import domain_alignment
import numpy as np
import pytest

from tests.methods import test_docstrings as docstrings
from workflow.lib.config.own_data import CANDIDATES, MAX_ROWS, QUICK_SECONDS
from workflow.lib.config.suite import load_suite

ROOT = Path(__file__).parents[1]
SUITE = load_suite(ROOT)
BESIDE = ["config/README.md", "workflow/README.md", "methods/README.md", "CONTRIBUTING.md"]
PAGES = [
    "README.md",
    *BESIDE,
    *(str(p.relative_to(ROOT)) for p in (ROOT / "reports/manual").rglob("*.md")),
]
PROFILES = [str(p.relative_to(ROOT)) for p in (ROOT / "workflow/profiles").glob("*/*.yaml")]
COMMAND = re.compile(
    r"^(?:#[^`]*? )?((?:make|snakemake) [^`]*?)$|`((?:make|snakemake) [^`]*)`", flags=re.MULTILINE
)
# In the words of a page, not of the project.
PLACEHOLDERS = {"NAME", "FOLDER", "folder"}


def commands(page):
    """Lines of code and pieces in backticks that call make or snakemake, without their remarks."""
    text = (ROOT / page).read_text("utf-8")
    return [(found[1] or found[2]).partition(" #")[0] for found in COMMAND.finditer(text)]


def targets(file, pattern):
    return set(re.findall(pattern, (ROOT / file).read_text("utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_that_a_page_names_exist(page):
    known = targets("Makefile", r"^([a-z-]+):")
    named = {words.split()[1] for words in commands(page) if words.startswith("make ")}
    assert named <= known


@pytest.mark.parametrize("page", PAGES)
def test_experiments_that_a_page_asks_for_exist(page):
    known = {*SUITE.experiments, *targets("Snakefile", r'^    "(\w+)": ')}
    words = {word for line in commands(page) for word in all_targets().get(line, ())}
    named = {w for line in commands(page) for w in re.findall(r"EXPERIMENT=(\w+)", line)}
    assert {w for w in words | named if re.fullmatch(r"[a-z]\w*", w)} - PLACEHOLDERS <= known


# In a process of its own: one that has imported it dies with OSQP's first problem.
PARSE = """
import json, shlex, sys
from snakemake.cli import get_argument_parser
parser, found = get_argument_parser(), {}
for line in json.load(sys.stdin):
    asked = parser.parse_args(shlex.split(line)[1:])
    found[line] = ["--list-rules"] if asked.list_rules else list(asked.targets)
print(json.dumps(found))
"""


def parsed(lines):
    """Targets of every command of Snakemake, by the command."""
    asked = json.dumps([line for line in lines if line.startswith("snakemake ")])
    line = [sys.executable, "-c", PARSE]
    done = subprocess.run(line, input=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def all_targets():
    """Of every command on every page, in one process: to start Snakemake takes a second."""
    return parsed([line for page in [*PAGES, *PROFILES] for line in commands(page)])


def test_targets_are_found_behind_options():
    line = "snakemake -n --cores 2 fma_tabel1"
    assert parsed([line]) == {line: ["fma_tabel1"]}


@pytest.mark.whole_run
def test_commands_of_snakemake_name_what_they_build():
    """Options that take several words would take the target too, where it comes after them."""
    without = {line.strip() for line, targets in all_targets().items() if not targets}
    assert without == {"snakemake --cores 8"}  # builds what config.yaml names, as is said there


def test_what_is_run_again_is_not_called_every_table_and_figure():
    """FMA's Figure 3, VLCS and ten of twelve pairs of DeCAF6 are not: no address is known."""
    text = " ".join(" ".join((ROOT / page).read_text("utf-8") for page in PAGES).split()).lower()
    assert "every table and figure" not in text
    said = (ROOT / "README.md").read_text("utf-8")
    assert "whose data have a known public address" in said


def test_the_papers_and_the_examples_are_as_many_as_the_readme_says():
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    papers = {one.answers["paper"] for one in SUITE.experiments.values() if one.answers}
    whole = {p for p in papers if p.split()[0] in ("Dernbach", "Rodner", "Tuia", "Ullah")}
    others = papers - whole
    assert f"Of {words[len(whole)]} papers the tables" in read_readme()
    assert f"Of {words[len(others)]} more papers columns" in read_readme()
    examples = list((ROOT / "reports/manual/gallery").glob("plot_*.py"))
    assert f"| {words[len(examples)]} examples:" in read_readme()


def test_the_quickstart_has_no_audit_and_nothing_is_called_a_release():
    """Version 0.1.0 said of the first that it has one, and showed figures "of the last release"."""
    assert not SUITE.experiments["quickstart"].audit
    told = re.split(r"(?<=[.|])\s", read_readme())
    assert not [s for s in told if "quickstart" in s.lower() and "audit" in s.lower()]
    if not re.search(r"^## \[\d", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE):
        assert "release" not in read_readme().lower()


def test_the_hours_of_every_method_are_no_part_of_the_papers():
    assert not SUITE.experiments["fma_figure5_all"].answers  # what makes one a part of `papers`
    assert SUITE.experiments["fma_figure5"].answers


def test_the_quick_leaderboard_takes_what_the_reference_run_took():
    boards = (ROOT / "reports/reference/boards.md").read_text("utf-8")
    run = boards.partition("leaderboard_quick`")[2]
    minutes = re.search(r"From first to last \| (\d+) min on 2 cores", run)[1]
    page = (ROOT / "reports/manual/benchmark/index.md").read_text("utf-8")
    (line,) = [line for line in page.splitlines() if " leaderboard_quick " in line]
    assert line.endswith(f": {minutes} minutes on 2 cores")


def test_the_papers_take_what_the_reference_run_took():
    reference = (ROOT / "reports/reference/README.md").read_text("utf-8")
    told = re.search(r"\| `snakemake --cores 2 papers` \| ([\d.]+) (min|h) on 2 cores", reference)
    page = (ROOT / "reports/manual/benchmark/index.md").read_text("utf-8")
    (line,) = [line for line in page.splitlines() if "--cores 8 papers " in line]
    (hours,) = re.findall(r": under (\d) hours on 2 cores$", line)
    assert float(told[1]) / {"min": 60, "h": 1}[told[2]] < int(hours)


@pytest.mark.parametrize("page", ["README.md", "reports/manual/start.md"])
def test_the_full_budget_is_what_the_row_says(page):
    lines = (ROOT / page).read_text("utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith("| `--budget full` |")]
    minutes = SUITE.config["limits"]["seconds_per_trial"] // 60
    assert f" {CANDIDATES['full']} " in row
    assert f" of each instead of {CANDIDATES['quick']}, " in row
    assert f" up to {MAX_ROWS['full']:,} rows of a domain" in row
    assert f"({minutes} minutes: `limits`" in row
    if page == "README.md":
        assert f" instead of {MAX_ROWS['quick']:,}, " in row


@pytest.mark.parametrize("page", ["README.md", "reports/manual/benchmark/index.md"])
def test_the_picture_takes_what_the_accounting_says(page):
    accounting = (ROOT / "reports/reference/accounting.md").read_text("utf-8")
    assert int(re.search(r"fma_table1: (\d+) s on 2 cores", accounting)[1]) < 60
    lines = (ROOT / page).read_text("utf-8").splitlines()
    (line,) = [line for line in lines if "fma_table1" in line and "1 MB of public features" in line]
    assert "1 to 3 minutes" in line


def test_a_comparison_is_given_the_time_that_the_readme_says():
    assert "within ten minutes on 2 cores" in read_readme()
    assert QUICK_SECONDS == 2 * 10 * 60  # of the processor, on two cores


def test_the_page_of_all_experiments_names_them_all():
    """By name or pattern; beside `fma_figure1`, `2` is `fma_figure2`."""
    lines = (ROOT / "reports/manual/benchmark/experiments.md").read_text("utf-8").splitlines()
    patterns = []
    for line in (line for line in lines if line.startswith("| `")):
        named = re.findall(r"`([^`]+)`", line.split("|")[1])
        stem = re.match(r"\D*", named[0])[0]
        patterns += [stem + name if name[0].isdigit() else name for name in named]
    known = [name for name in SUITE.experiments if any(fnmatch(name, p) for p in patterns)]
    assert known == list(SUITE.experiments)


def test_the_experiments_without_a_reference_page_are_named():
    text = (ROOT / "reports/manual/benchmark/experiments.md").read_text("utf-8")
    (line,) = re.findall(r"^Without a page among the reference results: (.*)$", text, re.MULTILINE)
    patterns = re.findall(r"`([^`]+)`", line)
    without = [n for n in SUITE.experiments if not (ROOT / "reports/reference" / n).is_dir()]
    named = [n for n in SUITE.experiments if any(fnmatch(n, pattern) for pattern in patterns)]
    assert named == without


def test_the_skeleton_of_a_method_has_the_sections_that_a_method_needs():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    values = {}
    exec(code, values)
    method = values["MeanShift"]
    docstrings.test_sections_in_their_order(method)
    docstrings.test_parameters_of_the_signature(method)
    docstrings.test_defaults_of_the_signature(method)
    docstrings.test_cost(method)
    source, target = method().fit_transform([np.eye(3), np.eye(3) + 2])
    np.testing.assert_allclose(source, target)


def made(*asked):
    """What make would run, whatever the make that runs the tests was given."""
    command, env = ["make", "--dry-run", *asked], {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("label", ["", "class", "tumour class", "it's", '"a" `b` $$c'])
def test_make_hands_a_label_on_as_it_is(label):
    printed = made("compare", "DATA=my data", f"LABEL={label}", "NAME=mine", "CORES=2")
    command = printed.replace("\\\n", " ").splitlines()[-1]
    told = ["--label", label.replace("$$", "$")] if label else []
    expected = ["compare", "my data", *told, "--name", "mine", "--cores", "2"]
    assert shlex.split(command)[1:] == expected


def test_make_names_the_page_of_what_is_no_experiment():
    groups = targets("Snakefile", r'^    "(\w+)": ')
    assert targets("Makefile", r"^PAGE_(\w+) := ") == groups
    assert "/results/papers.html" in made("benchmark", "EXPERIMENT=papers")
    assert "/results/quickstart/report.html" in made("benchmark")


def test_the_pictures_caption_names_the_search():
    caption = re.search(r"^\*Table 1 of the FMA paper.*\*$", read_readme(), flags=re.MULTILINE)[0]
    assert "†" in caption
    assert "matched after search" in caption


def section(heading):
    return read_readme().partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_the_code_of_the_readme_runs():
    """As it stands there, with two domains of numbers in place of the reader's own."""
    (code,) = re.findall(r"```python\n(.*?)```", section("The library"), flags=re.DOTALL)
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 30)
    X = rng.normal(size=(60, 4)) + 3 * labels[:, None]
    domain = np.repeat([1, -1], 30)
    values = {"X": X, "y": np.where(domain > 0, labels, -1), "domain": domain, "X_new": X[30:]}
    exec(code, values)
    assert (values["model"].predict(X[30:]) == labels[30:]).mean() > 0.9


def test_the_methods_that_the_readme_lists_are_in_the_library():
    (listed,) = re.findall(r"pickling\. (.*?) are in it,", section("The library"), re.DOTALL)
    names = {word for word in re.split(r",\s+| and ", listed) if re.match(r"[A-Z]", word)}
    in_words = {
        "subspace alignment": "SubspaceAlignment",
        "kernel CCA": "KernelCCA",
        "optimal transport": "ClassRegularizedOT",
    }
    assert set(in_words) <= set(re.split(r",\s+| and ", listed))
    classes = {name.replace("-", "") for name in names} | set(in_words.values())
    assert len(classes) == 19
    assert classes <= set(domain_alignment.__all__)


def test_the_library_needs_what_the_readme_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert needed == {"numpy", "scipy", "scikit-learn"}
    assert "`pip install .` needs NumPy, SciPy and scikit-learn only." in read_readme()
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in read_readme()


@pytest.mark.skipif("ALIGNMENT_MIRROR" not in os.environ, reason="needs a mirror of the data")
def test_the_picture_costs_the_downloads_that_the_readme_says():
    asked = SUITE.experiments["fma_table1"]
    datasets = {ref.dataset for task in asked.tasks for ref in task.domains}
    datasets.add(SUITE.protocol("fma_table1")["splits"])
    files = [file for name in datasets for file in SUITE.datasets[name]["files"].values()]
    mirror = Path(os.environ["ALIGNMENT_MIRROR"])
    size = sum((mirror / file["mirror"]).stat().st_size for file in files)
    assert "the picture above: 1 MB of public features" in read_readme()
    assert 0.5e6 < size < 1.5e6


def read_readme():
    return (ROOT / "README.md").read_text("utf-8")
