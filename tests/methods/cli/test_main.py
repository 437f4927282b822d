"""The command: its subcommands, help, version and exit status."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import domain_alignment
import pytest
from domain_alignment.cli import main
from domain_alignment.cli._main import COMMANDS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("address", COMMANDS.values())
def test_every_subcommand_says_what_it_does_and_runs(address):
    module = import_module(address)
    assert re.fullmatch(r"[A-Z].+\.", module.SUMMARY)
    assert callable(module.add_arguments)
    assert callable(module.run)


def test_the_distribution_installs_it():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["domain-alignment"].partition(":")
    assert getattr(import_module(module), name) is main


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (["--version"], 0, f"domain-alignment {domain_alignment.__version__}"),
        (["--help"], 0, "predict"),
        (["predict", "--help"], 0, "MODEL"),
        ([], 2, "COMMAND"),
        (["guess"], 2, "invalid choice: 'guess'"),
        (["predict", "model"], 2, "NEW"),
    ],
)
def test_help_version_and_usage(argv, status, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == status
    assert said in "".join(capsys.readouterr())


def test_help_needs_no_numerical_package():
    code = (
        "import sys; sys.path.insert(0, 'methods')\n"
        "from domain_alignment.cli._main import _parser\n"
        "_parser().format_help()\n"
        "print(sorted({'numpy', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
