"""What records hang on beside data and code, as sums that tell those of other settings."""

import dataclasses
import hashlib
import json

from workflow.lib.config.candidates import Alignment
from workflow.lib.config.suite import Experiment, Suite


def sums_of(suite: Suite, experiment: Experiment) -> dict:
    """``drawn``: of the trials; ``tried``: of each method."""
    return {"drawn": drawn_of(suite, experiment), "tried": tried_by(suite, experiment)}


def differing(suite: Suite, experiment: Experiment, asked: dict) -> list[str]:
    """What is another by now than records say of themselves: trials, and methods by name."""
    today = sums_of(suite, experiment)
    methods = [m for m, told in asked["tried"].items() if told != today["tried"].get(m, told)]
    return [*(["trials"] if asked["drawn"] != today["drawn"] else []), *methods]


def tried_by(suite: Suite, experiment: Experiment) -> dict[str, str]:
    """What each method's scores hang on but data and code: its settings, and its candidates where
    the experiment is tuned.
    """
    found = {}
    for name in experiment.methods:
        entry = suite.method(experiment.name, name)
        tried = _candidates(suite, experiment, name) or suite.classifiers_of(experiment.name, name)
        found[name] = _sum([entry["estimator"], entry["sees_labels"], entry["params"], tried])
    return found


def _candidates(suite: Suite, experiment: Experiment, method: str) -> list:
    """Candidates of a method by the kinds of features of the tasks, and how they are judged."""
    if not experiment.tuning:
        return []
    kinds = {
        tuple(suite.datasets[ref.dataset].get("values", "real") for ref in task.domains): task
        for task in reversed(experiment.tasks)
    }
    drawn = {
        "+".join(kind): [
            _without_words(one) for one in suite.candidates(experiment.name, method, task)
        ]
        for kind, task in kinds.items()
    }
    return [drawn, {key: experiment.tuning[key] for key in ("folds", "seconds")}]


def _without_words(alignment: Alignment) -> dict:
    told = dataclasses.asdict(alignment)
    kept = [{k: v for k, v in one.items() if k != "words"} for one in told["classifiers"]]
    return {**told, "classifiers": kept}


def _sum(told: object) -> str:
    content = json.dumps(told, sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def drawn_of(suite: Suite, experiment: Experiment) -> str:
    """What trials are drawn of and how, in a few characters: domains, what loads them, protocol."""
    protocol = {k: v for k, v in suite.protocol(experiment.name).items() if k != "description"}
    domains = [[(ref.dataset, ref.domain) for ref in task.domains] for task in experiment.tasks]
    entries = {
        ref.dataset: suite.datasets[ref.dataset] for t in experiment.tasks for ref in t.domains
    }
    loaded = {
        name: {key: entry.get(key) for key in ("loader", "values", "domains")}
        | {"files": [(file, how.get("sha256")) for file, how in entry.get("files", {}).items()]}
        for name, entry in entries.items()
    }
    return _sum([protocol, sorted(domains), loaded])
