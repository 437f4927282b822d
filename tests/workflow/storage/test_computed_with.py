"""What a file was computed with, through the headers of all that is made of it."""

import importlib.metadata
import json
import platform
import re
import socket
from pathlib import Path

from workflow.lib.config.addresses import PROJECT
from workflow.lib.storage.computed_with import (
    COMPUTED_WITH,
    UNSAID,
    computed_by_all,
    computed_here,
    computed_with,
    version,
)

ONE = {"python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "processor": "AMD EPYC"}
OTHER = ONE | {"numpy": "2.3.0"}


def test_it_is_of_this_process():
    found = computed_with()
    assert found["python"] == platform.python_version()
    assert found["numpy"] == importlib.metadata.version("numpy")
    assert found["processor"]
    assert computed_here() == {COMPUTED_WITH: [found]}
    assert version("no-such-package") is None


def test_it_names_no_person_no_machine_and_no_folder():
    text = json.dumps(list(computed_with().values()))
    for name in (Path.home().name, socket.gethostname()):
        assert not name or not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    assert str(PROJECT) not in text


def test_of_several_files_each_stands_once_and_those_of_before_say_that():
    headers = [{COMPUTED_WITH: [ONE]}, {}, {COMPUTED_WITH: [OTHER, ONE]}]
    assert computed_by_all(headers) == {COMPUTED_WITH: [ONE, UNSAID, OTHER]}
    assert computed_by_all([]) == {COMPUTED_WITH: []}
    assert computed_by_all([{COMPUTED_WITH: []}]) == {COMPUTED_WITH: []}, "nothing was computed"
