"""Output of a script goes to its log, whoever of its processes prints."""

import subprocess
import sys

SCRIPT = """
import os, subprocess, sys
from workflow.lib.execution.logs import log_to
terminal = log_to(sys.argv[1], keep="keep" in sys.argv)
print("printed")
print("complained", file=sys.stderr)
sys.stdout.flush()
os.write(1, b"written\\n")
subprocess.run([sys.executable, "-c", "print('of a child')"])
terminal.write("seen\\n")
"""


def test_all_output_goes_to_the_log_and_the_terminal_stays_open(tmp_path):
    log = tmp_path / "new/folder/job.log"
    log.parent.mkdir(parents=True)
    log.write_text("of the run before")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log)], capture_output=True, text=True, check=True
    )
    assert sorted(log.read_text().split("\n")) == [
        "",
        "complained",
        "of a child",
        "printed",
        "written",
    ]
    assert (done.stdout, done.stderr) == ("", "seen\n")


def test_what_an_earlier_attempt_has_told_stays_where_a_job_only_gives_up(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("why it failed\n")
    line = [sys.executable, "-c", SCRIPT, str(log), "keep"]
    subprocess.run(line, capture_output=True, check=True)
    assert log.read_text().startswith("why it failed\n")
    assert "printed" in log.read_text()


def test_the_folder_of_the_log_is_made(tmp_path):
    log = tmp_path / "new/job.log"
    subprocess.run([sys.executable, "-c", SCRIPT, str(log)], capture_output=True, check=True)
    assert "printed" in log.read_text()
