"""`make ui`: serve the recorded runs on this machine and print the addresses of their tables.

The bare MLflow command would open on a page for language models, start nine processes and look up
a telemetry host; this starts the plain server and links each experiment's table of runs.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

from workflow.lib.tracking.saved_view import VIEW
from workflow.lib.tracking.store import (
    SERVERS,
    MlflowClient,
    TrackError,
    artifact_folder,
    database_file,
)

HOST = "127.0.0.1"
# Without the first part the page opens on language models, without the second on no results.
QUERY = f"workflowType=machine_learning&viewStateShareKey={VIEW}"
_START_SECONDS = 90
SUPERVISED = (sys.executable, "-m", "workflow.lib.execution.process_tree")


def server_command(uri: str, port: int, artifacts: str | None = None) -> list[str]:
    """Command that serves a database and its artifacts, by default those beside it."""
    return [
        *(sys.executable, "-m", "mlflow", "server"),
        *("--backend-store-uri", uri),
        *("--artifacts-destination", str(artifact_folder(uri, artifacts))),
        *("--host", HOST, "--port", str(port), "--workers", "1"),
        *("--uvicorn-opts", "--log-level warning"),  # else a line for each request
    ]


def server_environment() -> dict[str, str]:
    """Environment of the server: no job runner, no telemetry."""
    # workflow.lib.tracking.store has already set the telemetry variables for this process.
    return os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


def check(uri: str, port: int) -> None:
    """Raise `TrackError` where there is nothing to serve or no port to serve it on."""
    if uri.startswith(SERVERS):
        raise TrackError(
            f"The runs are kept by the tracking server {uri}, which serves its own pages. "
            "Open that address in a browser."
        )
    database = database_file(uri)
    if database is not None and not database.is_file():
        receipts = " ".join(str(path) for path in sorted(Path("results").glob("*/mlflow.json")))
        raise TrackError(
            f"{database}: the store is gone, but not the notes that it was written. Delete them "
            f"({receipts}) and run the experiments again: only the logging is repeated."
            if receipts
            else f"{database}: there are no recorded runs yet. Run `make benchmark` first."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise TrackError(
                f"{HOST}:{port}: another program uses this port ({error.strerror}). End it, or "
                f"choose another one: make ui PORT={port + 1}"
            ) from error


def wait_until_up(server: subprocess.Popen, port: int) -> None:
    """Return when the server answers; raise `TrackError` if it ends or stays silent."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise TrackError(f"The MLflow server ended with status {server.returncode}; see above.")
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TrackError(
        f"The MLflow server did not answer within {_START_SECONDS} s. See what it printed above, "
        "and run make ui again."
    )


def addresses(port: int) -> list[tuple[str, str]]:
    """(name, address of its table of runs) of every experiment that has runs."""
    base = f"http://{HOST}:{port}"
    client = MlflowClient(tracking_uri=base)
    found = []
    for experiment in client.search_experiments(order_by=["name ASC"]):
        if client.search_runs([experiment.experiment_id], max_results=1):
            page = f"{base}/#/experiments/{experiment.experiment_id}/runs"
            found.append((experiment.name, f"{page}?{QUERY}"))
    return found


def serve(uri: str, port: int, artifacts: str | None = None) -> int:
    """Serve until the server ends or Ctrl-C; return the exit status."""
    check(uri, port)
    print("Starting the MLflow server; this takes a few seconds ...", flush=True)
    # Under a supervisor, because its workers would otherwise survive it, and it us.
    server = subprocess.Popen(
        [*SUPERVISED, *server_command(uri, port, artifacts)],
        env=server_environment(),
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        wait_until_up(server, port)
        found = addresses(port)
        width = max((len(name) for name, _ in found), default=0)
        print("\nThe recorded runs, one table per experiment (Ctrl-C ends the server):\n")
        for name, address in found:
            print(f"  {name:{width}}  {address}")
        print(flush=True)
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        _end(server)


def _end(server: subprocess.Popen) -> None:
    server.stdin.close()  # the supervisor ends the tree, also when we are killed
    server.wait()


def _configured() -> tuple[str, str | None]:
    """Store and folder of artifacts that the runs of this folder are written to."""
    path = Path("config/config.yaml")
    try:
        asked = yaml.safe_load(path.read_text(encoding="utf-8"))["mlflow"]
        return str(asked["tracking_uri"]), asked.get("artifacts")
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        raise TrackError(
            f"{path}: mlflow.tracking_uri cannot be read ({error}). Correct the file, or name the "
            "store: make ui needs the address that the runs were written to."
        ) from error


def main() -> int:
    parser = argparse.ArgumentParser(prog="make ui", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--uri", help="the store; by default the one in config/config.yaml")
    parser.add_argument("--artifacts", help="folder of its files, if not beside it")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the server as Ctrl-C does
    try:
        uri, artifacts = (arguments.uri, None) if arguments.uri else _configured()
        return serve(uri, arguments.port, arguments.artifacts or artifacts)
    except TrackError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
