"""A tracking server that asks for passwords, on a loopback port: started and stopped at will."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ADMIN, PASSWORD = "anna", "hush77-a-long-word"
SETTINGS = """[mlflow]
default_permission = MANAGE
database_uri = sqlite:///{folder}/users.db
admin_username = {admin}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""
SECONDS = 120  # to start, at most


class Server:
    """``mlflow server`` with basic authentication; all its files lie in ``folder``."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        (folder / "auth.ini").write_text(SETTINGS.format(folder=folder, admin=ADMIN))
        self._process = None

    def start(self):
        """Start it and wait until it answers."""
        told = {
            "MLFLOW_AUTH_CONFIG_PATH": f"{self.folder}/auth.ini",
            "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
            "MLFLOW_FLASK_SERVER_SECRET_KEY": "of a test",
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # seven processes that nobody needs
        }
        line = [sys.executable, "-m", "mlflow", "server", "--app-name", "basic-auth"]
        line += ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        line += ["--backend-store-uri", f"sqlite:///{self.folder}/runs.db"]
        line += ["--artifacts-destination", f"{self.folder}/artifacts"]
        with open(self.folder / "log", "a") as log:
            self._process = subprocess.Popen(
                line, env=os.environ | told, stdout=log, stderr=log, start_new_session=True
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
