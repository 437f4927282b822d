"""Compare methods on data of one's own, from files to an answer: `python -m workflow.compare`.

Writes a configuration folder into ``results/NAME/config`` and runs the workflow with it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from domain_alignment.cli import _compare

from workflow.lib.config.own_data import READING, Asked, configuration
from workflow.lib.config.own_overview import overview
from workflow.lib.config.own_remedies import in_options
from workflow.lib.config.own_written import check_name, write_configuration

ROOT = Path(__file__).resolve().parents[1]
_WRONG_INPUT = 2  # as argparse's own
_OPTIONS = ("missing", "features", *READING)  # of what the loaders call parameters of an entry


def main(argv: Sequence[str] | None = None) -> int:
    """Read the files, write the configuration, run the workflow, print the answer.

    Returns
    -------
    status : int
        0; 2 if the input is wrong, with a message on stderr and nothing written; else Snakemake's.
    """
    given = _parser().parse_args(argv)
    paths = tuple(Path(path) for path in given.paths)
    name = given.name or _name_of(paths)
    asked = Asked(
        name=name,
        paths=paths,
        label=given.label,
        features=given.features,
        domain=given.domain,
        target=given.target,
        missing=given.missing,
        reading={key: value for key in READING if (value := getattr(given, key))},
        budget=given.budget,
        shown=given.use_target_labels,
        shared_columns=given.shared_columns,
    )
    folder = Path("results") / name / "config"
    if given.cores < 1:
        print(f"compare: --cores {given.cores}: at least one is needed", file=sys.stderr)
        return _WRONG_INPUT
    try:
        files = configuration(asked)
        check_name(name, files, folder, given.replace)
        read = overview(files)
    except (ValueError, OSError) as error:
        print(f"compare: {in_options(str(error), _OPTIONS)}", file=sys.stderr)
        return _WRONG_INPUT
    write_configuration(files, folder)
    print("\n".join(read))
    again = f"{_command_of('snakemake')} --cores 2 --config own={folder} -- {name}"
    print(f"configuration: {folder} ({again})")
    if given.dry_run:
        return 0
    started = time.time()
    status = subprocess.call(_command(name, folder, given.cores), env=_environment())
    _tell(folder.parent, 0.0 if status == 0 else started)
    return status


def _tell(folder: Path, since: float) -> None:
    """The answer, if it was given since then: a run that failed may have failed after it."""
    answer = folder / "answer.json"
    if not answer.is_file() or answer.stat().st_mtime < since:
        return
    found = json.loads(answer.read_text(encoding="utf-8"))
    print(f"\n{found['sentence']}\n\nThe page: {folder / 'answer.html'}")
    if (folder / "model/MODEL_CARD.md").is_file():
        command = _command_of("domain-alignment")
        print(f"New samples: {command} predict {folder / 'model'} new.csv")


def _command_of(name: str) -> str:
    """A command of this environment, as it can be typed here though that is not activated."""
    path = Path(sys.executable).parent / name
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="domain-alignment compare", description=_compare.SUMMARY)
    _compare.add_arguments(parser)
    return parser


def _name_of(paths: Sequence[Path]) -> str:
    words = "_".join(path.resolve().stem for path in paths)
    slug = re.sub("[^a-z0-9]+", "_", words.lower()).strip("_")
    return f"own_{slug}"[:60]


def _command(name: str, folder: Path, cores: int) -> list[str]:
    profile = ROOT / "workflow/profiles/default"
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
        *("--workflow-profile", str(profile), "--cores", str(cores)),
        *("--config", f"own={folder}", "--", name),
    ]


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "methods"), os.environ.get("PYTHONPATH")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


if __name__ == "__main__":
    sys.exit(main())
