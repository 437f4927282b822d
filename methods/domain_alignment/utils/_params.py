"""Values that parameters may take: scikit-learn's private validation, used in this module alone."""

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
    """scikit-learn's interval of numbers, in which a bool is none.

    Python's bools are integers, so that ``n_neighbors=True`` would pass for 1.
    """

    def is_satisfied_by(self, val):
        """Whether a value is a number of the interval's type and range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


# Ranges of many parameters, for their ``_parameter_constraints``.
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
FINITE = [Interval(Real, None, None, closed="neither")]
ZERO_OR_MORE = [Interval(Integral, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
TWO_OR_MORE = [Interval(Integral, 2, None, closed="left")]


def python_numbers(params, constraints):
    """Valid numbers of other types than their range's, as a Python float or int of equal value.

    An integer or a float32 is a fine value of a float parameter, but arrays that are made of it
    would have its type: too narrow for what is added to them, or of half the digits.

    Parameters
    ----------
    params : dict of str to object
        Values that the constraints allow.
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
