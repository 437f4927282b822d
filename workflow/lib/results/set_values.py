"""Which numbers an experiment sets, so that no number that it found is told as one that was set."""

import re
from collections.abc import Iterator

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import Experiment, Suite

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def numbers_in(text: str) -> set[float]:
    """``"0.05, 0.1 and 1"`` as numbers."""
    return {float(number) for number in _NUMBER.findall(text)}


def set_numbers(suite: Suite, experiment: Experiment) -> set[float]:
    """Values of an experiment's parameters, of its protocol, and what was tried to find them."""
    given = [experiment.overrides, experiment.vary, experiment.study]
    tried = [*_leaves(experiment.found_by_search)]
    if not experiment.study:
        given += [suite.protocol(experiment.name), *_parameters(suite, experiment)]
        given += [suite.classifiers.get(name) for name in experiment.classifiers]
    found = {float(leaf) for leaf in _leaves(given) if isinstance(leaf, int | float)}
    return found.union(*map(numbers_in, tried))


def _parameters(suite: Suite, experiment: Experiment) -> Iterator[dict]:
    """All parameters of each method, defaults of its class included."""
    for method in experiment.methods:
        entry = suite.method(experiment.name, method)
        yield resolve_estimator(entry["estimator"])(**entry.get("params", {})).get_params(
            deep=False
        )


def _leaves(value: object) -> Iterator[object]:
    """What stands at the ends of nested dictionaries and lists."""
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple):
        for one in inner:
            yield from _leaves(one)
    else:
        yield value
