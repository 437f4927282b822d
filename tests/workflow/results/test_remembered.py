"""What a method has answered once is not asked again of the same object."""

import gc
import weakref

import pytest

from workflow.lib.results.remembered import remembered


class Shelf:
    def __init__(self):
        self.asked = []

    @remembered
    def found(self, name, copies=1):
        """What stands here."""
        self.asked.append((name, copies))
        if name == "lost":
            raise LookupError(name)
        return [name] * copies


def test_an_answer_is_given_again_for_equal_arguments_with_and_without_their_default():
    shelf = Shelf()
    assert shelf.found("a") is shelf.found("a", 1)
    assert shelf.found("a", 2) == ["a", "a"]
    assert shelf.found("b") == ["b"]
    assert shelf.asked == [("a", 1), ("a", 2), ("b", 1)]
    assert Shelf.found.__doc__ == "What stands here."


def test_every_object_has_its_own_answers_and_takes_them_along():
    one, other = Shelf(), Shelf()
    assert one.found("a") is not other.found("a")
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_an_error_is_raised_anew():
    shelf = Shelf()
    for _ in range(2):
        with pytest.raises(LookupError, match="lost"):
            shelf.found("lost")
    assert len(shelf.asked) == 2
