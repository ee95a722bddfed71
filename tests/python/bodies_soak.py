"""Many thousands of small calls in one run: always the right values, and nothing grows."""

from __future__ import annotations

import gc
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

# A turn: so many halo exchanges and one redistribution.
N_HALOS = 10
# Every so many turns the ranks look at the clock together.
N_TURNS_AT_ONCE = 200
N = 64

# What the interpreter and the allocator take now and then, whatever a program does.
MOST_GROWN_BYTES = 8 << 20


@dataclass(frozen=True)
class Figures:
    """What a process holds at a moment."""

    resident_bytes: int
    shared_bytes: int
    """Pages of the nameless files that it shares."""
    n_files: int

    @staticmethod
    def now() -> Figures:
        gc.collect()
        lines = Path("/proc/self/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("VmRSS:")]
        files = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
        return Figures(int(line.split()[1]) * 1024, sum(map(pages_of, files)), len(files))


def pages_of(file: Path) -> int:
    """Bytes that a shared file takes; none for other files, and for those that have gone."""
    try:
        is_shared = "/memfd:" in os.readlink(file)
        return file.stat().st_blocks * 512 if is_shared else 0
    except OSError:
        return 0


class Calls:
    """The calls of one rank, and the values that they must bring."""

    def __init__(self, team: pt.Team) -> None:
        n, self.team, self.rank = team.size, team, team.rank
        halo = pt.Layout((N * n, N), f"block+halo(1,1), * @ {n}")
        self.held = team.empty(halo.local_shape(self.rank))
        self.array = pt.from_local(self.held, halo, team)
        rows, columns = (pt.Layout((N, N), f"{text} @ {n}") for text in ("block, *", "*, block"))
        self.plan = pt.plan(rows, columns)
        self.mine = team.empty(rows.local_shape(self.rank))
        self.out = team.empty(columns.local_shape(self.rank))
        counts = [rows.local_shape(other)[0] for other in range(n)]
        self.owners = np.repeat(np.arange(n, dtype=float), counts)[:, None]

    def exchange(self, number: int) -> None:
        """Halos hold what the neighbours have now."""
        self.held[:] = number + self.rank
        self.array.exchange_halo()
        if self.rank > 0:
            assert (self.held[0] == number + self.rank - 1).all(), f"exchange {number}"
        if self.rank < self.team.size - 1:
            assert (self.held[-1] == number + self.rank + 1).all(), f"exchange {number}"

    def move(self, number: int) -> None:
        """Rows become columns, into memory of the caller or new memory."""
        self.mine[:] = number + self.rank
        out = self.out if number % 4 else None
        found = self.plan.apply(self.mine, self.team, out=out)
        assert (found == self.owners + number).all(), f"redistribution {number}"


def soak(team: pt.Team, n_turns: int, seconds: float) -> tuple[int, Any, Any]:
    """Turns until all are done or time is up: how many, the figures at a tenth and at the end."""
    calls = Calls(team)
    begun = time.monotonic()
    turn, early = 0, None
    while turn < n_turns:
        for _ in range(min(N_TURNS_AT_ONCE, n_turns - turn)):
            for number in range(N_HALOS):
                calls.exchange(turn * N_HALOS + number)
            calls.move(turn)
            turn += 1
        spent = team.broadcast_data(time.monotonic() - begun, root=0)
        # Each rank takes the same turns, and threads of one process look at the same figures.
        if early is None and (turn * 10 >= n_turns or spent * 10 >= seconds):
            early = measured(team)
        if spent >= seconds:
            break
    return turn, early, measured(team)


def measured(team: pt.Team) -> tuple[int, int, int]:
    """Figures while nobody else computes, or looks: looking opens a file, too."""
    now = None
    for rank in range(team.size):
        team.barrier()
        if rank == team.rank:
            now = Figures.now()
    team.barrier()
    assert now is not None
    return now.resident_bytes, now.shared_bytes, now.n_files


def check_flat(results: list[Any]) -> None:
    """Nothing has grown on any rank."""
    for rank, (n_turns, early, late) in enumerate(results):
        assert early is not None, (rank, n_turns)
        resident, shared, n_files = (b - a for a, b in zip(early, late, strict=True))
        assert resident <= MOST_GROWN_BYTES, f"rank {rank}: {resident} bytes more memory"
        assert shared <= 0, f"rank {rank}: {shared} bytes more in shared files"
        assert n_files <= 0, f"rank {rank}: {n_files} more open files"
