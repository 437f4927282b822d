"""What stands in the reference, by its pages."""

from tests.workflow.board_example import suite
from workflow.lib.report.reference_standing import listed_boards, others_words, standing_pages

PAGE = """# Boards

## Run that ended 1970-01-01 01:00 UTC

| Board | Tasks |
| :--- | ---: |
| [Several sources](board_several_sources) | 12 |

## Run that ended 1970-01-02 01:00 UTC

| Board | Tasks |
| :--- | ---: |
| [Few target labels](board_few_target_labels), not whole | 4 |
"""


def test_boards_are_listed_with_their_runs(tmp_path):
    assert listed_boards(tmp_path) == []
    (tmp_path / "boards.md").write_text(PAGE)
    found = [(one.link, one.run) for one in listed_boards(tmp_path)]
    assert found == [
        ("[Several sources](board_several_sources)", "run that ended 1970-01-01 01:00 UTC"),
        ("[Few target labels](board_few_target_labels)", "run that ended 1970-01-02 01:00 UTC"),
    ]


def test_curves_and_shifts_stand_where_they_have_a_page(tmp_path):
    assert standing_pages(suite(), tmp_path) == {}
    (tmp_path / "shifts.md").touch()
    (tmp_path / "labels_per_class").mkdir()
    links = standing_pages(suite(), tmp_path).values()
    assert [link.partition("](")[2] for link in links] == ["labels_per_class)", "shifts.md)"]
    assert others_words([]) == []
    (told,) = others_words(links)
    assert told.startswith("Of other runs, and not among these findings: [")
