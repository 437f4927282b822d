"""How the scripts of rules are run: forked from a process that has imported what they import."""

import subprocess

from snakemake.script import PythonScript

# What the scripts of many jobs import, and what Snakemake puts before each of them.
WARM = [
    "snakemake.io",
    "snakemake.iocontainers",
    "snakemake.logging",
    *(
        f"workflow.lib.{module}"
        for module in (
            "config.suite",
            "execution.logs",
            "execution.progress",
            "storage.fetch",
            "storage.made_from",
            "trials.blocks",
            "trials.choices",
            "trials.evaluate",
            "trials.kept",
            "trials.loading",
            "trials.measured",
        )
    ),
    "workflow.loaders._pairing",
]


def share_imports():
    """Fork the scripts of this run of Snakemake from a process that has what they import."""
    forkserver.start(WARM)
    PythonScript.execute_script = in_forks(PythonScript.execute_script)


def in_forks(execute_script):
    """Snakemake's method that runs a Python script (9.27), in a fork where it would start Python.

    Most jobs take less time than their imports. A script that is to run in an environment of its
    own runs as Snakemake runs it, and so does every script where there is no fork server.
    """

    def execute(script, path, edit=False):
        elsewhere = (script.conda_env, script.container_img, script.env_modules, script.shadow_dir)
        if edit or any(elsewhere):
            return execute_script(script, path, edit)
        try:
            code = forkserver.run_script(path, script.resources.tmpdir)
        except OSError:
            return execute_script(script, path, edit)
        if code:
            raise subprocess.CalledProcessError(code, f"{sys.executable} {path}")

    return execute
