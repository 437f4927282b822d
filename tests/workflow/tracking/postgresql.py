"""A PostgreSQL server that asks for passwords, on a loopback port."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.workflow.ports import free_port

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
USER, PASSWORD = "anna", secrets.token_hex(8)


class Postgresql:
    """A new server, with an empty database ``runs``.

    As root it runs as the user whom Debian's package has made: PostgreSQL refuses root. Its files
    are in a folder that this user can reach, unlike those of pytest.
    """

    def __init__(self):
        self._programs = PROGRAMS[-1].parent
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self._folder = folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        if self._as_user:
            folder.chmod(0o777)
        self._port = str(free_port())
        (folder / "password").write_text(PASSWORD)
        asks = ("--auth=scram-sha-256", f"--username={USER}", f"--pwfile={folder}/password")
        self._run("initdb", "--no-sync", f"--pgdata={folder}/data", *asks)
        self.start()
        self._run(
            "createdb", "--host=127.0.0.1", f"--port={self._port}", f"--username={USER}", "runs"
        )
        self.uri = f"postgresql://{USER}@127.0.0.1:{self._port}/runs"

    def start(self):
        """Start it and wait until it answers."""
        options = f"-p {self._port} -h 127.0.0.1 -k {self._folder} -F"
        log = f"{self._folder}/log"
        self._run(
            "pg_ctl", "start", f"--pgdata={self._folder}/data", "-w", "-o", options, "-l", log
        )

    def stop(self):
        """End it at once, whoever is writing."""
        self._run("pg_ctl", "stop", f"--pgdata={self._folder}/data", "-m", "immediate")

    def remove(self):
        self.stop()
        shutil.rmtree(self._folder)

    def _run(self, program, *words):
        line = [*self._as_user, str(self._programs / program), *words]
        told = os.environ | {"PGPASSWORD": PASSWORD}
        subprocess.run(line, check=True, cwd="/", env=told, stdout=subprocess.DEVNULL, timeout=120)
