"""Faults that end a rank: its process dies, its program ends, or somebody interrupts it.

On threads a rank is a part of the process: what kills one kills all, and what is left to test is
that nobody hangs and the status is right; a rank whose function ends or raises is told as on MPI.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bodies_faults import ring, run
from bodies_refusals import Told, attempt
from odd_errors import ODD

import partita as pt

# The rank that dies.
BAD = 1


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


DEATHS: dict[str, Callable[[], None]] = {
    "exit": lambda: os._exit(3),
    "sys.exit": lambda: sys.exit(3),
    "kill": kill,
    "segfault": segfault,
    "abort": os.abort,
}


def dies_before(team: pt.Team, how: str) -> Told:
    """One rank dies, the others wait for it in a call."""
    team.barrier()
    if team.rank == BAD:
        time.sleep(0.2)
        DEATHS[how]()
        # A signal to the process may reach another thread first.
        time.sleep(60)
    return attempt(team.barrier)


def dies_while_moving(team: pt.Team, how: str) -> Told:
    """One rank dies at some moment of moving data again and again."""
    plan = ring(team.size, 200_000)
    run(plan, team)
    if team.rank == BAD:
        threading.Timer(0.3, DEATHS[how]).start()

    def forever() -> None:
        while True:
            found = run(plan, team)
            assert (found == (team.rank - 1) % team.size).all(), "wrong data"

    return attempt(forever)


def dies_beside_steps(team: pt.Team, how: str) -> Told:
    """One rank dies while others step among themselves: in their calls nobody needs it."""
    others = ["0"] * (team.size - 3)
    source, target = (
        pt.Layout((4,), f"block({', '.join([first, '0', last, *others])}) @ {team.size}")
        for first, last in (("2", "2"), ("1", "3"))
    )
    step = pt.plan(source, target).bind(np.zeros(source.local_shape(team.rank)), team).run
    for _ in range(4):
        step()
    team.barrier()
    if team.rank == BAD:
        time.sleep(0.2)
        DEATHS[how]()
        time.sleep(60)
    end = time.monotonic() + 5

    def steps() -> None:
        while time.monotonic() < end:
            step()
            time.sleep(0.001)

    return attempt(steps)


def ends_early(team: pt.Team) -> Told:
    """One rank skips the call and comes to the end of its program."""
    return None if team.rank == BAD else attempt(team.barrier)


def ends_early_while_moving(team: pt.Team) -> Told:
    """The same while the others are about to move data."""
    run(ring(team.size, 10), team)
    return None if team.rank == BAD else attempt(lambda: run(ring(team.size, 200_000), team))


def ends_while_others_compute(team: pt.Team) -> Told:
    """The others come to the call long after."""
    if team.rank == BAD:
        return None
    time.sleep(1.0)
    return attempt(team.barrier)


def raises(team: pt.Team) -> Told:
    """One rank has an error that nobody catches; the others catch what they are told."""
    if team.rank == BAD:
        raise ValueError("boom")
    return attempt(team.barrier)


def raises_and_nobody_catches(team: pt.Team) -> None:
    if team.rank == BAD:
        raise ValueError("boom")
    team.barrier()


def raises_while_moving(team: pt.Team) -> Told:
    """The same while the others move data again and again."""
    plan = ring(team.size, 200_000)

    def turns() -> None:
        for turn in range(10_000):
            if team.rank == BAD and turn == 5:
                raise ValueError("boom")
            run(plan, team)

    if team.rank == BAD:
        turns()
    return attempt(turns)


def two_raise_uncaught(team: pt.Team) -> Told:
    """Two ranks have errors that nobody catches."""
    # They start at the same time: the others wait only a moment for a second one.
    team.barrier()
    if team.rank in (BAD, BAD + 1):
        raise ValueError(f"boom on {team.rank}")
    return attempt(team.barrier)


def raises_oddly(team: pt.Team, name: str) -> Told:
    """One rank has an error that cannot be described as others can; nobody catches it."""
    if team.rank == BAD:
        ODD[name][0]()
    return attempt(team.with_deadline(None).barrier)


class Panic(BaseException):
    """What PyO3 raises for a panic derives from BaseException, too."""


def panics(team: pt.Team) -> Told:
    """One rank has an error that is no Exception."""
    if team.rank == BAD:
        raise Panic("boom")
    return attempt(team.barrier)


def folder() -> Path:
    return Path(os.environ["PARTITA_TEST_FOLDER"])


def ready(team: pt.Team) -> None:
    """Tell whoever started the job that all ranks are here."""
    team.barrier()
    (folder() / f"ready-{team.rank}").touch()


def waits_in_a_call(team: pt.Team) -> None:
    """Waits for a rank that does not come."""
    ready(team)
    if team.rank == BAD:
        time.sleep(60)
    team.barrier()


def waits_in_python(team: pt.Team) -> None:
    ready(team)
    time.sleep(60)


def moves_for_long(team: pt.Team) -> None:
    """Moves data until it is interrupted."""
    plan = ring(team.size, 200_000)
    ready(team)
    while True:
        run(plan, team)


def one_is_interrupted(team: pt.Team) -> Told:
    """One rank gets Ctrl-C while it waits in a call; the others come to the call afterwards."""
    mark = folder() / "interrupted"
    try:
        pid = team.allgather_data(os.getpid())[BAD]
        if team.rank == BAD:
            team.barrier()
            return ("", "no interrupt", None, "")
    except KeyboardInterrupt:
        mark.touch()
        raise
    time.sleep(0.5)
    if team.rank == 0:
        os.kill(pid, signal.SIGINT)
    # The interrupt must come through while nobody else is in the call.
    end = time.monotonic() + 5
    while not mark.exists():
        if time.monotonic() > end:
            return ("", "the interrupt did not come through", None, "")
        time.sleep(0.01)
    return attempt(team.barrier)


def leaves_a_plan(team: pt.Team) -> None:
    """Ranks come to their end with a plan under way to which one never came."""
    if team.rank != BAD:
        plan = ring(team.size, 1000)
        plan.start(np.zeros(1000), team)
        time.sleep(0.05)


def leaves_a_thread(team: pt.Team) -> None:
    """Ranks come to their end with a thread in a call to which one never came."""
    if team.rank != BAD:
        threading.Thread(target=lambda: attempt(team.barrier), daemon=True).start()
        time.sleep(0.05)


def leaves_teams(team: pt.Team) -> str:
    """Teams that were used, and kept until the very end."""
    teams = [team, team.subteam([team.rank]), team.grid(team.size)]
    for one in teams:
        one.barrier()
    KEPT.append(teams)
    return "fine"


KEPT: list[Any] = []


def notices(team: pt.Team, body: str, how: str) -> Any:
    """What survivors are told of a death, after how many seconds at most, and in the next call."""
    start = time.monotonic()
    bodies = {"call": dies_before, "moving": dies_while_moving, "steps": dies_beside_steps}
    told = bodies[body](team, how)
    return told, time.monotonic() - start, attempt(team.barrier)
