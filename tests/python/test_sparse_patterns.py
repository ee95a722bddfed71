"""Patterns of sparse tensors: shared by all ranks or by none, whatever each rank's entries are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor

RANKS = [1, 2, 3]


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=60.0)


def uneven() -> Any:
    """A matrix whose only stored zero is in its last row."""
    values, columns = np.array([1.0, 4.0, 2.0, 0.0]), np.arange(4)
    return sp.csr_array((values, columns, np.arange(5)), shape=(4, 4))


def half_sorted() -> Any:
    """A matrix in COO whose last entries alone are out of order."""
    places = [0, 1, 3, 2]
    return sp.coo_array((np.array([1.0, 4.0, 2.0, 3.0]), (places, places)), shape=(4, 4))


@pytest.mark.parametrize("n_ranks", RANKS)
def test_zeros_of_one_rank_are_dropped_in_a_pattern_of_all(n_ranks: int) -> None:
    m = uneven()

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, team=team)
        x = pt.ones(4, team=team)
        assert t.nnz == 4
        before = (t @ x).gather()
        dropped = t.eliminate_zeros()
        assert not dropped.pattern_is(t)
        assert dropped.nnz == 3
        np.testing.assert_array_equal((dropped @ x).gather(), before)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_functions_share_the_pattern_whatever_the_order_of_entries(n_ranks: int) -> None:
    m = half_sorted()
    works: list[Any] = [abs, np.sqrt, lambda t: t**2, lambda t: t.maximum(-1), lambda t: t.sign()]

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, team=team)
        x = pt.arange(4.0, team=team)
        t @ x
        plan = t.plan_rows([2, 3])
        for work in works:
            found = work(t)
            assert found.pattern_is(t)
            dense = work(m.toarray()) if work in works[:3] else found.gather().toarray()
            np.testing.assert_array_equal(found.gather().toarray(), dense)
            np.testing.assert_array_equal((found @ x).gather(), dense @ np.arange(4.0))
            np.testing.assert_array_equal(plan(found).toarray(), dense[2:])

    on_ranks(n_ranks, body)
