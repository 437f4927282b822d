"""Passwords have no place in the configuration: it is noted, logged and sent to every job."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlsplit

from workflow.lib.config.reading import ConfigError

_SECRET_KEYS = re.compile(r"pass(word|wd)?|pwd|token|secret", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]+")
_INSTEAD = {
    "mlflow.tracking_uri": (
        "set the environment variables MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD for a "
        "tracking server, or PGPASSWORD (or a file ~/.pgpass) for PostgreSQL"
    ),
    "mirror": "name the mirror in the environment variable ALIGNMENT_MIRROR",
}


def holds_password(address: str) -> bool:
    """Whether an address names a password, before its host or among its parameters.

    Examples
    --------
    >>> holds_password("postgresql://anna:x1@host/runs")
    True
    >>> holds_password("postgresql://anna@host/runs")
    False
    >>> holds_password("postgresql://host/runs?user=anna&password=x1")
    True
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return False  # no address: whoever needs one says so
    keys = (key for key, _ in parse_qsl(parts.query))
    return ":" in parts.netloc.rpartition("@")[0] or any(map(_SECRET_KEYS.search, keys))


def name_a_password(words: Iterable[str]) -> bool:
    """Whether some word of a command line holds an address with a password."""
    return any(holds_password(address) for word in words for address in _ADDRESS.findall(word))


def refuse_passwords(config: Mapping, where: str) -> None:
    """Check the addresses of a run's settings.

    Raises
    ------
    ConfigError
        Naming the key, not the address, and where the password belongs.
    """
    addresses = {
        "mlflow.tracking_uri": config["mlflow"]["tracking_uri"],
        "mirror": str(config.get("mirror") or ""),
    }
    for key, address in addresses.items():
        if holds_password(address):
            raise ConfigError(
                f"{where}: {key}: the address holds a password, which would end in notes and logs. "
                f"Leave it out and {_INSTEAD[key]}."
            )
