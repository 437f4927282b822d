"""What a file was made from, by its header: where Snakemake's notes are lost, nothing else says it.

The header names the code of the job that wrote the file, and a sum of the settings it was given.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from workflow.lib.storage.artifacts import CorruptArtifact, read_header, read_meta

# Of settings, at any depth: how things are called, in text. No number depends on them.
_WORDS = frozenset({"label", "words"})


def made_from(params: Mapping) -> dict:
    """What the header of a file says of the parameters of the job that writes it.

    Parameters
    ----------
    params : mapping
        The parameters of its rule: ``code``, and settings that can be written as JSON.
    """
    settings = {name: value for name, value in params.items() if name != "code"}
    text = json.dumps(_without_words(settings), sort_keys=True)
    return {"code": params["code"], "settings": hashlib.sha256(text.encode()).hexdigest()}


def is_made_from(path: Path | str, code: object, settings: str) -> bool:
    """Whether nothing in the header of a file is against these; what it does not hold is not.

    Files of earlier versions hold no sum of settings. What is wrong with a damaged file is for its
    readers to say.
    """
    header = _header(Path(path))
    return header.get("code") in (None, code) and header.get("settings") in (None, settings)


def _without_words(value: object) -> object:
    if isinstance(value, Mapping):
        named = {name for name in _WORDS & value.keys() if isinstance(value[name], str)}
        return {name: _without_words(of) for name, of in value.items() if name not in named}
    if isinstance(value, list | tuple):
        return [_without_words(item) for item in value]
    return value


def _header(path: Path) -> dict:
    """The ``meta`` of a file of records or arrays, of which no more than that is read."""
    try:
        return read_meta(path) if path.suffix == ".npz" else read_header(path)
    except (CorruptArtifact, OSError):
        return {}
