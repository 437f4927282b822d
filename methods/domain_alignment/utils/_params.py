"""Parameter ranges; the only module that uses scikit-learn's private parameter validation."""

import dataclasses
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import HasMethods, StrOptions

__all__ = [
    "COUNT",
    "FINITE",
    "NOT_NEGATIVE",
    "POSITIVE",
    "TWO_OR_MORE",
    "ZERO_OR_MORE",
    "HasMethods",
    "Interval",
    "StrOptions",
    "python_numbers",
    "same_params",
]


class Interval(_param_validation.Interval):
    """scikit-learn's interval, rejecting bools: ``n_neighbors=True`` would otherwise pass for 1."""

    def is_satisfied_by(self, val):
        """Whether a value has the interval's type and lies in its range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


# Common ranges, for ``_parameter_constraints``.
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
FINITE = [Interval(Real, None, None, closed="neither")]
ZERO_OR_MORE = [Interval(Integral, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
TWO_OR_MORE = [Interval(Integral, 2, None, closed="left")]


def python_numbers(params, constraints):
    """Valid numbers whose type differs from their range's, as Python floats or ints.

    A float parameter may be given as an integer or a float32, but arrays built from it would
    inherit that type: integer arithmetic, or half the digits.

    Parameters
    ----------
    params : dict of str to object
        Valid values.
    constraints : dict of str to list
        As in ``_parameter_constraints``.

    Returns
    -------
    numbers : dict of str to float or int

    Examples
    --------
    >>> python_numbers({"mu": 1, "kernel": "rbf"}, {"mu": POSITIVE, "kernel": [str]})
    {'mu': 1.0}
    """
    numbers = {}
    for name, value in params.items():
        for allowed in constraints.get(name, ()):
            if isinstance(allowed, Interval) and allowed.is_satisfied_by(value):
                kind = int if allowed.type is Integral else float
                if type(value) is not kind:
                    numbers[name] = kind(value)
    return numbers


def same_params(one, other):
    """Whether parameters are equal, also where Python compares by identity.

    A clone's partials and generators are others: those that call the same with the same arguments,
    and those that draw the same, are equal here.

    Examples
    --------
    >>> partial(pow, exp=2) == partial(pow, exp=2), same_params(partial(pow, exp=2), pow)
    (False, False)
    >>> same_params(("poly", partial(pow, exp=2)), ("poly", partial(pow, exp=2)))
    True
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return bool(one == other)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_params, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_params(one[k], other[k]) for k in one)
    parts = _parts(one)
    return bool(one == other) if parts is None else same_params(parts, _parts(other))


def _parts(value):
    """What makes a value the same as another, of those that have no equality of their own."""
    if isinstance(value, partial):
        return value.func, value.args, value.keywords
    if isinstance(value, np.random.RandomState):
        return value.get_state(legacy=False)
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None
