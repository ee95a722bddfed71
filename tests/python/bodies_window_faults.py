"""Bodies on windows whose owners or readers fork, write for long, are interrupted, or end."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bodies_faults import works
from bodies_forks import Child
from bodies_refusals import attempt
from bodies_window import reading_in_place, warm

import partita as pt
from partita._team.window import Window

# Windows that live until the end of their process.
KEPT: list[Window] = []


def forked(team: pt.Team) -> None:
    """A child is no rank, and what it does with its copy of a window disturbs nobody."""
    hasty = team.with_deadline(0.5)
    kept = [Window(hasty, [np.full(4000, 1.0), warm(team, np.full(4000, 2.0))])]
    window = kept[0]
    other = (team.rank + 1) % team.size

    def work() -> Any:
        calls: dict[str, Callable[[], Any]] = {
            "read": lambda: window.read(other),
            "own": lambda: window.read(team.rank),
            "replace": lambda: window.replace([]),
            "reach": lambda: window.reach(other),
            "writing": lambda: window.writing().__enter__(),
        }
        # One rank alone needs nobody, and so may do that in a child too.
        if team.size > 1:
            calls["make"] = lambda: Window(team, [])
        found = {name: attempt(call) for name, call in calls.items()}
        window.close()
        kept.clear()
        gc.collect()
        return found

    with window.view(other) as (first, second):
        child = Child(lambda: [float(first.sum()), float(second.sum()), work()])
        *sums, found = child.result()
        assert sums == [4000, 8000]
        for name, told in found.items():
            assert told is not None, name
            assert told[:2] == ("TeamError", "forked"), (name, told)
    team.barrier()
    assert [array.sum() for array in window.read(other)] == [4000, 8000]
    team.barrier()
    writing = window.writing()
    (first, _) = writing.__enter__()
    Child(lambda: writing.__exit__(None, None, None)).result()
    team.barrier()
    # It goes on until the parent ends it.
    assert is_writing(window, other)
    team.barrier()
    first[...] = 5
    writing.__exit__(None, None, None)
    team.barrier()
    assert window.read(other)[0].sum() == 20_000
    team.barrier()
    window.replace([np.ones(3)])
    team.barrier()
    assert window.read(other)[0].sum() == 3
    assert works(team)


def is_writing(window: Window, rank: int) -> bool:
    """Whether a reader finds that a rank writes."""
    told = attempt(lambda: window.read(rank, []))
    return told is not None and told[1] == "deadline"


def waits(team: pt.Team) -> None:
    """Whoever reads while the owner writes waits, but not for ever, and hears Ctrl-C."""
    window = Window(team.with_deadline(0.2), [np.zeros(3)])
    team.barrier()
    if team.rank == 0:
        with window.writing():
            team.barrier()
            team.barrier()
    else:
        team.barrier()
        start = time.monotonic()
        told = attempt(lambda: window.read(0))
        assert told is not None
        assert told[:3] == ("DeadlineError", "deadline", 0), told
        assert time.monotonic() - start < 5
        team.barrier()
    team.barrier()
    assert window.read(0)[0].tolist() == [0, 0, 0]
    team.barrier()


def interrupted(team: pt.Team) -> str:
    """Ctrl-C reaches whoever waits for an owner that writes."""
    window = Window(team, [np.zeros(3)])
    team.barrier()
    if team.rank == 0:
        with window.writing():
            team.barrier()
            team.barrier()
        return "wrote"
    team.barrier()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        window.read(0)
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        signal.signal(signal.SIGALRM, previous)
        team.barrier()
    return "read"


def halted(team: pt.Team) -> Any:
    """An owner is stopped before anybody has asked it: for the deadline, or up to Ctrl-C."""
    window = Window(team.with_deadline(3), [np.zeros(3)])
    team.barrier()
    if team.rank == 0:
        with subprocess.Popen(["sh", "-c", f"sleep 6; kill -CONT {os.getpid()}"]):
            os.kill(os.getpid(), signal.SIGSTOP)
        team.barrier()
        return None
    time.sleep(0.3)
    start = time.monotonic()
    told = attempt(lambda: window.read(0))
    waited = time.monotonic() - start
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        window.read(0)
    except KeyboardInterrupt:
        return told, waited, "interrupted"
    finally:
        signal.signal(signal.SIGALRM, previous)
        team.barrier()
    return told, waited, "read"


def dies(team: pt.Team, memory: str, is_allowed: bool, how: str) -> Any:
    """One rank ends while the others read it again and again: always right, then told."""
    bad = 1
    mine = np.full(50_000, 7)
    mine = mine if memory == "plain" else warm(team, mine)
    with reading_in_place(is_allowed):
        window = Window(team, [mine])
    team.barrier()
    if team.rank == bad:
        time.sleep(0.3)
        if how == "writing":
            with window.writing():
                mine[:] = 0
                os._exit(3)
        os._exit(3)
    start = time.monotonic()

    def forever() -> None:
        while True:
            (array,) = window.read(bad)
            assert (array == 7).all(), "wrong data"

    told = attempt(forever)
    return told, window.reach(bad), time.monotonic() - start


def leaves(team: pt.Team) -> Any:
    """One rank comes to the end of its program while the others read it."""
    bad = 1
    window = Window(team, [np.full(50_000, 7)])
    if team.engine == "mpi":
        # Nobody drops it: the end of the process closes it.
        KEPT.append(window)
    team.barrier()
    if team.rank == bad:
        time.sleep(0.2)
        return None

    def forever() -> None:
        while True:
            (array,) = window.read(bad)
            assert (array == 7).all(), "wrong data"

    return attempt(forever)
