import hashlib
import json
import os

import pytest

from workflow.lib.config import estimators, reading
from workflow.lib.config.memory import FILE, NOTES, Memory, sum_of, sum_of_file
from workflow.lib.config.reading import ConfigError, checked, read_yaml
from workflow.lib.config.suite import load_suite

ROOT = reading.SCHEMAS.parents[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NOTES.mkdir()
    return tmp_path


def fresh(monkeypatch, *modules):
    """The memory of a new process."""
    memory = Memory()
    for module in modules:
        monkeypatch.setattr(module, "MEMORY", memory)
    return memory


def test_what_is_put_comes_back_in_another_process(folder):
    first = Memory()
    first.put("a", {"b": [1, 2.5, None, True, "é"]})
    first.save()
    assert Memory().get("a") == {"b": [1, 2.5, None, True, "é"]}
    assert Memory().get("other") is None


def test_a_file_is_summed_again_where_its_size_or_time_has_changed(folder, monkeypatch):
    memory, path = Memory(), folder / "own.csv"
    monkeypatch.setattr("workflow.lib.config.memory.MEMORY", memory)
    path.write_text("a")
    os.utime(path, ns=(1, 1))
    first = sum_of_file(path)
    assert first == hashlib.sha256(b"a").hexdigest()
    path.write_text("b")
    os.utime(path, ns=(1, 1))
    assert sum_of_file(path) == first  # neither has changed: not read
    os.utime(path, ns=(2, 2))
    assert sum_of_file(path) == hashlib.sha256(b"b").hexdigest()


def test_what_comes_back_is_a_copy(folder):
    memory = Memory()
    memory.put("a", {"b": [1]})
    memory.get("a")["b"].append(2)
    assert memory.get("a") == {"b": [1]}


@pytest.mark.parametrize("value", [{1: "a number as a key"}, {"a": {1, 2}}, (1, 2)])
def test_what_json_would_change_is_not_kept(folder, value):
    memory = Memory()
    memory.put("a", value)
    assert memory.get("a") is None


def test_what_is_not_used_any_more_is_forgotten_when_there_is_too_much(folder, monkeypatch):
    monkeypatch.setattr("workflow.lib.config.memory.MOST", 1)
    memory = Memory()
    memory.put("old", 1)
    memory.save()
    later = Memory()
    later.get("new")
    later.put("new", 2)
    later.save()
    assert json.loads(FILE.read_text()) == {"new": "2"}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"a": "{"}', b'{"a": 1}', b"\xff"])
def test_a_damaged_file_is_made_again(folder, damage):
    FILE.write_bytes(damage)
    memory = Memory()
    assert memory.get("a") is None
    memory.put("a", 1)
    memory.save()
    assert Memory().get("a") == 1


def test_without_a_run_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = Memory()
    memory.put("a", 1)
    memory.save()
    assert not list(tmp_path.iterdir())


def test_parts_are_kept_apart():
    assert len({sum_of("ab", "c"), sum_of("a", "bc"), sum_of("abc")}) == 3


def test_a_file_is_parsed_once_and_again_when_it_changes(folder, monkeypatch):
    fresh(monkeypatch, reading)
    path = folder / "a.yaml"
    path.write_text("a: 1\n")
    calls = []
    parse = reading.yaml.load
    monkeypatch.setattr(reading.yaml, "load", lambda *a, **k: calls.append(1) or parse(*a, **k))
    assert [read_yaml(path, "a.yaml") for _ in range(2)] == [{"a": 1}] * 2
    path.write_text("a: 2\n")
    assert read_yaml(path, "a.yaml") == {"a": 2}
    assert len(calls) == 2


def test_what_is_wrong_is_refused_each_time(folder, monkeypatch):
    fresh(monkeypatch, reading)
    for _ in range(2):
        with pytest.raises(ConfigError, match="mirrr"):
            checked("config", {"mirrr": 1}, "config.yaml")


def test_a_second_start_gives_the_same_suite_without_importing_an_estimator(folder, monkeypatch):
    from workflow.lib.config import suite as suites

    fresh(monkeypatch, reading, estimators, suites)
    first = load_suite(ROOT)
    assert estimators.check_estimators(first) == []
    fresh(monkeypatch, reading, estimators, suites)
    monkeypatch.setattr(reading.yaml, "load", None)
    monkeypatch.setattr(estimators, "_broken", None)
    monkeypatch.setattr(suites, "check_entry", None)
    second = load_suite(ROOT)
    assert second.experiments == first.experiments
    assert (second.methods, second.protocols) == (first.methods, first.protocols)
    assert estimators.check_estimators(second) == []


@pytest.mark.whole_run
def test_a_dataset_whose_loader_is_another_is_checked_again(folder, monkeypatch):
    from workflow.lib.config import suite as suites

    fresh(monkeypatch, reading, suites)
    load_suite(ROOT)
    asked = []
    monkeypatch.setattr(suites, "check_entry", lambda name, *_: asked.append(name))
    read = suites._Reader.without_experiments

    def changed(reader, config):
        suite = read(reader, config)
        suite.datasets["digits"]["params"] = {"nowhere": 1}
        return suite

    monkeypatch.setattr(suites._Reader, "without_experiments", changed)
    load_suite(ROOT)
    assert asked == ["digits"]
    monkeypatch.setattr(suites, "_sum_of_loaders", lambda: "edited")
    load_suite(ROOT)
    assert len(asked) > 10


def test_another_parameter_is_checked_again(folder, monkeypatch):
    fresh(monkeypatch, reading, estimators)
    suite = load_suite(ROOT)
    assert estimators.check_estimators(suite) == []
    suite.methods["pca"]["params"]["n_componentz"] = 3
    with pytest.raises(ConfigError, match="n_componentz"):
        estimators.check_estimators(suite)
