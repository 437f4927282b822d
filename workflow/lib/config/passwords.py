"""Passwords have no place in the configuration: it is noted, logged and sent to every job."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl

from workflow.lib.config.reading import ConfigError

_SECRET_KEYS = re.compile(
    r"pass(word|wd)?|pwd|token|secret|signature|credential|(api|access|subscription)[-_]?key|^sig$",
    re.IGNORECASE,
)
_SECRET_OPTION = re.compile(
    r"--(.+-)?(password|passwd|token|secret|access-key|account-key|auth)(-.+)?$"
)
_WEB = ("http", "https")
_DATABASE_USER = re.compile(r"([^:/@]*(?::[^@]*)?)@")
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

    Of a web address all that stands before the host is one: a token has no name beside it. Of a
    database's the password ends at the first @, whatever it is made of, as SQLAlchemy reads it.

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
    >>> holds_password("postgresql://anna:x/#1@host/runs")
    True
    """
    user, _ = _user_and_rest(address)
    web = address.partition("://")[0].lower() in _WEB
    keys = (key for key, _ in parse_qsl(address.partition("#")[0].partition("?")[2]))
    return ":" in user or (web and bool(user)) or any(map(_SECRET_KEYS.search, keys))


def without_password(address: str) -> str:
    """The address as it may stand in a receipt or a message.

    Examples
    --------
    >>> without_password("postgresql://anna:x/1@host/runs")
    'postgresql://anna@host/runs'
    """
    user, rest = _user_and_rest(address)
    scheme, slashes, _ = address.partition("://")
    return f"{scheme}{slashes}{user.partition(':')[0]}@{rest}" if user else address


def _user_and_rest(address: str) -> tuple[str, str]:
    """Name and password of an address, and what stands behind them."""
    scheme, slashes, place = address.partition("://")
    if not slashes:
        return "", address
    if scheme.lower() in _WEB:  # there both end before the path
        user = re.split(r"[/?#]", place, maxsplit=1)[0].rpartition("@")[0]
    else:
        found = _DATABASE_USER.match(place)
        user = found[1] if found else ""
    return user, place[len(user) + 1 :] if user else place


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
