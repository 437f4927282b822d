"""Configuration, names of files, and the input functions that several rules share."""

import base64
import dataclasses
import functools
import hashlib
import math
import sys
import time
from types import SimpleNamespace

from snakemake_interface_executor_plugins.settings import SharedFSUsage

from workflow.lib.config.addresses import home, study_module
from workflow.lib.config.code_digest import (
    installed_files,
    named_modules,
    sources as module_sources,
)
from workflow.lib.config.outputs import (
    BOARD_TABLES,
    audit_tables,
    boards,
    figure_names,
    label_curves,
    pictured_files,
    shift_tables,
    shifts,
    table_names,
    timing_files,
)
from workflow.lib.config.candidates import OWN, takes_only
from workflow.lib.config.memory import sum_of_file
from workflow.lib.config.protocol_check import follows_division
from workflow.lib.config.searches import searches
from workflow.lib.config.suite import block_trials
from workflow.lib.config.tasks import DomainRef
from workflow.lib.config.tuning import REFERENCES
from workflow.lib.storage.artifacts import sha256
from workflow.lib.storage.fetch import read_receipt, stale_receipts
from workflow.lib.storage.made_from import is_made_from, made_from
from workflow.lib.storage.mirror import check_mirror, resolve_mirror
from workflow.lib.trials.measured import (
    guessed_mb,
    guessed_minutes,
    kept_folder,
    measured,
    outgrown,
)
from workflow.loaders import files_of, splits_file

try:
    SUITE = load_suite(ROOT, config)
    if workflow.is_main_process:
        for broken in check_estimators(SUITE):
            print(broken, file=sys.stderr)
    MIRROR = resolve_mirror(SUITE.config)
    if workflow.is_main_process:
        check_mirror(MIRROR, SUITE.datasets)
except ValueError as error:
    raise WorkflowError(str(error)) from None

CONFIG = SUITE.config
# Whether jobs see the files of this folder. Where they do not, they get what their rules declare
# from a store, and only computations are sent away: `local(...)` marks what stays here, downloads
# and the project's own files. The rules `load`, `sample` and `evaluate` stay too, beside those.
SHARED = SharedFSUsage.INPUT_OUTPUT in workflow.storage_settings.shared_fs_usage

for folder in ("results", "resources", "logs"):
    nearest = next(path for path in (Path(folder), Path(".")) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise WorkflowError(
            f"{nearest.resolve()}: outputs cannot be written here. Make it a folder that you may "
            "write to, or run elsewhere: snakemake --directory FOLDER"
        )


def mark_of(receipt):
    """An input of a download: writing it makes Snakemake repeat that and all that follows.

    Deleting the receipt would not: what was made from it is there.
    """
    return Path(receipt).with_suffix(".again")


def try_again(receipts):
    """Have these downloads repeated by the next run, or by this one while its rules are read."""
    for receipt in receipts:
        # Of new content, since Snakemake compares that before it believes a time stamp.
        mark_of(receipt).write_text(f"{time.time_ns()}\n")


# An unavailable file is tried again once there is another place to try.
if workflow.is_main_process:
    try_again(stale_receipts("resources/receipts", SUITE.datasets, MIRROR))


wildcard_constraints:
    experiment="[a-z][a-z0-9_]*",
    dataset="[a-z][a-z0-9_]*",
    domain="[a-z][a-z0-9_]*",
    task="[a-z][a-z0-9_.+]*-[a-z][a-z0-9_.]*",
    method="[a-z][a-z0-9_]*",
    block=r"\d+-\d+",


@functools.cache
def code(*modules):
    """Sum over the files of the named modules and of what they import, for the jobs that run them.

    A parameter, not inputs: the scheduler looks up each input of each ready job at every turn. So
    Snakemake's notes in .snakemake tell which jobs an edit concerns, and where they are lost, the
    headers of the records do: see `outdated_files`.
    """
    installed = [path for module in modules for path in installed_files(module)]
    sums = [file_sum(path) for path in [*module_sources(ROOT, *modules), *installed]]
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def script_code(name, *modules):
    """The same beside the sum of a rule's script: Snakemake compares its time stamp alone."""
    return [file_sum(f"workflow/scripts/{name}.py"), code(*modules)]


@functools.cache
def file_sum(path):
    return sha256(ROOT / path)


def asked_task(w):
    return SUITE.experiments[w.experiment].task(w.task)


def asked_domains(w):
    """Every domain of an experiment, once."""
    tasks = SUITE.experiments[w.experiment].tasks
    return sorted({ref for task in tasks for ref in task.domains}, key=str)


@functools.cache
def method_code(experiment, name):
    """The method's own modules and those that its parameters name, in an experiment.

    Editing one method reruns that method alone.
    """
    entry = SUITE.method(experiment, name)
    named = named_modules([entry["params"], entry.get("search")], ROOT)
    return code(home(entry["estimator"], ROOT), *named)


def classifier_code(w):
    """The classifiers' modules, as far as they are the project's own."""
    if SUITE.experiments[w.experiment].tuning:
        own = SUITE.methods[w.method].get("classifier", OWN)
        entries = [SUITE.classifiers[own], *SUITE.tuning["classifiers"].values()]
    else:
        entries = SUITE.classifiers_of(w.experiment, w.method).values()
    estimators = {entry["estimator"] for entry in entries} - {OWN}
    named = named_modules([entry.get("params") for entry in entries], ROOT)
    return code(*(home(name, ROOT) for name in sorted(estimators)), *named)


# Of a trial's time limit, after which no further candidate is begun.
SHARE_OF_LIMIT = 0.7


def align_code(w):
    job = "tuning" if SUITE.experiments[w.experiment].tuning else "align"
    stage = script_code(
        "align",
        "workflow.lib.trials.blocks",
        f"workflow.lib.trials.{job}",
        "workflow.lib.execution.worker",
    )
    return [method_code(w.experiment, w.method), classifier_code(w), *stage]


def model_code(w):
    """What fits the model that an answer keeps, which may be of any of the methods."""
    sums = script_code("model", "workflow.lib.trials.final_model", "workflow.lib.trials.saving")
    for method in SUITE.experiments[w.experiment].methods:
        cell = SimpleNamespace(experiment=w.experiment, method=method)
        sums += [method_code(w.experiment, method), classifier_code(cell)]
    return sums


def evaluate_code(w):
    return script_code("evaluate", "workflow.lib.trials.evaluate", "workflow.lib.trials.choices")


def timing_code(w):
    stage = script_code(
        "time_alone",
        "workflow.lib.trials.blocks",
        "workflow.lib.trials.timing",
        "workflow.lib.execution.worker",
    )
    return [method_code(w.experiment, w.method), *stage]


def page_code(script, names):
    """Code of a page: what renders it, and the methods, whose words on themselves it prints."""
    methods = {method for name in names for method in SUITE.experiments[name].methods}
    modules = {home(SUITE.methods[method]["estimator"], ROOT) for method in methods}
    pages = ("workflow.lib.report.page", "workflow.lib.report.card")
    return script_code(script, "workflow.lib.results.load", *pages, *sorted(modules))


def method_entry(w):
    """What a method's job depends on: no label, no description, nothing random or timed."""
    entry = SUITE.method(w.experiment, w.method)
    varied = SUITE.experiments[w.experiment].varies("methods")
    values = varied["values"] if varied else []
    return {
        "estimator": entry["estimator"],
        "sees_labels": entry["sees_labels"],
        "params": entry["params"],
        "varied_params": [{varied["parameter"]: value} for value in values] or [{}],
    }


def candidates_of(w):
    """Candidates of a method in a tuned experiment, and how they are judged; None elsewhere."""
    asked = SUITE.experiments[w.experiment].tuning
    if asked is None:
        return None
    found = SUITE.candidates(w.experiment, w.method, asked_task(w))
    most = SHARE_OF_LIMIT * limits(w)["seconds_per_trial"]
    return {
        "alignments": [dataclasses.asdict(alignment) for alignment in found],
        **selectors_of(asked),
        "folds": asked["folds"],
        "seed": asked["seed"],
        "seconds": min(asked["seconds"] or math.inf, most),
        "answer": asked["answer"],
        "baseline": SUITE.is_baseline(w.method),
        **({} if found else {"takes_only": takes_only(SUITE.method(w.experiment, w.method))}),
    }


def selectors_of(asked):
    """Selectors that score, where an experiment asks for some of them: by default all do."""
    if asked["selectors"] is None:
        return {}
    return {"selectors": [name for name in asked["choices"] if name not in REFERENCES]}


def classifier_entries(w):
    if SUITE.experiments[w.experiment].tuning:
        return {}
    entries = SUITE.classifiers_of(w.experiment, w.method)
    return {
        name: {"estimator": entry["estimator"], "params": entry.get("params", {})}
        for name, entry in entries.items()
    }


def limits(w):
    """Limits of one trial: the run's, with those that the method's entry replaces."""
    return {**CONFIG["limits"], **SUITE.methods[w.method].get("limits", {})}


# What a job that is alone on its machine says to SLURM and to LSF. For other schedulers it has the
# resource `alone`, with which a profile writes its command.
HELD_ALONE = {"slurm_extra": "--exclusive", "lsf_extra": "-x"}
# Megabytes beside a guarded child: on a node Snakemake runs twice around the script of a job, and
# these were seen to hold 470.
ROOM_MB = 1000
# A job that a cluster loses is tried so often, each time with more memory and time; after that one
# more job records its trials as lost, so that the experiment has its tables, and the next run
# repeats it. The profile's `retries` are as many.
ATTEMPTS = 3
# Of the time that a job takes if every trial breaks its limit, by attempt: few do, and what asks
# for days waits for days.
SHARES_OF_WORST = {1: 0.25, 2: 0.5}
START_MINUTES = 10


def on_cluster():
    """Whether jobs run elsewhere; known when they are planned, not yet when rules are read."""
    return workflow.non_local_exec or workflow.remote_exec


def every_core(w):
    """Threads of a job that is alone on its machine.

    Clipped to --cores, so that no other job of this run is at work meanwhile. Not `workflow.cores`,
    with which `snakemake --report` would ask for --cores too. A cluster would look for a node of so
    many cores; there a node is held as a whole instead.
    """
    return 1 if on_cluster() else 99


def given_up(w, attempt):
    """Whether a job only records its trials as lost."""
    return int(CONFIG["give_up"] or (on_cluster() and attempt > ATTEMPTS))


def each_attempt(amount):
    """A resource of which every attempt gets as much again."""
    return lambda w, attempt: attempt * amount


def with_room(limit_mb):
    """Memory of a job whose guarded child has a fixed limit: it and room for its guard."""
    return lambda w, attempt: limit_mb + attempt * ROOM_MB


def guarded_memory(w, attempt):
    """Memory of a guarded job in MB: the child's limit and room for its guard."""
    return with_room(limits(w)["memory_mb"])(w, attempt)


def guarded_minutes(w, attempt):
    """Time of a guarded job: a start, one trial at its limit, a share of all others at theirs."""
    n_trials = len(block_trials(w.block)) if hasattr(w, "block") else timed_repeats(w)
    n_slow = 1 + (n_trials - 1) * SHARES_OF_WORST.get(attempt, 1)
    return int(n_slow * limits(w)["seconds_per_trial"] / 60) + START_MINUTES


def may_be_repeated(w, attempt):
    """Whether a block may fail for want of memory: the next attempt asks for all, and is believed.

    Not where jobs share no files: a block that has outgrown its request leaves a mark.
    """
    if not (on_cluster() and SHARED and attempt == 1):
        return False
    kept = kept_folder(f"results/{w.experiment}/{w.task}", w.method, w.block)
    return not outgrown(kept).exists()


def earlier_cost(w):
    """What the experiment's own records say of a method on a task; None if they do not.

    Not those of other experiments, which may change while a job waits: a node would believe in
    another request than was made.
    """
    return measured(f"results/{w.experiment}/{w.task}/records.jsonl").get(w.method)


def asked_mb(w, attempt):
    """Megabytes that a block's request leaves to a trial, for its guard; 0 once it is believed."""
    if not may_be_repeated(w, attempt):
        return 0
    found, limit = earlier_cost(w), limits(w)["memory_mb"]
    return min(limit, guessed_mb(found)) if found else limit


def block_memory(w, attempt):
    """Memory of a block in MB: at first by what was measured, then its child's limit; and room."""
    asked = asked_mb(w, attempt)
    return asked + ROOM_MB if asked else guarded_memory(w, attempt)


def block_minutes(w, attempt):
    """Time of a block: at first by what was measured."""
    found = earlier_cost(w) if may_be_repeated(w, attempt) else None
    most = guarded_minutes(w, attempt)
    n_trials = len(block_trials(w.block))
    return min(most, guessed_minutes(found, n_trials) + START_MINUTES) if found else most


def asked_study(w):
    return SUITE.experiments[w.experiment].study


def if_alone(words):
    """Resource of a study: these words if it measures time, none otherwise."""
    return lambda w: words if asked_study(w)["alone"] else None


def study_domains(w):
    return [DomainRef.parse(name) for name in asked_study(w)["domains"]]


def study_code(w):
    """A study's module, those of the estimators that it names or builds, and what runs it."""
    asked = asked_study(w)
    named = asked["params"].get("methods", {}).values()
    built = getattr(study_module(asked["module"]), "MODULES", ())
    modules = [home(entry["estimator"], ROOT) for entry in named]
    modules += named_modules(asked["params"], ROOT)
    stage = script_code(
        "study",
        "workflow.lib.trials.blocks",
        "workflow.lib.trials.study",
        "workflow.lib.execution.worker",
    )
    return [code(f"workflow.studies.{asked['module']}", *modules, *built), *stage]


def study_reads(w):
    """A study's module, so that no study is without input, and other files that it says it reads."""
    found = study_module(asked_study(w)["module"])
    read = (found.__file__, *getattr(found, "READS", ()))
    return [local(os.path.relpath(path)) for path in read]


def study_limits(w):
    return {**CONFIG["limits"], **asked_study(w).get("limits", {})}


def timed_repeats(w):
    return SUITE.experiments[w.experiment].timing["repeats"]


def preprocess(w):
    return SUITE.protocol(w.experiment).get("preprocess", [])


def preprocess_rows(w):
    return SUITE.protocol(w.experiment).get("preprocess_rows", "seen")


def domain_file(ref, part):
    return f"resources/domains/{ref.dataset}/{ref.domain}.{part}.npz"


def task_features(w):
    return [domain_file(ref, "features") for ref in asked_task(w).domains]


def task_labels(w):
    return [domain_file(ref, "labels") for ref in asked_task(w).domains]


def is_available(w):
    """Whether every file of a task was delivered, which is known once the downloads are done."""
    receipts = [receipt for ref in asked_task(w).domains for receipt in receipts_of(ref)]
    for receipt in [*receipts, *split_receipts(w)]:
        dataset, file = Path(receipt).parts[-2:]
        (known,) = checkpoints.download.get(dataset=dataset, file=file.removesuffix(".json")).output
        if read_receipt(known)["status"] != "delivered":
            return False
    return True


def of_methods(ending):
    """Input function: the files of all methods and blocks of a task, none where data lack."""

    def files(w):
        if not is_available(w):
            return []
        return expand(
            f"results/{w.experiment}/{w.task}/{{method}}.{{block}}.{ending}",
            method=SUITE.experiments[w.experiment].methods,
            block=SUITE.blocks(w.experiment),
        )

    return files


def loader_module(dataset):
    name = SUITE.datasets[dataset]["loader"].partition(":")[0]
    return f"workflow.loaders.{name}"


def load_code(w):
    stage = ("workflow.loaders", "workflow.lib.storage.features", "workflow.lib.trials.loading")
    return script_code("load", loader_module(w.dataset), *stage)


def sample_code(w):
    """What samples trials, and what reads official ones."""
    trials, storage = "workflow.lib.trials.protocols", "workflow.lib.storage.fetch"
    modules = [trials, storage, "workflow.loaders._pairing"]
    splits = SUITE.protocol(w.experiment).get("splits")
    if splits:
        modules += ["workflow.lib.trials.loading", loader_module(splits)]
    return script_code("sample", *modules)


def dataset_entry(w):
    """What loading a domain depends on: its dataset's entry without labels, words, addresses."""
    entry = SUITE.datasets[w.dataset]
    words = ("label", "description", "source", "terms", "shared_samples")
    files = {name: own_part(file) for name, file in entry["files"].items()}
    domains = {
        name: {key: described[key] for key in described if key != "short"}
        for name, described in entry["domains"].items()
    }
    kept = {key: entry[key] for key in entry if key not in words}
    return {**kept, "files": files, "domains": domains}


def own_part(file):
    """What a file of the user's own is found and checked by; empty of others."""
    return {key: file[key] for key in ("path", "sha256") if "path" in file and file.get(key)}


def receipts_of(ref):
    """Receipts of the files that serve a domain."""
    names = files_of(SUITE.datasets[ref.dataset], ref.domain)
    return [local(f"resources/receipts/{ref.dataset}/{name}.json") for name in names]


def marks_of(w):
    mark = mark_of(f"resources/receipts/{w.dataset}/{w.file}.json")
    return [local(str(mark))] if mark.exists() else []


def domain_local_files(w):
    """The user's own files among them: editing one loads the domain again."""
    entry = SUITE.datasets[w.dataset]
    files = {name: entry["files"][name] for name in files_of(entry, w.domain)}
    paths = {n: os.path.expanduser(file["path"]) for n, file in files.items() if "path" in file}
    for name, path in paths.items():
        # On a node that shares no file system they need not be there.
        if workflow.is_main_process and not os.path.isfile(path):
            where = f"{SUITE.file_of('datasets', w.dataset)}: {w.dataset}.files.{name}.path"
            what = "a folder, not a file" if os.path.isdir(path) else "no such file"
            raise WorkflowError(f"{where}: {path}: {what}")
    return [local(path) for path in paths.values()]


def own_sums(w):
    """Sums of these: a file put in the place of a newer one has an older time stamp."""
    return [sum_of_file(path) for path in domain_local_files(w) if os.path.isfile(path)]


def splits_name(w):
    """Name of the file that holds the official trials of a task; None if its protocol has none."""
    protocol, task = SUITE.protocol(w.experiment), asked_task(w)
    if protocol["kind"] != "official":
        return None
    entry = SUITE.datasets[protocol["splits"]]
    return splits_file(entry, task.sources[0].domain, task.target.domain)


def split_receipts(w):
    """Receipt of that file."""
    name = splits_name(w)
    dataset = SUITE.protocol(w.experiment).get("splits")
    return [] if name is None else [local(f"resources/receipts/{dataset}/{name}.json")]


def split_local_files(w):
    """The file itself, if it is the user's own: editing it samples the trials again."""
    own = split_own_part(w)
    return [local(os.path.expanduser(own["path"]))] if own else []


def split_own_part(w):
    """`own_part` of that file."""
    name = splits_name(w)
    if name is None:
        return {}
    return own_part(SUITE.datasets[SUITE.protocol(w.experiment)["splits"]]["files"][name])


def sampled_protocol(w):
    """What of a protocol sampling depends on; of trials of the user's own their sum too."""
    words = ("description", "preprocess", "preprocess_rows", "classifier_rows")
    protocol = SUITE.protocol(w.experiment)
    kept = {key: protocol[key] for key in protocol if key not in words}
    sums = [sum_of_file(path) for path in split_local_files(w) if os.path.isfile(path)]
    if sums:
        kept["own_sums"] = sums
        if stated := split_own_part(w).get("sha256"):
            kept["own_sha256"] = stated
    return kept


def varied_protocol(w):
    """What of the protocol takes several values, without how a curve over them is drawn."""
    varied = SUITE.experiments[w.experiment].varies("protocol")
    return varied and {key: varied[key] for key in ("parameter", "values")}


def splits_loader(w):
    protocol = SUITE.protocol(w.experiment)
    return SUITE.datasets[protocol["splits"]]["loader"] if "splits" in protocol else None


def training_samples(w):
    """Training samples of each domain of a task, if its protocol follows the data's division."""
    if not follows_division(SUITE.protocol(w.experiment)):
        return None
    entries = [SUITE.datasets[ref.dataset]["domains"][ref.domain] for ref in asked_task(w).domains]
    return [entry["training_samples"] for entry in entries]


def block_description(w):
    """What a block of trials is computed by, beside its inputs.

    One parameter: Snakemake asks each function of each job anew, which is much of a dry run's time.
    """
    return {
        "method": method_entry(w),
        "classifiers": classifier_entries(w),
        "classifier_rows": SUITE.protocol(w.experiment)["classifier_rows"],
        "preprocess": preprocess(w),
        "preprocess_rows": preprocess_rows(w),
        "pictured_trial": pictured_trial(w),
        "probabilities": SUITE.experiments[w.experiment].probabilities,
        "tuning": candidates_of(w),
    }


def task_coordinates(w):
    """Fields that all records of a task share."""
    experiment, task = SUITE.experiments[w.experiment], asked_task(w)
    return {
        "experiment": experiment.name,
        "task": task.name,
        "source": task.source_label(SUITE.datasets),
        "target": task.target_label(SUITE.datasets),
        "protocol": experiment.protocol,
    }


def pictured_trial(w):
    """Number of the trial whose embeddings are kept for a picture, if it is this job's."""
    picture = SUITE.experiments[w.experiment].picture
    if picture and picture["task"] == w.task and w.method in picture["methods"]:
        return picture["trial"]
    return None


def result_files(name):
    """What an experiment found, each file with a checksum."""
    files = ("study.jsonl", "study.npz") if SUITE.experiments[name].study else ("SHA256SUMS",)
    if not SHARED and not SUITE.experiments[name].study:  # what the sums are of must come too
        files += ("records.csv", "records.parquet", "summary.csv")
    return [f"results/{name}/{file}" for file in files]


PAPERS = [name for name, experiment in SUITE.experiments.items() if experiment.answers]
RECORDED = [name for name in SUITE.experiments if os.path.exists(result_files(name)[0])]
# Tuned experiments by the board that they belong to; the quick form is a target of its own.
BOARDS = boards(SUITE)
LEADERBOARDS = [name for board, names in BOARDS.items() if board != "quick" for name in names]
SHIFTS = shifts(SUITE)
# What `findings` can be of.
TUNED_ALIKE = [*LEADERBOARDS, *label_curves(SUITE), *SHIFTS]
AUDITED = [name for name, experiment in SUITE.experiments.items() if experiment.audit]
# What the findings are of: boards and shifts that were run whole, and what varies labels.
FOUND_BOARDS = {name: own for name, own in BOARDS.items() if set(own) <= set(RECORDED)}
FOUND_SHIFTS = SHIFTS if set(SHIFTS) <= set(RECORDED) else []
FOUND_CURVES = [name for name in label_curves(SUITE) if name in RECORDED]
FOUND = [*(name for own in FOUND_BOARDS.values() for name in own), *FOUND_SHIFTS, *FOUND_CURVES]
# Experiments on data of one's own: their page is an answer, and their target may lack labels.
ANSWERED = [
    name
    for name, experiment in SUITE.experiments.items()
    if experiment.tuning and experiment.tuning["answer"]
]
REPORTED = [name for name in RECORDED if name not in ANSWERED]
# Pages over several experiments; "report" is over all that were run so far and have a report.
PAGES = {"papers": PAPERS, "leaderboard": LEADERBOARDS, "report": REPORTED}


def pages_of(names):
    """Pages of some boards."""
    return [f"results/board_{name}.html" for name in names]


def tables_of(name):
    return expand(
        f"results/{name}/tables/{{table}}.{{ending}}",
        table=table_names(SUITE.experiments[name]),
        ending=["csv", "md", "tex"],
    )


def figures_of(name, ending):
    figures = figure_names(SUITE.experiments[name])
    return [f"results/{name}/figures/{figure}.{ending}" for figure in figures]


def shown_files(name):
    """What the tables, figures and the page of an experiment are made from."""
    experiment = SUITE.experiments[name]
    shown = [*timing_files(experiment), *pictured_files(experiment, SUITE).values()]
    if experiment.picture:
        shown.append(f"{experiment.picture['task']}/trials.npz")
    domains = experiment.task(experiment.picture["task"]).domains if experiment.picture else []
    return [
        *result_files(name),
        *(f"results/{name}/{file}" for file in shown),
        *(domain_file(ref, "labels") for ref in domains),
    ]


def config_files_of(name):
    """The configuration that a page prints: editing a sentence renders it again, no more."""
    kinds = ["datasets", "methods", "protocols", "classifiers", "tuning"]
    own = SUITE.own.files_of(name)
    if ("experiments", name) not in SUITE.places:
        kinds.append(f"experiments/{name}")
    files = [*(os.path.relpath(ROOT / f"config/{kind}.yaml") for kind in kinds), *map(str, own)]
    return [local(path) for path in files]


def published_of(name):
    audit = SUITE.experiments[name].audit
    return [local(os.path.relpath(ROOT / "config/published" / audit["published"]))] if audit else []


def printed_for(name):
    """What papers print that a page tells: its own table, and what its sentences name of others."""
    if not SUITE.experiments[name].audit:
        return []
    files = [*sorted((ROOT / "config/published").glob("*.csv")), ROOT / "config/printed_means.csv"]
    return [local(os.path.relpath(path)) for path in files]


def page_files(template):
    """What a page is rendered with."""
    names = (template, "base.html.j2", "controls.html.j2", "style.css", "tables.js")
    return [local(os.path.relpath(ROOT / f"reports/{name}")) for name in names]


def answered_task(w):
    """The one task of such an experiment, as the rules of tasks are asked for it."""
    task = SUITE.experiments[w.experiment].tasks[0].name
    return SimpleNamespace(experiment=w.experiment, task=task)


def everything_of(names):
    """Pages and records of some experiments; targets without labels have no report of scores."""
    files = {name: ("report.html", "mlflow.json") for name in names}
    answer = ("answer.html", "model/MODEL_CARD.md", "mlflow_model.json", "SHA256SUMS")
    files |= {name: answer for name in names if name in ANSWERED}
    return [f"results/{name}/{file}" for name in names for file in files[name]]


def in_report(name, path, **labels):
    """Mark a file of an experiment for Snakemake's own report, with the caption of its kind."""
    kind = {".html": "report", ".csv": "tables"}.get(Path(path).suffix, "figure")
    return report(
        path,
        caption=f"../../reports/captions/{kind}.rst",
        category=SUITE.experiments[name].title,
        labels={key: value.replace("_", " ") for key, value in labels.items()},
    )


# Files whose header says what they were made from, and the rules that make them.
MADE_FILES = {
    "resources/domains/{dataset}/{domain}.labels.npz": "load",
    "results/{experiment}/{task}/trials.npz": "sample",
    "results/{experiment}/{task}/{method}.{block}.align.jsonl": "align",
    "results/{experiment}/{task}/records.jsonl": "evaluate",
    "results/{experiment}/timing/{task}.{method}.jsonl": "time_alone",
    "results/{experiment}/study.jsonl": "study",
}


def outdated_files():
    """Domains and records of other code or settings than today's, where Snakemake has no note.

    Where it has one, it compares both itself, as far as --rerun-triggers asks. A domain that is
    made of no file is made again only where these triggers heed the code.
    """
    for pattern, rule_name in MADE_FILES.items():
        today = {}  # by cell: all blocks of one are made from the same
        found = glob_wildcards(pattern)
        for values in zip(*found):
            w = SimpleNamespace(**dict(zip(found._fields, values)))
            path = pattern.format(**vars(w))
            if is_noted(path) or not still_asked(w, rule_name):
                continue
            cell = tuple(value for name, value in vars(w).items() if name != "block")
            if cell not in today:
                today[cell] = made_from(params_of(rule_name, w))
            if not is_made_from(path, **today[cell]):
                yield path


def params_of(rule_name, w):
    """The parameters that a job of a rule is handed."""
    params = workflow.get_rule(rule_name).params.items()
    return {name: value(w) if callable(value) else value for name, value in params}


def lost_records(dry):
    """Records that an earlier run wrote for lost jobs, each told once but by dry runs."""
    for note in sorted(Path("results").glob("*/lost/*")):
        path = note.read_text(encoding="utf-8")
        if os.path.exists(path):
            yield path
        if not dry:
            note.unlink()


# Outdated domains that are another user's, and what to do: refused where a run asks for them.
NOT_OURS = {}


def age_files(dry):
    """Have what is outdated or lost made again by a run that needs it."""
    for path in [] if CONFIG["give_up"] else lost_records(dry):
        aging.make_old(path, for_good=not dry)
        print(
            f"{path}: lost by an earlier run; a run that needs it makes it again", file=sys.stderr
        )
    for path in outdated_files():
        print(f"{path}: made by other code or settings than this checkout's", file=sys.stderr)
        try:
            # Every start compares anew: what this run does not make need not stay as old.
            aging.make_old(path, for_good=False)
        except PermissionError as error:
            if not path.startswith("resources/"):
                raise
            NOT_OURS[path] = str(error)


def refuse_not_ours(names):
    """End a run of some experiments that would compute from such a domain as it lies."""
    asked = {
        domain_file(ref, "labels") for name in names for ref in domains_of(SUITE.experiments[name])
    }
    for path in sorted(asked & NOT_OURS.keys()):
        raise WorkflowError(NOT_OURS[path])


def is_noted(path):
    """Whether .snakemake says how a file was made."""
    name = base64.urlsafe_b64encode(path.encode()).decode()
    return os.path.exists(f".snakemake/metadata/{name}")


def still_asked(w, rule_name):
    """Whether today's configuration knows what a file was made for."""
    if rule_name == "load":
        return w.domain in SUITE.datasets.get(w.dataset, {}).get("domains", ())
    experiment = SUITE.experiments.get(w.experiment)
    if experiment is None or bool(experiment.study) == hasattr(w, "task"):
        return False
    if hasattr(w, "method") and w.method not in experiment.methods:
        return False
    if rule_name == "time_alone" and not experiment.timing:
        return False
    return not hasattr(w, "task") or w.task in {task.name for task in experiment.tasks}
