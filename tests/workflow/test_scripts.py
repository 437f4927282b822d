"""rules/scripts.smk: scripts are forked where they can be, with what they import at hand."""

import ast
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Scripts that a run starts often.
MANY = ("align", "download", "evaluate", "load", "sample", "time_alone")


def rules(run_script=None):
    """What the file of rules defines, with a fork server of the test's."""
    source = (ROOT / "workflow/rules/scripts.smk").read_text(encoding="utf-8")
    defined = {"forkserver": SimpleNamespace(run_script=run_script), "sys": sys}
    exec(compile(source, "scripts.smk", "exec"), defined)
    return SimpleNamespace(**defined)


def executed(run_script, **asked):
    """Scripts that Snakemake has run itself when it was to run one."""
    where = dict.fromkeys(("conda_env", "container_img", "env_modules", "shadow_dir")) | asked
    script = SimpleNamespace(resources=SimpleNamespace(tmpdir="scratch"), **where)
    own = []
    execute = rules(run_script).in_forks(lambda script, path, edit: own.append(path))
    execute(script, "a.py", edit=False)
    return own


def test_a_script_is_forked():
    forked = []
    assert executed(lambda *given: forked.append(given) or 0) == []
    assert forked == [("a.py", "scratch")]


@pytest.mark.parametrize("where", ["conda_env", "container_img", "env_modules", "shadow_dir"])
def test_a_script_of_another_environment_is_left_to_snakemake(where):
    assert executed(pytest.fail, **{where: "somewhere"}) == ["a.py"]


def test_without_a_fork_server_snakemake_runs_the_script():
    def refused(path, scratch):
        raise ConnectionRefusedError

    assert executed(refused) == ["a.py"]


@pytest.mark.parametrize("code", [3, -signal.SIGKILL])
def test_a_script_that_fails_is_a_job_that_fails(code):
    with pytest.raises(subprocess.CalledProcessError) as failure:
        executed(lambda *_: code)
    assert failure.value.returncode == code


def test_what_many_scripts_import_is_imported_once():
    wanted = {
        node.module
        for name in MANY
        for node in ast.walk(ast.parse((ROOT / f"workflow/scripts/{name}.py").read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("workflow.")
    }
    lines = f"import {', '.join(rules().WARM)}\nimport sys\nprint(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, check=True, text=True
    )
    assert wanted <= set(found.stdout.split())
