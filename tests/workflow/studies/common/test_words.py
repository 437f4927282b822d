"""Parts of sentences."""

from workflow.studies.common._words import span


def test_a_span_is_the_least_and_the_largest():
    assert span([2.0, -1.25, 3456.7], 1) == "−1.2 to 3,456.7"
    assert span([-0.01, 0.5], 1) == "0.0 to 0.5"
    assert span([2.01, 1.99], 1) == span([2.0], 1) == "2.0"
