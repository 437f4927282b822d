"""How many threads small problems of linear algebra take."""

from contextlib import nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController  # scikit-learn does not come without it

# Up to this order a product of a matrix and a vector, of which a reduction to tridiagonal form
# takes as many, reads less (8 MB) in the time that it takes to wake a thread on a busy machine.
SMALL_ORDER = 1000


@cache
def _controller():
    """Of the libraries that are loaded; to look for them takes milliseconds."""
    return ThreadpoolController()


def threads_for(order):
    """Context in which a symmetric problem of this order takes one BLAS thread if it is small.

    With a second thread JDA of 800 features took twice as long, nearly all of it in its
    eigendecomposition; on a busy machine that alone took dozens of times as long.
    """
    small = order <= SMALL_ORDER
    return _controller().limit(limits=1, user_api="blas") if small else nullcontext()
