"""What results were computed with, by their own headers, in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import timing_files
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.records import load_computed_with
from workflow.lib.results.text import listed
from workflow.lib.storage.artifacts import read_header
from workflow.lib.storage.computed_with import COMPUTED_WITH, PACKAGES, UNSAID, computed_by_all

Computed = Sequence[Mapping[str, str]]

_UNSAID = "what files of earlier versions do not say"


def computed_of_suite(suite: Suite, results: Path) -> list[dict[str, str]]:
    """Of all experiments of a suite that were run, their timings included."""
    found = [{COMPUTED_WITH: []}]
    for name, experiment in suite.experiments.items():
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
    said = [f"{'; '.join(map(_in_words, records))}."] if records else []
    if timings and list(timings) != list(records):
        said.append(f"Timings: {'; '.join(map(_in_words, timings))}.")
    if len({_versions(one) for one in records}) > 1:
        said.append("Versions differ, and with them perhaps the last digits of what is compared.")
    if len(processors_of(timings or records)) > 1:
        said.append("Processors differ: seconds of one are no measure beside those of another.")
    return said


def processors_of(computed: Computed) -> list[str]:
    """Names of processors, each once, with words for what is not said."""
    return list(dict.fromkeys(one.get("processor", _UNSAID) for one in computed))


def versions_in_words(computed: Computed) -> str:
    """Versions alone, each set of them once: ``Python 3.11.7, numpy 2.4.6, scipy 1.17.1``."""
    return "; ".join(dict.fromkeys(map(_versions, computed)))


def processors_in_words(computed: Computed) -> str:
    """Processors alone: ``AMD EPYC and Intel Xeon``."""
    return listed(processors_of(computed))


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
