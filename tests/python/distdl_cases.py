"""Movements between partitions against serial references, one function per case and any team.

`python distdl_cases.py` under a launcher runs those that the job has ranks for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from adjoints import Local, cartesian, check_dot, random

import partita as pt
from partita.distdl import (
    AllGather,
    AllSumReduce,
    Broadcast,
    CartesianPartition,
    HaloExchange,
    Partition,
    ReduceScatter,
    Repartition,
    SumReduce,
    halo_widths,
    split,
)
from partita.distdl.windows import ranges_of

Case = Callable[[pt.Team], None]
Grid = tuple[Sequence[int], tuple[int, ...]]


def reads(index: tuple[int, ...], is_reversed: bool) -> tuple[int, ...]:
    return index[::-1] if is_reversed else index


def givers(
    few: CartesianPartition, many: CartesianPartition, flags: tuple[bool, bool]
) -> list[int]:
    """For each worker of `many` the rank in `few` of the one whose copy it holds, the slow way."""
    found = []
    for index in itertools.product(*map(range, many.grid_shape)):
        wanted = reads(index, flags[1])
        for rank, other in enumerate(itertools.product(*map(range, few.grid_shape))):
            read, shape = reads(other, flags[0]), reads(few.grid_shape, flags[0])
            ahead = len(wanted) - len(read)
            if all(
                length == 1 or at == place
                for at, place, length in zip(read, wanted[ahead:], shape, strict=True)
            ):
                found.append(rank)
    assert len(found) == len(many.ranks)
    return found


def local(P: Partition, shapes: Callable[[int], tuple[int, ...]], dtype: str, seed: int) -> Local:
    if not P.active:
        return np.zeros((0,), dtype)
    return random(shapes(P.rank), dtype, 1000 * seed + P.rank)


def broadcast_case(
    source: Grid, target: Grid, flags: tuple[bool, bool] = (False, False), dtype: str = "float64"
) -> Case:
    """Broadcast and sum-reduction between two grids, both ways, with unequal local shapes."""

    def case(team: pt.Team) -> None:
        world = Partition(team)
        few, many = cartesian(world, *source), cartesian(world, *target)
        owner = givers(few, many, flags)

        # The arrays of one colour have one shape, those of different colours do not.
        def shape(rank: int) -> tuple[int, ...]:
            return (1, 7 + rank % 3, 5)

        x = local(few, shape, dtype, 1)
        y = local(many, lambda rank: shape(owner[rank]), dtype, 2)
        xs = [random(shape(r), dtype, 1000 + r) for r in range(len(few.ranks))]
        ys = [random(shape(owner[r]), dtype, 2000 + r) for r in range(len(many.ranks))]
        sums = [
            sum((ys[k] for k in range(len(ys)) if owner[k] == r), np.zeros(shape(r), dtype))
            for r in range(len(xs))
        ]
        copy = Broadcast(few, many, *flags)
        fx = copy(x)
        np.testing.assert_array_equal(fx, xs[owner[many.rank]] if many.active else fx[:0])
        fy = copy.adjoint(y)
        np.testing.assert_allclose(fy, sums[few.rank] if few.active else fy[:0], rtol=1e-5)
        if copy.team is not None:
            check_dot(copy.team, x, fx, y, fy)
            assert not np.shares_memory(fx, x)
        total = SumReduce(many, few, flags[1], flags[0])
        np.testing.assert_array_equal(total(y), fy)
        np.testing.assert_array_equal(total.adjoint(x), fx)
        idle = many.rank == -1 and few.rank == -1
        assert idle == (copy.team is None)

    return case


def all_sum_case(ranks: Sequence[int], grid: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    def case(team: pt.Team) -> None:
        P = cartesian(Partition(team), ranks, grid)
        for shape, dtype in (((3, 4), "int32"), ((30, 344), "float32"), ((), "float64")):
            total = AllSumReduce(P, axes)
            x, y = local(P, lambda _: shape, dtype, 3), local(P, lambda _: shape, dtype, 4)  # noqa: B023
            fx, fy = total(x), None
            fy = total.adjoint(y)
            if not P.active:
                assert fx.size == 0
                continue
            same = [
                rank
                for rank, index in enumerate(itertools.product(*map(range, grid)))
                if all(index[a] == P.index[a] for a in range(len(grid)) if a not in axes)
            ]
            wanted = sum(random(shape, dtype, 3000 + rank) for rank in same)
            np.testing.assert_allclose(fx, wanted, rtol=1e-4, atol=1e-5)
            assert P.team is not None
            check_dot(P.team, x, fx, y, fy)
            other = AllSumReduce(P, axes_keep=[a for a in range(len(grid)) if a not in axes])
            np.testing.assert_array_equal(other(x), fx)

    return case


def cut(array: Local, sizes: Sequence[Sequence[int]], index: Sequence[int]) -> Local:
    """A worker's block of an array."""
    starts = [sum(one[:at]) for one, at in zip(sizes, index, strict=True)]
    stops = [sum(one[: at + 1]) for one, at in zip(sizes, index, strict=True)]
    return array[tuple(map(slice, starts, stops))]


def sizes_of(shape: Sequence[int], grid: Sequence[int], is_even: bool) -> list[list[int]]:
    """Even blocks, or with all of the remainder on the first."""
    if is_even:
        return [[b - a for a, b in split(n, p)] for n, p in zip(shape, grid, strict=True)]
    return [[n // p + n % p] + [n // p] * (p - 1) for n, p in zip(shape, grid, strict=True)]


def repartition_case(
    shape: tuple[int, ...], source: Grid, target: Grid, dtype: str = "float32", even: bool = True
) -> Case:
    def case(team: pt.Team) -> None:
        world = Partition(team)
        P_x, P_y = cartesian(world, *source), cartesian(world, *target)
        whole, other = random(shape, dtype, 5), random(shape, dtype, 6)
        given, wanted = sizes_of(shape, source[1], even), sizes_of(shape, target[1], True)
        nothing = np.zeros((0,), dtype)
        x = cut(whole, given, P_x.index) if P_x.active else nothing
        y = cut(other, wanted, P_y.index) if P_y.active else nothing
        move = Repartition(P_x, P_y)
        fx, fy = move(x), move.adjoint(y)
        np.testing.assert_array_equal(fx, cut(whole, wanted, P_y.index) if P_y.active else nothing)
        np.testing.assert_array_equal(fy, cut(other, given, P_x.index) if P_x.active else nothing)
        np.testing.assert_array_equal(move.adjoint(fx), x)
        if move.team is not None:
            check_dot(move.team, x, fx, y, fy)
        back = Repartition(P_y, P_x, sizes=given)
        np.testing.assert_array_equal(back(fx), x)

    return case


def gather_case(ranks: Sequence[int], grid: tuple[int, ...], axis: int, n_rows: int) -> Case:
    def case(team: pt.Team) -> None:
        P = cartesian(Partition(team), ranks, grid)
        nothing = np.zeros((0,), "int64")
        join, divide = AllGather(P, axis), ReduceScatter(P, axis)
        if not P.active:
            assert join(nothing).size == divide(nothing).size == 0
            return
        assert P.team is not None
        n_parts = grid[axis]
        shape = [3, 2, 4][: len(grid)]
        shape[axis] = n_rows
        sizes = sizes_of(
            shape, [n_parts if a == axis % len(grid) else 1 for a in range(len(grid))], True
        )
        place = [P.index[a] if a == axis % len(grid) else 0 for a in range(len(grid))]
        team_of = P.create_allreduction_partition([axis])
        whole = random(shape, "int64", 7 + min(team_of.ranks))
        x = cut(whole, sizes, place)
        fx = join(x)
        np.testing.assert_array_equal(fx, whole)
        summands = [random(shape, "int64", 100 + r) for r in team_of.ranks]
        y = summands[team_of.rank]
        fy = join.adjoint(y)
        np.testing.assert_array_equal(fy, cut(np.sum(summands, axis=0), sizes, place))
        np.testing.assert_array_equal(divide(y), fy)
        np.testing.assert_array_equal(divide.adjoint(x), fx)
        check_dot(P.team, x, fx, y, fy)

    return case


def block_with_halo(whole: Local, sizes: Any, halos: Any, index: Any) -> tuple[Local, Any]:
    """What a worker holds, and where in it lies what it owns."""
    held, own = [], []
    for size, halo, at, extent in zip(sizes, halos, index, whole.shape, strict=True):
        start, stop = ranges_of(size)[at]
        low, high = max(0, start - halo[at][0]), min(extent, stop + halo[at][1])
        held.append(slice(low, high))
        own.append(slice(start - low, stop - low))
    return whole[tuple(held)], tuple(own)


def summed_halos(
    shape: tuple[int, ...], sizes: Any, halos: Any, grid: tuple[int, ...], dtype: str
) -> Local:
    """The sum of the cotangents of all copies of each element."""
    total = np.zeros(shape, dtype)
    for rank in range(int(np.prod(grid))):
        view, _ = block_with_halo(total, sizes, halos, np.unravel_index(rank, grid))
        view += random(view.shape, dtype, 40 + rank)
    return total


def halo_case(
    shape: tuple[int, ...], grid: tuple[int, ...], halo: Any, even: bool, dtype: str
) -> Case:
    """A halo exchange out of place and in place, with halos that hold other numbers before."""
    whole = random(shape, dtype, 11)
    sizes = sizes_of(shape, grid, even)
    halos = [
        [tuple(np.broadcast_to(np.asarray(one), (length, 2))[at]) for at in range(length)]
        for one, length in zip(halo, grid, strict=True)
    ]

    def case(team: pt.Team) -> None:
        P = Partition(team).create_cartesian_topology_partition(grid)
        exchange = HaloExchange(P, halo, sizes=sizes)
        wanted, own = block_with_halo(whole, sizes, halos, P.index)
        x = random(wanted.shape, dtype, 20 + team.rank)
        x[own] = wanted[own]
        before = x.copy()
        fx = exchange(x)
        np.testing.assert_array_equal(fx, wanted)
        np.testing.assert_array_equal(x, before)
        y = random(wanted.shape, dtype, 40 + team.rank)
        fy = exchange.adjoint(y)
        outside = np.ones(wanted.shape, bool)
        outside[own] = False
        assert not fy[outside].any()
        mine = cut(summed_halos(shape, sizes, halos, grid, dtype), sizes, P.index)
        np.testing.assert_allclose(fy[own], mine, rtol=1e-4, atol=1e-5)
        check_dot(team, x, fx, y, fy)
        exchange.fill(x)
        np.testing.assert_array_equal(x, wanted)
        exchange.fill(x)
        for _ in range(2):
            again = y.copy()
            assert exchange.adjoint_in_place(again) is again
            np.testing.assert_allclose(again, fy, rtol=1e-4, atol=1e-5)

    return case


def r(start: int, stop: int) -> list[int]:
    return list(range(start, stop))


def broadcast_cases() -> Iterator[tuple[str, int, Case]]:
    turned = (True, False)
    pairs: list[tuple[str, int, Grid, Grid, tuple[bool, bool]]] = [
        ("overlapping", 12, (r(4, 8), (2, 2, 1)), (r(0, 12), (2, 2, 3)), (False, False)),
        ("disjoint", 16, (r(0, 4), (2, 2, 1)), (r(4, 16), (2, 2, 3)), (False, False)),
        ("one idle", 17, (r(0, 4), (2, 2, 1)), (r(5, 17), (2, 2, 3)), (False, False)),
        ("alone", 1, (r(0, 1), (1,)), (r(0, 1), (1,)), (False, False)),
        ("one to three", 3, ([2], (1,)), (r(0, 3), (1, 1, 3)), (False, False)),
        ("outside to three", 5, ([4], (1,)), (r(0, 3), (1, 1, 3)), (False, False)),
        ("turned overlapping", 12, (r(4, 8), (2, 2, 1)), (r(0, 12), (3, 2, 2)), turned),
        ("turned disjoint", 16, (r(0, 4), (2, 2, 1)), (r(4, 16), (3, 2, 2)), turned),
        ("turned idle", 17, (r(0, 4), (2, 2, 1)), (r(5, 17), (3, 2, 2)), turned),
        ("turned square", 12, (r(0, 6), (2, 3)), (r(6, 12), (3, 2)), turned),
        ("turned target", 12, (r(0, 6), (2, 3)), (r(6, 12), (3, 2)), (False, True)),
        ("both turned", 6, (r(0, 6), (2, 3)), (r(0, 6), (2, 3)), (True, True)),
        ("identity", 4, (r(0, 4), (2, 2)), (r(0, 4), (2, 2)), (False, False)),
        ("specification", 12, ([1, 2, 3], (1, 3, 1)), (r(0, 12), (2, 3, 2)), (False, False)),
        ("chain of 4", 4, (r(1, 3), (1, 2)), (r(0, 4), (2, 2)), (False, False)),
        ("chain of 8", 8, (r(2, 6), (1, 2, 2)), (r(0, 8), (2, 2, 2)), (False, False)),
        ("chain of 16", 16, (r(4, 12), (1, 2, 2, 2)), (r(0, 16), (2, 2, 2, 2)), (False, False)),
        ("shuffled", 4, ([3, 0], (2, 1)), ([2, 3, 1, 0], (2, 2)), (False, False)),
    ]
    for name, n_ranks, source, target, flags in pairs:
        yield f"broadcast {name}", n_ranks, broadcast_case(source, target, flags)
    for dtype in ("float32", "int32", "complex64"):
        case = broadcast_case((r(0, 2), (2, 1)), (r(0, 4), (2, 2)), dtype=dtype)
        yield f"broadcast {dtype}", 4, case


def sum_cases() -> Iterator[tuple[str, int, Case]]:
    for n in range(4):
        for axes in itertools.combinations(range(3), n):
            yield f"all-sum {axes}", 12, all_sum_case(r(0, 12), (2, 2, 3), axes)
    yield "all-sum line", 12, all_sum_case(r(0, 12), (12,), (0,))
    yield "all-sum of some", 4, all_sum_case([3, 1], (2, 1), (0, 1))
    yield "gather rows", 3, gather_case(r(0, 3), (3,), 0, 10)
    yield "gather columns", 4, gather_case(r(0, 4), (2, 2), -1, 7)
    yield "gather few", 4, gather_case([3, 1, 0], (1, 3), 1, 2)


def repartition_cases() -> Iterator[tuple[str, int, Case]]:
    shape = (77, 55)
    for even in (True, False):
        for name, n_ranks, source, target in [
            ("overlapping", 12, (r(4, 8), (4, 1)), (r(0, 12), (3, 4))),
            ("disjoint", 16, (r(0, 4), (4, 1)), (r(4, 16), (3, 4))),
            ("one idle", 17, (r(0, 4), (4, 1)), (r(5, 17), (3, 4))),
            ("scatter", 12, ([4], (1, 1)), (r(0, 12), (3, 4))),
            ("scatter away", 13, ([0], (1, 1)), (r(1, 13), (3, 4))),
            ("gather", 13, (r(1, 13), (3, 4)), ([0], (1, 1))),
            ("identity", 12, (r(0, 12), (3, 4)), (r(0, 12), (3, 4))),
            ("one row", 4, (r(0, 4), (1, 4)), (r(0, 4), (1, 4))),
        ]:
            label = f"repartition {name} {'even' if even else 'uneven'}"
            yield label, n_ranks, repartition_case(shape, source, target, even=even)
    for dtype in ("float64", "int32", "complex64"):
        case = repartition_case(shape, (r(0, 4), (4, 1)), (r(0, 4), (2, 2)), dtype)
        yield f"repartition {dtype}", 4, case
    yield "repartition few", 4, repartition_case((2,), ([0], (1,)), (r(0, 4), (4,)))
    yield "repartition one", 2, repartition_case((1, 3), ([0], (1, 1)), (r(0, 2), (2, 1)))
    yield "repartition none", 2, repartition_case((0, 3), (r(0, 2), (2, 1)), (r(0, 2), (1, 2)))


def halo_cases() -> Iterator[tuple[str, int, Case]]:
    cases: list[tuple[tuple[int, ...], tuple[int, ...], Any, bool]] = [
        # shape, grid, halo per dimension, even blocks
        ((30, 21), (3, 3), [(1, 1), (1, 1)], True),
        ((30, 21), (3, 3), [(1, 1), (2, 0)], False),
        ((10,), (3,), [halo_widths(10, 3, 2, stride=2)], True),
        ((12,), (4,), [4], True),
        ((12,), (4,), [(12, 12)], False),
        ((5, 6, 7), (2, 1, 3), [1, 1, (3, 5)], False),
        ((3,), (5,), [2], True),
        ((2, 1, 9, 8), (1, 1, 2, 2), [0, 0, 2, 3], False),
        ((9, 9), (1, 2), [0, 3], True),
    ]
    for number, (shape, grid, halo, even) in enumerate(cases):
        for dtype in ("float32", "float64", "int32"):
            case = halo_case(shape, grid, halo, even, dtype)
            yield f"halo {number} {dtype}", int(np.prod(grid)), case


CASES = {
    name: (n_ranks, case)
    for name, n_ranks, case in itertools.chain(
        broadcast_cases(), sum_cases(), repartition_cases(), halo_cases()
    )
}


def main() -> None:
    """All cases that this job has ranks for."""
    world = pt.world()
    n_run = 0
    for n_ranks, case in CASES.values():
        if n_ranks <= world.size:
            team = world.subteam(range(n_ranks))
            if team.active:
                case(team)
            n_run += 1
    world.barrier()
    print(f"ran {n_run}")


if __name__ == "__main__":
    main()
