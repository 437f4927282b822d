import dataclasses

from workflow.lib.report.audit_answer import LEGEND, counts, in_one_sentence, matches
from workflow.lib.results import verdicts
from workflow.lib.results.columns import Column, Row


def column(label, verdict, published=50.0, ours=50.4):
    mean = Row("mean", "", published, ours=ours, verdict=verdict)
    method = "" if verdict == verdicts.PUBLISHED_ONLY else label
    return Column(label, label, method, "", False, "", "", (), mean, published)


REPRODUCED = column("A", verdicts.REPRODUCED)
SEARCHED = column("B", verdicts.SEARCHED, ours=51.0)
OFF = column("C", verdicts.NOT_REPRODUCED, ours=60.0)
LEFT = column("D", verdicts.PUBLISHED_ONLY, ours=None)


def test_every_verdict_is_explained_once():
    named = {name: value for name, value in vars(verdicts).items() if name.isupper()}
    parts = {verdicts.RULE, verdicts.EQUIVALENT, verdicts.MOST_ROWS, verdicts.UNTESTED}
    words = {value for value in named.values() if isinstance(value, str)} - parts
    assert set(LEGEND) == words - {verdicts.NOT_PUBLISHED}  # that is a row's


def test_the_legend_asks_for_what_the_rule_asks_for():
    """No less: points, rows and the test of equivalence, in the words of the rule."""
    for part in (verdicts.MOST_ROWS, verdicts.OFF[verdicts.REPRODUCED], verdicts.EQUIVALENT):
        assert part in LEGEND[verdicts.REPRODUCED]
        assert part in verdicts.RULE
    for verdict in (verdicts.CLOSE, verdicts.ROWS_DISAGREE, verdicts.NOT_REPRODUCED):
        assert verdicts.OFF[verdicts.CLOSE] in LEGEND[verdict]
    assert verdicts.MOST_ROWS in LEGEND[verdicts.CLOSE]


def test_rows_that_are_all_too_high_are_not_said_to_cancel():
    """Rows may disagree about a mean that is close without an error of the other sign."""
    differences = [verdicts.CLOSE_POINTS / 2] * 8 + [verdicts.CLOSE_POINTS + 0.5] * 2
    rows = [verdicts.grade(points, None) for points in differences]
    mean = verdicts.grade(sum(differences) / len(differences), None)
    assert verdicts.column_grade(mean, rows) == verdicts.ROWS_DISAGREE
    said = LEGEND[verdicts.ROWS_DISAGREE]
    assert said.endswith("too many of its rows are not, which a mean can hide.")
    told = matches([column("E", verdicts.ROWS_DISAGREE, ours=51.9)])
    assert told == "No. The mean is close, rows are not: E (published 50.0, ours 51.9)."


def test_a_column_on_some_of_its_rows_says_so_and_is_no_yes():
    graded = Row("A→C", "", 60.0, ours=60.2, grade=verdicts.REPRODUCED, verdict=verdicts.REPRODUCED)
    failed = Row("A→D", "", 40.0, ours=30.0, n_ok=19, n_asked=20, verdict=verdicts.INCOMPLETE)
    some = dataclasses.replace(REPRODUCED, rows=(graded, *[failed] * 11))
    assert matches([some]) == (
        "Partly. Reproduced: A (published 50.0, ours 50.4 over 1 of 12 rows)."
    )
    assert in_one_sentence([(some, "Table 1")]) == (
        "1 column compared; reproduced: A in Table 1 (1 of 12 rows)."
    )
    assert matches([dataclasses.replace(some, rows=(graded,))]).startswith("Yes. Reproduced: A (")


def test_a_column_without_a_judgement_takes_the_yes_away():
    for verdict in (verdicts.INCOMPLETE, verdicts.LOST):
        told = matches([REPRODUCED, column("F", verdict, ours=None)])
        assert told.startswith("Partly. Reproduced: A (")
        assert f"{verdict[:1].upper()}{verdict[1:]}: F" in told


def test_counts_come_in_the_order_of_the_legend():
    assert [(v, n) for v, n, _ in counts([OFF, SEARCHED, REPRODUCED, SEARCHED, LEFT])] == [
        ("reproduced", 1),
        ("matched after search", 2),
        ("not reproduced", 1),
        ("published only", 1),
    ]


def test_an_experiment_matches_its_paper_fully_partly_or_not():
    assert matches([REPRODUCED, LEFT]) == "Yes. Reproduced: A (published 50.0, ours 50.4)."
    assert matches([REPRODUCED, SEARCHED, OFF]) == (
        "Partly. Reproduced: A (published 50.0, ours 50.4). Matched after a search for the "
        "setting: B (published 50.0, ours 51.0). Not reproduced: C (published 50.0, ours 60.0)."
    )
    assert matches([OFF]).startswith("No. Not reproduced: C")
    assert matches([LEFT]) == "Not compared."
    assert matches([column("A", verdicts.NO_DATA)]) == "Not compared."


def test_what_a_search_found_is_no_plain_yes():
    assert matches([SEARCHED]).startswith("Only after a search. Matched after a search")
    assert matches([SEARCHED, REPRODUCED]).startswith(
        "Yes, some of it only after a search. Reproduced: A ("
    )


def test_what_is_undecided_is_named_beside_what_is_judged():
    found = matches([REPRODUCED, column("E", verdicts.INCOMPLETE, ours=None)])
    assert found.endswith("Incomplete: E.")


def test_a_paper_is_summed_up_over_its_tables():
    places = [(REPRODUCED, "Table 1"), (dataclasses.replace(OFF), "Table 2"), (LEFT, "Table 1")]
    assert in_one_sentence(places) == (
        "2 columns compared; reproduced: A in Table 1; not reproduced: C in Table 2."
    )
    assert in_one_sentence([(LEFT, "Table 1")]) == "No column could be compared."


def test_a_number_from_memory_is_named_as_such():
    remembered = dataclasses.replace(REPRODUCED, from_memory=True)
    assert matches([remembered]) == ("Yes. Reproduced: A (published 50.0 from memory, ours 50.4).")
    assert in_one_sentence([(remembered, "Table 1")]) == (
        "1 column compared; reproduced: A in Table 1 (published from memory)."
    )
