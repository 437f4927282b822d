"""What headers say of the making of a file."""

import numpy as np
import pytest

from workflow.lib.storage.artifacts import write_arrays, write_records
from workflow.lib.storage.made_from import is_made_from, made_from

PARAMS = {"code": ["a", "b"], "block": {"params": {"alpha": 1.0}, "seen": ("x", None)}}
OTHER = PARAMS | {"block": {"params": {"alpha": 7.0}, "seen": ("x", None)}}


def write(path, meta):
    if path.suffix == ".npz":
        write_arrays(path, {"x": np.zeros(3)}, meta)
    else:
        write_records(path, [{"n": 1}], meta)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.npz"])
def test_other_code_and_other_settings_are_seen(tmp_path, name):
    path = write(tmp_path / name, {"n": 3, **made_from(PARAMS)})
    assert is_made_from(path, **made_from(PARAMS))
    assert not is_made_from(path, **made_from(OTHER))
    assert not is_made_from(path, **made_from(PARAMS | {"code": ["a", "c"]}))


def test_a_file_of_an_earlier_version_is_compared_by_what_it_says(tmp_path):
    path = write(tmp_path / "a.jsonl", {"code": PARAMS["code"]})
    assert is_made_from(path, **made_from(OTHER))
    assert not is_made_from(path, **made_from(OTHER | {"code": []}))
    assert is_made_from(write(tmp_path / "a.npz", {}), **made_from(PARAMS))


@pytest.mark.parametrize("name", ["a.jsonl", "a.npz"])
@pytest.mark.parametrize("content", [b"", b"[]\n", b'{"meta": 3}\n', b"\xff\x00"])
def test_a_damaged_file_is_left_to_its_readers(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert is_made_from(tmp_path / name, **made_from(PARAMS))
    assert is_made_from(tmp_path / f"no_{name}", **made_from(PARAMS))


def test_names_are_no_settings():
    def named(word):
        return {"code": [], "vary": {"label": word, "values": [{"words": word, "alpha": 1}]}}

    assert made_from(named("one")) == made_from(named("another"))
    assert made_from(named(4000)) != made_from(named(5000)), "the words of a text are counted"


def test_lists_count_as_what_scripts_are_handed_for_them():
    assert made_from({"code": [], "a": (1, 2)}) == made_from({"code": [], "a": [1, 2]})
