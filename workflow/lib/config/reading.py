"""YAML files of the configuration: read whole, checked against their schema, refused by name.

Python's YAML and JSON Schema let pass what a person did not mean: a key that stands twice (the
second wins), 2.0 for a count, NaN for a number, a line feed behind a name. Here they do not pass.
"""

import difflib
import functools
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from workflow.lib.config.memory import MEMORY, sum_of

if TYPE_CHECKING:
    import jsonschema

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
_MERGE = "tag:yaml.org,2002:merge"


class ConfigError(ValueError):
    """A configuration file is wrong; the message says where, what and what would be right."""


def check_known(where: str, key: str | None, word: str, known: Iterable[str], what: str) -> None:
    """Raise `ConfigError` with the nearest known word unless ``word`` is known."""
    known = sorted(known)
    if word in known:
        return
    near = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    place = f"{where}: {key}" if key else where
    raise ConfigError(f"{place}: unknown {what} {word!r}.{hint} Known: {', '.join(known)}")


# -- YAML -------------------------------------------------------------------------------------


class _DuplicateKey(yaml.YAMLError):
    """A key stands twice in one mapping."""


# libyaml's parser, where PyYAML was built with it, reads the configuration seven times as fast.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Safe loader that refuses a mapping with the same key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE or not isinstance(key_node, yaml.ScalarNode):
                continue
            key, line = self.construct_object(key_node), key_node.start_mark.line + 1
            if key in lines:
                raise _DuplicateKey(
                    f"line {line}: the key {key!r} stands already in line {lines[key]}; keep one"
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, name: str | Path) -> dict:
    """Read a mapping from a YAML file.

    Parameters
    ----------
    path : Path
    name : str or Path
        What messages call the file.

    Raises
    ------
    ConfigError
        If the file is missing, unreadable, not UTF-8, not YAML, no mapping, or holds a key twice.
    """
    try:
        source = path.read_bytes()
        key = sum_of("yaml", source)
        content = MEMORY.get(key)
        if content is None:
            content = yaml.load(source.decode("utf-8"), Loader=_Loader)
            MEMORY.put(key, content)
    except FileNotFoundError as error:
        raise ConfigError(f"{name}: the file is missing; restore it") from error
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is {error.object[error.start]:#04x}"
        raise ConfigError(f"{name}: not UTF-8 ({place}); save it as UTF-8") from error
    except _DuplicateKey as error:
        raise ConfigError(f"{name}: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{name}: holds no keys; expected a mapping such as 'schema_version: 1'")
    return content


# -- schemas ----------------------------------------------------------------------------------


def checked(kind: str, content: dict, where: str, schemas: Path = SCHEMAS) -> dict:
    """Give ``content`` back if it follows ``workflow/schemas/{kind}.yaml``.

    Raises
    ------
    ConfigError
        Naming the key and what would be right.
    """
    schema = read_yaml(schemas / f"{kind}.yaml", f"workflow/schemas/{kind}.yaml")
    key = sum_of("checked", json.dumps(schema), repr(content))
    if MEMORY.get(key):
        return content
    errors = _validator()(schema).iter_errors(content)
    # The most specific message first: deep in the file, and not the sum of several branches.
    for error in sorted(errors, key=lambda error: -len(error.absolute_path)):
        raise ConfigError(f"{where}: {_explain(error)}")
    MEMORY.put(key, True)
    return content


@functools.cache
def _validator() -> type:
    # Imported here, not above: jobs use the configuration's small classes and check no schema.
    import jsonschema

    base = jsonschema.Draft202012Validator
    types = base.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number})
    return jsonschema.validators.extend(base, {"pattern": _pattern}, type_checker=types)


def _is_integer(_: object, value: object) -> bool:
    """A count: 2.0 is an integer in JSON, but `range(2.0)` is an error."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    """A finite number: NaN is neither below a minimum nor above a maximum."""
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


def _pattern(
    _: object, pattern: str, instance: object, schema: dict
) -> "Iterator[jsonschema.ValidationError]":
    """The whole text must fit: ``$`` also stands before a last line feed."""
    import jsonschema

    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _explain(error: "jsonschema.ValidationError") -> str:
    place = ".".join(str(part) for part in error.absolute_path)
    prefix = f"{place}: " if place else ""
    if error.instance is None:
        return f"{prefix}no value stands there; write one, or delete it"
    if error.validator == "uniqueItems":
        listed = error.instance
        twice = next(item for number, item in enumerate(listed) if item in listed[:number])
        return f"{prefix}{twice!r} is listed twice; keep one"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in known)
        near = difflib.get_close_matches(str(unknown), known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{prefix}unknown key {unknown!r}.{hint} Known: {', '.join(sorted(known))}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{prefix}the key {missing!r} is missing; add it"
    if error.context:
        return _explain(max(error.context, key=lambda inner: len(inner.absolute_path)))
    return prefix + error.message
