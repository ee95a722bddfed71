"""Workers that make one call with different arguments: all hear of it at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adjoints import cartesian

import partita as pt
from partita import distdl
from partita.distdl import Partition

X = np.ones((4, 4))


def grid(P: Partition, *shape: int) -> Any:
    return P.create_cartesian_topology_partition(shape)


def some(P: Partition, *ranks: int) -> Any:
    return P.create_partition_inclusive(ranks)


def by_rank(P: Partition, one: Any, other: Any) -> Any:
    """What rank 2 has is not what the others have."""
    return other if P.rank == 2 else one


# Called with a partition of four workers; what the message must have of both sides.
DIFFERENT: dict[str, tuple[Callable[[Partition], object], str, str]] = {
    "axes of a sum": (
        lambda P: distdl.AllSumReduce(grid(P, 2, 2), [by_rank(P, 0, 1)])(X),
        "axes [0]",
        "axes [1]",
    ),
    "sums along all axes and none": (
        lambda P: distdl.AllSumReduce(grid(P, 2, 2), by_rank(P, [0, 1], []))(X),
        "axes [0, 1]",
        "axes []",
    ),
    "grids of a sum": (
        lambda P: distdl.AllSumReduce(by_rank(P, grid(P, 2, 2), grid(P, 1, 4)), [0])(X),
        "2x2",
        "1x4",
    ),
    "the order of workers in a sum": (
        lambda P: distdl.AllSumReduce(
            cartesian(P, by_rank(P, [0, 1, 2, 3], [3, 2, 1, 0]), [2, 2]), [0]
        )(X),
        "0, 1, 2, 3",
        "3, 2, 1, 0",
    ),
    "axes of joined arrays": (
        lambda P: distdl.AllGather(grid(P, 2, 2), by_rank(P, 0, 1))(X),
        "axes [0]",
        "axes [1]",
    ),
    "axes of divided sums": (
        lambda P: distdl.ReduceScatter(grid(P, 2, 2), by_rank(P, 0, 1))(X),
        "axes [0]",
        "axes [1]",
    ),
    "widths of halos": (
        lambda P: distdl.HaloExchange(grid(P, 4, 1), by_rank(P, [1, 0], [2, 0]))(X),
        "halo [[(1, 1)",
        "halo [[(2, 2)",
    ),
    "halos that fit on some": (
        lambda P: distdl.HaloExchange(grid(P, 4, 1), by_rank(P, [1, 0], [3, 0]))(X),
        "halo [[(1, 1)",
        "halo [[(3, 3)",
    ),
    "sizes of halos in place": (
        lambda P: distdl.HaloExchange(P, [1], sizes=[by_rank(P, [4] * 4, [5] * 4)]).fill(
            np.ones(6)
        ),
        "sizes [(4, 4, 4, 4)]",
        "sizes [(5, 5, 5, 5)]",
    ),
    "windows": (
        lambda P: distdl.WindowExchange(grid(P, 4, 1), [[distdl.Window(by_rank(P, 3, 2))], []])(X),
        "kernel=3",
        "kernel=2",
    ),
    "roots of a broadcast": (
        lambda P: distdl.Broadcast(some(P, by_rank(P, 0, 1)), P)(X),
        "1 of ranks 0 to",
        "1 of ranks 1 to",
    ),
    "roots of a sum": (
        lambda P: distdl.SumReduce(P, some(P, by_rank(P, 0, 3)))(X),
        "to 1 of ranks 0",
        "to 1 of ranks 3",
    ),
    "a broadcast and a sum": (
        lambda P: by_rank(P, distdl.Broadcast, distdl.SumReduce)(P, P)(X),
        "Broadcast",
        "SumReduce",
    ),
    "flags of a broadcast": (
        lambda P: distdl.Broadcast(
            grid(P, 2, 2), grid(P, 2, 2), transpose_src=by_rank(P, False, True)
        )(X),
        "2x2 of ranks 0, 1, 2, 3 to",
        "transposed to",
    ),
    "targets of a repartition": (
        lambda P: distdl.Repartition(grid(P, 4, 1), by_rank(P, grid(P, 2, 2), grid(P, 1, 4)))(X),
        "to 2x2",
        "to 1x4",
    ),
    "targets on fewer workers": (
        lambda P: distdl.Repartition(
            grid(P, 4, 1), by_rank(P, grid(P, 2, 2), cartesian(P, [0, 1], [1, 2]))
        )(X),
        "to 2x2",
        "to 1x2 of ranks 0, 1",
    ),
    "sizes of a repartition": (
        lambda P: distdl.Repartition(P, P, sizes=[by_rank(P, [4, 4, 4, 4], [1, 5, 5, 5])])(
            np.ones(4)
        ),
        "sizes [(4, 4, 4, 4)]",
        "sizes [(1, 5, 5, 5)]",
    ),
}


def differs(job: Callable[[pt.Team], object], one: str, other: str) -> None:
    """Whether all four ranks raise MismatchError at once, and can go on afterwards."""

    def checked(team: pt.Team) -> str:
        with pytest.raises(pt.MismatchError) as refusal:
            job(team)
        assert team.allgather_data(team.rank) == [0, 1, 2, 3]
        return str(refusal.value)

    begun = time.monotonic()
    messages = pt.spmd(checked, ranks=4, deadline=30)
    assert time.monotonic() - begun < 10
    assert len(set(messages)) == 1
    assert one in messages[0], messages[0]
    assert other in messages[0], messages[0]
    assert "rank 0 has" in messages[0]
    assert "rank 2 has" in messages[0]


@pytest.mark.parametrize("name", DIFFERENT)
def test_all_workers_hear_that_arguments_differ(name: str) -> None:
    call, one, other = DIFFERENT[name]
    differs(lambda team: call(Partition(team)), one, other)


# Called with a grid of 2 x 2 and what rank 2 is to do otherwise.
FUNCTIONS: dict[str, tuple[Callable[[pt.Grid, Any], object], tuple[Any, Any], str, str]] = {
    "broadcast, roots": (
        lambda g, root: pt.broadcast(X, g, root=root),
        (0, 3),
        "ranks 0 to",
        "ranks 3 to",
    ),
    "broadcast back, roots": (
        lambda g, root: pt.broadcast.adjoint(X, g, root=root),
        (0, 3),
        "to 1 of ranks 0",
        "to 1 of ranks 3",
    ),
    "broadcast, flags": (
        lambda g, flag: pt.broadcast(X, g, g, transpose_source=flag),
        (False, True),
        "0, 1, 2, 3 to",
        "transposed to",
    ),
    "broadcast, targets": (
        lambda g, shape: pt.broadcast(X, g.subteam([1]), g.grid(*shape)),
        ((2, 2), (4, 1)),
        "to 2x2",
        "to 4x1",
    ),
    "sum_reduce, roots": (
        lambda g, root: pt.sum_reduce(X, g, root=root),
        (0, 3),
        "to 1 of ranks 0",
        "to 1 of ranks 3",
    ),
    "all_sum_reduce, axes": (
        lambda g, axis: pt.all_sum_reduce(X, g, [axis]),
        (0, 1),
        "axes [0]",
        "axes [1]",
    ),
    "all_sum_reduce, all axes or one": (
        lambda g, axes: pt.all_sum_reduce(X, g, axes),
        (None, [1]),
        "axes [0, 1]",
        "axes [1]",
    ),
    "halo_exchange, widths": (
        lambda g, width: pt.halo_exchange(X.copy(), g, [width, 0]),
        (1, 2),
        "(1, 1)",
        "(2, 2)",
    ),
    "halo_exchange, sizes": (
        lambda g, shape: pt.halo_exchange(X.copy(), g, [1, 0], shape=shape),
        ((6, 8), (8, 8)),
        "(3, 3)",
        "(4, 4)",
    ),
    "transpose_partition, targets": (
        lambda g, shape: pt.transpose_partition(X, g, g.grid(*shape)),
        ((4, 1), (1, 4)),
        "to 4x1",
        "to 1x4",
    ),
    "transpose_partition, fewer workers": (
        lambda g, ranks: pt.transpose_partition(X, g, g.subteam(ranks).grid(1, len(ranks))),
        ((0, 1, 2, 3), (0, 1)),
        "to 1x4",
        "to 1x2",
    ),
}


@pytest.mark.parametrize("is_known", [False, True], ids=["first call", "later call"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_ranks_of_a_function_hear_that_arguments_differ(name: str, is_known: bool) -> None:
    call, (right, wrong), one, other = FUNCTIONS[name]
    if is_known and name == "halo_exchange, sizes":
        # Sizes that are known spare the exchange: the others run at once.
        one, other = "run", "HaloExchange"

    def job(team: pt.Team) -> None:
        square = team.grid(2, 2)
        if is_known:
            call(square, right)
        call(square, wrong if team.rank == 2 else right)

    differs(job, one, other)


WRONG: dict[str, Callable[[pt.Grid, bool], object]] = {
    "an out": lambda g, is_wrong: pt.broadcast(X, g, out=[1] if is_wrong else None),  # type: ignore[arg-type]
    "a root": lambda g, is_wrong: pt.broadcast(X, g, root=7 if is_wrong else 0),
    "a flag": lambda g, is_wrong: pt.sum_reduce(X, g, transpose_source="no" if is_wrong else False),  # type: ignore[arg-type]
    "an axis": lambda g, is_wrong: pt.all_sum_reduce(X, g, [5 if is_wrong else 0]),
    "axes": lambda g, is_wrong: pt.all_sum_reduce(X, g, "a" if is_wrong else [0]),  # type: ignore[arg-type]
    "a halo": lambda g, is_wrong: pt.halo_exchange(X.copy(), g, "a" if is_wrong else [1, 0]),
    "sizes": lambda g, is_wrong: pt.transpose_partition(X, g, g, sizes=[[1]] if is_wrong else None),
    "a target": lambda g, is_wrong: pt.transpose_partition(X, g, None if is_wrong else g),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_rank_with_a_wrong_argument_tells_the_others(name: str) -> None:
    def job(team: pt.Team) -> str:
        with pytest.raises(pt.PartitaError) as refusal:
            WRONG[name](team.grid(2, 2), team.rank == 2)
        assert team.allgather_data(team.rank) == [0, 1, 2, 3]
        return refusal.value.reason

    begun = time.monotonic()
    reasons = pt.spmd(job, ranks=4, deadline=30)
    assert time.monotonic() - begun < 10
    assert [reasons[rank] for rank in (0, 1, 3)] == ["rank-raised"] * 3
    assert reasons[2] != "rank-raised"


def test_lines_of_a_grid_refuse_together() -> None:
    def job(team: pt.Team) -> str:
        P = Partition(team).create_cartesian_topology_partition((2, 2))
        with pytest.raises(pt.LayoutError) as refusal:
            distdl.AllSumReduce(P, [1])(np.ones(3 if team.rank == 3 else 2))
        return refusal.value.reason

    assert pt.spmd(job, ranks=4, deadline=30) == ["shapes-differ"] * 4


def test_workers_in_any_order_of_a_grid() -> None:
    """Data moves as the grid says, though its workers meet in another order."""

    def job(team: pt.Team) -> None:
        P = cartesian(Partition(team), [2, 0, 3, 1], [4])
        place = P.index[0]
        held = np.arange(max(0, 2 * place - 1), min(8, 2 * place + 3)).astype(float)
        x = np.where((held >= 2 * place) & (held < 2 * place + 2), held, -1)
        exchange = distdl.HaloExchange(P, [1])
        assert np.array_equal(exchange(x), held)
        assert np.array_equal(exchange.fill(x.copy()), held)
        window = distdl.WindowExchange(P, [[distdl.Window(3, padding=1)]])
        assert np.array_equal(window(np.arange(2.0 * place, 2 * place + 2)), held)
        total = distdl.AllGather(P, 0)(np.array([place]))
        assert total.tolist() == [0, 1, 2, 3]

    pt.spmd(job, ranks=4)


def test_functions_tell_partitions_apart_that_have_changed() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        assert pt.all_sum_reduce(np.ones(1), P).tolist() == [2]
        P.deactivate()
        assert pt.all_sum_reduce(np.ones(1), P).tolist() == [1]

    pt.spmd(job, ranks=2)
