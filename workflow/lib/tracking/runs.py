"""MLflow's runs of an experiment: one per (task, method, classifier), and a summary.

The trials of a cell are the steps of one run: a run per trial would be twenty times as many, and
the MLflow UI lists a hundred to a page. `store` writes them.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from workflow.lib.config.metrics import METRICS
from workflow.lib.config.suite import OWN
from workflow.lib.results import significance
from workflow.lib.results.environment import git_state
from workflow.lib.storage.artifacts import sha256
from workflow.lib.tracking.store import SUMMARY, Run, Store

# Part of every result key: raise it when the form of a run changes, and all are rewritten.
FORMAT = 2

# MLflow shows at most this many characters of a tag without opening it.
_ERROR_LENGTH = 500


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
) -> dict:
    """Bring MLflow's runs of one experiment up to date with its records.

    A cell whose ``result_key`` is already there is left alone, a changed one replaces its run, and
    a run whose cell no longer exists is deleted; calling this twice therefore changes nothing.

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
        Figures and tables for the summary run.
    config : mapping
        ``config/config.yaml``; ``config["mlflow"]["tracking_uri"]`` is the store.
    code : mapping, optional
        ``{method: digest of its source files}``, part of the result key.
    description : str, optional
        The experiment's question, shown above its runs.

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
    common = {"experiment": experiment, **_git_tags()}
    cells = [
        _cell_run(names, cell, methods[names[1]], datasets, (code or {}).get(names[1], ""), common)
        for names, cell in _cells(records)
    ]
    summary = _summary_run(experiment, cells, artifacts, common)
    with Store(config["mlflow"]["tracking_uri"]) as store:
        return store.update(experiment, description, [summary, *cells])


def _cells(records: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], list[dict]]]:
    """Rows of each cell in the order of their trials, missing values as None."""
    columns = ["task", "method", "classifier", "setting"]
    for (*names, _), frame in records.groupby(columns, sort=False, dropna=False):
        ordered = frame.sort_values("trial", kind="stable")
        plain = ordered.astype(object).where(ordered.notna(), None)
        yield tuple(str(name) for name in names), plain.to_dict("records")


def _setting(rows: list[dict]) -> dict[str, str]:
    """The value of the varied quantity in words, if there is one."""
    value = rows[0].get("setting")
    return {} if value is None else {"setting": f"{value:g}"}


def _cell_run(
    names: tuple[str, str, str],
    rows: list[dict],
    entry: Mapping,
    datasets: Mapping[str, Mapping[str, str]],
    code: str,
    common: dict[str, str],
) -> Run:
    task, method, classifier = names
    scored = [row for row in rows if row["status"] == "ok"]
    content = {
        "params": _params(names, rows, entry),
        "metrics": _metrics(rows, scored),
        "inputs": dict(datasets.get(task, {})),
        "tags": _tags(names, rows, entry),
    }
    key = _digest({**content, "rows": rows, "code": code})
    target = next(reversed(content["inputs"]), None)
    return Run(
        cell=" | ".join([*names, *_setting(rows).values()]),
        name=" · ".join([method, task, classifier, *_setting(rows).values()]),
        key=key,
        params=content["params"],
        metrics=content["metrics"],
        series={"trial/accuracy": _points(scored, "accuracy")},
        tags=content["tags"] | common,
        inputs=[
            (domain, digest, "target" if domain == target else "source")
            for domain, digest in content["inputs"].items()
        ],
        finished=bool(scored),
        seconds=sum(_numbers(rows, "seconds")),
    )


def _params(names: tuple[str, str, str], rows: list[dict], entry: Mapping) -> dict[str, str]:
    task, method, classifier = names
    params = {
        "task": task,
        "method": method,
        "classifier": classifier,
        "estimator": entry["estimator"],
        "protocol": rows[0]["protocol"],
        "trials": len(rows),
        **_setting(rows),
    }
    if classifier == OWN:
        params["own_classifier"] = entry.get("classifier", "predict")
    for name, value in _flat(entry.get("params") or {}):
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
    metrics = {"n_asked": len(rows), "n_ok": len(scored)}
    averaged = [metric.name for metric in METRICS.values() if "mean" in metric.summary]
    for name in (*averaged, "seconds"):
        if values := _numbers(scored, name):
            metrics[name] = math.fsum(values) / len(values)
            if name in METRICS and "std" in METRICS[name].summary and len(values) > 1:
                metrics[f"{name}_std"] = float(pd.Series(values).std(ddof=1))
    return metrics


def _points(rows: list[dict], name: str) -> list[tuple[int, float]]:
    return [(int(row["trial"]), float(row[name])) for row in rows if _is_number(row.get(name))]


def _numbers(rows: list[dict], name: str) -> list[float]:
    return [float(row[name]) for row in rows if _is_number(row.get(name))]


def _is_number(value: object) -> bool:
    # MLflow would store infinity as the largest double, which then looks like a result.
    return value is not None and math.isfinite(value)


def _tags(names: tuple[str, str, str], rows: list[dict], entry: Mapping) -> dict[str, str]:
    failures = Counter(row["status"] for row in rows if row["status"] != "ok")
    n_failed = sum(failures.values())
    if not n_failed:
        status = "ok"
    elif n_failed < len(rows):
        status = "partial"
    else:
        status = failures.most_common(1)[0][0]
    tags = {
        "kind": "cell",
        "task": names[0],
        "method": names[1],
        "classifier": names[2],
        "source": rows[0]["source"],
        "target": rows[0]["target"],
        "paper": entry.get("paper") or "",
        "status": status,
        **_setting(rows),
    }
    if n_failed:
        tags["failures"] = ", ".join(f"{status} {n}" for status, n in failures.most_common())
        errors = [row["error"] for row in rows if row.get("error")]
        tags["error"] = str(errors[0])[:_ERROR_LENGTH] if errors else ""
    return {name: str(value) for name, value in tags.items()}


def _summary_run(
    experiment: str, cells: list[Run], paths: Sequence[Path | str], common: dict[str, str]
) -> Run:
    """A run with the figures and tables, and the mean accuracy of each (method, classifier)."""
    artifacts = {_artifact_name(experiment, Path(path)): Path(path) for path in paths}
    sums = {name: sha256(path) for name, path in artifacts.items()}
    metrics = {
        **_mean_accuracies(cells),
        "n_asked": sum(run.metrics["n_asked"] for run in cells),
        "n_ok": sum(run.metrics["n_ok"] for run in cells),
    }
    whole = metrics["n_ok"] == metrics["n_asked"]
    return Run(
        cell=SUMMARY,
        name=f"{experiment} · figures and tables",
        key=_digest({"cells": [run.key for run in cells], "artifacts": sums}),
        metrics=metrics,
        tags={"kind": "summary", "status": "ok" if whole else "partial"} | common,
        artifacts=artifacts,
        seconds=sum(run.seconds for run in cells),
    )


def _mean_accuracies(cells: list[Run]) -> dict[str, float]:
    """Mean of each (method, classifier) over the tasks that are complete for all compared ones.

    A mean over other tasks than the others have, or over the trials that happened to succeed,
    would look like a comparable number.
    """
    columns: dict[str, dict[str, float]] = {}
    for run in cells:
        words = (run.tags.get(tag) for tag in ("method", "classifier", "setting"))
        column = columns.setdefault(f"mean accuracy/{' '.join(filter(None, words))}", {})
        complete = run.metrics["n_ok"] == run.metrics["n_asked"]
        column[run.tags["task"]] = run.metrics.get("accuracy") if complete else None
    common = significance.comparable(pd.DataFrame(columns, dtype=float)).means
    if common.empty:
        return {}
    return {**common.mean().to_dict(), "n_tasks_averaged": len(common)}


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
    return {"git_commit": state["commit"], "git_tree": dirty}
