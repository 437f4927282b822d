"""Some eigenpairs of a dense symmetric problem, also where eigenvalues are multiple."""

from contextlib import suppress

from scipy import linalg


def dense_eigenpairs(A, B=None, *, first=0, last=None):
    """Eigenpairs of a dense problem from place ``first`` up to ``last`` in ascending order.

    On a multiple eigenvalue LAPACK's search for some of the pairs may end in an "internal error",
    or leave pairs out without a word; then all are computed, which costs a few times as much.

    Raises
    ------
    scipy.linalg.LinAlgError
        If B is not positive definite, or no solver finds the pairs.
    """
    last = len(A) if last is None else last
    if last - first == len(A):
        return linalg.eigh(A, B, check_finite=False)
    with suppress(linalg.LinAlgError):
        asked = {"subset_by_index": (first, last - 1), "check_finite": False}
        values, vectors = linalg.eigh(A, B, **asked)
        if values.size == last - first:
            return values, vectors
    driver = "evd" if B is None else "gvd"
    values, vectors = linalg.eigh(A, B, driver=driver, check_finite=False)
    return values[first:last], vectors[:, first:last]
