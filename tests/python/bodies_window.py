"""Bodies on windows: arrays that ranks read of each other without the owner's help."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from bodies_faults import works
from bodies_refusals import attempt

import partita as pt
from partita._partita import FarWindow
from partita._team import seen
from partita._team.window import Window

Local = np.ndarray[Any, Any]

RECORD = np.dtype([("at", "i4"), ("name", "U3"), ("pair", "f8", (2,))])

# By name, what ranks show: each kind of memory and of element.
KINDS: dict[str, Callable[[int], Local]] = {
    "numbers": lambda rank: np.arange(1000.0) + rank,
    "nothing": lambda rank: np.zeros((0, 3), "i4"),
    "one": lambda rank: np.array(rank + 0.5),
    "truth": lambda rank: np.arange(7) % 2 == rank % 2,
    "complex": lambda rank: np.full((2, 3), rank + 1j, "c8"),
    "times": lambda rank: np.array([rank, 7], "M8[s]"),
    "words": lambda rank: np.array([f"of {rank}", ""]),
    "no words": lambda rank: np.array(["", ""]),
    "other order": lambda rank: np.arange(5, dtype=">i2") + rank,
    "records": lambda rank: np.array([(rank, "abc", (1.5, rank))], RECORD),
    "frozen": lambda rank: frozen(np.arange(3) + rank),
    "many": lambda rank: np.arange(400_000) * (rank + 1),
}


def frozen(array: Local) -> Local:
    array.flags.writeable = False
    return array


def warm(team: pt.Team, array: Local) -> Local:
    """The same in memory that neighbours can map."""
    copy = team.empty((array.nbytes,), "u1")
    copy[...] = np.frombuffer(array.tobytes(), "u1")
    return np.ndarray(array.shape, array.dtype, copy)


def shown_by(team: pt.Team, rank: int, memory: str) -> list[Local]:
    """What a rank shows; each another number of arrays."""
    arrays = [make(rank) for make in KINDS.values()]
    arrays = [*arrays[rank:], *arrays] if rank % 2 else arrays[: len(arrays) - rank]
    return arrays if memory == "plain" else [warm(team, array) for array in arrays]


@contextmanager
def reading_in_place(is_allowed: bool) -> Iterator[None]:
    """Whether processes may read each other's memory without mapping it."""
    before, seen.READS_IN_PLACE = seen.READS_IN_PLACE, is_allowed
    try:
        yield
    finally:
        seen.READS_IN_PLACE = before


def near(window: Window) -> list[int]:
    """Ranks that this one can read."""
    return [rank for rank in range(window.team.size) if window.reach(rank) is None]


def check_same(found: list[Local], wanted: list[Local]) -> None:
    """The same arrays, bit by bit."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


def reads(team: pt.Team, memory: str, is_allowed: bool) -> None:
    """Every rank reads what every other shows."""
    with reading_in_place(is_allowed):
        window = Window(team, shown_by(team, team.rank, memory))
    for rank in near(window):
        wanted = shown_by(team, rank, "plain")
        assert window.version(rank) == 1
        assert window.described(rank) == [(array.dtype, array.shape) for array in wanted]
        check_same(window.read(rank), wanted)
        check_same(window.read(rank, [2, 0, 2]), [wanted[at] for at in (2, 0, 2)])
        assert window.read(rank, []) == []
        with window.view(rank) as views:
            check_same(views, wanted)
            assert not any(view.flags.writeable for view in views)
        # What was read is the reader's own.
        mine = window.read(rank)
        mine[0][...] = 99
        check_same(window.read(rank), wanted)
    # Those that share no memory read over connections.
    assert near(window) == list(range(team.size))
    team.barrier()


def read_while_the_owner_computes(team: pt.Team) -> None:
    """The owner calls nothing, and keeps its interpreter busy."""
    window = Window(team, [np.full(300_000, float(team.rank))])
    team.barrier()
    end = time.monotonic() + 0.5
    while team.rank == 0 and time.monotonic() < end:
        sum(range(100_000))
    n_reads = 0
    while team.rank != 0 and time.monotonic() < end:
        assert (window.read(0)[0] == 0).all()
        n_reads += 1
    assert team.rank == 0 or n_reads > 5
    team.barrier()


def unserved(team: pt.Team) -> None:
    """Whoever takes no connections is out of reach, and the error names what to use instead."""
    window = Window(team, [np.zeros(3)])
    others = [rank for rank in range(team.size) if not team.shares_memory_with(rank)]
    for rank in others:
        source: Any = window._source(rank)
        # Nobody listens at this port.
        source._native = FarWindow.open([1, 1, 1, 1, 1, 0, 0, 0])
        told = attempt(partial(window.read, rank))
        assert told is not None
        assert told[:3] == ("TeamError", "window-reach", rank)
        assert "get_slices" in told[3]
        assert told[3] == window.reach(rank)
    team.barrier()


def replaced(team: pt.Team, memory: str, is_allowed: bool) -> None:
    """Others see what is shown last, in other shapes and types, without a call of the owner."""

    def made(turn: int) -> list[Local]:
        arrays = [np.full(700 * turn, turn + team.rank, "f8"), np.arange(turn, dtype="i2")]
        return arrays if memory == "plain" else [warm(team, array) for array in arrays]

    with reading_in_place(is_allowed):
        window = Window(team, made(1))
    for turn in range(2, 6):
        window.replace(made(turn))
        team.barrier()
        for rank in near(window):
            first, second = window.read(rank)
            assert window.version(rank) == turn
            assert (len(first), len(second)) == (700 * turn, turn)
            assert (first == turn + rank).all()
        team.barrier()
    window.replace([])
    team.barrier()
    assert all(window.read(rank) == [] for rank in near(window))
    team.barrier()


def written(team: pt.Team, memory: str, is_allowed: bool) -> None:
    """The owner writes in place: others read before or after, and views tell."""
    mine = np.full(900, 1.0)
    mine = mine if memory == "plain" else warm(team, mine)
    with reading_in_place(is_allowed):
        window = Window(team, [mine])
    other = (team.rank + 1) % team.size

    def look() -> None:
        with window.view(other) as (array,):
            assert array.sum() == 900
            team.barrier()
            with window.writing() as (own,):
                assert own is mine or np.shares_memory(own, mine)
                own[...] = 2
            team.barrier()

    told = attempt(look)
    if team.shares_memory_with(other):
        assert told is not None
        assert told[:3] == ("TeamError", "window-changed", other)
    else:
        # What came over a connection is the reader's own copy.
        assert told is None
    assert window.read(other)[0].sum() == 1800
    assert window.version(team.rank) == 2
    told = attempt(lambda: replace_while_writing(window))
    assert told is not None
    assert told[:3] == ("TeamError", "window-writing", team.rank)
    # The writing has ended all the same.
    assert window.read(team.rank)[0].sum() == 1800
    team.barrier()


def replace_while_writing(window: Window) -> None:
    with window.writing():
        window.replace([])


def an_error_of_the_view_is_its_own(team: pt.Team) -> None:
    """What a body raises comes through, unless the arrays have changed meanwhile."""
    window = Window(team, [np.zeros(3)])

    def fail(is_written: bool) -> None:
        with window.view(team.rank):
            if is_written:
                with window.writing():
                    pass
            raise ZeroDivisionError("mine")

    assert attempt(lambda: fail(False)) == ("ZeroDivisionError", "", None, "mine")
    told = attempt(lambda: fail(True))
    assert told is not None
    assert told[1] == "window-changed"
    team.barrier()


def closed(team: pt.Team, how: str) -> None:
    """Others are told that a window was closed or dropped; theirs go on."""
    window = Window(team, [np.full(5, float(team.rank))])
    sources = near(window)
    views = [(rank, window.view(rank)) for rank in sources if rank != team.rank]
    arrays = [(rank, view, view.__enter__()) for rank, view in views]
    team.barrier()
    if team.rank == 0 and how == "close":
        window.close()
        window.close()
        told = attempt(lambda: window.replace([]))
        assert told is not None
        assert told[:3] == ("TeamError", "window-closed", 0)
    if team.rank == 0 and how == "drop":
        del window, views, arrays
        gc.collect()
    team.barrier()
    if team.rank == 0 and how == "drop":
        team.barrier()
        return
    for rank, view, shown in arrays:
        told = attempt(partial(view.__exit__, None, None, None))
        # Pages that were let go of are zeros, and can be touched.
        assert shown[0].shape == (5,)
        if rank:
            assert told is None
            assert shown[0].sum() == 5 * rank
    if 0 in sources:
        told = attempt(lambda: window.read(0))
        assert told is not None
        assert told[:3] == ("TeamError", "window-closed", 0)
        assert "closed its window" in str(window.reach(0))
    for rank in sources[1:]:
        assert window.read(rank)[0].sum() == 5 * rank
    team.barrier()


def refused(team: pt.Team) -> None:
    """One rank brings what cannot be shown: told on every rank, and the team works on."""
    bad = team.size - 1
    problems: list[tuple[Any, str]] = [
        ([np.array([object()])], "window-dtype"),
        ([np.zeros((4, 4))[:, ::2]], "window-strides"),
        ([np.zeros((4, 4)).T], "window-strides"),
        ([[1, 2]], "window-arrays"),
        (7, "window-arrays"),
    ]
    for arrays, reason in problems:
        brought = arrays if team.rank == bad else [np.zeros(3)]
        told = attempt(partial(Window, team, brought))
        assert told is not None
        if team.rank == bad:
            assert told[:2] == ("LayoutError", reason)
        else:
            assert told[:3] == ("RemoteError", "rank-raised", bad)
        assert works(team)
    window = Window(team, [np.zeros(3)])
    for reading, reason in [
        (lambda: window.read(team.size), "rank-unknown"),
        (lambda: window.read(-1), "rank-negative"),
        (lambda: window.read(team.rank, [1]), "window-array"),
        (lambda: window.read(team.rank, [-1]), "window-array"),
        (lambda: window.read(team.rank, 0), "array-not-integer"),  # type: ignore[arg-type]
    ]:
        told = attempt(reading)
        assert told is not None
        assert told[:2] == ("LayoutError", reason), told
    team.barrier()


def mismatched(team: pt.Team) -> None:
    """Windows made in another order, or another call instead of one."""
    names = ["rows", "columns"] if team.rank else ["columns", "rows"]
    for other in (lambda: Window(team, [], name=names[0]), team.barrier):
        call = (lambda: Window(team, [], name="rows")) if team.rank else other
        told = attempt(call)
        assert (told is None) == (team.size == 1)
        assert told is None or told[0] == "MismatchError", told
        assert works(team)


def subteams(team: pt.Team) -> None:
    """Teams of one rank, of some, and of all in another order; ranks outside are told."""
    alone = Window(team.subteam([team.rank]), [np.arange(3)])
    assert alone.reach(0) is None
    assert alone.read(0)[0].tolist() == [0, 1, 2]
    turned = team.subteam(range(team.size)[::-1])
    window = Window(turned, [np.array(team.rank)])
    for rank in near(window):
        assert window.read(rank)[0] == team.size - 1 - rank
    first = team.subteam([0])
    told = attempt(lambda: Window(first, [np.zeros(2)]))
    if team.rank:
        assert told is not None
        assert told[:2] == ("TeamError", "not-a-member")
    else:
        assert told is None
    team.barrier()
