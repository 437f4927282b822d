"""Features of domains that were read one by one: what would be paired wrongly is refused."""

import pytest

from workflow.loaders._pairing import HalfSharedError, refuse_unpaired


def test_the_same_names_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"'a' and 'b'|'b' and 'a'") as refusal:
        refuse_unpaired({"a": ["x", "y", "z"], "b": ["x", "z", "y"]})
    assert "another order: the first that differs is 'z' in one, 'y' in the other" in str(
        refusal.value
    )


def test_categories_of_which_some_differ_are_refused():
    with pytest.raises(HalfSharedError, match="'b' has 'colour=green' where 'a' has 'colour=red'"):
        refuse_unpaired({"a": ["size", "colour=red"], "b": ["size", "colour=green"]})


@pytest.mark.parametrize(
    "named",
    [
        {"a": ["x", "y"], "b": ["x", "y"]},
        {"a": ["x", "y"], "b": ["p", "q"]},
        {"a": ["x", "y"], "b": ["x", "y", "z"]},
        {"a": ["x", "y"], "b": None},
    ],
    ids=["equal", "all other", "more", "without names"],
)
def test_what_nobody_would_take_for_each_other_passes(named):
    refuse_unpaired(named)
