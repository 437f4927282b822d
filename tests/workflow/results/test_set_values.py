"""A number that a note calls a setting is one of the configuration."""

import dataclasses

import pytest

from tests.workflow.results.test_sentences import made_up
from workflow.lib.results.audit import notes
from workflow.lib.results.sentences import SentenceError


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("tkl_regression", "1.1", True),  # an override
        ("tkl_regression", "4.0", False),  # a gain
        ("mmdt_table", "0.05 and 1", True),  # of an entry
        ("tkl_table2", "1.2", True),  # of a classifier
        ("fma_figure5_growth", "0.2", True),  # of a study
        ("mmdt_figure2", "0.1", True),  # tried in a search
        ("mmdt_figure2", "67.8", False),
    ],
)
def test_only_what_the_configuration_holds_is_a_setting(name, text, known):
    view = made_up(name)
    said = dataclasses.replace(view.experiment, notes=f'{{{{ setting("{text}") }}}}')
    told = dataclasses.replace(view, experiment=said)
    if known:
        assert notes(told) == text
    else:
        with pytest.raises(SentenceError, match=f"setting: {text} is no parameter of {name}"):
            notes(told)
