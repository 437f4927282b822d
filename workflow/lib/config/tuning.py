"""Tuned experiments: every method chooses among equally many candidates, by several criteria.

The `classifier` of their records names the way of choosing: a selector of ``config/tuning.yaml``
or one of `REFERENCES`.
"""

from collections.abc import Mapping

from workflow.lib.config.candidates import OWN
from workflow.lib.config.protocol_check import shows_target_labels
from workflow.lib.config.reading import ConfigError, check_known

# Ways of choosing beside the selectors. No user can follow the oracle: it reads scored labels.
FIXED = "fixed_"
REFERENCES = {
    "default": "Untuned",
    "fixed_one_nn": "Untuned, with 1-NN",
    "fixed_logistic": "Untuned, with logistic regression",
    "average": "Average candidate",
    "oracle": "Oracle",
}

# Of a trial's warning that says how many candidates had no score.
CANDIDATES_FAILED, FIRST_WITH = "candidates failed", "the first with: "


def check_search(where: str, entry: Mapping, tuning: Mapping) -> None:
    """Raise `ConfigError` unless the ``search`` of a method's entry names what there is.

    Parameters
    ----------
    where : str
        File and name of the method, for messages.
    entry : mapping
        Its entry.
    tuning : mapping
        ``config/tuning.yaml``.
    """
    where, search = f"{where}.search", entry.get("search", {})
    scalings = {word for named in tuning["scalings"].values() for word in named}
    for word in search.get("scalings", []):
        check_known(where, "scalings", word, scalings, "scaling of config/tuning.yaml")
    for word in search.get("classifiers", []):
        known = [OWN, *tuning["classifiers"]]
        check_known(where, "classifiers", word, known, "classifier of config/tuning.yaml")
    for word in search.get("values", []):
        check_known(where, "values", word, tuning["scalings"], "kind of features")
    for parameter in search.get("found_by_search", {}):
        check_known(where, "found_by_search", parameter, search.get("params", {}), "parameter")
    for key in ("at_most", "of_predict", "idle_on_centred"):
        for parameter in search.get(key, ()):
            check_known(where, key, parameter, search.get("params", {}), "parameter")
    for parameter, values in search.get("params", {}).items():
        if parameter not in entry.get("params", {}):
            raise ConfigError(
                f"{where}.params.{parameter}: the entry's own params do not say its value, so the "
                "untuned candidate would be drawn twice; add it to them"
            )
        if (value := entry["params"][parameter]) not in values:
            raise ConfigError(
                f"{where}.params.{parameter}: {value!r}, the entry's own value, is not among its "
                "values; add it"
            )


def choices(tuning: Mapping) -> dict[str, str]:
    """Label of every way of choosing among candidates."""
    selectors = tuning.get("selectors", {}).items()
    return {name: f"Chosen by {entry['label']}" for name, entry in selectors} | REFERENCES


def tuned(where: str, raw: Mapping, tuning: Mapping, protocol: Mapping, n_tasks: int) -> dict:
    """``tuning`` of an experiment file, with its defaults and all ``choices``.

    Raises
    ------
    ConfigError
        If it names an unknown selector, one that reads labels which the protocol does not show, or
        a protocol that scales: candidates do; asks an answer of several tasks; or fewer selectors
        than its page compares.
    """
    asked = {
        "candidates": 32,
        "seed": 0,
        "folds": 2,
        "seconds": None,
        "selectors": None,
        "board": None,
        "answer": False,
        **raw["tuning"],
    }
    selectors = tuning["selectors"]
    if asked["board"]:
        check_known(where, "tuning.board", asked["board"], tuning["boards"], "board")
        asked["chosen_by"] = tuning["boards"][asked["board"]]["chosen_by"]
    check_known(where, "tuning.chosen_by", asked["chosen_by"], selectors, "selector")
    if protocol.get("preprocess"):
        raise ConfigError(
            f"{where}: protocol: {raw['protocol']!r} scales the features, which the candidates of "
            "a tuned experiment do; name a protocol without preprocess"
        )
    if "target" in selectors[asked["chosen_by"]]["sees_labels"] and not _ever_shown(raw, protocol):
        raise ConfigError(
            f"{where}: tuning.chosen_by: {asked['chosen_by']!r} needs labels of the target, and "
            f"protocol {raw['protocol']!r} shows none; name another selector or another protocol"
        )
    for name in asked["selectors"] or ():
        check_known(where, "tuning.selectors", name, selectors, "selector")
    if asked["selectors"] and (asked["board"] or asked["answer"]):
        kind = "board" if asked["board"] else "answer"
        raise ConfigError(
            f"{where}: tuning.selectors: the page of tuning.{kind} compares all selectors; drop "
            "one of the two"
        )
    others = [name for name in asked["selectors"] or selectors if name != asked["chosen_by"]]
    if asked["answer"] and n_tasks > 1:
        raise ConfigError(
            f"{where}: tuning.answer: it is given on one task, and `tasks` are {n_tasks}; name one"
        )
    return {**asked, "choices": (asked["chosen_by"], *others, *REFERENCES)}


def _ever_shown(raw: Mapping, protocol: Mapping) -> bool:
    """Whether a protocol, as it is or as it is varied, shows labels of the target."""
    varied = raw.get("vary", {})
    shown = varied.get("parameter") == "target_per_class" and any(varied["values"])
    return shown or shows_target_labels(protocol)
