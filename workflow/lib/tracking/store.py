"""An MLflow store brought up to date: a database file, a database server or a tracking server.

Nothing here depends on where the project lies. In a database the artifacts are addressed as
``mlflow-artifacts:/…``, which `make ui` resolves to the folder beside the database, so a moved or
archived ``results`` still shows its figures.
"""

import contextlib
import dataclasses
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import filelock

# MLflow reads these when it is imported. It compares DO_NOT_TRACK with "true", not with "1".
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["DO_NOT_TRACK"] = "true"
# Its default of seven retries with growing pauses hides a wrong address for minutes.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
# To print the address of a run it asks for the run once more.
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")

import mlflow.entities
import sqlalchemy
import sqlalchemy.exc
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from workflow.lib.config.passwords import without_password
from workflow.lib.tracking.saved_view import VIEW, saved_view
from workflow.lib.tracking.sharing import CHECKOUT, database_lock, ownership_tags
from workflow.lib.tracking.sqlite_file import is_whole, make_once, write_ahead

SUMMARY = "summary"
ARTIFACT_SCHEME = "mlflow-artifacts:/"
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
SERVERS = ("http", "https", "databricks")

# What to do where a server asks who one is; codes of MLflow's client.
_REFUSED = {
    "UNAUTHENTICATED": (
        "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD to a user that it knows."
    ),
    "PERMISSION_DENIED": (
        "It knows this user, who may not write or delete runs in this experiment: give the user "
        "MANAGE on it, or start the server with default_permission = MANAGE."
    ),
}

# PostgreSQL's own words for who may not enter; its client gives no code while it connects.
_NO_PASSWORD = re.compile("password authentication failed|no password supplied")

_LOCK_SECONDS = 600
_DIGEST_LENGTH = 16  # shown beside the dataset's name; MLflow's own limit is 36


class TrackError(RuntimeError):
    """The MLflow store cannot be used; the message says which one and what to do."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Content of one MLflow run. ``cell`` names it within its experiment, ``key`` its content.

    ``parent`` is the cell of the run that it is nested in, which is listed before it; ``inputs``
    are (domain, digest, source or target, where it comes from).
    """

    cell: str
    name: str
    key: str
    metrics: dict[str, float]
    tags: dict[str, str]
    params: dict[str, str] = dataclasses.field(default_factory=dict)
    inputs: list[tuple[str, str, str, str]] = dataclasses.field(default_factory=list)
    artifacts: dict[str, Path] = dataclasses.field(default_factory=dict)
    parent: str = ""
    finished: bool = True
    seconds: float = 0.0


def database_file(uri: str) -> Path | None:
    """File of an SQLite address, relative to the working folder as in ``sqlite:///results/x.db``."""
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def artifact_folder(uri: str, asked: str | None = None) -> Path:
    """Where the artifacts of a database lie: as asked, beside an SQLite file, or in ``results``."""
    if asked:
        return Path(asked).expanduser()
    database = database_file(uri)
    return (database.parent if database else Path("results")) / "mlflow-artifacts"


class Store:
    """One MLflow store, held alone as long as it is open.

    A new SQLite file is made by MLflow's migrations, and two processes that run them at once both
    crash. The lock also keeps two writers from creating the same run twice; PostgreSQL has one of
    its own, for all checkouts. The migrations of a file run on another name, because a file that
    they were cut off from can never be used.

    Parameters
    ----------
    tracking_uri : str
        Of a database or a tracking server.
    artifacts : str, optional
        Folder of a database's artifacts; see `artifact_folder`.
    """

    def __init__(self, tracking_uri: str, artifacts: str | None = None):
        uri = tracking_uri
        self._public = without_password(uri)
        # MLflow keeps the engine of an address for the life of the process, wherever that moves.
        self._database = database_file(uri)
        self.uri = f"sqlite:///{self._database.resolve()}" if self._database else uri
        scheme = urlsplit(uri).scheme.partition("+")[0]
        if scheme not in DATABASES + SERVERS:
            raise TrackError(
                f"config/config.yaml: mlflow.tracking_uri: {self._public!r} is no store. Write "
                "sqlite:///<file>, postgresql://<user>@<host>/<name> or the http(s) address of a "
                "tracking server."
            )
        self._is_database = scheme in DATABASES
        self._folder = artifact_folder(uri, artifacts)
        self._tags = ownership_tags()
        self._held = contextlib.ExitStack()
        self._place = artifact_folder(uri).parent
        self._lock = filelock.FileLock(self._place / "mlflow.lock", timeout=_LOCK_SECONDS)

    def __enter__(self) -> "Store":
        try:
            self._place.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except filelock.Timeout as error:
            raise TrackError(
                f"{self._lock.lock_file}: another process has been writing to MLflow for "
                f"{_LOCK_SECONDS} s. Wait for it, or end it, and run again."
            ) from error
        except OSError as error:
            raise TrackError(
                f"{self._place}: the folder of the MLflow store cannot be written "
                f"({error.strerror}). Make it writable, or correct mlflow.tracking_uri in "
                "config/config.yaml."
            ) from error
        try:
            self._open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
        self._lock.release()

    def _open(self) -> None:
        with self._named_errors():
            if self._database is not None:
                make_once(self._database, _with_tables)
            if self._is_database:
                self._held.enter_context(database_lock(self.uri, _LOCK_SECONDS))
                engine = _with_tables(self.uri)
            if self._database is not None:
                self._held.enter_context(write_ahead(self._database, engine))
            self.client = MlflowClient(tracking_uri=self.uri)
            self.client.search_experiments(max_results=1)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Say which store could not be used, why, and what to do."""
        try:
            yield
        except ModuleNotFoundError as error:
            raise TrackError(
                f"{self._public}: the driver {error.name!r} of this database is not installed. "
                f"Install it in .venv, or correct mlflow.tracking_uri in config/config.yaml."
            ) from error
        except (MlflowException, sqlalchemy.exc.SQLAlchemyError, OSError) as error:
            reason = str(error).replace(self.uri, self._public).strip().splitlines()[0]
            raise TrackError(
                f"{self._public}: MLflow's store cannot be used ({reason}). {self._remedy(error)}"
            ) from error

    def _remedy(self, error: Exception) -> str:
        """What to do about a store that cannot be used."""
        if "Invalid Host header" in str(error):  # the client takes this for PERMISSION_DENIED
            host = urlsplit(self._public).netloc.rpartition("@")[2]
            return f"Start it with --allowed-hosts {host}; a proxy has to hand this name on."
        if refused := _REFUSED.get(getattr(error, "error_code", None)):
            return refused
        if _NO_PASSWORD.search(str(error)):
            return (
                "Set PGPASSWORD, or write the password to ~/.pgpass (readable by you alone), and "
                "see that the address names the right user."
            )
        if self._database is None or not self._database.exists():
            return (
                "Start it, or make room for it, or correct mlflow.tracking_uri in "
                "config/config.yaml."
            )
        renew = (
            "Delete it, and the notes that it was written "
            f"({self._database.parent}/*/mlflow.json), and run the experiments again: "
            "only the logging is repeated."
        )
        if not is_whole(self._database):
            return f"The file is damaged. {renew}"
        return (
            "Make room if its disk is full. If another version of MLflow has written it, copy it "
            f"and run: mlflow db upgrade {self._public}. If that fails, it was cut off. {renew}"
        )

    def update(
        self, experiment: str, description: str, runs: list[Run], about: dict[str, str]
    ) -> dict:
        """Make the runs of an experiment exactly ``runs``, and ``about`` among its tags.

        Other checkouts' runs are left alone. Returns the receipt.
        """
        with self._named_errors():
            return self._update(experiment, description, runs, about)

    def _update(
        self, experiment: str, description: str, runs: list[Run], about: dict[str, str]
    ) -> dict:
        experiment_id = self._experiment(experiment, description, about)
        kept, obsolete, parents = self._compare(experiment_id, runs)
        for run_id in obsolete:
            self._delete(experiment_id, run_id)
        missing = [run for run in runs if run.cell not in kept]
        # The UI lists the latest start first: in the order given, and nothing ends in the future.
        start = time.time() - max((run.seconds for run in missing), default=0)
        created: dict[str, str] = {}
        for position, run in enumerate(missing):  # a parent before what is nested in it
            parent = (kept | created).get(run.parent, "")
            began = int(1000 * start) - position
            created[run.cell] = self._create(experiment_id, run, began, parent)
        ids = kept | created
        self._nest(runs, ids, parents)
        return {
            "experiment": experiment,
            "experiment_id": experiment_id,
            "tracking_uri": self._public,
            "created": len(created),
            "kept": len(kept),
            "deleted": len(obsolete),
            "runs": {run.cell: ids[run.cell] for run in runs},
        }

    def _nest(self, runs: list[Run], ids: dict[str, str], parents: dict[str, str]) -> None:
        """Give every nested run that was kept its parent, which may be a new one."""
        for run in runs:
            if run.parent and run.cell in parents and parents[run.cell] != ids[run.parent]:
                self.client.set_tag(ids[run.cell], MLFLOW_PARENT_RUN_ID, ids[run.parent])

    def _experiment(self, name: str, description: str, about: dict[str, str]) -> str:
        """Id of the experiment of this name, created or restored if need be."""
        tags = about | {
            "mlflow.experimentKind": "custom_model_development",
            f"mlflow.sharedViewState.{VIEW}": saved_view(),
        }
        if description:
            tags["mlflow.note.content"] = description
        found = self.client.get_experiment_by_name(name)
        if found is None:
            location = f"{ARTIFACT_SCHEME}{name}" if self._is_database else None
            try:
                return self.client.create_experiment(name, location, tags)
            except MlflowException as error:
                # A tracking server has no lock: another run may have just made it.
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
                found = self.client.get_experiment_by_name(name)
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        for tag, value in tags.items():
            if found.tags.get(tag) != value:
                self.client.set_experiment_tag(found.experiment_id, tag, value)
        return found.experiment_id

    def _compare(
        self, experiment_id: str, runs: list[Run]
    ) -> tuple[dict[str, str], list[str], dict[str, str]]:
        """Runs to keep by cell, the ids of those to delete, and the parents of those kept."""
        wanted = {run.cell: run.key for run in runs}
        kept: dict[str, str] = {}
        parents: dict[str, str] = {}
        obsolete = []
        for run in self._existing(experiment_id):
            cell, key = run.data.tags.get("cell"), run.data.tags.get("result_key")
            if cell is None or not self._is_own(run.data.tags):
                continue  # somebody else's run
            # A run that is still "running" was left by a writer that died half-way.
            whole = run.info.status in ("FINISHED", "FAILED")
            if whole and cell not in kept and wanted.get(cell) == key:
                kept[cell] = run.info.run_id
                parents[cell] = run.data.tags.get(MLFLOW_PARENT_RUN_ID, "")
            else:
                obsolete.append(run.info.run_id)
        return kept, obsolete, parents

    def _is_own(self, tags: Mapping[str, str]) -> bool:
        """Whether this checkout has written it; what is not marked is older than the mark."""
        owner = tags.get(CHECKOUT)
        return owner == self._tags[CHECKOUT] or (owner is None and self._database is not None)

    def _existing(self, experiment_id: str) -> Iterable[mlflow.entities.Run]:
        """Every run once, the oldest first: what others add meanwhile moves no page."""
        token, seen = None, set()
        while True:
            page = self.client.search_runs(
                [experiment_id],
                max_results=1000,
                order_by=["attribute.start_time ASC"],
                page_token=token,
            )
            yield from (run for run in page if run.info.run_id not in seen)
            seen |= {run.info.run_id for run in page}
            token = page.token
            if not token:
                return

    def _create(self, experiment_id: str, run: Run, start: int, parent: str) -> str:
        tags = run.tags | self._tags | {"cell": run.cell, "result_key": run.key}
        if parent:
            tags[MLFLOW_PARENT_RUN_ID] = parent
        run_id = self.client.create_run(
            experiment_id, start_time=start, tags=tags, run_name=run.name
        ).info.run_id
        metrics = [mlflow.entities.Metric(name, v, start, 0) for name, v in run.metrics.items()]
        params = [mlflow.entities.Param(name, value) for name, value in run.params.items()]
        # The client cuts it into as many calls as the store takes; mostly one.
        self.client.log_batch(run_id, metrics=metrics, params=params)
        if run.inputs:
            self.client.log_inputs(run_id, [_dataset_input(*named) for named in run.inputs])
        if run.artifacts:
            self._write_artifacts(experiment_id, run_id, run.artifacts)
        # Last, so that a run is complete or is seen not to be.
        status = "FINISHED" if run.finished else "FAILED"
        self.client.set_terminated(run_id, status, end_time=start + int(1000 * run.seconds))
        return run_id

    def _write_artifacts(self, experiment_id: str, run_id: str, files: dict[str, Path]) -> None:
        folder = self._local_artifacts(experiment_id, run_id)
        repository = LocalArtifactRepository(str(folder.resolve())) if folder else None
        for name, path in files.items():
            parent = PurePosixPath(name).parent
            below = None if parent == PurePosixPath(".") else str(parent)
            if repository:
                repository.log_artifact(str(path), below)
            else:
                self.client.log_artifact(run_id, str(path), below)

    def _local_artifacts(self, experiment_id: str, run_id: str) -> Path | None:
        """Folder of a run's artifacts, or None where MLflow's client must be asked."""
        if not self._is_database:
            return None
        folder = self._local(self.client.get_experiment(experiment_id).artifact_location)
        return folder / run_id / "artifacts" if folder else None

    def log_model(
        self, experiment: str, description: str, model: Path, name: str, tags: dict[str, str]
    ) -> dict:
        """Make a folder the one model of its name in an experiment, unless its tags say it is.

        Returns the receipt.
        """
        with self._named_errors():
            return self._log_model(experiment, description, model, name, tags)

    def _log_model(
        self, experiment: str, description: str, model: Path, name: str, tags: dict[str, str]
    ) -> dict:
        experiment_id = self._experiment(experiment, description, {})
        tags = tags | {CHECKOUT: self._tags[CHECKOUT]}
        found = [
            logged
            for logged in self.client.search_logged_models([experiment_id])
            if logged.name == name and self._is_own(logged.tags)
        ]
        whole = [logged for logged in found if logged.status == "READY" and logged.tags == tags]
        for logged in found:
            if logged not in whole[:1]:
                self.client.delete_logged_model(logged.model_id)
                if folder := self._local(logged.artifact_location):
                    shutil.rmtree(folder.parent, ignore_errors=True)
        logged = whole[0] if whole else self._create_model(experiment_id, model, name, tags)
        folder = self._local(logged.artifact_location)
        return {
            "model_id": logged.model_id,
            "model_uri": logged.model_uri,
            "tracking_uri": self._public,
            "path": str(folder) if folder else None,
        }

    def _create_model(
        self, experiment_id: str, model: Path, name: str, tags: dict[str, str]
    ) -> mlflow.entities.LoggedModel:
        made = self.client.create_logged_model(experiment_id, name=name, tags=tags)
        if folder := self._local(made.artifact_location):
            shutil.copytree(model, folder, dirs_exist_ok=True)
        else:
            self.client.log_model_artifacts(made.model_id, str(model))
        # Last, so that a model is complete or is seen not to be.
        return self.client.finalize_logged_model(made.model_id, "READY")

    def _local(self, location: str) -> Path | None:
        """Folder of an address of artifacts, or None where MLflow's client must be asked."""
        if not self._is_database or not location.startswith(ARTIFACT_SCHEME):
            return None
        return self._folder / location.removeprefix(ARTIFACT_SCHEME)

    def _delete(self, experiment_id: str, run_id: str) -> None:
        self.client.delete_run(run_id)
        if folder := self._local_artifacts(experiment_id, run_id):
            with contextlib.suppress(FileNotFoundError):  # most runs have none
                shutil.rmtree(folder.parent)


def _with_tables(uri: str) -> sqlalchemy.Engine:
    """MLflow's engine of a database, which has its tables; its own experiment is relocatable."""
    return SqlAlchemyStore(uri, ARTIFACT_SCHEME).engine


def _dataset_input(
    domain: str, digest: str, context: str, origin: str
) -> mlflow.entities.DatasetInput:
    dataset = mlflow.entities.Dataset(
        name=domain,
        digest=digest[:_DIGEST_LENGTH],
        source_type="publication",
        source=json.dumps({"source": origin}),
    )
    tag = mlflow.entities.InputTag("mlflow.data.context", context)
    return mlflow.entities.DatasetInput(dataset, [tag])
