"""What the loaders say of an entry, in the options of the command."""

import re
import shlex
from collections.abc import Sequence

import yaml

_IN_ENTRY = re.compile(r"`(\w+)(?:: ([^`]+))?`")
_PLACE = re.compile(r"^dataset '[^']*', domain '[^']*': ")


def in_options(message: str, options: Sequence[str]) -> str:
    """A message with options of the command in place of parameters of an entry.

    Parameters
    ----------
    message : str
        ``drop: ['a', 'b']`` in backticks becomes ``--drop a --drop b``. The names of the dataset
        and domain before it, which the command made up, are left out, and so is its entry.
    options : sequence of str
        Parameters that are options.
    """

    def option(found: re.Match) -> str:
        name, value = found[1], found[2]
        try:
            return _told(name, value) if name in options else found[0]
        except yaml.YAMLError:  # better as an entry has it than not at all
            return found[0]

    said = _PLACE.sub("", message).replace(" in the entry", "")
    return _IN_ENTRY.sub(option, said)


def _told(name: str, value: str | None) -> str:
    read = None if value is None else yaml.safe_load(value)
    if read is None or read is True:
        return f"--{name}"
    if read is False:
        return f"no --{name}"
    values = read if isinstance(read, list) else [read]
    return " ".join(_pair(name, str(part)) for part in values)


def _pair(name: str, value: str) -> str:
    quoted = shlex.quote(value) if re.search(r"\w", value) else f"'{value}'"
    return f"--{name}={quoted}" if value.startswith("-") else f"--{name} {quoted}"
