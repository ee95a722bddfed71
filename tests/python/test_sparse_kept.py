"""What was made of a sparse tensor keeps its content when `set_slice` gives the tensor another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor
from partita.sparse.operands import operands_of

DENSE = np.array([[1.0, 2, 0], [0, 0, 3], [4, 0, 0], [0, 5, 6]])
RANKS = [1, 2, 3]


def made(team: pt.Team) -> DistTensor:
    return DistTensor.from_scipy(sp.csr_array(DENSE), team=team)


def turned_over(t: DistTensor) -> None:
    """Give every slice its rows in the opposite order."""
    t.set_slice(t.slice_id, sp.csr_array(t.get_slice(t.slice_id).toarray()[::-1]))


@pytest.mark.parametrize("is_used", [False, True], ids=["fresh", "used"])
@pytest.mark.parametrize("ranks", RANKS)
def test_planned_rows_are_those_of_the_pattern_that_was_planned(ranks: int, is_used: bool) -> None:
    def body(team: pt.Team) -> tuple[Any, Any]:
        t = made(team)
        plan, old = t.plan_rows([3, 0]), +t
        if is_used:
            plan(t)
        turned_over(t)
        with pytest.raises(ValueError, match="another pattern"):
            plan(t)
        return plan(old).toarray(), plan.adjoint(np.ones(4)).gather().toarray()

    back = np.zeros_like(DENSE)
    back[[0, 3]] = ranks * (DENSE[[0, 3]] != 0)
    for rows, added in pt.spmd(body, ranks=ranks):
        np.testing.assert_array_equal(rows, DENSE[[3, 0]])
        np.testing.assert_array_equal(added, back)


@pytest.mark.parametrize("ranks", RANKS)
def test_gradients_are_those_of_the_pattern_that_was_multiplied(ranks: int) -> None:
    """What the differentiable products keep for the way back."""

    def body(team: pt.Team) -> tuple[Any, Any]:
        t = made(team)
        operands, values = operands_of(t), t.get_slice(t.slice_id).data
        turned_over(t)
        x = np.ones((operands.n_rows(0), 1))
        return operands.indices(1), operands.product(values, x, 0)

    for indices, found in pt.spmd(body, ranks=ranks):
        np.testing.assert_array_equal(found[:, 0], DENSE.sum(axis=0)[indices])


@pytest.mark.parametrize(
    "choose",
    [lambda t: t[:], lambda t: t[...], lambda t: t[0:4], lambda t: t[:, :], lambda t: +t],
    ids=["[:]", "[...]", "[0:4]", "[:, :]", "+"],
)
@pytest.mark.parametrize("ranks", RANKS)
def test_all_of_a_tensor_is_a_tensor_of_its_own(
    ranks: int, choose: Callable[[DistTensor], DistTensor]
) -> None:
    def body(team: pt.Team) -> Any:
        t = made(team)
        chosen = choose(t)
        turned_over(t)
        return chosen.gather().toarray()

    for found in pt.spmd(body, ranks=ranks):
        np.testing.assert_array_equal(found, DENSE)


@pytest.mark.parametrize("large", [np.inf, np.nan, 1e308])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_products_have_one_index_type_whatever_the_values_of_each_rank(
    format: str, large: float
) -> None:
    dense = np.diag([large, large, 1.0, 1.0])

    def body(team: pt.Team) -> tuple[Any, Any]:
        narrow = DistTensor.from_dense(dense, format=format, team=team)
        wide = DistTensor.from_coo(
            (4, 4),
            [range(4), range(4)] if team.rank == 0 else [[], []],
            np.ones(4) if team.rank == 0 else [],
            format=format,
            team=team,
            index_dtype="int64",
        )
        one, other = narrow * wide, wide * narrow
        return (one.index_dtype, other.index_dtype), one.gather().toarray()

    for types, found in pt.spmd(body, ranks=2):
        assert types == (np.int64, np.int64)
        np.testing.assert_array_equal(np.diag(found), np.diag(dense))


@pytest.mark.parametrize(
    "call",
    [
        lambda t, a: DistTensor.from_dense(a + 1),
        lambda t, a: t.kron(a + 1),
        lambda t, a: t // 2,
        lambda t, a: 2 % t,
        lambda t, a: divmod(t, 2),
    ],
    ids=["from_dense", "kron", "//", "%", "divmod"],
)
def test_ranks_are_told_once_and_are_in_step_afterwards(
    call: Callable[[DistTensor, Any], Any],
) -> None:
    def body(team: pt.Team) -> Any:
        t, a = made(team), pt.ones((4, 4))
        a.sync()
        with pytest.raises((pt.TeamError, TypeError)) as caught:
            t.nnz if team.rank == 0 else call(t, a)
        assert team.allgather_data(team.rank) == [0, 1]
        return caught.type

    told = pt.spmd(body, ranks=2)
    assert told[0] in (pt.MismatchError, pt.RemoteError), told
