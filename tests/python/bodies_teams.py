"""Bodies on teams: who is in them, grids, data, several at once, calls under way."""

from __future__ import annotations

import time
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from bodies_refusals import attempt
from engines import Case

import partita as pt


def members(team: pt.Team) -> None:
    """What a team says of itself."""
    n = team.size
    assert team.engine in ("threads", "mpi")
    assert team.ranks == tuple(range(n))
    assert (team.active, 0 <= team.rank < n) == (True, True)
    assert pt.world() == team
    assert team.allgather_data(team.rank) == list(range(n))
    assert repr(team) == f"<Team of {n} on {team.engine}, rank {team.rank}>"


def equality(team: pt.Team) -> None:
    """Teams of the same members in the same order are equal."""
    n = team.size
    again, turned = team.subteam(range(n)), team.subteam(range(n)[::-1])
    assert again == team
    assert hash(again) == hash(team)
    assert (turned == team) == (n == 1)
    assert team.with_deadline(5) == team
    assert team.union(turned) == team
    assert turned.union(team) == turned
    assert team.subteam([0]).union(team.subteam(range(1, n))) == team
    assert turned.subteam(range(n)[::-1]) == team
    assert turned.ranks == tuple(range(n)[::-1])
    assert team != object()
    assert team.grid(n) == again.grid(n)
    assert (team.grid(n, 1) == team.grid(1, n)) == (n == 1)
    assert {team: 1}[again] == 1
    assert turned.allgather_data(team.rank) == list(range(n)[::-1])


def outsiders(team: pt.Team) -> None:
    """Ranks that are no members see the team, and cannot act in it."""
    last = team.size - 1
    alone = team.subteam([last])
    assert (alone.size, alone.ranks) == (1, (last,))
    if team.rank == last:
        assert (alone.rank, alone.active) == (0, True)
        assert alone.broadcast_data("mine") == "mine"
        assert alone.grid(1).index == (0,)
    else:
        assert (alone.rank, alone.active) == (-1, False)
        assert alone.broadcast_data("mine") is None
        assert alone.grid(1).index is None
        refuses_outsiders(alone)
        told = attempt(partial(fail_in, alone))
        assert told is not None
        assert told[0] == "OSError", told
    # Nobody waits for anybody: the team of all works on.
    team.barrier()


def fail_in(team: pt.Team) -> None:
    with team:
        raise OSError("disk full")


def refuses_outsiders(alone: pt.Team) -> None:
    layout = pt.Layout((2,), "*")
    plan = pt.plan(layout, layout)
    calls: list[Any] = [alone.barrier, lambda: alone.allgather_data(1)]
    calls += [lambda: plan.apply(np.zeros(2), alone), lambda: plan.apply(None, alone)]
    for call in calls:
        told = attempt(call)
        assert told is not None
        assert told[:2] == ("TeamError", "not-a-member"), told


VALUES: list[Any] = [
    *(None, True, -3, 2**200, 2.5, -0.0, 1 + 2j, "é\n\0", b"", b"\x00\xff", (), (1, [2, (3,)])),
    *({"a": 1, 2: (None,)}, np.float32(1.5), np.bool_(True), np.complex64(1j), [[], {}]),
]


def arrays() -> list[np.ndarray[Any, Any]]:
    """Arrays of any type, shape and order."""
    dtypes = ["?", "i1", "u1", "<i2", "u2", "i4", "u4", "i8", "u8", "e", "f", "d", "F", "D"]
    dtypes += [">i4", ">f8", "S3", "U4", "M8[ns]", "m8[s]"]
    shapes: list[tuple[int, ...]] = [(), (3,), (2, 0, 4), (2, 3)]
    plain = [np.ones(shape, "i8").astype(dtype) for dtype in dtypes for shape in shapes]
    cube = np.arange(24.0).reshape(2, 3, 4)
    return [*plain, cube.T, cube[:, ::-2], np.broadcast_to(np.int16(5), (3, 2)), np.array([np.nan])]


def same_value(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()
    else:
        assert found == wanted
        assert repr(found) == repr(wanted)


def data(team: pt.Team) -> None:
    """Any value from any root, and everyone's values at once."""
    values = [*VALUES, *arrays()]
    for number, value in enumerate(values):
        root = number % team.size
        same_value(team.broadcast_data(value if team.rank == root else None, root), value)
    for rank, found in enumerate(team.allgather_data(values[team.rank :])):
        for one, wanted in zip(found, values[rank:], strict=True):
            same_value(one, wanted)
    own = np.full((team.rank, 2), team.rank, "f4")
    for rank, found in enumerate(team.allgather_data(own)):
        same_value(found, np.full((rank, 2), rank, "f4"))


def data_refused(team: pt.Team) -> None:
    """What would not arrive as it was sent is refused, on every rank."""
    records, masked = (
        np.zeros(2, [("a", "i4"), ("b", "f8")]),
        np.ma.masked_array([1, 2], [False, True]),
    )
    values: list[Any] = [object(), {1}, np.array([None]), records, records[0], masked, [masked]]
    for value in values:
        last = team.size - 1
        told = attempt(partial(team.allgather_data, value if team.rank == last else 1))
        assert told is not None, value
        if team.rank == last:
            assert told[:2] == ("LayoutError", "data-type"), told
        else:
            assert told[:3] == ("RemoteError", "rank-raised", last), told
    assert team.allgather_data(team.rank) == list(range(team.size))


def data_from_a_team(team: pt.Team) -> None:
    """The root may be a rank of a team within."""
    n = team.size
    turned = team.subteam(range(n)[::-1])
    for root in range(n):
        mine = f"from {team.rank}"
        assert team.broadcast_data(mine, root) == f"from {root}"
        assert team.broadcast_data(mine, root, source=turned) == f"from {n - 1 - root}"
        assert turned.broadcast_data(mine, root, source=team) == f"from {root}"
        assert turned.broadcast_data(mine, root) == f"from {n - 1 - root}"
    alone = team.subteam([n - 1])
    assert team.broadcast_data(team.rank, source=alone) == n - 1


def large_data(team: pt.Team) -> None:
    """Megabytes, of another size on each rank."""
    wanted = [np.full(250_000 + 1000 * rank, rank, "f8") for rank in range(team.size)]
    for rank, found in enumerate(team.allgather_data(wanted[team.rank])):
        same_value(found, wanted[rank])
    for root in {0, team.size - 1}:
        same_value(team.broadcast_data(wanted[team.rank], root), wanted[root])


def interleaved(team: pt.Team, seed: int) -> None:
    """Calls on overlapping teams, in an order from a seed."""
    n, rng = team.size, Random(seed)
    choices = [rng.sample(range(n), rng.randint(1, n)) for _ in range(6)]
    teams = [team, *(team.subteam(choice) for choice in choices)]
    teams += [teams[k].union(teams[k + 1]) for k in range(1, 4)]
    for turn in range(60):
        one = rng.choice(teams)
        kind = rng.randrange(4)
        root = rng.randrange(one.size)
        if not one.active:
            continue
        if kind == 0:
            one.barrier()
        elif kind == 1:
            wanted = [(turn, member) for member in one.ranks]
            assert one.allgather_data((turn, team.rank)) == wanted
        elif kind == 2:
            assert one.broadcast_data((turn, team.rank), root) == (turn, one.ranks[root])
        else:
            shift(one, turn)


def shift(team: pt.Team, turn: int) -> None:
    """Every rank's two elements to the next rank."""
    n = team.size
    here = pt.Layout((2 * n,), f"block @ {n}")
    there = pt.Layout((2 * n,), [pt.Block()], grid=(n,), ranks=[(k + 1) % n for k in range(n)])
    mine = np.array([turn, team.rank + 1], dtype=np.int64)
    found = pt.plan(here, there, "int64").apply(mine, team)
    assert found.tolist() == [turn, (team.rank - 1) % n + 1]


def halves(team: pt.Team) -> None:
    """Two teams move data at the same time, each by its own ranks' numbers."""
    n, cut = team.size, (team.size + 1) // 2
    first, second = team.subteam(range(cut)), team.subteam(range(cut, n)[::-1])
    mine = first if first.active else second
    whole = np.random.default_rng(int(first.active)).random((6, 10))
    rows = pt.Layout((6, 10), f"block, * @ {mine.size}x1")
    columns = pt.Layout((6, 10), f"*, block @ 1x{mine.size}")
    local = np.array_split(whole, mine.size, axis=0)[mine.rank].copy()
    for _ in range(5):
        found = pt.plan(rows, columns).apply(local, mine)
        wanted = np.array_split(whole, mine.size, axis=1)[mine.rank]
        np.testing.assert_array_equal(found, wanted)
    gathered = pt.from_local(local, rows, mine).gather()
    np.testing.assert_array_equal(gathered, whole)
    both = first.union(second)
    assert both.allgather_data(mine.rank) == [*range(cut), *range(n - cut)]


def grids(team: pt.Team) -> None:
    """Coordinates, neighbours and parts of grids, all in C order."""
    n = team.size
    q = next(k for k in (2, 3, 1) if n % k == 0)
    grid = team.grid(n // q, q)
    assert grid.shape == (n // q, q)
    assert grid.index == divmod(team.rank, q) == grid.coords(team.rank)
    assert [grid.rank_at(grid.coords(rank)) for rank in range(n)] == list(range(n))
    row, column = divmod(team.rank, q)
    above, below = team.rank - q, team.rank + q
    left, right = team.rank - 1, team.rank + 1
    wanted = [(above if row > 0 else -1, below if row < n // q - 1 else -1)]
    wanted += [(left if column > 0 else -1, right if column < q - 1 else -1)]
    assert grid.neighbors() == wanted
    along, across = grid.subgrid([0]), grid.subgrid([1])
    assert along.allgather_data(team.rank) == [k * q + column for k in range(n // q)]
    assert across.allgather_data(team.rank) == [row * q + k for k in range(q)]
    assert (along.shape, along.index, across.index) == ((n // q,), (row,), (column,))
    assert grid.subgrid([0, 1]) == grid
    assert grid.subgrid([]).allgather_data(team.rank) == [team.rank]
    summed = grid.reduction_grid([1])
    assert (summed.shape, summed.ranks) == ((1, q), across.ranks)
    assert summed.broadcast_data(team.rank, root=q - 1) == row * q + q - 1


def under_way(team: pt.Team) -> None:
    """A plan runs while the rank computes; waiting twice gives the same."""
    n = team.size
    rows, columns = (
        pt.Layout((64, 48), f"block, * @ {n}x1"),
        pt.Layout((64, 48), f"*, block @ 1x{n}"),
    )
    whole = np.random.default_rng(2).random((64, 48))
    local = np.array_split(whole, n, axis=0)[team.rank].copy()
    wanted = np.array_split(whole, n, axis=1)[team.rank]
    for out in (None, np.full_like(wanted, 77)):
        running = pt.plan(rows, columns).start(local, team, out)
        assert np.linalg.norm(whole @ whole.T) > 0
        found = running.wait()
        np.testing.assert_array_equal(found, wanted)
        assert running.wait() is found
        assert out is None or found is out
        team.barrier()


def bound(team: pt.Team) -> None:
    """A bound plan moves what lies in its buffers at each run, apart and in place."""
    n = team.size
    rows, columns = (
        pt.Layout((64, 48), f"block, * @ {n}x1"),
        pt.Layout((64, 48), f"*, block @ 1x{n}"),
    )
    local = np.empty(rows.local_shape(team.rank))
    wanted = np.empty(columns.local_shape(team.rank))
    movements = [
        pt.plan(rows, columns).bind(local, team),
        pt.plan(rows, columns).bind(local, team, out=team.empty(wanted.shape, "float64")),
    ]
    for step in range(5):
        whole = np.arange(64.0 * 48).reshape(64, 48) + 1000 * step
        local[...] = np.array_split(whole, n, axis=0)[team.rank]
        for movement in movements:
            found = movement.run()
            np.testing.assert_array_equal(found, np.array_split(whole, n, axis=1)[team.rank])
            assert found is movement.result
    layout = pt.Layout((4 * n,), f"block+halo(1,1) @ {n}")
    held = np.empty(layout.local_shape(team.rank))
    halos = pt.plan(layout, layout).bind(held, team, out=held)
    first = max(4 * team.rank - 1, 0)
    for step in range(5):
        indices = np.arange(first, first + len(held))
        held[...] = np.where(indices // 4 == team.rank, indices + 100.0 * step, -1)
        assert halos.run() is held
        assert held.tolist() == (indices + 100.0 * step).tolist()


def bound_wrongly(team: pt.Team) -> None:
    """Buffers that do not fit are refused when they are bound, and the others are told."""
    n = team.size
    layout = pt.Layout((4 * n,), f"block @ {n}")
    plan = pt.plan(layout, layout)
    shape = (5,) if team.rank == 0 else (4,)
    with pytest.raises(pt.PartitaError) as told:
        plan.bind(np.zeros(shape), team, out=np.zeros(4)).run()
    assert told.value.reason == ("buffer-shape" if team.rank == 0 else "rank-raised")
    assert plan.bind(np.ones(4), team).run().tolist() == [1.0] * 4


def two_under_way(team: pt.Team) -> None:
    """Plans on several teams at once, begun in one order and ended in another."""
    n = team.size
    layout = pt.Layout((2 * n,), f"block @ {n}")
    around = pt.Layout((2 * n,), [pt.Block()], grid=(n,), ranks=[(k + 1) % n for k in range(n)])
    plan = pt.plan(layout, around)
    turned = team.subteam(range(n)[::-1])
    for turn in range(5):
        one = plan.start(np.array([turn, team.rank], "f8"), team)
        if turned == team:
            # One rank alone: the same team, and it makes one call at a time.
            assert one.wait().tolist() == [turn, 0]
            continue
        two = plan.start(np.array([turn, turned.rank], "f8"), turned)
        assert turned.union(team) == turned
        found = [running.wait().tolist() for running in (two, one)]
        assert found == [[turn, (turned.rank - 1) % n], [turn, (team.rank - 1) % n]]


def one_team_twice(team: pt.Team) -> None:
    """Teams of the same members take turns with other plans on the same memory."""
    n = team.size
    block, cyclic = (pt.Layout((4 * n,), f"{name} @ {n}") for name in ("block", "cyclic"))
    source, out = 4.0 * team.rank + np.arange(4.0), np.zeros(4)
    turns = [
        (team.subteam(range(n)), pt.plan(block, cyclic), team.rank + n * np.arange(4.0)),
        (team.subteam(range(n)), pt.plan(cyclic, block), None),
    ]
    for _ in range(3):
        for alike, plan, wanted in turns:
            plan.apply(source, alike, out)
            if wanted is not None:
                np.testing.assert_array_equal(out, wanted)


def target_given_up(team: pt.Team) -> None:
    """What was given up as a target of one team is filled as a target of another."""
    if team.size < 3:
        return
    pair, patient = team.subteam([0, 1]), team.subteam([2, 1, 0])
    if patient.active:
        # After near calls of an earlier test on this team its next meeting would wait longer.
        patient.barrier()
    others = patient.with_deadline(0.2)
    source, target = pt.Layout((4096,), "* @ 1 on 0"), pt.Layout((4096,), "* @ 1 on 1")
    to_second = pt.plan(source, target)
    given, taken = team.empty((4096,)), team.empty((4096,))
    for turn in range(3):
        given[...] = turn
        if team.rank < 2:
            buffers = (given, None) if team.rank == 0 else (None, taken)
            to_second.apply(buffers[0], pair, buffers[1])
        if team.rank == 1:
            np.testing.assert_array_equal(taken, np.full(4096, float(turn)))
            told = attempt(partial(to_second.apply, None, others, taken))
            assert told is not None
            assert told[1] in ("deadline", "rank-late"), told
        else:
            # Who waited on another team for rank 1 would be told so, as rank 1 would.
            time.sleep(0.4)
            if others.active:
                mine = given if team.rank == 2 else None
                assert attempt(partial(to_second.apply, mine, others)) is not None
    # Nobody goes before: that would end the waiting with another reason.
    team.barrier()


CASES = [
    *(Case("members", members), Case("equality", equality), Case("outsiders", outsiders)),
    *(
        Case("data", data),
        Case("data-refused", data_refused),
        Case("data-from-a-team", data_from_a_team),
    ),
    *(Case("large-data", large_data), Case("halves", halves), Case("grids", grids)),
    *(Case("under-way", under_way), Case("two-under-way", two_under_way)),
    *(Case("bound", bound), Case("bound-wrongly", bound_wrongly)),
    *(Case("one-team-twice", one_team_twice), Case("target-given-up", target_given_up)),
    *(Case(f"interleaved-{seed}", interleaved, (seed,)) for seed in range(3)),
]
