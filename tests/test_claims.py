"""What the project claims in numbers, against records and against the texts that print it."""

import ast
import dataclasses
import functools
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from domain_alignment.manifold import FMA

from tests.claims import (
    FILE,
    ROOT,
    Claim,
    claimed_experiments,
    quantities_of,
    read_claims,
    recorded,
)
from tests.methods.office_caltech import MIRROR, needs_surf
from tests.one_cell import view_of_cell
from tests.workflow.results.test_sentences import SUITE, made_up
from workflow.lib.results.audit import audit
from workflow.lib.results.reference import read_rows
from workflow.lib.results.sentences import Quantities, SentenceError
from workflow.lib.trials.evaluate import COLUMNS

CLAIMS = read_claims()
VERDICTS = yaml.safe_load(FILE.read_text("utf-8"))["verdicts"]
QUICK = [claim for claim in CLAIMS if claim.quick]
EXPERIMENTS = "reports/manual/benchmark/experiments.md"
RESULTS = Path(os.environ.get("ALIGNMENT_RESULTS", ROOT / "results"))
PERCENT = re.compile(r"(?<![\d.])\d\d\.\d(?![\d.])")
LISTED = re.compile(rf"(?:{PERCENT.pattern}(?:, | and | to | against ))*{PERCENT.pattern} %")
CELL = ["task", "method", "classifier", "setting"]
MEANS = {f"{name}_mean": name for name in ("accuracy", "accuracy_entire_target", "accuracy_new")}
# Percentages in docstrings of the library that are no result of an experiment.
OTHERS = {"99.9"}


def claimed(path):
    """Texts of the numbers that are claimed in a file."""
    return {claim.printed for claim in CLAIMS if path in claim.where}


def docstrings(path):
    """Docstrings of a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return "\n".join(ast.get_docstring(n) or "" for n in nodes if isinstance(n, kinds))


@functools.cache
def by_chance(experiment):
    """Quantities of records of chance, of two trials."""
    return quantities_of(made_up(experiment))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_names_a_quantity_and_is_printed_as_it_is_found(claim):
    found = claim.found(by_chance(claim.experiment))
    assert 0 < found < 100
    if claim.printed:
        digits = len(claim.printed.partition(".")[2])
        assert abs(float(claim.printed) - claim.value) <= 0.5 * 10**-digits + 1e-9
    assert bool(claim.printed) == bool(claim.where)
    for file in claim.where:
        assert claim.printed in (ROOT / file).read_text("utf-8"), file


def test_no_two_claims_are_of_one_quantity():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("page", ["README.md", EXPERIMENTS])
def test_every_percentage_of_a_page_is_a_claim(page):
    found = set(PERCENT.findall((ROOT / page).read_text("utf-8")))
    assert found == claimed(page), "see tests/claims.yaml"


def verdicts_of(experiment):
    """Verdict of each column in the reference run; of what stands in brackets only "close"."""
    rows = read_rows(ROOT / "reports/reference" / experiment / "audit_summary.csv")
    found = {row["Published column"]: row["Verdict"].partition(" (")[::2] for row in rows}
    return {
        column: f"{verdict} (close)" if told.startswith("close") else verdict
        for column, (verdict, told) in found.items()
    }


def test_a_number_that_two_claims_print_stands_there_twice():
    """Else one could vanish, and the other would stand for both; verdicts are looked for apart."""
    asked = Counter((file, claim.printed) for claim in CLAIMS for file in claim.where)
    for (file, printed), times in asked.items():
        found = re.findall(
            rf"(?<![\d.]){re.escape(printed)}(?!\d)", (ROOT / file).read_text("utf-8")
        )
        assert len(found) >= times, (file, printed)


@pytest.mark.parametrize("told", VERDICTS, ids=lambda told: told["printed"])
def test_a_verdict_is_printed_as_the_reference_run_has_it(told):
    found = verdicts_of(told["experiment"])
    assert {found[column] for column in told["columns"]} == {told["verdict"]}
    assert told["printed"].endswith(told["verdict"])
    for file in told["where"]:
        assert told["printed"] in (ROOT / file).read_text("utf-8"), file


@pytest.mark.parametrize("told", VERDICTS, ids=lambda told: told["printed"])
def test_a_verdict_beside_a_number_from_memory_says_so(told):
    columns = audit(made_up(told["experiment"])).columns
    remembered = {column.from_memory for column in columns if column.label in told["columns"]}
    assert remembered == {"from memory" in told["printed"]}


@pytest.mark.parametrize("page", ["README.md", EXPERIMENTS])
def test_no_other_verdict_is_printed(page):
    """In the README and in the rows of the table; the text below it says what the words mean."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if line[:1] == "|" or page != EXPERIMENTS)
    for told in sorted(VERDICTS, key=lambda told: -len(told["printed"])):
        text = text.replace(told["printed"], "") if page in told["where"] else text
    assert not re.findall(
        r"matched after search|rows disagree|reproduced\b(?! accuracy)|: close|\(close\)", text
    )


def test_every_percentage_of_a_docstring_is_a_claim():
    folder = ROOT / "methods/domain_alignment"
    for path in folder.rglob("*.py"):
        listed = re.findall(LISTED, docstrings(path))
        found = {number for text in listed for number in PERCENT.findall(text)} - OTHERS
        assert found == claimed(str(path.relative_to(ROOT))), path


def test_a_wrong_claim_names_what_is_unknown():
    claim = Claim("FMA's mean", "fma_table1", 'accuracy("fma")', 0.0, 0.1)
    with pytest.raises(SentenceError, match=r"claims.yaml: FMA's mean: .*unknown method 'fma'"):
        claim.found(by_chance("fma_table1"))


def test_what_the_records_lack_is_no_number_and_keeps_no_claim():
    view = made_up("fma_table1")
    view.records.loc[0, "status"] = "error"
    lacking = Claim("a mean", "fma_table1", f'accuracy("{view.methods[0]}")', 50.0, 100.0)
    with pytest.raises(AssertionError, match=r"a mean: .* is nan, claimed 50\.0"):
        lacking.check(quantities_of(view))


def computed(claim, folder):
    """Quantities of the one cell that a quick claim is about."""
    view = view_of_cell(SUITE, claim.experiment, *claim.quick.split(), MIRROR, folder)
    return Quantities(view, {})


def test_ten_claims_are_quick():
    assert len(QUICK) == 10


def kept(experiment):
    """Quantities of the means that the reference run keeps, one trial for each cell."""
    view = made_up(experiment, trials=1)
    rows = read_rows(ROOT / "reports/reference" / experiment / "summary.csv")
    records = view.records.merge(
        pd.DataFrame(rows)[[*CELL, *MEANS]].replace("", np.nan).astype({"setting": float}), on=CELL
    )
    assert len(records) == len(view.records)
    found = {name: records[mean].astype(float) for mean, name in MEANS.items()}
    records = records.assign(**found)[view.records.columns].astype(COLUMNS)
    return quantities_of(dataclasses.replace(view, records=records))


@pytest.mark.parametrize(
    "experiment", [name for name in claimed_experiments() if SUITE.experiments[name].answers]
)
def test_claims_against_the_reference_run(experiment):
    quantities = kept(experiment)
    for claim in CLAIMS:
        if claim.experiment == experiment:
            claim.check(quantities)


@needs_surf
@pytest.mark.parametrize("claim", QUICK, ids=lambda claim: claim.id)
def test_quick_claim(claim, tmp_path):
    claim.check(computed(claim, tmp_path))


@needs_surf
def test_a_flipped_sign_in_a_method_breaks_its_claim(monkeypatch, tmp_path):
    fit = FMA.fit

    def flipped(self, *arguments, **options):
        fitted = fit(self, *arguments, **options)
        fitted.embeddings_[-1] = -fitted.embeddings_[-1]
        return fitted

    monkeypatch.setattr(FMA, "fit", flipped)
    claim = next(claim for claim in QUICK if "fma_i" in claim.quick)
    with pytest.raises(AssertionError, match=r"one pair of FMA-I: .* claimed 56\.89"):
        claim.check(computed(claim, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("experiment", claimed_experiments())
def test_claims_against_the_records_of_a_run(experiment):
    """`make reproduce` runs what is missing first; ALIGNMENT_RESULTS names another folder."""
    quantities = recorded(SUITE, experiment, RESULTS)
    for claim in CLAIMS:
        if claim.experiment == experiment:
            claim.check(quantities)
