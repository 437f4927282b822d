"""A folder of the user's own with configuration that is read beside the project's.

It holds any of datasets.yaml, methods.yaml, protocols.yaml, classifiers.yaml and
experiments/*.yaml, in the form of the project's files. So data and experiments of one's own
need no edit of a file under version control, and every message names the file that is wrong.
"""

import dataclasses
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow.lib.config.passwords import refuse_passwords_of_files
from workflow.lib.config.reading import ConfigError, check_known, checked, read_yaml

KINDS = ("datasets", "methods", "protocols", "classifiers")
# Of an experiment, as in `wildcard_constraints` of the rules: others have no page and no records.
NAME = "[a-z][a-z0-9_]*"


@dataclasses.dataclass(frozen=True)
class OwnFolder:
    """Files of a run setting ``own``; None for a run without.

    Parameters
    ----------
    path : Path or None
        The folder; a relative one counts from the folder of the run.
    schemas : Path
        Folder of the schemas.

    Raises
    ------
    ConfigError
        If there is no such folder, or a file in it is none of those that are read.
    """

    path: Path | None
    schemas: Path

    def __post_init__(self) -> None:
        if self.path is None:
            return
        if not self.path.is_dir():
            raise ConfigError(
                f"own: {str(self.path)!r} is not a folder (the run's folder is {Path.cwd()}); "
                "correct `own` in config/config.yaml or --config"
            )
        for file in self.path.glob("*.y*ml"):
            known = [f"{kind}.yaml" for kind in KINDS]
            check_known(str(self.path), None, file.name, known, "file of an own folder")

    def entries(self, kind: str, project: Mapping[str, dict]) -> dict[str, dict]:
        """The folder's entries of a kind; paths in them count from the folder.

        Parameters
        ----------
        kind : str
            One of `KINDS`.
        project : mapping
            The project's entries, whose names are taken.

        Raises
        ------
        ConfigError
            If the file does not follow its schema, or one of its names is taken.
        """
        file = self._file(f"{kind}.yaml")
        if file is None:
            return {}
        content = {"schema_version": 1, **read_yaml(file, file)}
        found = checked(kind, content, str(file), self.schemas)[kind]
        for name in found:
            _check_free(f"{file}: {kind}.{name}", name, project, f"config/{kind}.yaml")
        if kind == "datasets":
            for name, entry in found.items():
                refuse_passwords_of_files(entry["files"], f"{file}: datasets.{name}")
            return {name: self._located(entry) for name, entry in found.items()}
        return found

    def experiments(self, project: Mapping[str, Any]) -> list[Path]:
        """Files of the folder's experiments, sorted by name.

        Raises
        ------
        ConfigError
            If a file cannot be called by its name, or the project has an experiment of that name.
        """
        if self.path is None:
            return []
        files = experiment_files(self.path / "experiments", self.path / "experiments")
        for file in files:
            _check_free(str(file), file.stem, project, "config/experiments")
        return files

    def files_of(self, experiment: str) -> list[Path]:
        """Files of the folder that an experiment depends on, those that there are."""
        names = [f"{kind}.yaml" for kind in KINDS] + [f"experiments/{experiment}.yaml"]
        return [file for name in names if (file := self._file(name))]

    def _file(self, name: str) -> Path | None:
        if self.path is None or not (self.path / name).is_file():
            return None
        return self.path / name

    def _located(self, entry: dict) -> dict:
        """A dataset's entry with the paths of its own files as the run finds them."""
        files = {
            name: {**file, "path": os.path.join(self.path, os.path.expanduser(file["path"]))}
            if "path" in file
            else file
            for name, file in entry["files"].items()
        }
        return {**entry, "files": files}


def experiment_files(folder: Path, shown: Path | str) -> list[Path]:
    """Files of a folder of experiments, sorted by name.

    Parameters
    ----------
    folder : Path
    shown : Path or str
        What messages call it.

    Raises
    ------
    ConfigError
        If a file's name is none that an experiment can have; with one that is.
    """
    files = sorted(folder.glob("*.y*ml"))
    for file in files:
        if file.suffix != ".yaml" or not re.fullmatch(NAME, file.stem):
            raise ConfigError(
                f"{Path(shown, file.name)}: rename it to {_callable_name(file.stem)}.yaml; an "
                "experiment's name has lower-case letters a-z, digits and _, a letter first, and "
                "its file ends in .yaml"
            )
    return files


def _callable_name(stem: str) -> str:
    """The nearest name that an experiment can have."""
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    words = re.sub("[^a-z0-9]+", "_", plain).strip("_")
    return words if re.fullmatch(NAME, words) else f"my_{words}".rstrip("_")


def experiment_content(file: Path) -> dict:
    """Content of an own experiment, with what is not asked for there: version and question."""
    content = read_yaml(file, file)
    return {"schema_version": 1, "question": content.get("title"), **content}


def _check_free(where: str, name: str, taken: Mapping[str, Any], place: str) -> None:
    if name in taken:
        raise ConfigError(f"{where}: the project has one named {name!r} ({place}); rename yours")
