"""Domain adaptation by alignment: the benchmark. `snakemake --cores 8` runs the quickstart."""

import atexit
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# The folder of this file, also where workflow/Snakefile includes it.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve()
# Scripts and the processes they start find this checkout's modules, on every executor.
paths = [str(ROOT), str(ROOT / "methods"), os.environ.get("PYTHONPATH")]
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, paths)))

from workflow.lib.execution import aging, ending, forkserver, logs, run_memory, run_note, terminal
from workflow.lib.config.memory import MEMORY
from workflow.lib.config.own_written import is_folder
from workflow.lib.config.passwords import name_a_password, refuse_named_passwords
from workflow.lib.config.suite import load_suite
from workflow.lib.config.estimators import check_estimators
from workflow.lib.storage.clock import from_the_future

# A run asks its own fork server or none, and a job of a cluster stays within what it was given there,
# also on the node that submitted it.
if not workflow.subprocess_exec:
    os.environ.pop(forkserver.ADDRESS, None)

# The folder of the call, where `--directory` makes another that of the run.
CALLED_IN = run_note.called_in(sys.argv, ROOT, os.environ)

if workflow.is_main_process:
    logs.outlive_readers(logger)
    shown = workflow.output_settings
    if not (shown.verbose or shown.dryrun or shown.printshellcmds):
        terminal.calm(logger)
    # One with a password is refused and leaves no trace of it; what computes nothing, as a dry run or
    # --unlock, is none to continue.
    if not (name_a_password(sys.argv) or shown.dryrun or aging.only_shows(sys.argv)):
        run_note.announce(sys.argv, os.path.relpath(ROOT / "Snakefile"), CALLED_IN)


configfile: ROOT / "config/config.yaml"


report: "reports/captions/workflow.rst"


include: "workflow/rules/scripts.smk"
include: "workflow/rules/planning.smk"
include: "workflow/rules/polling.smk"
include: "workflow/rules/grouping.smk"
include: "workflow/rules/retries.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/own_data.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/align.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/study.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/track.smk"
include: "workflow/rules/answer.smk"
include: "workflow/rules/ending.smk"


if workflow.is_main_process:
    try:
        refuse_named_passwords(sys.argv)
    except ValueError as error:
        raise WorkflowError(str(error)) from None

MEMORY.save()
if workflow.is_main_process:
    atexit.register(MEMORY.save)  # with what plans of jobs found out, of a dry run too

note_plan()

# Cells that share a job of a cluster share what they import, within what that job was given.
if workflow.remote_exec and run_note.n_target_jobs(sys.argv) > 1:
    share_imports()

if workflow.is_main_process and not aging.only_shows(sys.argv):
    try:
        age_files(dry=shown.dryrun)
    except PermissionError as error:
        raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    if ahead := list(from_the_future(["results", "resources/domains"])):
        print(
            f"{ahead[0]}: newer than this machine's clock says it is, as {len(ahead) - 1} other files "
            "are. What was edited since cannot be told from the time stamps. To make all of an "
            "experiment again: snakemake --cores all --forceall -- EXPERIMENT",
            file=sys.stderr,
        )


# Targets that ask for several experiments.
GROUPS = {
    "all": CONFIG["experiments"],
    "papers": PAPERS,
    "leaderboard": TUNED_ALIKE,
    "leaderboard_quick": BOARDS["quick"],
    "audit": AUDITED,
    "shifts_page": SHIFTS,
    "findings": FOUND,
    "recorded": REPORTED,
}
TAKEN = {rule.name for rule in workflow.rules} | GROUPS.keys()

for name in SUITE.experiments:
    if name in TAKEN or is_folder(name):
        what = "the name of a rule" if name in TAKEN else "another folder of results"
        raise WorkflowError(
            f"{SUITE.file_of('experiments', name)}: {name!r} is {what}; rename the file"
        )


rule all:
    """What config.yaml names under `experiments`."""
    default_target: True
    input:
        everything_of(CONFIG["experiments"]),
    localrule: True


rule papers:
    """Every experiment that answers to a published table or figure."""
    input:
        everything_of(PAPERS),
        "results/papers.html",
        "results/audit.html",
    localrule: True


rule recorded:
    """Pages of what has run here so far, and one of links over them."""
    input:
        [f"results/{name}/report.html" for name in GROUPS["recorded"]],
        "results/report.html",
    localrule: True


rule leaderboard:
    """All that the findings are of: boards of methods tuned alike, kinds of shift, labels; hours."""
    input:
        everything_of(TUNED_ALIKE),
        pages_of(name for name in BOARDS if name != "quick"),
        "results/shifts.html",
        "results/leaderboard.html",
    localrule: True


rule leaderboard_quick:
    """The same for 8 methods on 3 data sets, in minutes."""
    input:
        everything_of(BOARDS["quick"]),
        pages_of(["quick"]),
    localrule: True


for name in SUITE.experiments:

    rule:
        name:
            name
        input:
            everything_of([name]),
        localrule: True


include: "workflow/rules/targets.smk"


if UNKNOWN:

    rule unknown_target:
        input:
            refuse,
        output:
            "{word}",
        wildcard_constraints:
            word="|".join(sorted(UNKNOWN)),


onstart:
    ending.end_from_a_thread(workflow.scheduler.exit_gracefully)
    if workflow.local_exec:
        share_imports()
    check_own_data(asked_experiments())
    refuse_not_ours(asked_experiments())
    MEMORY.save()
    run_memory.watch_this_run()
    # To keep a rate of submissions, Snakemake (9.27) looks for ready jobs one second after each look,
    # so each finished job adds a chain of looks without end. One machine has no rate to keep; there
    # --max-jobs-per-timespan has no effect.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
    run_note.begin(
        {
            "targets": sorted(workflow.dag_settings.targets),
            "arguments": run_note.arguments_of(sys.argv, os.environ),
            "cores": workflow.resource_settings.cores,
            "config": workflow.config_settings.overwrite_config,
            "snakefile": os.path.relpath(ROOT / "Snakefile"),
            "called_in": CALLED_IN,
            "asked": {
                name: {
                    "tasks": [task.name for task in experiment.tasks],
                    "methods": list(experiment.methods),
                    "blocks": SUITE.blocks(name),
                }
                for name, experiment in SUITE.experiments.items()
                if not experiment.study
            },
        }
    )


onsuccess:
    tell_outcome()


onerror:
    tell_interruption()
