import numpy as np
import pytest
from domain_alignment.distribution import _scatter_eigenproblem
from domain_alignment.distribution._scatter_eigenproblem import Scatter, diagonalised
from domain_alignment.utils._threads import SMALL_ORDER, threads_for
from threadpoolctl import threadpool_info, threadpool_limits


def blas_threads():
    """The most of any BLAS: what other tests have loaded may have but one at any time."""
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


@pytest.mark.parametrize(("order", "inside"), [(SMALL_ORDER, 1), (SMALL_ORDER + 1, 2)])
def test_small_problems_take_one_thread_and_leave_the_others_theirs(order, inside):
    with threadpool_limits(2, user_api="blas"):
        with threads_for(order):
            assert blas_threads() == inside
        assert blas_threads() == 2


def test_a_small_scatter_is_diagonalised_on_one_thread(monkeypatch):
    seen, eigh = [], _scatter_eigenproblem.linalg.eigh

    def watched(*args, **kwargs):
        seen.append(blas_threads())
        return eigh(*args, **kwargs)

    monkeypatch.setattr(_scatter_eigenproblem.linalg, "eigh", watched)
    with threadpool_limits(2, user_api="blas"):
        diagonalised(Scatter.of(np.random.default_rng(0).normal(size=(30, 5))))
    assert seen == [1]
