"""Passwords have no place in the configuration: it is noted, logged and sent to every job."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlsplit

from workflow.lib.config.reading import ConfigError

_SECRET_KEYS = re.compile(
    r"pass(word|wd)?|pwd|token|secret|signature|credential|(api|access|subscription)[-_]?key|^sig$",
    re.IGNORECASE,
)
_SECRET_OPTION = re.compile(r"--(.+-)?(password|passwd|token|secret|access-key|account-key)(-.+)?$")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]+")
_INSTEAD = {
    "mlflow.tracking_uri": (
        "set the environment variables MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD for a "
        "tracking server, or PGPASSWORD (or a file ~/.pgpass) for PostgreSQL"
    ),
    "mirror": (
        "write name and password to ~/.netrc, readable by you alone: machine HOST login NAME "
        "password PASSWORD"
    ),
}


def holds_password(address: str) -> bool:
    """Whether an address names a password, before its host or among its parameters.

    Of a web address all that stands before the host is one: a token has no name beside it.

    Examples
    --------
    >>> holds_password("postgresql://anna:x1@host/runs")
    True
    >>> holds_password("postgresql://anna@host/runs")
    False
    >>> holds_password("postgresql://host/runs?user=anna&password=x1")
    True
    >>> holds_password("https://glpat-x1@host/data.csv")
    True
    >>> holds_password("https://host/data.csv?sig=x1")
    True
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return False  # no address: whoever needs one says so
    keys = (key for key, _ in parse_qsl(parts.query))
    user = parts.netloc.rpartition("@")[0]
    named = ":" in user or (user and parts.scheme.lower() in ("http", "https"))
    return bool(named) or any(map(_SECRET_KEYS.search, keys))


def secret_option(word: str) -> str | None:
    """Name of an option of Snakemake's command line that takes a secret, as those of stores do.

    Examples
    --------
    >>> secret_option("--storage-s3-secret-key=x1")
    '--storage-s3-secret-key'
    >>> secret_option("--cores=2")
    """
    name = word.partition("=")[0]
    return name if _SECRET_OPTION.match(name) else None


def name_a_password(words: Iterable[str]) -> bool:
    """Whether a command line holds a secret: in an address, or behind an option that takes one."""
    return any(
        secret_option(word) or any(map(holds_password, _ADDRESS.findall(word))) for word in words
    )


def refuse_named_passwords(words: Iterable[str]) -> None:
    """Check a command line, which is noted to continue a killed run, and logged.

    Raises
    ------
    ConfigError
        Naming the option, not what follows it, and where the secret belongs.
    """
    words = list(words)
    for option in filter(None, map(secret_option, words)):
        variable = f"SNAKEMAKE_{option[2:].upper().replace('-', '_')}"
        raise ConfigError(
            f"{option}: a secret on the command line would end in notes and logs. Leave it out and "
            f"set the environment variable {variable}."
        )
    if name_a_password(words):
        raise ConfigError(
            "the command line holds an address with a password, which would end in notes and logs. "
            "Leave it out: what asks for it takes it from the environment or a file of yours."
        )


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
                f"{where}: {key}: the address holds a password or a token, which would end in "
                f"notes and logs. Leave it out and {_INSTEAD[key]}."
            )


def refuse_passwords_of_files(files: Mapping[str, Mapping], where: str) -> None:
    """Check the addresses of a dataset's files.

    Raises
    ------
    ConfigError
        Naming the file, not the address, and where the password belongs.
    """
    for name, file in files.items():
        if any(map(holds_password, file.get("urls", ()))):
            raise ConfigError(
                f"{where}: files.{name}.urls: an address holds a password or a token, which would "
                "end in receipts, logs and pages. Leave it out: download the file yourself and "
                "give its `path`, or serve it from a mirror (name and password in ~/.netrc)."
            )
