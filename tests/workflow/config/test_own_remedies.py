"""Remedies of the loaders in the options of the command."""

import pytest

from workflow.lib.config.own_remedies import in_options

OPTIONS = ("drop", "categorical", "decimal", "separator", "transpose", "missing", "unlabelled")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Leave it out: `drop: ['free text']`.", "Leave it out: --drop 'free text'."),
        ("`drop: ['a', 'b']`", "--drop a --drop b"),
        ("`drop: ['-a']`", "--drop=-a"),
        ("`drop: ['']`", "--drop ''"),
        ('`drop: ["it\'s"]`', "--drop 'it'\"'\"'s'"),
        ('`drop: ["5\' 7\\" h"]`', "--drop '5'\"'\"' 7\" h'"),
        ("`drop: ['5\\' 7']`", "`drop: ['5\\' 7']`"),  # no YAML
        ("Say `decimal: ','`.", "Say --decimal ','."),
        ("see also `separator`", "see also --separator"),
        ("Set `transpose: true`.", "Set --transpose."),
        ("Set `transpose: false`.", "Set no --transpose."),
        ("say `missing: drop` (leaves", "say --missing drop (leaves"),
        ("`unlabelled: ['?']`", "--unlabelled '?'"),
        ("Name one of these in the entry.", "Name one of these."),
        ("`labels` is missing", "`labels` is missing"),
        ("dataset 'own_a', domain 'a': a.csv: wrong", "a.csv: wrong"),
    ],
)
def test_a_parameter_of_an_entry_is_an_option(said, told):
    assert in_options(said, OPTIONS) == told
