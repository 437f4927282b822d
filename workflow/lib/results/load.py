"""Read the results of an experiment for the report; every file is checked."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import domains_of, pictured_files, timing_files
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.environment import describe
from workflow.lib.results.records import load_computed_with, load_results
from workflow.lib.results.views import ExperimentView, StudyView
from workflow.lib.storage.artifacts import read_arrays, read_records
from workflow.lib.storage.computed_with import each_once, said_in
from workflow.lib.trials.predictions import PICTURE
from workflow.lib.trials.protocols import HIDDEN, read_trials


def top_of(files: Iterable[Path | str]) -> Path | str:
    """What `results` lies in: this folder, or where Snakemake brings files of a store."""
    return next((Path(file).parents[2] for file in files), "")


def load_views(
    suite: Suite, names: Iterable[str], top: Path | str = ""
) -> list[ExperimentView | StudyView]:
    """Views of several experiments, from the workflow's folders in ``top``."""
    results, domains = Path(top, "results"), Path(top, "resources/domains")
    return [load_view(suite, name, results / name, domains) for name in names]


def load_view(
    suite: Suite, name: str, folder: Path | str, domains: Path | str
) -> ExperimentView | StudyView:
    """View of one experiment.

    Parameters
    ----------
    suite : Suite
    name : str
        The experiment.
    folder : path
        ``results/<experiment>``.
    domains : path
        ``resources/domains``, for the labels that colour the picture.

    Raises
    ------
    CorruptArtifact
        Naming the first file that is damaged.
    """
    experiment, folder = suite.experiments[name], Path(folder)
    if experiment.study:
        return _study_view(experiment, suite, folder)
    timed = [read_records(folder / file) for file in timing_files(experiment)]
    return ExperimentView(
        experiment=experiment,
        suite=suite,
        records=load_results(folder),  # before its table is asked for more: it checks all sums
        timing=[record for records, _ in timed for record in records],
        pictured=_pictured(experiment, suite, folder, Path(domains)),
        environment=describe(),
        computed_with=load_computed_with(folder),
        timed_with=each_once(said_in(header) for _, header in timed),
        sizes=_sizes(experiment, suite, Path(domains)),
    )


def _study_view(experiment: Experiment, suite: Suite, folder: Path) -> StudyView:
    records, state = read_records(folder / "study.jsonl")
    return StudyView(
        experiment=experiment,
        suite=suite,
        records=records,
        arrays=read_arrays(folder / "study.npz")[0],
        status=state["status"],
        error=state["error"],
        environment=describe(),
        computed_with=said_in(state),
    )


def _pictured(experiment: Experiment, suite: Suite, folder: Path, domains: Path) -> dict:
    pictured = {}
    for method, file in pictured_files(experiment, suite).items():
        arrays, _ = read_arrays(folder / file)
        refs = experiment.task(experiment.picture["task"]).domains
        # An experiment with a picture varies nothing: there is one setting.
        places = [f"{experiment.picture['trial']}/0/{PICTURE}/{d}" for d in range(len(refs))]
        if f"{places[0]}/embedding" in arrays:
            pictured[method] = {
                "embeddings": [arrays[f"{place}/embedding"] for place in places],
                "labels": _labels([arrays[f"{place}/rows"] for place in places], refs, domains),
                "labelled": _labelled(folder, experiment.picture),
                "domains": [ref.domain for ref in refs],
            }
    return pictured


def _sizes(experiment: Experiment, suite: Suite, domains: Path) -> dict[str, dict]:
    """Samples and features of loaded domains whose entries do not state them."""
    sizes = {}
    for ref in domains_of(experiment):
        file = domains / ref.dataset / f"{ref.domain}.labels.npz"
        stated = suite.datasets[ref.dataset]["domains"][ref.domain]
        if not {"samples", "features"} <= set(stated) and file.is_file():
            sizes[str(ref)] = read_arrays(file)[1]
    return sizes


def _labelled(folder: Path, picture: Mapping) -> list:
    """Which of the pictured rows show their label in the pictured trial, by domain."""
    trials, _ = read_trials(folder / picture["task"] / "trials.npz")
    return [labels != HIDDEN for labels in trials[picture["trial"]].labels]


def _labels(rows: Sequence, refs: Sequence, domains: Path) -> list:
    """True labels of the pictured rows, for their colours; all scores are written by then."""
    files = [domains / ref.dataset / f"{ref.domain}.labels.npz" for ref in refs]
    return [read_arrays(path)[0]["y"][shown] for path, shown in zip(files, rows, strict=True)]
