"""MLflow's runs of an experiment: one per method and classifier, with its tasks nested in it.

Scores are in percent. The trials of a task are no steps of a run: MLflow would draw them as the
curve of a training. They lie in records.csv beside the summary run's figures. `store` writes them.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.lib.config.candidates import OWN
from workflow.lib.config.metrics import METRICS
from workflow.lib.results.environment import git_state
from workflow.lib.results.records import FAILURES, seconds_of
from workflow.lib.results.standings import FAILED, FINISHED, outcome, standings
from workflow.lib.storage.artifacts import read_arrays, sha256
from workflow.lib.tracking.store import SUMMARY, Run, Store

# Part of every result key: raise it when the form of a run changes, and all are rewritten.
FORMAT = 4

# MLflow shows at most this many characters of a tag without opening it.
_ERROR_LENGTH = 500
# Records of a study that get a run each; what has more is a table, and MLflow no place for it.
_MOST_RECORDS = 500


@dataclass(frozen=True)
class Study:
    """What a study left: how it ended, and its records."""

    status: str
    error: str | None
    seconds: float
    records: Sequence[Mapping]


def track(
    experiment: str,
    records: pd.DataFrame,
    methods: Mapping[str, Mapping],
    datasets: Mapping[str, Mapping[str, str]],
    artifacts: Sequence[Path | str],
    config: Mapping,
    *,
    code: Mapping[str, str] | None = None,
    description: str = "",
    about: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
    study: Study | None = None,
    computed_with: str = "",
    by_task: Sequence[str] | None = None,
    varied: str = "",
    tuned: bool = False,
) -> dict:
    """Bring MLflow's runs of one experiment up to date with its records.

    A run whose ``result_key`` is already there is left alone, a changed one is replaced, and one
    whose cell no longer exists is deleted; calling this twice therefore changes nothing.

    Parameters
    ----------
    experiment : str
        Its name; MLflow's experiment has the same.
    records : DataFrame
        One row per (task, method, classifier, trial), the columns of ``records.csv``.
    methods : mapping
        Entries of ``config/methods.yaml`` by name, with the parameters the experiment overrides.
    datasets : mapping
        ``{task: {domain: digest}}``, the domains in the order methods see them: the target last.
    artifacts : sequence of paths
        Page, figures and tables for the summary run.
    config : mapping
        ``config/config.yaml``; ``config["mlflow"]`` has the parameters of the `Store`.
    code : mapping, optional
        ``{method: digest of its source files}``, part of the result key.
    description : str, optional
        The experiment's title and question, shown above its runs.
    about : mapping, optional
        Tags of the experiment: paper, artefact, protocol; several methods stand in one tag.
    sources : mapping, optional
        ``{dataset: where it comes from}``.
    study : Study, optional
        In place of records, for an experiment that is one computation.
    computed_with : str, optional
        Versions and processors, a tag of the summary, whole.
    by_task : sequence of str, optional
        Classifiers whose tasks have runs of their own; by default all. The ways of choosing of a
        tuned experiment, sixteen, have one run per method each: on a board of twelve tasks 6500
        runs more would bury them.
    varied : str, optional
        Name of the quantity whose values are the records' settings.
    tuned : bool, default=False
        Whether every trial chooses among candidates, so that searched parameters have no one value.

    Returns
    -------
    dict
        Receipt: the experiment's id, the id of each cell's run, and how many runs were created,
        kept and deleted.

    Raises
    ------
    TrackError
        If the store cannot be reached, or its address is none.
    """
    about = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in (about or {}).items()
        if value
    }
    common = {"experiment": experiment, **_git_tags()}
    methods = {name: _shown(entry, varied, tuned) for name, entry in methods.items()}
    tasks = [
        _task_run(
            names,
            cell,
            methods[names[1]],
            datasets,
            sources or {},
            (code or {}).get(names[1], ""),
            common,
        )
        for names, cell in _cells(records)
    ]
    leaders = list(_method_runs(records, methods, tasks, common))
    shown = [run for run in tasks if by_task is None or run.tags["classifier"] in by_task]
    parts = _study_runs(study, common) if study else [*leaders, *shown]
    said = {"computed_with": computed_with} if computed_with else {}
    summary = _summary_run(experiment, records, parts, artifacts, common, study, said)
    with Store(**config["mlflow"]) as store:
        return store.update(experiment, description, [summary, *parts], {**about, **_git_tags()})


def samples_digest(features: Path | str, labels: Path | str) -> str:
    """Digest of a domain: of its samples, and of their labels, whatever code has made the files."""
    y = read_arrays(labels)[0].get("y")
    of_labels = hashlib.sha256(b"" if y is None else y.tobytes()).hexdigest()
    return hashlib.sha256(f"{sha256(features)} {of_labels}".encode()).hexdigest()


def _cells(records: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], list[dict]]]:
    """Rows of each cell in the order of their trials, missing values as None."""
    columns = ["task", "method", "classifier", "setting"]
    records = records.reset_index(drop=True)
    rows = records.astype(object).where(records.notna(), None).to_dict("records")
    for (*names, _), frame in records.groupby(columns, sort=False, dropna=False):
        ordered = sorted((rows[number] for number in frame.index), key=lambda row: row["trial"])
        yield tuple(str(name) for name in names), ordered


def _setting(rows: list[dict]) -> dict[str, str]:
    """The value of the varied quantity in words, if there is one."""
    value = rows[0].get("setting")
    return {} if value is None else {"setting": f"{value:g}"}


def _joined(*words: str) -> str:
    return " | ".join(words)


def _task_run(
    names: tuple[str, str, str],
    rows: list[dict],
    entry: Mapping,
    datasets: Mapping[str, Mapping[str, str]],
    sources: Mapping[str, str],
    code: str,
    common: dict[str, str],
) -> Run:
    """The run of one method with one classifier on one task, nested in that of the method."""
    task, method, classifier = names
    setting = list(_setting(rows).values())
    scored = [row for row in rows if row["status"] == "ok"]
    digests = dict(datasets.get(task, {}))
    target = next(reversed(digests), None)
    content = {
        "params": {"task": task, **_params(names, rows, entry)},
        "metrics": _metrics(rows, scored),
        "inputs": [
            (name, digest, "target" if name == target else "source", _origin(name, sources))
            for name, digest in digests.items()
        ],
        "tags": {"kind": "task", "task": task, **_tags(names, rows, entry)},
    }
    return Run(
        cell=_joined(task, method, classifier, *setting),
        name=" · ".join([f"{rows[0]['source']}→{rows[0]['target']}", method, classifier, *setting]),
        key=_digest({**content, "rows": rows, "code": code}),
        parent=_joined(method, classifier, *setting),
        finished=content["tags"]["status"] != FAILED,
        seconds=content["metrics"]["seconds"],
        **content | {"tags": content["tags"] | common},
    )


def _origin(domain: str, sources: Mapping[str, str]) -> str:
    return sources.get(domain.partition(".")[0], "")


def method_metrics(records: pd.DataFrame) -> dict[tuple[str, str, float | None], dict[str, float]]:
    """Metrics of each (method, classifier, setting), the means and ranks those of the report."""
    names = list(dict.fromkeys(records["method"]))
    found = {}
    for classifier in dict.fromkeys(records["classifier"]):
        for place, standing in standings(records, classifier, names).items():
            metrics = {}
            if standing.mean is not None:
                metrics = {"accuracy": 100 * standing.mean, "rank": standing.rank}
                metrics["n_tasks"] = standing.n_tasks
            for name in ("n_asked", "n_ok", "n_failed"):
                metrics[name] = getattr(standing, name)
            method, setting = (place, None) if isinstance(place, str) else place
            found[method, classifier, setting] = metrics
    return found


def _method_runs(
    records: pd.DataFrame, methods: Mapping[str, Mapping], tasks: list[Run], common: dict[str, str]
) -> Iterator[Run]:
    """The runs of the methods, each the parent of its tasks: MLflow's leaderboard."""
    for (method, classifier, setting), metrics in method_metrics(records).items():
        value = [] if setting is None else [f"{setting:g}"]
        cell = _joined(method, classifier, *value)
        nested = [run for run in tasks if run.parent == cell]
        chosen = records[(records["method"] == method) & (records["classifier"] == classifier)]
        if setting is not None:
            chosen = chosen[chosen["setting"] == setting]
        rows = chosen.astype(object).where(chosen.notna(), None).to_dict("records")
        names, entry = ("", method, classifier), methods[method]
        tags = {"kind": "method", **_tags(names, rows, entry)}
        params = _params(names, rows, entry)
        metrics = {**metrics, "seconds": sum(run.seconds for run in nested)}
        # The name too: a label is nowhere else in a run, and those nested do not have it.
        name = " · ".join([entry.get("label") or method, classifier, *value])
        content = {"name": name, "metrics": metrics, "tags": tags}
        yield Run(
            cell=cell,
            name=name,
            key=_digest({"nested": [run.key for run in nested], **content}),
            params=params,
            metrics=metrics,
            tags=tags | common,
            finished=tags["status"] != FAILED,
            seconds=metrics["seconds"],
        )


def _study_runs(study: Study, common: dict[str, str]) -> list[Run]:
    """A run for each record of a study: its numbers as metrics, its words as parameters."""
    runs = []
    for number, record in enumerate(study.records[:_MOST_RECORDS]):
        metrics = {_name(k): float(v) for k, v in record.items() if _is_number(v)}
        words = {_name(k): _text(v) for k, v in record.items() if v is not None}
        params = {name: text for name, text in words.items() if name not in metrics}
        runs.append(
            Run(
                cell=f"record {number}",
                name=" · ".join(params.values())[:200] or f"record {number}",
                key=_digest({"record": dict(record)}),
                params=params,
                metrics=metrics,
                tags={"kind": "record", "status": FINISHED} | common,
                parent=SUMMARY,
            )
        )
    return runs


def _name(key: str) -> str:
    """A key as MLflow takes it."""
    return re.sub(r"[^\w\-. :/]", "_", str(key))[:250]


def _shown(entry: Mapping, varied: str, tuned: bool) -> dict:
    """An entry with what its runs say of parameters: those that a trial chooses have no value."""
    searched = entry.get("search", {}).get("params", {}) if tuned else {}
    chosen = {name: f"chosen among {json.dumps(values)}" for name, values in searched.items()}
    return {**entry, "params": {**(entry.get("params") or {}), **chosen}, "varied": varied}


def _params(names: tuple[str, str, str], rows: list[dict], entry: Mapping) -> dict[str, str]:
    _, method, classifier = names
    params = {
        "method": method,
        "classifier": classifier,
        "estimator": entry["estimator"],
        "protocol": rows[0]["protocol"],
        **_setting(rows),
    }
    if classifier == OWN:
        params["own_classifier"] = entry.get("classifier", "predict")
    values = dict(_flat(entry["params"]))
    if entry["varied"] and "setting" in params:
        values[entry["varied"]] = params["setting"]
    for name, value in values.items():
        params[f"method.{name}" if name in params else name] = value
    return {name: _text(value) for name, value in params.items()}


def _flat(params: Mapping, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _metrics(rows: list[dict], scored: list[dict]) -> dict[str, float]:
    """Counts and means over the trials of a task; scores that are shares in percent.

    A mean without some of the trials has another name: the hard ones may be those that failed, and
    sorted by a metric it would stand among the whole ones.
    """
    failed = sum(row["status"] in FAILURES for row in rows)
    metrics = {"n_asked": len(rows), "n_ok": len(scored), "n_failed": failed}
    metrics["seconds"] = math.fsum(_numbers(rows, "seconds"))
    for metric in METRICS.values():
        values = [metric.scale * value for value in _numbers(scored, metric.name)]
        if not values or "mean" not in metric.summary:
            continue
        name = metric.name if len(values) == len(rows) else f"{metric.name}_partial"
        metrics[name] = math.fsum(values) / len(values)
        if "std" in metric.summary and len(values) > 1:
            metrics[f"{name}_std"] = float(pd.Series(values).std(ddof=1))
    if seconds := _numbers(scored, "seconds"):
        metrics["seconds_per_trial"] = math.fsum(seconds) / len(seconds)
    return metrics


def _numbers(rows: list[dict], name: str) -> list[float]:
    return [float(row[name]) for row in rows if _is_number(row.get(name))]


def _is_number(value: object) -> bool:
    # MLflow would store infinity as the largest double, which then looks like a result.
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _tags(names: tuple[str, str, str], rows: list[dict], entry: Mapping) -> dict[str, str]:
    failures = Counter(row["status"] for row in rows if row["status"] != "ok")
    tags = {
        "method": names[1],
        "classifier": names[2],
        "paper": entry.get("paper") or "",
        "status": outcome(row["status"] for row in rows),
        **_setting(rows),
    }
    if failures:
        tags["failures"] = ", ".join(f"{status} {n}" for status, n in failures.most_common())
        errors = [row["error"] for row in rows if row.get("error")]
        tags["error"] = str(errors[0])[:_ERROR_LENGTH] if errors else ""
    return {name: str(value) for name, value in tags.items()}


def _summary_run(
    experiment: str,
    records: pd.DataFrame,
    parts: list[Run],
    paths: Sequence[Path | str],
    common: dict[str, str],
    study: Study | None,
    said: Mapping[str, str],
) -> Run:
    """A run with the page, the figures and the tables."""
    artifacts = {_artifact_name(experiment, Path(path)): Path(path) for path in paths}
    sums = {name: sha256(path) for name, path in artifacts.items()}
    statuses = [study.status] if study else list(records["status"])
    metrics = {"n_asked": len(statuses), "n_ok": statuses.count("ok")}
    seconds = study.seconds if study else seconds_of(records)
    status = outcome(statuses) if statuses else FINISHED
    tags = {"kind": SUMMARY, "status": status, **said}
    if study and study.error:
        tags["error"] = study.error[:_ERROR_LENGTH]
    if study and len(study.records) > _MOST_RECORDS:
        tags["records"] = f"{len(study.records):,}, of which the first {_MOST_RECORDS} have a run"
    return Run(
        cell=SUMMARY,
        name=f"{experiment} · report, figures and tables",
        key=_digest({"cells": [run.key for run in parts], "artifacts": sums, "tags": tags}),
        metrics=metrics | {"seconds": seconds},
        tags=tags | common,
        artifacts=artifacts,
        finished=tags["status"] != FAILED,
        seconds=seconds,
    )


def _artifact_name(experiment: str, path: Path) -> str:
    """Path below ``results/{experiment}`` where it is one, such as ``figures/pairs.svg``."""
    parts = path.parts
    if experiment in parts[:-1]:
        return Path(*parts[parts.index(experiment) + 1 :]).as_posix()
    return path.name


def _digest(content: object) -> str:
    text = json.dumps([FORMAT, content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _git_tags() -> dict[str, str]:
    state = git_state()
    if state["commit"] is None:
        return {}
    dirty = "with uncommitted changes" if state["dirty"] else "clean"
    # Not MLflow's own tag of the source: what was computed before may be logged at a later commit.
    return {"logged_at_commit": state["commit"], "logged_at_tree": dirty}
