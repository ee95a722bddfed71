"""Windows for thousands of turns: always what belongs together, and nothing grows."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
from bodies_window import Local, near, reading_in_place, warm

import partita as pt
from partita._team.window import Window

N_TURNS = 10_000


def figures() -> tuple[int, int]:
    """Memory of this process in bytes, and its open files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024, len(os.listdir("/proc/self/fd"))


def soak(team: pt.Team, memory: str, is_allowed: bool) -> tuple[int, int]:
    """One rank shows others again and again, all read: always what belongs together."""

    def made(turn: int) -> list[Local]:
        arrays = [np.full(1 + turn % 3000, turn), np.arange(turn, turn + 50), np.array(turn)]
        return arrays if memory == "plain" else [warm(team, array) for array in arrays]

    with reading_in_place(is_allowed):
        window = Window(team, made(0))
    sources = near(window)
    last = {0: 0}

    def check(rank: int) -> None:
        values, steps, said = window.read(rank)
        turn = int(said)
        assert len(values) == 1 + turn % 3000
        assert (values == turn).all()
        assert (steps == np.arange(turn, turn + 50)).all()
        assert turn >= last.get(rank, 0), "what was shown before"
        last[rank] = turn

    def turns(first: int, end: int) -> None:
        for turn in range(first, end):
            if team.rank == 0:
                window.replace(made(turn))
            else:
                check(sources[turn % len(sources)])

    turns(1, N_TURNS // 10)
    team.barrier()
    before = figures()
    team.barrier()
    turns(N_TURNS // 10, N_TURNS)
    team.barrier()
    after = figures()
    if 0 in sources:
        check(0)
        assert last[0] == N_TURNS - 1
    team.barrier()
    return after[0] - before[0], after[1] - before[1]


def many_windows(team: pt.Team) -> tuple[int, int]:
    """Windows come and go; more of them at a time than slots of a page."""
    before = (0, 0)
    for turn in range(30):
        windows = [Window(team, [np.full(10, n)]) for n in range(100 if turn == 3 else 20)]
        for rank in near(windows[0]):
            assert [int(window.read(rank)[0].sum()) for window in windows] == [
                10 * n for n in range(len(windows))
            ]
        team.barrier()
        del windows
        gc.collect()
        if turn == 10:
            before = figures()
    after = figures()
    return after[0] - before[0], after[1] - before[1]
