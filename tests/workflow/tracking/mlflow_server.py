"""The tracking server of the manual's page, on a loopback port: started and stopped at will."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.workflow.ports import free_port

PAGE = Path(__file__).parents[3].joinpath("reports/manual/benchmark/team.md").read_text("utf-8")
SETTINGS = re.search(r"<<'END'\n(.*?)END\n", PAGE, re.DOTALL)[1]
COMMAND = re.search(r"^mlflow server (?:.*\\\n)*.*", PAGE, re.MULTILINE)[0].replace("\\\n", "")
# What the page has the server and the client of its admin be told, but for places and secrets.
EXPORTS = [
    dict(re.findall(r"(\w+)=(true|false)\b", line))
    for line in re.findall(r"^export (MLFLOW_.*)", PAGE, re.MULTILINE)
]
ADMIN, PASSWORD, NAME = "admin", "hush77-a-long-word", "mlflow.example.org"
SECONDS = 120  # to start, at most


class Server:
    """The server that the page starts, but for its places: all its files lie in ``folder``."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        (folder / "auth.ini").write_text(SETTINGS)
        self._process = None

    def start(self):
        """Start it and wait until it answers."""
        told = EXPORTS[0] | {
            "MLFLOW_AUTH_CONFIG_PATH": f"{self.folder}/auth.ini",
            "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
            "MLFLOW_FLASK_SERVER_SECRET_KEY": "of a test",
        }
        line = [sys.executable, "-m", *shlex.split(COMMAND), "--port", str(self.port)]
        # Of an option that is named twice the latter holds.
        line += ["--allowed-hosts", f"{NAME},127.0.0.1:{self.port}"]
        line += ["--backend-store-uri", f"sqlite:///{self.folder}/runs.db"]
        line += ["--artifacts-destination", f"{self.folder}/artifacts"]
        with open(self.folder / "log", "a") as log:
            self._process = subprocess.Popen(
                line,
                cwd=self.folder,
                env=os.environ | told,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS
        while not self._answers():
            ended = self._process.poll() is not None or time.monotonic() > deadline
            assert not ended, (self.folder / "log").read_text()
            time.sleep(0.2)

    def _answers(self):
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            return urllib.request.urlopen(f"{self.uri}/health", timeout=5).status == 200
        return False

    def stop(self):
        """End it with all its processes."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
