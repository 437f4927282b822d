"""What results were computed with, by their own headers, in words."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import timing_files
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.records import load_computed_with
from workflow.lib.results.text import listed
from workflow.lib.storage.artifacts import read_header
from workflow.lib.storage.computed_with import PACKAGES, UNSAID, each_once, said_in

Computed = Sequence[Mapping[str, str]]

_UNSAID = "others unknown (files of earlier versions)"


def computed_of_suite(
    suite: Suite, results: Path, names: Container[str] | None = None
) -> list[dict[str, str]]:
    """Of the experiments of a suite that were run, or some of them, their timings included."""
    asked = [one for one in suite.experiments.values() if names is None or one.name in names]
    return each_once(_computed_of(one, results / one.name) for one in asked)


def _computed_of(experiment: Experiment, folder: Path) -> list[dict[str, str]]:
    if experiment.study:
        study = folder / "study.jsonl"
        return said_in(read_header(study)) if study.is_file() else []
    if not (folder / "records.parquet").is_file():
        return []
    return each_once([load_computed_with(folder), timed_with(experiment, folder)])


def timed_with(experiment: Experiment, folder: Path) -> list[dict[str, str]]:
    """Of the timings of an experiment, in whose results ``folder`` they lie."""
    files = [folder / file for file in timing_files(experiment)]
    return each_once(said_in(read_header(file)) for file in files if file.is_file())


def in_sentences(records: Computed, timings: Computed) -> list[str]:
    """What a page says of records and of timings; nothing if no file says anything.

    Examples
    --------
    >>> in_sentences([{"python": "3.11.7", "numpy": "2.4.6", "processor": "EPYC"}], [])
    ['Python 3.11.7, numpy 2.4.6 on EPYC.']
    """
    if all(one == UNSAID for one in (*records, *timings)):
        return []
    said = [f"{computed_in_words(records)}."] if records else []
    if timings and list(timings) != list(records):
        said.append(f"Timings: {computed_in_words(timings)}.")
    if any(len({_versions(one) for one in of if one}) > 1 for of in (records, timings)):
        said.append("Versions differ, and with them perhaps the last digits of what is compared.")
    if len({one["processor"] for one in timings or records if one}) > 1:
        said.append("Processors differ: seconds of one are no measure beside those of another.")
    return said


def versions_in_words(computed: Computed) -> str:
    """Versions alone, each set of them once: ``Python 3.11.7, numpy 2.4.6, scipy 1.17.1``."""
    return "; ".join(dict.fromkeys(map(_versions, computed)))


def processors_in_words(computed: Computed) -> str:
    """Processors alone, each once: ``AMD EPYC and Intel Xeon``."""
    return listed(dict.fromkeys(one.get("processor", _UNSAID) for one in computed))


def computed_in_words(computed: Computed) -> str:
    """Each once: ``Python 3.11.7, numpy 2.4.6 on AMD EPYC``."""
    return "; ".join(map(_in_words, computed))


def _in_words(one: Mapping[str, str]) -> str:
    return f"{_versions(one)} on {one['processor']}" if one else _UNSAID


def _versions(one: Mapping[str, str]) -> str:
    if not one:
        return _UNSAID
    # In their own order: headers are written by the alphabet.
    packages = [f"{name} {one[name]}" for name in PACKAGES if name in one]
    return ", ".join([f"Python {one['python']}", *packages])
