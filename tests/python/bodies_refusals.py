"""Bodies on buffers that one rank may not bring: refused by name on every rank, nothing touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from engines import Case
from numpy.lib.stride_tricks import as_strided

import partita as pt

Array = np.ndarray[Any, Any]

# (class, reason, rank, text) of an error; none if there was none.
Told = tuple[str, str, int | None, str] | None


@dataclass
class Brought:
    """A rank's source and target for a plan from a layout to itself."""

    source: Any
    target: Any


def attempt(call: Callable[[], Any]) -> Told:
    """What a call raises, as plain values."""
    try:
        call()
    except Exception as error:
        reason, rank = getattr(error, "reason", ""), getattr(error, "rank", None)
        return type(error).__name__, reason, rank, str(error)
    return None


def good(team: pt.Team) -> Brought:
    return Brought(np.arange(4.0) + 4 * team.rank, np.full(4, 77.0))


def frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def overlapping(shift: int) -> Brought:
    room = np.arange(10.0)
    return Brought(room[:4], room[shift : shift + 4])


# What the bad rank brings, by name, and the reason it is refused for.
BAD: dict[str, tuple[Callable[[], Brought], str]] = {
    "big-endian source": (lambda: Brought(np.zeros(4, ">f8"), np.full(4, 77.0)), "buffer-dtype"),
    "big-endian target": (lambda: Brought(np.zeros(4), np.zeros(4, ">f8")), "buffer-dtype"),
    "other type": (lambda: Brought(np.zeros(4, "f4"), np.full(4, 77.0)), "buffer-dtype"),
    "signed for floating": (lambda: Brought(np.zeros(4, "i8"), np.full(4, 77.0)), "buffer-dtype"),
    "short source": (lambda: Brought(np.zeros(3), np.full(4, 77.0)), "buffer-shape"),
    "long target": (lambda: Brought(np.zeros(4), np.full(5, 77.0)), "buffer-shape"),
    "flat for deep": (lambda: Brought(np.zeros((4, 1)), np.full(4, 77.0)), "buffer-shape"),
    "no source": (lambda: Brought(None, np.full(4, 77.0)), "buffer-count"),
    "two sources": (lambda: Brought([np.zeros(4)] * 2, np.full(4, 77.0)), "buffer-count"),
    "two targets": (lambda: Brought(np.zeros(4), [np.zeros(4), np.zeros(4)]), "buffer-count"),
    "no memory": (lambda: Brought(object(), np.full(4, 77.0)), "buffer-type"),
    "text": (lambda: Brought(np.zeros(4), "what"), "buffer-type"),
    "read-only target": (lambda: Brought(np.zeros(4), frozen(np.zeros(4))), "buffer-read-only"),
    "one place for all": (
        lambda: Brought(np.zeros(4), as_strided(np.zeros(1), (4,), (0,))),
        "buffer-repeats",
    ),
    "the same memory": (lambda: overlapping(0), "buffer-overlap"),
    "overlapping memory": (lambda: overlapping(3), "buffer-overlap"),
}


RUN: dict[str, Callable[[pt.Plan, Brought, pt.Team], Any]] = {
    "apply": lambda plan, b, team: plan.apply(b.source, team, b.target),
    "start": lambda plan, b, team: plan.start(b.source, team, b.target).wait(),
}


def refused(team: pt.Team, which: str, bad: int) -> list[Told]:
    """Each bad buffer on one rank: what every rank is told. The team works on each time."""
    bad_rank = bad % team.size
    layout = pt.Layout((4 * team.size,), f"block @ {team.size}")
    plan = pt.plan(layout, layout)
    all_told: list[Told] = []
    for name, (bring, _) in BAD.items():
        brought = bring() if team.rank == bad_rank else good(team)
        is_numeric = isinstance(brought.target, np.ndarray)
        before = brought.target.tobytes() if is_numeric else b""
        run = partial(RUN[which], plan, brought, team)
        all_told.append(attempt(run))
        if is_numeric:
            assert brought.target.tobytes() == before, name
        fine = good(team)
        np.testing.assert_array_equal(plan.apply(fine.source, team, fine.target), fine.source)
    return all_told


def check_refused(results: list[list[Told]], which: str, bad: int) -> None:
    n_ranks, bad_rank = len(results), bad % len(results)
    for at, (name, (_, reason)) in enumerate(BAD.items()):
        own = results[bad_rank][at]
        assert own is not None, name
        assert own[:2] == ("LayoutError", reason), (name, own)
        assert "big-endian" in own[3] or not name.startswith("big"), own
        for rank in set(range(n_ranks)) - {bad_rank}:
            other = results[rank][at]
            assert other is not None, (name, rank)
            if reason == "buffer-overlap" and other[0] == "LayoutError":
                # Ranks that see each other's memory find it themselves.
                assert f"rank {bad_rank} " in other[3], other
                continue
            assert other[:3] == ("RemoteError", "rank-raised", bad_rank), (name, rank, other)
            assert own[3] in other[3], (name, other)


def exchange(local: Array, layout: pt.Layout, team: pt.Team) -> None:
    pt.from_local(local, layout, team).exchange_halo()


def refused_in_place(team: pt.Team) -> list[Told]:
    """A halo exchange into memory that one rank cannot write, or of another type or shape."""
    n, last = team.size, team.size - 1
    layout = pt.Layout((3 * n,), f"block+halo(1,1)+periodic @ {n}")
    all_told: list[Told] = []
    for bad in (frozen(np.zeros(5)), np.zeros(5, ">f8"), np.zeros(4)):
        own = np.full(5, float(team.rank))
        local = bad if team.rank == last else own
        all_told.append(attempt(partial(exchange, local, layout, team)))
        if team.rank != last:
            np.testing.assert_array_equal(own, np.full(5, float(team.rank)))
        fine = pt.from_local(np.full(5, float(team.rank)), layout, team).exchange_halo()
        assert fine.local[[0, -1]].tolist() == [(team.rank - 1) % n, (team.rank + 1) % n]
    return all_told


def check_refused_in_place(results: list[list[Told]]) -> None:
    last = len(results) - 1
    for at, reason in enumerate(["buffer-read-only", "byte-order", "buffer-shape"]):
        own = results[last][at]
        assert own is not None
        assert own[:2] == ("LayoutError", reason), own
        for rank in range(last):
            other = results[rank][at]
            assert other is not None
            assert other[:3] == ("RemoteError", "rank-raised", last), other
            assert own[3] in other[3], other


# Threads see the same array here, processes each their own.
ROOM = np.zeros(8)


def shared_targets(team: pt.Team) -> dict[str, Told]:
    """Targets of which some elements share memory: with each other, or with another rank's."""
    n, last = team.size, team.size - 1
    block = pt.Layout((4 * n,), f"block @ {n}")
    windows = pt.Layout((3 * n, 2), f"block, * @ {n}x1")
    boxes = [[((8 * k,), (4,)), ((8 * k + 4,), (4,))] for k in range(n)]
    pairs = pt.Layout.from_boxes((8 * n,), boxes)
    own, room, is_bad = np.zeros(4), np.zeros(8), team.rank == last
    window = as_strided(room, (3, 2), (8, 8)) if is_bad else np.zeros((3, 2))
    halves = [room[:4], room[3:7]] if is_bad else [np.zeros(4), np.zeros(4)]
    mine = {
        "windows": (windows, np.zeros((3, 2)), window),
        "two buffers": (pairs, [np.zeros(4), np.zeros(4)], halves),
        "two targets": (block, own, ROOM[:4] if team.rank in (0, last) else np.zeros(4)),
        "source and target": (
            block,
            ROOM[:4] if team.rank == 0 else own,
            ROOM[2:6] if is_bad else np.zeros(4),
        ),
    }
    all_told: dict[str, Told] = {}
    for name, (layout, source, target) in mine.items():
        run = partial(pt.plan(layout, layout).apply, source, team, target)
        all_told[name] = attempt(run)
        team.barrier()
    return {team.engine: None, **all_told}


def check_shared_targets(results: list[dict[str, Told]]) -> None:
    engine, *names = results[0]
    wanted = {"windows", "two buffers"}
    if len(results) == 1:
        wanted.add("source and target")
    elif engine == "threads":
        wanted |= {"two targets", "source and target"}
    for rank, all_told in enumerate(results):
        for name in names:
            told = all_told[name]
            assert (told is not None) == (name in wanted), (rank, name, told)
            if told is not None:
                assert told[1] in ("buffer-overlap", "buffer-repeats", "rank-raised"), told


def too_small(team: pt.Team) -> str:
    """A plan for more ranks than there are is refused on all."""
    layout = pt.Layout((9,), f"block @ {team.size + 1}")
    local = np.zeros(layout.local_shape(team.rank))
    told = attempt(lambda: pt.plan(layout, layout).apply(local, team))
    team.barrier()
    return told[1] if told else ""


def check_too_small(results: list[str]) -> None:
    assert set(results) == {"team-too-small"}


def raised_in_turn(team: pt.Team) -> None:
    """Rank after rank raises between halo exchanges, which say that buffers are those of before."""
    hasty = team.with_deadline(20)
    layout = pt.Layout((4 * team.size,), f"block+halo(1,1)+periodic @ {team.size}")
    array = pt.from_local(np.zeros(6), layout, hasty)
    for step in range(60):
        culprit = step % team.size

        def exchange(culprit: int = culprit) -> str:
            with hasty:
                array.exchange_halo()
                if team.rank == culprit:
                    raise ValueError("its turn")
                array.exchange_halo()
            return "done"

        told = attempt(exchange)
        if team.rank == culprit:
            assert told is not None, step
            assert told[0] == "ValueError", told
        elif team.size > 1:
            assert told is not None, step
            assert told[1:3] == ("rank-raised", culprit), told
        assert hasty.allgather_data(step) == [step] * team.size


CASES = [
    Case(f"refused-{which}-{bad}", refused, (which, bad), check_refused)
    for which, bad in (("apply", 0), ("apply", -1), ("start", -1))
]
CASES.append(Case("raised-in-turn", raised_in_turn))
CASES.append(Case("refused-in-place", refused_in_place, (), check_refused_in_place))
CASES.append(Case("shared-targets", shared_targets, (), check_shared_targets))
CASES.append(Case("too-small-a-team", too_small, (), check_too_small))
