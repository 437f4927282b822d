"""rule track: bring MLflow up to date with an experiment."""

from workflow.lib.execution.logs import log_to

terminal = log_to(snakemake.log[0])

from pathlib import Path

from workflow.lib.config.searches import marked
from workflow.lib.config.suite import load_suite
from workflow.lib.report.runs_page import write_runs
from workflow.lib.results.computed import computed_in_words, timed_with
from workflow.lib.results.records import load_computed_with, load_results, no_records
from workflow.lib.results.text import with_mark
from workflow.lib.storage.artifacts import read_records, write_json
from workflow.lib.storage.computed_with import each_once, said_in
from workflow.lib.tracking.runs import Study, samples_digest, track
from workflow.lib.tracking.store import TrackError

w, root = snakemake.wildcards, snakemake.params.root
suite = load_suite(root, snakemake.config)
experiment = suite.experiments[w.experiment]
folder = Path(snakemake.input.results[0]).parent
domains = zip(
    snakemake.params.domains, snakemake.input.features, snakemake.input.labels, strict=True
)
digests = {ref: samples_digest(features, labels) for ref, features, labels in domains}

if experiment.study:
    found, state = read_records(folder / "study.jsonl")
    study = Study(state["status"], state["error"], state["seconds"], found)
    records, computed = no_records(), said_in(state)
else:
    study, records = None, load_results(folder)
    computed = each_once([load_computed_with(folder), timed_with(experiment, folder)])


def shown_entry(method: str) -> dict:
    """An entry with its name as the report shows it, † where a setting was searched for."""
    entry = suite.method(w.experiment, method)
    return {**entry, "label": with_mark(entry["label"], marked(suite, experiment, method))}


try:
    receipt = track(
        experiment.name,
        records,
        {name: shown_entry(name) for name in experiment.methods},
        {
            task.name: {str(ref): digests[str(ref)] for ref in task.domains}
            for task in experiment.tasks
        },
        list(snakemake.input.artifacts),
        suite.config,
        code=snakemake.params.method_code,
        description=f"{experiment.title}\n\n{experiment.question}",
        about={**(experiment.answers or {}), "protocol": experiment.protocol},
        sources={name: str(entry.get("source", "")) for name, entry in suite.datasets.items()},
        study=study,
        computed_with=computed_in_words(computed) if any(computed) else "",
        by_task=experiment.classifiers,
        varied=experiment.vary["parameter"] if experiment.vary else "",
        tuned=experiment.tuning is not None,
    )
except TrackError as error:
    terminal.write(f"{error}\n")
    raise

write_json(snakemake.output.receipt, receipt)
write_runs(receipt, experiment.title, snakemake.output.page)
