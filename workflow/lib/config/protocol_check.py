"""What the schema of the protocols cannot say: keys that need each other, and the data's help."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workflow.lib.config.reading import ConfigError, check_known

# Keys that a kind of protocol reads, beside those that all do.
_OF_ALL = {"kind", "description", "trials", "classifier_rows"}
_OF_ALL |= {"preprocess", "preprocess_rows", "source_rows"}
KEYS = {
    "official": {"splits"},
    "random": {
        *("seed", "source_per_class", "target_per_class", "at_most"),
        *("unlabelled_per_domain", "scored_rows", "target_share"),
    },
    "full_source": {"seed", "target_share"},
    "training_test": set(),
    "resampled": {"seed", "share", "target_labels", "max_rows"},
}
# Of these, what may take several values within one experiment.
VARIABLE_KEYS = ("source_per_class", "target_per_class", "target_share", "unlabelled_per_domain")


def check_protocol(where: str, protocol: Mapping, datasets: Mapping[str, dict]) -> None:
    """Check the keys of one protocol against each other.

    Raises
    ------
    ConfigError
        Naming the protocol (``where``) and the key.
    """
    kind, left_out = protocol["kind"], {"target_share", "unlabelled_per_domain"} & set(protocol)
    if kind == "official":
        known = [name for name, entry in datasets.items() if entry.get("kind") == "splits"]
        check_known(where, "splits", protocol["splits"], known, "dataset of splits")
    if kind == "training_test" and protocol["trials"] != 1:
        raise ConfigError(f"{where}.trials: training_test samples nothing; set it to 1")
    if kind != "random" and "scored_rows" in protocol:
        raise ConfigError(f"{where}.scored_rows: only protocols of kind random have it; remove it")
    if protocol.get("scored_rows") == "test" and "target_share" in protocol:
        raise ConfigError(
            f"{where}.target_share: scored_rows: test leaves rows out itself; remove it"
        )
    if protocol.get("scored_rows") == "test" and protocol.get("preprocess_rows") == "all":
        raise ConfigError(
            f"{where}.preprocess_rows: with scored_rows: test nothing is fitted on test samples; "
            "remove it"
        )
    if kind != "random" and "at_most" in protocol:
        raise ConfigError(f"{where}.at_most: only protocols of kind random have it; remove it")
    if kind == "full_source" and protocol["trials"] != 1 and not left_out:
        raise ConfigError(f"{where}.trials: full_source samples nothing; set it to 1")
    if kind == "full_source" and left_out == {"target_share"}:
        if "seed" not in protocol or protocol["target_share"] == 1:
            raise ConfigError(
                f"{where}.target_share: the rows that are left out are sampled and scored; give a "
                "seed, and a share below 1"
            )
    elif kind != "random" and left_out:
        raise ConfigError(
            f"{where}: only protocols of kind random leave rows out (full_source by target_share "
            "alone); remove it"
        )

    for key in sorted(set(protocol) - _OF_ALL - KEYS[kind]):
        raise ConfigError(f"{where}.{key}: protocols of kind {kind} do not read it; remove it")
    if "preprocess_rows" in protocol and not protocol.get("preprocess"):
        raise ConfigError(f"{where}.preprocess_rows: nothing is preprocessed; remove it")
    for key in ("source_per_class", "target_per_class"):
        if isinstance(protocol.get(key), Mapping):
            for name in protocol[key]:
                check_known(where, key, name, _places(datasets), "domain")


def _places(datasets: Mapping[str, dict]) -> list[str]:
    """What a number per class may be said of."""
    found = {"default": None}
    for dataset, entry in datasets.items():
        for domain in entry.get("domains", {}):
            found |= {domain: None, f"{dataset}.{domain}": None}
    return list(found)


def check_vary(
    where: str,
    raw: Mapping,
    protocol: Mapping,
    datasets: Mapping[str, dict],
    check_form: Callable[[dict], Any],
) -> None:
    """Check what an experiment varies, and a protocol with each of the values.

    Parameters
    ----------
    where : str
        The experiment's file.
    raw : mapping
        Its content.
    protocol : mapping
        The protocol that it names.
    datasets : mapping
    check_form : callable
        Checks a protocol against the schema.

    Raises
    ------
    ConfigError
    """
    vary = raw.get("vary")
    if vary is None:
        return
    if vary.get("scale") == "log" and min(vary["values"]) <= 0:
        raise ConfigError(f"{where}: vary.values: a logarithmic axis needs values above 0")
    for key in ("audit", "picture", "timing"):
        if key in raw:
            raise ConfigError(f"{where}: {key} has no place beside vary; write a file of its own")
    if vary["of"] == "methods":
        for method, changed in raw.get("overrides", {}).items():
            if vary["parameter"] in changed:
                raise ConfigError(
                    f"{where}: overrides.{method}.{vary['parameter']}: it is varied; remove it"
                )
        return
    what = "key of a protocol that can be varied"
    check_known(where, "vary.parameter", vary["parameter"], VARIABLE_KEYS, what)
    if vary["parameter"] not in KEYS[protocol["kind"]]:
        raise ConfigError(
            f"{where}: vary.parameter: {vary['parameter']!r} changes nothing: protocols of kind "
            f"{protocol['kind']}, as {raw['protocol']!r} is, do not read it"
        )
    for value in vary["values"]:
        varied = {**protocol, vary["parameter"]: value}
        check_form(varied)
        check_protocol(f"{where}: vary.values: {value:g}: {raw['protocol']}", varied, datasets)


def follows_division(protocol: Mapping) -> bool:
    """Whether a protocol follows the data's own division into training and test samples."""
    return protocol["kind"] == "training_test" or protocol.get("scored_rows") == "test"


def shows_target_labels(protocol: Mapping) -> bool:
    """Whether methods may be shown the label of some samples of the target."""
    if protocol["kind"] == "resampled":
        return protocol["target_labels"] != "none"
    drawn = protocol["kind"] == "random" and protocol["target_per_class"] != 0
    return drawn or protocol["kind"] == "official"


def check_division(
    where: str, protocol: Mapping, tasks: Sequence[Any], datasets: Mapping[str, dict]
) -> None:
    """Check that the domains of an experiment have the division that its protocol follows.

    Raises
    ------
    ConfigError
        Naming the experiment's file (``where``) and the first domain without one.
    """
    if not follows_division(protocol):
        return
    for ref in (ref for task in tasks for ref in task.domains):
        if "training_samples" not in datasets[ref.dataset]["domains"][ref.domain]:
            raise ConfigError(
                f"{where}: protocol: {ref} has no division into training and test samples; use "
                "another protocol, or give the domain training_samples in the entry of its data set"
            )
