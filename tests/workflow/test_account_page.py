"""The account of a run: what a process did, and whether the run has reached its goals."""

import argparse
import re

import account_run
import pytest

SERVER = "python -m workflow.lib.execution.forkserver 5"


@pytest.mark.parametrize(
    ("name", "line", "is_server", "kind"),
    [
        ("python", "python -m snakemake --cores 2 papers", False, "snakemake"),
        ("python", SERVER, True, "imports of the warm process"),
        ("align", SERVER, False, "script align"),
        ("python", SERVER, False, account_run.FITS),
        ("python", "python -m workflow.lib.nursery 5", True, "imports of the warm process"),
        ("python", "python -m workflow.lib.execution.worker spec.json", False, account_run.FITS),
        ("python", "python -m workflow.lib.worker spec.json", False, account_run.FITS),
        ("python", "python -m workflow.studies.common._measure {}", False, account_run.FITS),
        ("python", "python /a/.snakemake/scripts/tmp1x_9.study.py", False, "script study"),
        ("git", "git rev-parse HEAD", False, account_run.OTHER),
    ],
)
def test_what_a_process_did(name, line, is_server, kind):
    assert account_run.kind_of(name, line, is_server) == kind


def test_what_starts_processes_for_fits_is_known():
    """A module that moves would make its fits "other" without a word."""
    for module in ("execution/forkserver", "execution/worker"):
        assert (account_run.ROOT / f"workflow/lib/{module}.py").is_file()
    study = (account_run.ROOT / "workflow/studies/fma/growth.py").read_text(encoding="utf-8")
    (started,) = re.findall(r'"(workflow\.studies\.[\w.]+)"', study)
    assert account_run.kind_of("python", f"python -m {started}", False) == account_run.FITS


def account(*processes):
    found = account_run.Account(b"")
    for pid, (line, seconds) in enumerate(processes):
        found.names[pid], found.lines[pid], found.seconds[pid] = "python", line, seconds
    return found


def test_what_no_kind_fits_is_named_where_it_is_more_than_a_hundredth():
    fits = ("python -m workflow.lib.execution.worker spec", 99.0)
    assert account(fits, ("git describe", 0.9)).unknown() == ""
    told = account(fits, ("git describe", 0.5), ("python -m new.module", 6.0)).unknown()
    assert told.splitlines()[1:] == ["  6.0 s: python -m new.module", "  0.5 s: git describe"]


def test_a_section_says_whether_its_goals_are_met():
    assert account_run.goals("papers", 9999, 0.87) == "85% of them or more: met"
    asked = argparse.Namespace(experiment="fma_table1", cores=2)
    told = " ".join(account_run.sentences(asked, 52, 71, 49.5, alone={"MLflow": 4}))
    goals = "Goals: 85% of them or more: not met; 45 s or less: not met."
    assert goals in told
    page = (account_run.ROOT / "reports/reference/accounting.md").read_text(encoding="utf-8")
    for section in page.split("\n## ")[1:]:
        title = section.partition("\n")[0]
        assert ("Goals: " in section) == (title != "Start" and "," not in title)
