"""What `snakemake --list` shows, and what a mistyped target gets to read."""

import difflib
import re

for target in workflow.rules:
    if target.name in SUITE.experiments:
        target.docstring = SUITE.experiments[target.name].title


def list_targets(only_targets=False):
    """The targets for people, in place of every rule."""
    shown = {rule.name: rule.docstring for rule in workflow.rules}
    width = max(map(len, [*GROUPS, *SUITE.experiments]))
    for name in [*GROUPS, *SUITE.experiments]:
        print(f"{name:{width}}  {shown[name]}")


workflow.list_rules = list_targets


def refuse(w):
    """Input function of what nobody can make."""
    known = [*GROUPS, *SUITE.experiments]
    near = difflib.get_close_matches(w.word, known, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise WorkflowError(f"unknown target {w.word!r}. {hint}`snakemake --list` shows them all.")


# Words of the command line that may be targets and are none.
UNKNOWN = {word for word in sys.argv[1:] if re.fullmatch("[a-z][a-z0-9_]*", word)}
UNKNOWN -= {rule.name for rule in workflow.rules}
