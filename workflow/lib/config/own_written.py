"""The configuration of a comparison in its folder, which no other comparison may take over."""

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.memory import sum_of_file

SUMS = "SHA256SUMS"
# Folders of results beside those of experiments: the manual's, and those of boards.
_FOLDER = re.compile("manual|board_.*")
_RULE = re.compile(r"^ *(?:rule|checkpoint) (\w+):", re.MULTILINE)


class NameTakenError(ValueError):
    """The results of that name are of something else."""


def check_name(name: str, files: Mapping[str, dict], folder: Path, replace: bool = False) -> None:
    """Refuse a name that something else has: an experiment, a rule, a comparison of other data.

    Parameters
    ----------
    name : str
        Of the comparison.
    files : mapping
        Its configuration, as `write_configuration` writes it.
    folder : Path
        Where it is to be written. The same configuration for the same data may be there already:
        that run is continued.
    replace : bool, default=False
        Whether another comparison there may be replaced.

    Raises
    ------
    NameTakenError
        With the remedy.
    """
    if (PROJECT / "config/experiments" / f"{name}.yaml").is_file():
        raise NameTakenError(
            f"--name {name}: an experiment of the project has this name; say another"
        )
    if is_folder(name):
        raise NameTakenError(f"--name {name}: results/{name} is not an experiment's; say another")
    if name in _rules():
        raise NameTakenError(f"--name {name}: a rule of the workflow has this name; say another")
    if replace or not folder.is_dir():
        return
    other = [path for path, text in _texts(files).items() if _read(folder / path) != text]
    if other:
        what = "of other files or of other content" if SUMS in other else "with other settings"
        raise NameTakenError(
            f"{folder.parent}: holds a comparison {what} ({folder / other[0]} differs); say "
            "--name NAME to keep both, or --replace"
        )


def is_folder(name: str) -> bool:
    """Whether ``results/<name>`` is something else than an experiment's."""
    return bool(_FOLDER.fullmatch(name))


def write_configuration(files: Mapping[str, dict], folder: Path) -> None:
    """Write the contents below a folder, which may be given as ``own``, with the data's sums."""
    for name, text in _texts(files).items():
        path = folder / name
        if _read(path) != text:  # what stands there already makes nothing again
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _rules() -> set[str]:
    places = [PROJECT / "Snakefile", *sorted((PROJECT / "workflow/rules").glob("*.smk"))]
    return {name for path in places for name in _RULE.findall(path.read_text(encoding="utf-8"))}


def _texts(files: Mapping[str, dict]) -> dict[str, str]:
    """Text of every file; that of the sums first, since it tells the most."""
    data = [
        file["path"]
        for entry in files["datasets.yaml"]["datasets"].values()
        for file in entry["files"].values()
    ]
    texts = {SUMS: "".join(f"{sum_of_file(path)}  {path}\n" for path in data)}
    for name, content in files.items():
        texts[name] = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return texts


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
