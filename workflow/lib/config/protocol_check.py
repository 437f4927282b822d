"""What the schema of the protocols cannot say: keys that need each other, and the data's help."""

from collections.abc import Mapping, Sequence
from typing import Any

from workflow.lib.config.reading import ConfigError, check_known


def check_protocol(where: str, protocol: Mapping, datasets: Mapping[str, dict]) -> None:
    """Check the keys of one protocol against each other.

    Raises
    ------
    ConfigError
        Naming the protocol (``where``) and the key.
    """
    kind, left_out = protocol["kind"], {"target_share", "unlabelled_per_domain"} & set(protocol)
    if kind == "official":
        check_known(where, "splits", protocol["splits"], datasets, "dataset")
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
                "another protocol, or give the domain training_samples in config/datasets.yaml"
            )
