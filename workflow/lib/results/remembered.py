"""Answers about an object that it remembers, and that are gone with it."""

import functools
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def remembered(method: Callable[..., T]) -> Callable[..., T]:
    """`functools.cache` of a method or a function of an object; no answer outlives the object.

    Arguments are given by place. An error is not remembered.

    Examples
    --------
    >>> class Numbers:
    ...     @remembered
    ...     def halves(self, whole, times=1):
    ...         print("halved")
    ...         return whole / 2**times
    >>> numbers = Numbers()
    >>> [numbers.halves(6), numbers.halves(6, 1)]
    halved
    [3.0, 3.0]
    """
    place = f"_remembered_{method.__name__}"
    names = method.__code__.co_argcount - 1

    @functools.wraps(method)
    def found(self: object, *arguments: object) -> T:
        known = vars(self).setdefault(place, {})
        # An argument that is left out is the same answer as its default given.
        left = names - len(arguments)
        key = arguments + ((method.__defaults__ or ())[-left:] if left > 0 else ())
        if key not in known:
            known[key] = method(self, *arguments)
        return known[key]

    return found
