"""Configuration files are read whole, and refused by name and line."""

import pytest

from workflow.lib.config.reading import ConfigError, check_known, checked, read_yaml

SCHEMA = """
type: object
properties:
  n: {type: integer, minimum: 1}
  share: {type: number}
  name: {type: string, pattern: "^[a-z]+$"}
additionalProperties: false
"""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: 1\nb: 2\na: 3\n", "mine: line 3: the key 'a' .*line 1; keep one"),
        (b"a: \xff\n", "mine: not UTF-8"),
        (b"a: [1\n", "mine: not valid YAML"),
        (b"- 1\n", "mine: holds no keys"),
        (b"", "mine: holds no keys"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path, content, words):
    (tmp_path / "x.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        read_yaml(tmp_path / "x.yaml", "mine")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="mine: the file is missing"):
        read_yaml(tmp_path / "x.yaml", "mine")


def test_merges_may_override(tmp_path):
    (tmp_path / "x.yaml").write_text("a: &base {x: 1, y: 2}\nb: {<<: *base, y: 3}\n")
    assert read_yaml(tmp_path / "x.yaml", "mine")["b"] == {"x": 1, "y": 3}


@pytest.mark.parametrize(
    "wrong",
    [{"n": 2.0}, {"n": True}, {"n": 0}, {"share": float("nan")}, {"name": "abc\n"}, {"m": 1}],
)
def test_values_that_a_person_did_not_mean_are_refused(tmp_path, wrong):
    (tmp_path / "toy.yaml").write_text(SCHEMA)
    right = {"n": 2, "share": 0.5, "name": "abc"}
    assert checked("toy", right, "mine", tmp_path) == right
    with pytest.raises(ConfigError, match=r"^mine: "):
        checked("toy", wrong, "mine", tmp_path)


@pytest.mark.parametrize("schema", ["{type: object}", "{oneOf: [{type: array}, {const: all}]}"])
def test_a_key_without_a_value_is_told_with_what_to_do(tmp_path, schema):
    (tmp_path / "toy.yaml").write_text(f"properties: {{overrides: {schema}}}")
    with pytest.raises(ConfigError, match=r"^mine: overrides: no value .*; write one, or delete"):
        checked("toy", {"overrides": None}, "mine", tmp_path)


def test_an_unknown_word_is_answered_with_the_nearest():
    check_known("file", "key", "kema", ["kema"], "method")
    with pytest.raises(ConfigError, match=r"file: key: unknown method 'kem'\. Did you mean 'kema'"):
        check_known("file", "key", "kem", ["kema", "fma"], "method")
