"""The example of the manual that reads the audit applies the audit's own rule."""

import runpy
import sys

import matplotlib as mpl

from workflow.lib.results.reference import AUDIT, REFERENCE, read_rows
from workflow.lib.results.verdicts import RULE

EXAMPLE = REFERENCE.parent / "manual/gallery/plot_8_reading_the_audit.py"
COLUMNS = {"sma": "SMA", "fma_i": "FMA-I", "fma_f": "FMA-F"}


def test_the_example_prints_the_rule_and_comes_to_the_verdicts_of_the_audit(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    with mpl.rc_context({"backend": "Agg"}):
        found = runpy.run_path(str(EXAMPLE))["columns"]
    assert RULE in " ".join(capsys.readouterr().out.split())
    audit = read_rows(REFERENCE / "fma_table1" / AUDIT)
    printed = {row["Published column"]: row["Verdict"].partition(" (")[0] for row in audit}
    assert {COLUMNS[name]: column["verdict"] for name, column in found.items()} == {
        label: printed[label] for label in COLUMNS.values()
    }
    for name, label in COLUMNS.items():
        (row,) = (row for row in audit if row["Published column"] == label)
        assert found[name]["difference of the means"] == round(float(row["Difference"]), 2)
