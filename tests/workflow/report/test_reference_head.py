"""What stands at the head of the reference's README: counts of verdicts, findings, links."""

import re
from collections import Counter

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.reference_head import with_head
from workflow.lib.report.reference_words import RUNS, row
from workflow.lib.results.reference import AUDIT, REFERENCE, read_rows

SUITE = load_suite(PROJECT)
VERDICTS = ("reproduced", "matched after search", "close", "rows disagree", "not reproduced")
FINDINGS = """# What the benchmark finds

Made of this. Surely: so.

## 1. Does it help?

**On no board.**

The best: SA +1.0 points. Elsewhere: +0.1 points. In any way: more.

Claim that was tested, which is not so: It does.

## 2. Another?

**Yes.**

Claim that was tested, which is so: It is.
"""


def test_verdicts_are_counted_as_in_the_audits_of_the_pages():
    counted, without = Counter(), 0
    for audit in REFERENCE.glob(f"*/{AUDIT}"):
        for column in read_rows(audit):
            if column["Ours"]:
                (verdict,) = (v for v in VERDICTS if column["Verdict"].startswith(v))
                counted[verdict] += 1
            else:
                without += 1
    page = with_head((REFERENCE / "README.md").read_text("utf-8"), SUITE, REFERENCE)
    (line,) = re.findall(r"^Of the papers' printed columns (.*)$", page, re.MULTILINE)
    assert line.startswith(f"{counted.total()} are compared ")
    for verdict, number in counted.items():
        assert re.search(rf"[ :]{number} {verdict}\b", line)
    assert line.endswith(f"; {without} others have no number of ours, for the reason there.")
    assert "\n## Verdicts\n" in page, "what the line links to"


def test_the_first_finding_stands_above_the_runs_and_links_below(tmp_path):
    (tmp_path / "findings.md").write_text(FINDINGS)
    table = f"{row(RUNS)}\n| :--- |\n| a run |"
    page = f"# The reference run\n\nOther pages: none.\n\nWords.\n\n{table}\n\nMore.\n"
    found = with_head(page, SUITE, tmp_path).split("\n\n")
    assert found == [
        "# The reference run",
        "What the boards find ([findings](findings.md)): On no board. The best: SA +1.0 points. "
        "In any way: more.",
        "Words.",
        table,
        "Other pages: [findings](findings.md).",
        "More.\n",
    ]
    again = with_head("\n\n".join(found), SUITE, tmp_path)
    assert again.split("\n\n") == found


def test_a_page_without_columns_counts_none(tmp_path):
    assert with_head("# The reference run\n\nWords.\n", SUITE, tmp_path) == (
        "# The reference run\n\nWords.\n"
    )


def test_the_sentences_are_those_of_the_findings_that_stand():
    page = with_head("# The reference run\n", SUITE, REFERENCE)
    found = next(line for line in page.splitlines() if line.startswith("What the boards find"))
    assert "): An aligning method is surely above the best tuned baseline on " in found
    assert ". The best: " in found
    assert ". Where every method and baseline may have whichever way of choosing suits" in found
