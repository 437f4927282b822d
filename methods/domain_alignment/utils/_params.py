"""Parameter ranges; the only module that uses scikit-learn's private parameter validation."""

from numbers import Integral, Real

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
