"""Teams, grids and running plans, on the threads engine with 1 to 8 ranks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from odd_errors import ODD

import partita as pt

RANKS = [1, 2, 3, 4, 5, 8]
DTYPES = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


def part(array: np.ndarray[Any, Any], layout: pt.Layout, rank: int) -> np.ndarray[Any, Any]:
    """What a rank holds of an array."""
    shape = layout.local_shape(rank)
    local = np.indices(shape).reshape(len(shape), -1).T
    index = layout.globalize(rank, local)
    held: np.ndarray[Any, Any] = array[tuple(index.T)].reshape(shape)
    return held


def pairs(n_ranks: int) -> list[tuple[tuple[int, ...], str, str]]:
    """Shapes and layouts for a number of ranks."""
    n = n_ranks
    return [
        ((17,), f"block @ {n}", f"cyclic @ {n}"),
        ((12, 20), f"block, * @ {n}x1", f"*, block @ 1x{n}"),
        ((12, 20), f"block+halo(2,1), * @ {n}x1", f"*, cyclic(3) @ 1x{n}"),
        ((12, 20), f"cyclic(5), * @ {n}x1", f"block(last)+halo(1,9)+periodic, * @ {n}x1"),
        ((3, 0, 5), f"block, *, * @ {n}", f"*, *, cyclic(2) @ {n}"),
        ((7, 9), f"block, * @ {n}x1", f"*, * @ 1x{n}"),
    ]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_redistribution_agrees_with_the_whole_array(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, source, target in pairs(n_ranks):
            array = np.random.default_rng(7).random(shape)
            before, after = pt.Layout(shape, source), pt.Layout(shape, target)
            a = pt.from_local(part(array, before, team.rank), before, team)
            b = a.redistribute(after)
            np.testing.assert_array_equal(b.local, part(array, after, team.rank))
            c = b.redistribute(before)
            np.testing.assert_array_equal(c.local, a.local)
            np.testing.assert_array_equal(b.gather(), array)
            whole = b.gather(root=n_ranks - 1)
            assert (whole is None) == (team.rank != n_ranks - 1)
            if whole is not None:
                np.testing.assert_array_equal(whole, array)

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_moves_and_sums(dtype: str) -> None:
    def body(team: pt.Team) -> None:
        layout = pt.Layout((10,), "block @ 2")
        bits = np.random.default_rng(team.rank).integers(0, 2, 5)
        local = bits.astype(dtype)
        array = pt.from_local(local, layout, team).gather()
        assert array is not None
        assert array.dtype == np.dtype(dtype)
        partial, whole = pt.Layout((5,), "* @ 2 partial 0"), pt.Layout((5,), "* @ 2")
        total = pt.plan(partial, whole, dtype).apply(local, team)
        parts = [np.random.default_rng(r).integers(0, 2, 5).astype(dtype) for r in range(2)]
        np.testing.assert_array_equal(total, parts[0] + parts[1])

    pt.spmd(body, ranks=2)


def test_bytes_arrive_exactly() -> None:
    odd = np.array([0x7FF0000000000001, 0x8000000000000000, 1, 0xFFF8000000000123], dtype=np.uint64)

    def body(team: pt.Team) -> None:
        layout = pt.Layout((8,), "block @ 2")
        moved = pt.from_local(odd.view(np.float64), layout, team).redistribute(
            pt.Layout((8,), "cyclic @ 2")
        )
        wanted = np.concatenate([odd, odd])[team.rank :: 2]
        np.testing.assert_array_equal(moved.local.view(np.uint64), wanted)

    pt.spmd(body, ranks=2)


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
def test_halos_fill_in_place(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for spec in ("halo(2,1)", "halo(9,9)", "halo(3,2)+periodic", "halo(20,20)+periodic"):
            shape = (11, 4)
            layout = pt.Layout(shape, f"block+{spec}, * @ {n_ranks}x1")
            array = np.random.default_rng(3).random(shape)
            local = np.full(layout.local_shape(team.rank), -1.0)
            a = pt.from_local(local, layout, team)
            a.owned[...] = part(array, pt.Layout(shape, f"block, * @ {n_ranks}x1"), team.rank)
            assert a.exchange_halo().local is local
            np.testing.assert_array_equal(local, part(array, layout, team.rank))

    pt.spmd(body, ranks=n_ranks)


def test_strided_and_foreign_buffers() -> None:
    def body(team: pt.Team) -> None:
        rows, columns = pt.Layout((6, 8), "block, * @ 2x1"), pt.Layout((6, 8), "*, block @ 1x2")
        array = np.arange(48.0).reshape(6, 8)
        mine = part(array, rows, team.rank)
        wanted = part(array, columns, team.rank)
        plan = pt.plan(rows, columns)
        read_only = mine.copy()
        read_only.flags.writeable = False
        room = np.zeros(3 * 8 * 8 + 1, dtype=np.uint8)
        crooked = room[1:].view(np.float64).reshape(3, 8)
        crooked[...] = mine
        sources = [mine, np.asfortranarray(mine), mine[::-1].copy()[::-1], read_only, crooked]
        sources.append(np.repeat(mine, 2, axis=1)[:, ::2])
        for source in sources:
            for out in (None, np.zeros((6, 4)), np.zeros((4, 6)).T, np.zeros((6, 8))[:, ::2]):
                found = plan.apply(source, team, out)
                np.testing.assert_array_equal(found, wanted)
                assert out is None or found is out

    pt.spmd(body, ranks=2)


def bad_out(team: pt.Team, kind: str) -> None:
    layout = pt.Layout((4,), "block @ 2")
    local = np.zeros(2)
    out: Any = np.zeros(2)
    if team.rank == 1:
        if kind == "read-only":
            out.flags.writeable = False
        elif kind == "shape":
            out = np.zeros(3)
        elif kind == "dtype":
            out = np.zeros(2, dtype=np.float32)
        elif kind == "big-endian":
            local = np.zeros(2, dtype=">f8")
        elif kind == "type":
            out = [object()]
        elif kind == "alias":
            out = local
    pt.plan(layout, layout).apply(local, team, out)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("read-only", "buffer-read-only"),
        ("shape", "buffer-shape"),
        ("dtype", "buffer-dtype"),
        ("big-endian", "buffer-dtype"),
        ("type", "buffer-type"),
        ("alias", "buffer-overlap"),
    ],
)
def test_a_bad_buffer_is_an_error_on_every_rank(kind: str, reason: str) -> None:
    def body(team: pt.Team) -> tuple[str, str]:
        with pytest.raises(pt.PartitaError) as caught:
            bad_out(team, kind)
        team.barrier()
        return type(caught.value).__name__, caught.value.reason

    found = pt.spmd(body, ranks=2)
    assert found[1] == ("LayoutError", reason)
    if kind != "alias":
        assert found[0] == ("RemoteError", "rank-raised")


def test_overlap_with_computation() -> None:
    def body(team: pt.Team) -> None:
        rows, columns = pt.Layout((64, 64), "block, * @ 2x1"), pt.Layout((64, 64), "*, block @ 1x2")
        array = np.random.default_rng(1).random((64, 64))
        running = pt.plan(rows, columns).start(part(array, rows, team.rank), team)
        assert np.linalg.norm(array) > 0
        np.testing.assert_array_equal(running.wait(), part(array, columns, team.rank))

    pt.spmd(body, ranks=2)


def test_several_buffers_per_rank() -> None:
    def body(team: pt.Team) -> None:
        boxes = [[((0,), (3,)), ((7,), (2,))], [((3,), (4,))]]
        layout = pt.Layout.from_boxes((9,), boxes)
        array = np.arange(9.0)
        mine = [array[s[0] : s[0] + n[0]].copy() for s, n in boxes[team.rank]]
        a = pt.from_local(mine, layout, team)
        np.testing.assert_array_equal(a.gather(), array)
        back = pt.from_local(
            part(array, pt.Layout((9,), "block @ 2"), team.rank), pt.Layout((9,), "block @ 2"), team
        ).redistribute(layout)
        for (piece, found), wanted in zip(back.pieces, mine, strict=True):
            assert piece.shape == found.shape
            np.testing.assert_array_equal(found, wanted)

    pt.spmd(body, ranks=2)


def test_disjoint_ranks() -> None:
    def body(team: pt.Team) -> None:
        source, target = pt.Layout((6,), "block @ 2"), pt.Layout((6,), "cyclic @ 3 on 2..5")
        array = np.arange(6.0)
        mine = part(array, source, team.rank) if team.rank < 2 else None
        found = pt.plan(source, target).apply(mine, team)
        if team.rank < 2:
            assert found is None
        else:
            np.testing.assert_array_equal(found, part(array, target, team.rank))

    pt.spmd(body, ranks=5)


def test_teams_and_grids() -> None:
    def body(team: pt.Team) -> None:
        assert (team.size, team.ranks, team.active, team.engine) == (
            4,
            (0, 1, 2, 3),
            True,
            "threads",
        )
        assert pt.world() is team
        turned = team.subteam([2, 0])
        assert turned.rank == {2: 0, 0: 1}.get(team.rank, -1)
        assert turned.active == (team.rank in (0, 2))
        assert team.subteam([0, 2]).union(team.subteam([1, 2])).ranks == (0, 2, 1)
        assert team.subteam([3, 1]).union(team.subteam([0, 2])).ranks == (3, 1, 0, 2)
        assert turned == team.subteam([2, 0]) != team.subteam([0, 2])
        assert hash(turned) == hash(team.subteam([2, 0]))
        grid = team.grid(2, 2)
        assert grid.index == divmod(team.rank, 2)
        assert grid.neighbors(0) == [(-1, 2), (-1, 1)]
        assert grid.neighbors(3) == [(1, -1), (2, -1)]
        assert grid.rank_at(grid.coords(3)) == 3
        line = grid.subgrid([0])
        assert (line.shape, line.ranks) == ((2,), (team.rank % 2, team.rank % 2 + 2))
        assert grid.subgrid([]).ranks == (team.rank,)
        assert grid.reduction_grid([-1]).shape == (1, 2)
        small = turned.grid(1, 2)
        assert small.shape == (1, 2)
        assert small.index == ({2: (0, 0), 0: (0, 1)}.get(team.rank))
        if turned.active:
            assert turned.allgather_data(team.rank) == [2, 0]

    pt.spmd(body, ranks=4)


def test_reduction_grids_of_three_axes() -> None:
    def body(team: pt.Team) -> tuple[int, ...]:
        grid = team.grid(2, 3, 2)
        assert [grid.coords(rank) for rank in (3, 7, 10)] == [(0, 1, 1), (1, 0, 1), (1, 2, 0)]
        assert grid.reduction_grid([0, 2]).shape == (2, 1, 2)
        return grid.reduction_grid([0, 2]).ranks

    teams = set(pt.spmd(body, ranks=12))
    assert teams == {(0, 1, 6, 7), (2, 3, 8, 9), (4, 5, 10, 11)}


def test_data_of_any_kind() -> None:
    def body(team: pt.Team) -> None:
        values: list[Any] = [None, True, 3, 2.5, 1 + 2j, "é", b"\x00", (1, [2]), {"a": 1}]
        values += [np.float32(1.5), np.array([[1, 5]]), np.zeros((0, 3), "c8"), np.array(7)]
        for value in values:
            got = team.broadcast_data(value if team.rank == 1 else None, root=1)
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(got, value)
                assert got.dtype == value.dtype
            else:
                assert got == value
                assert type(got) is type(value)
        own = np.arange(team.rank + 1) + 0.5
        for rank, got in enumerate(team.allgather_data(own)):
            np.testing.assert_array_equal(got, np.arange(rank + 1) + 0.5)
        source = team.subteam([3, 1])
        assert team.broadcast_data(team.rank, root=1, source=source) == 1

    pt.spmd(body, ranks=4)


def test_wrong_arguments() -> None:
    def body(team: pt.Team) -> None:
        cases: list[tuple[Any, str]] = [
            (lambda: team.subteam([0, 0]), "member-twice"),
            (lambda: team.subteam([9]), "member-unknown"),
            (lambda: team.subteam([-1]), "rank-negative"),
            (lambda: team.grid(2, 2), "grid-size"),
            (lambda: team.grid(3).coords(5), "rank-unknown"),
            (lambda: team.grid(3).rank_at((4,)), "coordinates-outside"),
            (lambda: team.grid(3).subgrid([1]), "axis-unknown"),
        ]
        for call, reason in cases:
            with pytest.raises(pt.LayoutError) as caught:
                call()
            assert caught.value.reason == reason
        with pytest.raises(pt.PartitaError):
            team.broadcast_data(1, root=7)
        with pytest.raises(pt.PartitaError):
            team.broadcast_data(object(), root=0)
        team.barrier()

    pt.spmd(body, ranks=3)
    with pytest.raises(pt.LayoutError):
        pt.spmd(body, ranks=0)


def fault_mismatch(team: pt.Team) -> None:
    team.barrier() if team.rank else team.allgather_data(1)


def fault_roots(team: pt.Team) -> None:
    team.broadcast_data(1, root=team.rank % 2)


def fault_dtypes(team: pt.Team) -> None:
    layout = pt.Layout((4,), "block @ 2")
    dtype = "float64" if team.rank else "int64"
    plan = pt.plan(layout, layout, dtype)
    plan.apply(np.zeros(2, dtype) if team.rank < 2 else None, team)


def fault_layouts(team: pt.Team) -> None:
    layout = pt.Layout((4,), "block @ 2" if team.rank else "cyclic @ 2")
    mine = np.zeros(2) if team.rank < 2 else None
    pt.plan(layout, layout).apply(mine, team)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (fault_mismatch, "calls-differ"),
        (fault_roots, "arguments-differ"),
        (fault_dtypes, "plans-differ"),
        (fault_layouts, "plans-differ"),
    ],
)
def test_calls_that_differ_are_told_on_every_rank(fault: Any, reason: str) -> None:
    def body(team: pt.Team) -> str:
        with pytest.raises(pt.MismatchError) as caught:
            fault(team)
        team.barrier()
        return str(caught.value)

    start = time.perf_counter()
    texts = pt.spmd(body, ranks=3)
    assert time.perf_counter() - start < 1.0
    assert len(set(texts)) == 1
    assert "rank 0" in texts[0]


def test_an_error_in_user_code_ends_all_ranks() -> None:
    seen = []

    def body(team: pt.Team) -> None:
        if team.rank == 1:
            raise KeyError("missing")
        try:
            team.barrier()
        except pt.RemoteError as error:
            seen.append((error.rank, error.reason))
            raise

    start = time.perf_counter()
    with pytest.raises(KeyError, match="missing") as caught:
        pt.spmd(body, ranks=3)
    assert time.perf_counter() - start < 1.0
    assert caught.value.__notes__ == ["(on rank 1 of 3)"]
    assert seen == [(1, "rank-left")] * 2


@pytest.mark.parametrize("name", ODD)
def test_an_odd_error_ends_all_ranks_and_is_raised_as_it_is(name: str) -> None:
    """Without a deadline: a rank that did not leave would be waited for."""
    raise_it, kind, words = ODD[name]
    told = []

    def body(team: pt.Team) -> None:
        if team.rank == 1:
            raise_it()
        try:
            team.barrier()
        except pt.RemoteError as error:
            told.append((error.reason, error.rank, str(error)))
            raise

    with pytest.raises(kind):
        pt.spmd(body, 3, deadline=None)
    assert [one[:2] for one in told] == [("rank-left", 1)] * 2
    assert all(words[0] in one[2] for one in told), told


def test_ranks_that_cannot_all_be_started_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    start = threading.Thread.start

    def refuse_the_third(thread: threading.Thread) -> None:
        if thread.name == "partita-2":
            raise RuntimeError("can't start new thread")
        start(thread)

    def body(team: pt.Team) -> None:
        try:
            team.barrier()
        except pt.RemoteError as error:
            told.append(error.reason)

    monkeypatch.setattr(threading.Thread, "start", refuse_the_third)
    with pytest.raises(pt.LayoutError) as caught:
        pt.spmd(body, 3, deadline=None)
    assert caught.value.reason == "ranks-threads"
    end = time.monotonic() + 10
    while len(told) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert told == ["rank-left"] * 2


def test_a_team_works_again_after_an_error_inside_with() -> None:
    def risky(team: pt.Team) -> None:
        with team:
            if team.rank == 2:
                raise OSError("disk full")
            team.barrier()

    def body(team: pt.Team) -> list[int]:
        if team.rank == 2:
            with pytest.raises(OSError, match="disk full"):
                risky(team)
        else:
            with pytest.raises(pt.RemoteError, match="disk full") as caught:
                risky(team)
            assert caught.value.rank == 2
        return team.allgather_data(team.rank)

    assert pt.spmd(body, ranks=4) == [[0, 1, 2, 3]] * 4


def test_a_late_rank_is_named() -> None:
    def body(team: pt.Team) -> str:
        hasty = team.with_deadline(0.2)
        if team.rank == 1:
            time.sleep(0.6)
        with pytest.raises(pt.TeamError) as caught:
            hasty.barrier()
        team.barrier()
        return caught.value.reason

    assert pt.spmd(body, ranks=3) == ["deadline", "rank-late", "deadline"]


def test_two_errors_at_once_agree() -> None:
    def body(team: pt.Team) -> str:
        if team.rank in (1, 2):
            with pytest.raises(ZeroDivisionError), team:
                _ = 1 / 0
        else:
            with pytest.raises(pt.RemoteError) as caught:
                team.barrier()
            assert caught.value.rank == 1
        return str(team.allgather_data("fine"))

    assert len(set(pt.spmd(body, ranks=4))) == 1


def test_a_busy_team_refuses_a_second_call() -> None:
    def body(team: pt.Team) -> str:
        if team.rank == 1:
            time.sleep(0.3)
            team.barrier()
            return ""
        thread = threading.Thread(target=team.barrier)
        thread.start()
        time.sleep(0.1)
        with pytest.raises(pt.TeamError) as caught:
            team.barrier()
        thread.join()
        return caught.value.reason

    assert pt.spmd(body, ranks=2)[0] == "team-busy"


def test_a_team_of_one_without_spmd() -> None:
    team = pt.world()
    assert (team.rank, team.size, team.ranks) == (0, 1, (0,))
    layout = pt.Layout((4, 4), "*, *")
    array = pt.from_local(np.eye(4), layout)
    np.testing.assert_array_equal(array.gather(), np.eye(4))


def test_many_ranks_do_not_stall() -> None:
    start = time.perf_counter()

    def body(team: pt.Team) -> None:
        for _ in range(50):
            team.barrier()

    pt.spmd(body, ranks=16)
    assert time.perf_counter() - start < 20


def test_instructions_that_are_not_known_are_told_where_only_data_moves() -> None:
    program = "import partita as pt; pt.spmd(lambda team: team.barrier(), ranks=2)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PARTITA_SIMD": "avx3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PARTITA_SIMD=avx3 is not known and ignored; give portable" in done.stderr
    assert done.stderr.count("avx3") == 1


@pytest.mark.parametrize("status", [None, 0])
def test_who_exits_well_has_come_to_its_end_and_the_others_failed(status: int | None) -> None:
    def body(team: pt.Team) -> None:
        if team.rank == 1:
            sys.exit(status)
        team.barrier()

    with pytest.raises(pt.RemoteError, match="rank 1 has left the team"):
        pt.spmd(body, ranks=3)
