"""What results were computed with, by their own headers, in words."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import timing_files
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.records import load_computed_with
from workflow.lib.results.text import listed
from workflow.lib.storage.artifacts import read_header
from workflow.lib.storage.computed_with import COMPUTED_WITH, PACKAGES, UNSAID, computed_by_all

Computed = Sequence[Mapping[str, str]]

_UNSAID = "others unknown (files of earlier versions)"


def computed_of_suite(
    suite: Suite, results: Path, names: Container[str] | None = None
) -> list[dict[str, str]]:
    """Of the experiments of a suite that were run, or some of them, their timings included."""
    found: list[dict] = []
    asked = [name for name in suite.experiments if names is None or name in names]
    for name in asked:
        experiment = suite.experiments[name]
        if (results / name / "study.jsonl").is_file() and experiment.study:
            found.append(read_header(results / name / "study.jsonl"))
        elif (results / name / "records.parquet").is_file() and not experiment.study:
            found.append({COMPUTED_WITH: load_computed_with(results / name)})
            found.append({COMPUTED_WITH: timed_with(experiment, results / name)})
    return computed_by_all(found)[COMPUTED_WITH]


def timed_with(experiment: Experiment, folder: Path) -> list[dict[str, str]]:
    """Of the timings of an experiment, in whose results ``folder`` they lie."""
    files = [folder / file for file in timing_files(experiment)]
    return computed_by_all(map(read_header, filter(Path.is_file, files)))[COMPUTED_WITH]


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
