"""Faults that ranks survive: what one rank does wrong, while the others do it right.

Each fault is a function `fault(team, bad)`: `bad` is the rank that errs. What every rank is told
is wanted in `FAULTS`; afterwards the same team must work.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bodies_data import nested
from bodies_refusals import Told, attempt
from odd_errors import ODD

import partita as pt
from partita.distdl import Partition

# The deadline of ranks that wait for one that comes late, or is stopped.
PATIENCE_SECONDS = 1.0
STOPPED_SECONDS = 1.0


def total(n: int, extent: int, dtype: str = "float64") -> pt.Plan:
    """The sum over n ranks of vectors, on each of them."""
    summands, sums = f"* @ {n} partial 0", f"* @ {n}"
    return pt.plan(pt.Layout((extent,), summands), pt.Layout((extent,), sums), dtype)


def ring(n: int, extent: int, dtype: str = "float64") -> pt.Plan:
    """Every rank's part to the next rank."""
    there = pt.Layout((extent * n,), [pt.Block()], grid=(n,), ranks=[(k + 1) % n for k in range(n)])
    return pt.plan(pt.Layout((extent * n,), f"block @ {n}"), there, dtype)


def run(plan: pt.Plan, team: pt.Team, about: str = "") -> Any:
    """A plan on buffers that fit it."""
    shape = plan.source.local_shape(team.rank)
    return plan.apply(np.full(shape, team.rank, plan.dtype), team, about=about)


def works(team: pt.Team) -> bool:
    """Whether the team still does what it is told, in every kind of call."""
    n = team.size
    # A rank that came back late may have counted a round more or less; its next call says so once.
    for _ in range(3):
        try:
            team.barrier()
            break
        except pt.TeamError as error:
            if error.reason not in ("rank-late", "calls-differ", "deadline"):
                raise
    assert team.allgather_data(team.rank) == list(range(n))
    assert team.broadcast_data(f"from {team.rank}", root=n - 1) == f"from {n - 1}"
    assert run(total(n, 5), team).tolist() == [n * (n - 1) / 2] * 5
    assert run(ring(n, 2), team).tolist() == [float((team.rank - 1) % n)] * 2
    return True


Fault = Callable[[pt.Team, int], Any]


def different_calls(right: Callable[[pt.Team], Any], wrong: Callable[[pt.Team], Any]) -> Fault:
    """One rank makes another call."""
    return lambda team, bad: (wrong if team.rank == bad else right)(team)


def different_plans(right: Callable[[int], pt.Plan], wrong: Callable[[int], pt.Plan]) -> Fault:
    """One rank brings another plan."""
    return lambda team, bad: run((wrong if team.rank == bad else right)(team.size), team)


def other_order(team: pt.Team, bad: int) -> None:
    """One rank runs two plans in the other order: both calls are refused."""
    plans = [ring(team.size, 3), ring(team.size, 4)]
    first, second = plans[::-1] if team.rank == bad else plans
    told = attempt(lambda: run(first, team))
    assert told is not None
    assert told[0] == "MismatchError", told
    run(second, team)


def sends(n: int, extent: int) -> pt.Plan:
    """What rank 0 has goes to rank 1."""
    here, there = (pt.Layout((extent,), "*", ranks=[rank]) for rank in (0, 1 % n))
    return pt.plan(here, there)


def send_and_take(sent: int, taken: int) -> Fault:
    """The receiver takes more or less than is sent: the layouts disagree."""

    def fault(team: pt.Team, bad: int) -> None:
        plan = sends(team.size, taken if team.rank == bad else sent)
        source = np.zeros(plan.source.shape) if team.rank == 0 else None
        plan.apply(source, team)

    return fault


def raises_with(team: pt.Team, bad: int, message: str) -> None:
    """One rank fails in its own code, inside `with team`."""
    with team:
        if team.rank == bad:
            raise OSError(message)
        team.barrier()


def raises_between(team: pt.Team, bad: int) -> None:
    raises_with(team, bad, "disk full")


def fails_elsewhere(team: pt.Team, bad: int) -> None:
    """One rank's error comes from a call on another team, and ends its part here."""
    alone = team.subteam([bad])
    with team:
        if team.rank == bad:
            run(ring(2, 4), alone)
        team.barrier()


def raises_oddly(name: str) -> Fault:
    """One rank has an error that cannot be described as others can; it is raised as it is."""
    raise_it, kind, _ = ODD[name]

    def fault(team: pt.Team, bad: int) -> None:
        try:
            with team:
                if team.rank == bad:
                    raise_it()
                team.barrier()
        except BaseException as error:
            if team.rank != bad:
                raise
            if type(error) is not kind:
                raise

    return fault


def raises_later(team: pt.Team, bad: int) -> None:
    """The same while the others move data again and again."""
    with team:
        for turn in range(1000):
            if team.rank == bad and turn == 3:
                raise OSError("disk full")
            run(ring(team.size, 50_000), team)


def two_raise(team: pt.Team, bad: int) -> None:
    """This rank and the next fail at once."""
    with team:
        if team.rank in (bad, bad + 1):
            raise OSError(f"disk full on {team.rank}")
        team.barrier()


def short_buffer(team: pt.Team, bad: int) -> None:
    """One rank fails inside the call: its buffer is too short."""
    plan = ring(team.size, 100_000)
    plan.apply(np.zeros(7 if team.rank == bad else 100_000), team)


def unsendable(make: Callable[[], Any]) -> Fault:
    """One rank's data cannot be sent."""
    return lambda team, bad: team.allgather_data(make() if team.rank == bad else np.zeros(500_000))


class Unordinary(list[Any]):
    """A list that can be a key, and what arrives of it cannot."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def inside_itself() -> list[Any]:
    value: list[Any] = []
    value += [value, value]
    return value


def wrong_root(root: int) -> Fault:
    return lambda team, bad: team.broadcast_data(1, root=root if team.rank == bad else 0)


def aside(team: pt.Team) -> pt.Team:
    """Another team of the same ranks, by which they wait for each other without this one."""
    return team.subteam(range(team.size)[::-1])


def in_background(call: Callable[[], Any]) -> threading.Thread:
    """A call on a thread of its own, under way."""
    thread = threading.Thread(target=call)
    thread.start()
    return thread


def comes_late(call: Callable[[pt.Team], Any]) -> Fault:
    """One rank makes the call only when the others have given up on it."""

    def fault(team: pt.Team, bad: int) -> None:
        hasty = team.with_deadline(PATIENCE_SECONDS)
        if team.rank == bad:
            # Not on this thread: else it would wait for the others in a circle, and be told so.
            in_background(aside(team).barrier).join()
            call(hasty)
            return
        try:
            call(hasty)
        finally:
            aside(team).barrier()

    return fault


def late_in_a_chain(team: pt.Team, bad: int) -> None:
    """Neighbours wait for it in near calls; whoever is further away waits in a meeting by then."""
    layout = pt.Layout((3 * team.size, 4), f"block+halo(1,1), * @ {team.size}")
    local = team.empty(layout.local_shape(team.rank))
    agreed = pt.from_local(local, layout, team)
    for _ in range(3):
        agreed.exchange_halo()

    def steps(hasty: pt.Team) -> None:
        array = pt.from_local(local, layout, hasty)
        for _ in range(team.size - 2):
            array.exchange_halo()
        hasty.barrier()

    comes_late(steps)(team, bad)


def late_for_one_of_two_pairs(team: pt.Team, bad: int) -> None:
    """Its partner waits for it in a near call; the other pair has no part in that, and meets."""
    n = team.size
    partner = [rank ^ 1 if rank ^ 1 < n else rank for rank in range(n)]
    there = pt.Layout.from_boxes((n,), [[((one,), (1,))] for one in partner])
    plan = pt.plan(pt.Layout((n,), f"block @ {n}"), there)
    for _ in range(3):
        plan.apply(np.zeros(1), team)

    def steps(hasty: pt.Team) -> None:
        plan.apply(np.zeros(1), hasty)
        hasty.barrier()

    comes_late(steps)(team, bad)


def raises_beside_near_calls(team: pt.Team, bad: int) -> None:
    """Data moves between two other ranks, again and again: ranks without any hear of it, too."""
    n, (one, other) = team.size, [rank for rank in range(team.size) if rank != bad % team.size][:2]
    sizes = [4] * n
    before, sizes[one], sizes[other] = list(sizes), 5, 3
    source, target = (
        pt.Layout((4 * n,), [pt.Block(sizes=each)], grid=(n,)) for each in (before, sizes)
    )
    plan = pt.plan(source, target)
    mine = np.arange(4.0)
    for _ in range(3):
        plan.apply(mine, team)
    with team:
        if team.rank == bad % n:
            raise OSError("disk full")
        end = time.monotonic() + 5
        while time.monotonic() < end:
            plan.apply(mine, team)


def late_for_a_target_of_two_teams(team: pt.Team, bad: int) -> None:
    """A target that was given up on one team is filled on another that has used it before."""
    plan, target, other = ring(team.size, 1000), team.empty((1000,)), aside(team)
    mine, before = np.full(1000, float(team.rank)), (other.rank - 1) % team.size
    plan.apply(mine, other, out=target)
    try:
        comes_late(lambda hasty: plan.apply(mine, hasty, out=target))(team, bad)
    finally:
        mine += 100
        plan.apply(mine, other, out=target)
        wanted = float(other.ranks[before]) + 100
        assert (target == wanted).all(), (wanted, target)


def on_the_same_host(team: pt.Team, bad: int) -> tuple[int, int]:
    """The number of a rank's process, and another rank that can send it signals."""
    hosts, pids = zip(*team.allgather_data((platform.node(), os.getpid())), strict=True)
    others = [rank for rank in range(team.size) if rank != bad and hosts[rank] == hosts[bad]]
    return pids[bad], others[0]


def stopped(team: pt.Team, bad: int) -> None:
    """One process is stopped; another rank lets it go on when it has missed it."""
    pid, helper = on_the_same_host(team, bad)
    if team.rank == bad:
        os.kill(pid, signal.SIGSTOP)
    try:
        team.with_deadline(STOPPED_SECONDS).barrier()
    finally:
        if team.rank == helper:
            os.kill(pid, signal.SIGCONT)


def stopped_while_moving(team: pt.Team, bad: int) -> None:
    """The same in the middle of moving data."""
    pid, helper = on_the_same_host(team, bad)
    hasty, plan = team.with_deadline(STOPPED_SECONDS), ring(team.size, 100_000)
    run(plan, team)
    if team.rank == helper:
        threading.Timer(0.2, os.kill, [pid, signal.SIGSTOP]).start()
    try:
        while True:
            run(plan, hasty)
    finally:
        if team.rank == helper:
            os.kill(pid, signal.SIGCONT)


def second_call(team: pt.Team, bad: int) -> None:
    """Two threads of a rank make a call at once: one waits, the other is refused."""
    if team.rank == bad:
        aside(team).barrier()
        team.barrier()
        return
    errors: list[Exception] = []

    def call() -> None:
        try:
            team.barrier()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 3
    while not errors and time.monotonic() < end:
        time.sleep(0.01)
    aside(team).barrier()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def second_call_after_start(team: pt.Team, bad: int) -> None:
    """A plan that was started holds the team from the first moment."""
    plan = ring(team.size, 4)
    if team.rank == bad:
        aside(team).barrier()
        run(plan, team)
        return
    running = plan.start(np.full(4, float(team.rank)), team)
    try:
        team.with_deadline(3).barrier()
    finally:
        aside(team).barrier()
        assert running.wait().tolist() == [float((team.rank - 1) % team.size)] * 4


def calls_before_wait(team: pt.Team, bad: int) -> None:
    """A started plan has its team until `wait`, whether it still runs or not."""
    plan, mine = ring(team.size, 300_000), np.full(300_000, float(team.rank))
    for _ in range(10):
        running = plan.start(mine, team)
        for _ in range(20):
            told = attempt(team.barrier)
            assert told is not None, "a call came through"
            assert told[1] == "team-busy", told
            time.sleep(0.0005)
        assert (running.wait() == (team.rank - 1) % team.size).all(), "wrong data"


def other_team(team: pt.Team, bad: int) -> None:
    """One rank lists the members in another order: another team, to which nobody else comes."""
    members = [*range(1, team.size), 0]
    order = members[::-1] if team.rank == bad else members
    team.subteam(order).with_deadline(PATIENCE_SECONDS).barrier()


@dataclass(frozen=True)
class Wanted:
    """What ranks are told: (class, reason) of the one that errs, and of the others."""

    bad: tuple[str, str]
    others: tuple[str, str]
    words: tuple[str, ...] = ()
    """What every message has; the errors of others name the rank that erred besides."""


def mismatch(reason: str, *words: str) -> Wanted:
    return Wanted(("MismatchError", reason), ("MismatchError", reason), words)


def own(kind: str, reason: str, *words: str) -> Wanted:
    """The rank has its own error, the others hear of it."""
    return Wanted((kind, reason), ("RemoteError", "rank-raised"), words)


def barrier(team: pt.Team) -> None:
    team.barrier()


def pair(team: pt.Team) -> pt.Team:
    """This rank and its right neighbour."""
    return team.subteam([team.rank, (team.rank + 1) % team.size])


def share(team: pt.Team) -> None:
    team.broadcast_data(7, root=0)


def share_much(team: pt.Team) -> None:
    team.allgather_data(np.zeros(20_000))


def add_up(team: pt.Team) -> None:
    pt.all_sum_reduce(np.ones(3), team)


LATE = Wanted(("RemoteError", "rank-late"), ("DeadlineError", "deadline"))
BUSY = Wanted(("", ""), ("TeamError", "team-busy"))
FINE = Wanted(("", ""), ("", ""))

# Pairs of plans that differ: as most ranks have it, as the bad one has it.
PLANS: dict[str, tuple[Callable[[int], pt.Plan], Callable[[int], pt.Plan]]] = {
    "20 and 10 elements": (lambda n: total(n, 20), lambda n: total(n, 10)),
    "40000 and 1000 elements": (lambda n: total(n, 40_000), lambda n: total(n, 1000)),
    "same bytes, other type": (lambda n: total(n, 20, "f4"), lambda n: total(n, 10, "f8")),
    "same size, other type": (lambda n: ring(n, 8, "f8"), lambda n: ring(n, 8, "i8")),
    "a plan and its adjoint": (lambda n: ring(n, 8), lambda n: ring(n, 8).adjoint()),
    "another plan of the same bytes": (
        lambda n: ring(n, 8),
        lambda n: pt.plan(ring(n, 8).target, ring(n, 8).source),
    ),
}

# name: (fault, what is wanted, the least number of ranks)
FAULTS: dict[str, tuple[Fault, Wanted, int]] = {
    "broadcast and barrier": (
        different_calls(share, barrier),
        mismatch("calls-differ", "broadcast_data", "barrier"),
        2,
    ),
    "all-gather and reduction": (
        different_calls(share_much, lambda team: run(total(team.size, 20), team)),
        mismatch("calls-differ", "allgather_data", "run"),
        2,
    ),
    "barrier and much data": (
        different_calls(barrier, share_much),
        mismatch("calls-differ", "barrier", "allgather_data"),
        2,
    ),
    "barrier on a sub-team": (
        different_calls(barrier, lambda team: pair(team).barrier()),
        mismatch("teams-differ", "barrier"),
        3,
    ),
    "plan and barrier on a sub-team": (
        different_calls(lambda team: run(ring(team.size, 5), team), lambda t: pair(t).barrier()),
        mismatch("teams-differ", "barrier", "run "),
        3,
    ),
    "plan on a sub-team": (
        different_calls(share_much, lambda team: run(ring(2, 5), pair(team))),
        mismatch("teams-differ", "allgather_data", "run "),
        3,
    ),
    "a gather and a sum": (
        # What a sum tells of its arrays, word by word.
        different_calls(lambda team: team.allgather_data("3 float64 0"), add_up),
        mismatch("calls-differ", "allgather_data", "AllSumReduce"),
        2,
    ),
    "a sum and a gather": (
        different_calls(add_up, lambda team: team.allgather_data("3 float64 0")),
        mismatch("calls-differ", "allgather_data", "AllSumReduce"),
        2,
    ),
    "a team's and a partition's broadcast": (
        different_calls(share, lambda team: Partition(team).broadcast_data([7])),
        mismatch("calls-differ", "broadcast_data", "Partition.broadcast_data"),
        2,
    ),
    "a team's and a partition's gather": (
        different_calls(share_much, lambda team: Partition(team).allgather_data([7])),
        mismatch("calls-differ", "allgather_data", "Partition.allgather_data"),
        2,
    ),
    "different roots": (
        lambda team, bad: team.broadcast_data(1, root=int(team.rank == bad)),
        mismatch("arguments-differ", "root 0", "root 1"),
        2,
    ),
    "send 20, take 10": (send_and_take(20, 10), mismatch("plans-differ"), 2),
    "send 5, take 10": (send_and_take(5, 10), mismatch("plans-differ"), 2),
    "plans in another order": (other_order, mismatch("plans-differ"), 2),
    "raises between calls": (raises_between, own("OSError", "", "disk full"), 1),
    "raises while others move": (raises_later, own("OSError", "", "disk full"), 1),
    "fails in another team": (fails_elsewhere, own("TeamError", "team-too-small"), 1),
    "short buffer": (short_buffer, own("LayoutError", "buffer-shape", "7", "100000"), 1),
    "unsendable": (unsendable(object), own("LayoutError", "data-type", "object"), 1),
    "too deep": (unsendable(lambda: nested(10**4)), own("LayoutError", "data-depth"), 1),
    "inside itself": (unsendable(inside_itself), own("LayoutError", "data-depth"), 1),
    "a list as key": (
        unsendable(lambda: {Unordinary(): 1}),
        own("LayoutError", "data-key", "Unordinary"),
        1,
    ),
    "unknown root": (wrong_root(100), own("LayoutError", "root-unknown"), 1),
    "a root without text": (wrong_root(10**5000), own("LayoutError", "root-too-long"), 1),
    **{
        f"raises oddly, {name}": (
            raises_oddly(name),
            Wanted(("", ""), ("RemoteError", "rank-raised"), words),
            1,
        )
        for name, (_, _, words) in ODD.items()
    },
    "late": (comes_late(barrier), LATE, 2),
    "late with data": (comes_late(share_much), LATE, 2),
    "late with a plan": (comes_late(lambda team: run(ring(team.size, 1000), team)), LATE, 2),
    "late, then on another team": (late_for_a_target_of_two_teams, LATE, 2),
    "late in a chain": (late_in_a_chain, LATE, 3),
    "late for one of two pairs": (late_for_one_of_two_pairs, LATE, 2),
    "raises beside near calls": (raises_beside_near_calls, own("OSError", "", "disk full"), 4),
    "second call": (second_call, BUSY, 2),
    "second call after start": (second_call_after_start, BUSY, 2),
    "calls before wait": (calls_before_wait, FINE, 1),
    **{name: (different_plans(*pair), mismatch("plans-differ"), 2) for name, pair in PLANS.items()},
}

# Only where a rank is a process: stopping a thread means stopping all of them.
FAULTS_OF_PROCESSES: dict[str, tuple[Fault, Wanted, int]] = {
    "stopped": (stopped, LATE, 2),
    "stopped while moving": (stopped_while_moving, LATE, 2),
}


def survive(team: pt.Team, name: str, bad: int) -> tuple[Told, bool, float]:
    """Commit a fault: what this rank is told, whether the team works on, and how long it took."""
    fault, _, _ = (FAULTS | FAULTS_OF_PROCESSES)[name]
    start = time.perf_counter()
    told = attempt(lambda: fault(team, bad % team.size))
    seconds = time.perf_counter() - start
    return told, works(team), seconds


def broken_off(team: pt.Team) -> tuple[Any, bool, bool]:
    """An interrupt ends the wait for a plan under way; the next wait is one, too."""
    plan = ring(team.size, 1000)
    out = np.full(1000, -1.0)
    if team.rank == team.size - 1:
        time.sleep(1.0)
    running = plan.start(np.full(1000, float(team.rank)), team, out=out)
    told = None
    # Ranks that are threads get no signals.
    if team.rank == 0 and threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            running.wait()
        except KeyboardInterrupt as error:
            told = type(error).__name__
        signal.signal(signal.SIGALRM, before)
    found = running.wait()
    return told, bool((found == (team.rank - 1) % team.size).all()), works(team)


def left_under_way(team: pt.Team) -> bool:
    """An error comes between start and wait, and the object goes: the team is free afterwards."""
    plan = ring(team.size, 1000)
    running: Any = plan.start(np.full(1000, float(team.rank)), team)
    ended = running._ended
    del running
    ended.wait(10)
    # The thread lets go of it a moment after.
    time.sleep(0.1)
    return works(team)
