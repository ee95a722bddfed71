"""Partitions: the teams that the specification's tables list, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adjoints import cartesian

import partita as pt
from partita.distdl import (
    BroadcastRuleError,
    CartesianPartition,
    InactivePartition,
    Partition,
    RankError,
)


def facts(P: Partition) -> tuple[Any, ...]:
    return P.active, P.rank, P.size, tuple(P.shape), P.index


def test_inclusive_keeps_the_given_order() -> None:
    def job(team: pt.Team) -> Any:
        P = Partition(team).create_partition_inclusive([2, 0])
        return facts(P), P.ranks, P.dim

    found = pt.spmd(job, ranks=4)
    away = (False, -1, -1, (-1,), None)
    assert [one[0] for one in found] == [
        (True, 1, 2, (2,), 1),
        away,
        (True, 0, 2, (2,), 0),
        away,
    ]
    assert all(one[1:] == ((2, 0), 1) for one in found)


def test_an_empty_partition_is_inactive_everywhere() -> None:
    def job(team: pt.Team) -> Any:
        return facts(Partition(team).create_partition_inclusive([])), facts(Partition())

    assert set(pt.spmd(job, ranks=2)) == {((False, -1, -1, (-1,), None),) * 2}


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [([0, 2], [1, 2], (0, 2, 1)), ([3, 1], [0, 2], (3, 1, 0, 2)), ([1], [], (1,))],
)
def test_union_puts_own_workers_first(
    first: list[int], second: list[int], wanted: tuple[int, ...]
) -> None:
    def job(team: pt.Team) -> Any:
        world = Partition(team)
        one = world.create_partition_inclusive(first)
        union = one.create_partition_union(world.create_partition_inclusive(second))
        assert union.active == (team.rank in wanted)
        return union.ranks

    assert set(pt.spmd(job, ranks=4)) == {wanted}


def test_cartesian_partitions() -> None:
    def job(team: pt.Team) -> Any:
        P = cartesian(Partition(team), [2, 0], [1, 2])
        assert (tuple(P.shape), P.dim) == ((1, 2), 2)
        return P.index

    assert pt.spmd(job, ranks=4) == [(0, 1), None, (0, 0), None]


def test_indices_and_neighbours() -> None:
    def square(team: pt.Team) -> Any:
        P = Partition(team).create_cartesian_topology_partition([2, 2])
        return P.neighbor_ranks(P.rank)

    assert pt.spmd(square, ranks=4) == [
        [(-1, 2), (-1, 1)],
        [(-1, 3), (0, -1)],
        [(0, -1), (-1, 3)],
        [(1, -1), (2, -1)],
    ]

    def cube(team: pt.Team) -> Any:
        P = Partition(team).create_cartesian_topology_partition([2, 3, 2])
        return [P.cartesian_index(rank) for rank in (3, 7, 10)]

    assert pt.spmd(cube, ranks=12)[5] == [(0, 1, 1), (1, 0, 1), (1, 2, 0)]


def test_subtopologies() -> None:
    def job(team: pt.Team) -> Any:
        P = Partition(team).create_cartesian_topology_partition([2, 2])
        rows = P.create_cartesian_subtopology_partition([True, False])
        one = P.create_cartesian_subtopology_partition([False, False])
        assert (one.size, tuple(one.shape), tuple(one.index)) == (1, (), ())
        assert isinstance(one, CartesianPartition)
        return rows.ranks, tuple(rows.shape), rows.rank

    assert pt.spmd(job, ranks=4) == [
        ((0, 2), (2,), 0),
        ((1, 3), (2,), 0),
        ((0, 2), (2,), 1),
        ((1, 3), (2,), 1),
    ]


@pytest.mark.parametrize(
    ("axes", "n_teams", "shape", "teams"),
    [
        ((0, 2), 3, (2, 1, 2), {(0, 1, 6, 7), (2, 3, 8, 9), (4, 5, 10, 11)}),
        ((0, -1), 3, (2, 1, 2), {(0, 1, 6, 7), (2, 3, 8, 9), (4, 5, 10, 11)}),
        ((), 12, (1, 1, 1), {(r,) for r in range(12)}),
        ((0, 1, 2), 1, (2, 3, 2), {tuple(range(12))}),
        ((1,), 4, (1, 3, 1), {(0, 2, 4), (1, 3, 5), (6, 8, 10), (7, 9, 11)}),
    ],
)
def test_allreduction_teams(
    axes: tuple[int, ...], n_teams: int, shape: tuple[int, ...], teams: set[Any]
) -> None:
    def job(team: pt.Team) -> Any:
        P = Partition(team).create_cartesian_topology_partition([2, 3, 2])
        sub = P.create_allreduction_partition(axes)
        assert tuple(sub.shape) == shape
        assert team.rank in sub.ranks
        return sub.ranks

    found = set(pt.spmd(job, ranks=12))
    assert found == teams
    assert len(found) == n_teams


def test_allreduction_without_topology_is_one_dimensional() -> None:
    def job(team: pt.Team) -> Any:
        return Partition(team).create_allreduction_partition([-1]).ranks

    assert set(pt.spmd(job, ranks=3)) == {(0, 1, 2)}


def test_equality_means_same_workers_in_the_same_order() -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        some = world.create_partition_inclusive([0, 2])
        assert some == world.create_partition_inclusive([0, 2])
        assert some != world.create_partition_inclusive([2, 0])
        assert world == Partition(team)
        assert len({some, world.create_partition_inclusive([0, 2]), world}) == 2
        grid = world.create_cartesian_topology_partition([1, 3])
        assert grid != world
        assert grid != world.create_cartesian_topology_partition([3, 1])
        assert Partition() != Partition()

    pt.spmd(job, ranks=3)


def test_broadcast_data() -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        data = np.array([[1, 5]]) if team.rank == 1 else None
        found = world.broadcast_data(data, root=1)
        assert found is not None
        np.testing.assert_array_equal(found, [[1, 5]])
        assert found.dtype == np.int64
        np.testing.assert_array_equal(world.broadcast_data(3.5), [3.5])
        few = world.create_partition_inclusive([3, 1])
        found = world.broadcast_data(np.full(2, team.rank + 0.5), root=1, P_data=few)
        np.testing.assert_array_equal(found, [1.5, 1.5])
        mine = few.broadcast_data(team.rank)
        assert (mine is None) == (team.rank not in (1, 3))
        with pytest.raises(ValueError, match="root 2") as error:
            world.broadcast_data(1.0, root=2, P_data=few)
        assert error.value.reason == "root-unknown"  # type: ignore[attr-defined]
        team.barrier()

    pt.spmd(job, ranks=4)


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float32", "complex64", "bool"])
def test_allgather_data_keeps_the_type(dtype: str) -> None:
    def job(team: pt.Team) -> Any:
        r = team.rank
        found = Partition(team).allgather_data(np.array([r, r * r + 0.5]).astype(dtype))
        assert found is not None
        assert found.dtype == np.dtype(dtype)
        return found.tolist()

    wanted = np.array([[r, r * r + 0.5] for r in range(4)]).astype(dtype).tolist()
    assert pt.spmd(job, ranks=4) == [wanted] * 4


def test_allreduce_data() -> None:
    def job(team: pt.Team) -> Any:
        P = Partition(team)
        own = np.array([team.rank + 1, -team.rank])
        found = [P.allreduce_data(own, op) for op in ("sum", "prod", "max", "min")]
        with pytest.raises(ValueError, match="reduction"):
            P.allreduce_data(own, "median")
        return [one.tolist() for one in found if one is not None]

    assert set(map(str, pt.spmd(job, ranks=3))) == {"[[6, -3], [6, 0], [3, 0], [1, -2]]"}


TEAMS = {0: [1, 0, 6, 7], 1: [2, 3, 8, 9], 2: [3, 4, 5, 10, 11]}
SEND = {1: 0, 2: 1, 3: 2}
RECEIVE = {0: 0, 1: 0, 6: 0, 7: 0, 2: 1, 3: 1, 8: 1, 9: 1, 4: 2, 5: 2, 10: 2, 11: 2}


def test_the_tables_of_the_specification() -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        single = cartesian(world, [1, 2, 3], [1, 3, 1])
        many = cartesian(world, range(12), [2, 3, 2])
        for teams, order in (
            (single.create_broadcast_partition_to(many), (SEND, RECEIVE)),
            (many.create_reduction_partition_to(single), (RECEIVE, SEND)),
        ):
            for P, rows in zip(teams, order, strict=True):
                if team.rank not in rows:
                    assert not P.active
                    assert P.ranks == ()
                    continue
                wanted = TEAMS[rows[team.rank]]
                assert list(P.ranks) == wanted
                assert P.rank == wanted.index(team.rank)
            same = SEND.get(team.rank) == RECEIVE.get(team.rank)
            assert (teams[0] == teams[1]) == same
            assert (teams[0] is teams[1]) == same

    pt.spmd(job, ranks=12)


def roots(team: pt.Team, source: Any, target: Any, **flags: bool) -> Any:
    world = Partition(team)
    few, many = cartesian(world, *source), cartesian(world, *target)
    send, receive = few.create_broadcast_partition_to(many, **flags)
    return send.ranks, receive.ranks


def test_transposed_sources_pair_reversed_indices() -> None:
    found = pt.spmd(
        lambda team: roots(team, (range(3), [1, 3]), (range(12), [3, 4]), transpose_src=True),
        ranks=12,
    )
    wanted = [(0, 1, 2, 3), (1, 4, 5, 6, 7), (2, 8, 9, 10, 11)]
    assert [one[0] for one in found[:3]] == wanted
    assert {one[1] for one in found} == set(wanted)
    for flag in ("transpose_src", "transpose_dest"):
        found = pt.spmd(
            lambda team: roots(team, (range(6), [2, 3]), (range(6, 12), [3, 2]), **{flag: True}),  # noqa: B023
            ranks=12,
        )
        pairs = [(0, 6), (1, 8), (2, 10), (3, 7), (4, 9), (5, 11)]
        assert [one[0] for one in found[:6]] == pairs


def test_idle_workers_get_nothing_and_are_not_asked() -> None:
    def job(team: pt.Team) -> Any:
        if team.rank == 4:
            return roots(team, (range(4), [2, 2, 1]), (range(5, 17), [2, 2, 3]))
        found = roots(team, (range(4), [2, 2, 1]), (range(5, 17), [2, 2, 3]))
        assert found != ((), ())
        return None

    assert pt.spmd(job, ranks=17)[4] == ((), ())


def refused(action: Any, kind: type[Exception], *words: str) -> Any:
    """A job in which every worker must get the same error."""

    def job(team: pt.Team) -> tuple[str, str]:
        with pytest.raises(kind) as error:
            action(Partition(team))
        team.barrier()
        found: Any = error.value
        for word in words:
            assert word in str(found)
        return str(found), found.reason

    return job


def square(world: Partition) -> CartesianPartition:
    return world.create_cartesian_topology_partition([2, 2])


REFUSED: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (lambda W: W.create_partition_inclusive([0, 4]), RankError, ("4",)),
    (lambda W: W.create_partition_inclusive([0, -1]), RankError, ("-1",)),
    (lambda W: W.create_partition_inclusive([0, 0]), RankError, ("twice",)),
    (lambda W: W.create_cartesian_topology_partition([1, 2]), ValueError, ("2", "4")),
    (lambda W: W.create_cartesian_topology_partition([2, 3]), ValueError, ("6", "4")),
    (lambda W: W.create_cartesian_topology_partition([0, 4]), ValueError, ("0",)),
    (lambda W: W.create_cartesian_topology_partition([-2, -2]), ValueError, ("-2",)),
    (lambda W: square(W).create_allreduction_partition([2]), ValueError, ("2",)),
    (lambda W: square(W).create_allreduction_partition([-3]), ValueError, ("-3",)),
    (lambda W: square(W).create_allreduction_partition([1, -1]), ValueError, ("twice",)),
    (lambda W: square(W).cartesian_index(4), RankError, ("4",)),
    (lambda W: square(W).neighbor_ranks(-1), RankError, ("-1",)),
    (lambda W: square(W).create_cartesian_subtopology_partition([True]), ValueError, ("1", "2")),
    (
        lambda W: square(W).create_broadcast_partition_to(W),
        BroadcastRuleError,
        ("2x2", "4", "dimensions"),
    ),
    (
        lambda W: W.create_reduction_partition_to(square(W)),
        BroadcastRuleError,
        ("2x2", "4"),
    ),
    (
        lambda W: cartesian(W, [0, 1], [2, 1]).create_broadcast_partition_to(
            cartesian(W, [2, 3], [1, 2])
        ),
        BroadcastRuleError,
        ("2x1", "1x2", "dimension 0"),
    ),
    (lambda W: Partition().create_partition_inclusive([0]), InactivePartition, ("inclusive",)),
    (lambda W: CartesianPartition(None, [2]).cartesian_index(0), InactivePartition, ()),
    (lambda W: CartesianPartition(None, [2]).neighbor_ranks(0), InactivePartition, ()),
    (lambda W: W.create_partition_union(Partition()), ValueError, ("members",)),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_wrong_calls_are_the_same_error_on_all_workers(number: int) -> None:
    action, kind, words = REFUSED[number]
    assert len(set(pt.spmd(refused(action, kind, *words), ranks=4))) == 1


@pytest.mark.parametrize(
    ("source", "target"),
    [((1, 1, 3), (3, 3, 2)), ((2, 3), (3, 2)), ((3, 1), (1, 3))],
)
def test_shapes_that_do_not_broadcast(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        n_few, n_many = int(np.prod(source)), int(np.prod(target))
        few = cartesian(world, range(n_few), source)
        many = cartesian(world, range(n_many), target)
        with pytest.raises(BroadcastRuleError, match="dimension"):
            few.create_broadcast_partition_to(many)
        with pytest.raises(BroadcastRuleError, match="dimension"):
            many.create_reduction_partition_to(few)
        if source == target[::-1]:
            few.create_broadcast_partition_to(many, transpose_src=True)
            many.create_reduction_partition_to(few, transpose_src=True)

    pt.spmd(job, ranks=18)


def test_unions_need_one_root() -> None:
    def job(team: pt.Team) -> None:
        lower = Partition(team.subteam([0, 1]))
        upper = Partition(team.subteam([2, 3]))
        with pytest.raises(ValueError, match="root"):
            lower.create_partition_union(upper)
        upper.deactivate()
        assert not upper.active

    pt.spmd(job, ranks=4)


def test_unequal_data_is_refused_everywhere() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        with pytest.raises(ValueError, match="unequal"):
            P.allgather_data(np.zeros(1 + team.rank))
        found = P.allgather_data(team.rank)
        assert found is not None
        assert found.tolist() == [[0], [1], [2]]

    pt.spmd(job, ranks=3)
