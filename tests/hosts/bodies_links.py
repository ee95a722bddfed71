"""What ranks do on hosts of their own: who shares memory, what they are told when a link goes."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bodies_deaths import ready
from bodies_faults import works
from bodies_refusals import Told, attempt

import partita as pt


def neighbours(team: pt.Team) -> tuple[str, list[bool]]:
    """This rank's host, and with whom it shares memory."""
    return socket.gethostname(), [team.shares_memory_with(rank) for rank in range(team.size)]


def dies_after_barriers(team: pt.Team, bad: int) -> Told:
    """One rank dies between barriers, in which each rank speaks to some others only."""
    for _ in range(20):
        team.barrier()
    if team.rank == bad:
        os._exit(3)
    return attempt(team.barrier)


def ends_untold(team: pt.Team) -> str:
    """Comes to its end a while after the link has gone, without a call."""
    for _ in range(20):
        team.barrier()
    ready(team)
    time.sleep(1.0)
    return "the end"


def bytes_received() -> int:
    """What has come to this host over its cables."""
    lines = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    devices = (line.split(":", 1) for line in lines)
    return sum(int(counts.split()[0]) for name, counts in devices if name.strip() != "lo")


def brought(team: pt.Team) -> tuple[int, int]:
    """Bytes of an array that rank 0 gives to all, and bytes that come to this host for it."""
    layouts = [pt.Layout((1 << 20,), f"* @ {n}") for n in (1, team.size)]
    plan = pt.plan(*layouts)
    mine = np.arange(float(1 << 20)) if team.rank == 0 else None
    out = team.empty((1 << 20,))
    team.barrier()
    before = bytes_received()
    team.barrier()
    plan.apply(mine, team, out=out)
    team.barrier()
    received = bytes_received() - before
    assert (out == np.arange(float(1 << 20))).all(), "wrong data"
    return out.nbytes, received


def calls(team: pt.Team) -> dict[str, Callable[[], Any]]:
    """Calls that are made again and again."""
    n, rank = team.size, team.rank
    shape = (512, 512)
    rows = pt.plan(pt.Layout(shape, f"block, * @ {n}"), pt.Layout(shape, f"*, block @ {n}"))
    sums = pt.plan(pt.Layout((40_000,), f"* @ {n} partial 0"), pt.Layout((40_000,), f"* @ {n}"))
    whole = pt.plan(rows.source, pt.Layout(shape, f"*, * @ {n}x1"))
    halo = pt.Layout((64 * n, 64), f"block+halo(1,1), * @ {n}")
    held = np.full(halo.local_shape(rank), float(rank))
    array = pt.from_local(held, halo, team)
    mine = np.full(rows.source.local_shape(rank), float(rank))
    owners = np.repeat(np.arange(n), [rows.source.local_shape(other)[0] for other in range(n)])

    def moves() -> None:
        assert (rows.apply(mine, team) == owners[:, None]).all(), "wrong data"

    def gathers() -> None:
        assert (whole.apply(mine, team) == owners[:, None]).all(), "wrong data"

    def halos() -> None:
        array.exchange_halo()
        above = held[0, 0] if rank > 0 else rank - 1
        assert above == rank - 1, "wrong data"

    return {
        "barrier": team.barrier,
        "data": lambda: team.allgather_data(np.full(1000, rank)),
        "moves": moves,
        "gathers": gathers,
        "sums": lambda: sums.apply(np.ones(40_000), team),
        "halos": halos,
    }


def until_cut(
    team: pt.Team, which: str, deadline: float, survivors: list[int]
) -> tuple[Told, float, bool, float]:
    """Make a call until it fails; then the survivors go on among themselves.

    What was told, how long after the last call that went well, whether they go on, and how long
    that took them.
    """
    hasty = team.with_deadline(deadline)
    call = calls(hasty)[which]
    call()
    ready(team)
    last = [time.monotonic()]

    def forever() -> None:
        while True:
            call()
            last[0] = time.monotonic()

    told = attempt(forever)
    seconds = time.monotonic() - last[0]
    rest, start = team.subteam(survivors), time.monotonic()
    goes_on = rest.active and works(rest)
    return told, seconds, goes_on, time.monotonic() - start


def while_cut(team: pt.Team, seconds: float) -> tuple[Told, float]:
    """Calls of all kinds for some time; the longest of them."""
    kinds = calls(team)
    ready(team)
    longest, end = 0.0, time.monotonic() + seconds

    def turns() -> None:
        nonlocal longest
        while any(team.allgather_data(time.monotonic() < end)):
            for call in kinds.values():
                start = time.monotonic()
                call()
                longest = max(longest, time.monotonic() - start)

    return attempt(turns), longest
