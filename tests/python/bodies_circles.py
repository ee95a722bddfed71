"""Ranks that wait for each other on different teams, and ranks that only seem to.

`CROSSED` are programs that can never go on: every rank that takes part is told at once. `LEGAL` are
programs that take long, on purpose, and of which no rank may be told anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
from bodies_faults import in_background, ring, run, works
from bodies_refusals import Told, attempt

import partita as pt

# Several times as long as a rank waits before it looks for circles.
LONG_SECONDS = 0.4

# What a rank does, and who is told of it.
Crossed = tuple[Callable[[pt.Team], Any], Callable[[int], set[int]]]


def everybody(n: int) -> set[int]:
    return set(range(n))


def circle_of(length: int) -> Crossed:
    """Each rank of the circle waits for the next on a team of the two; others take no part."""

    def body(team: pt.Team) -> None:
        if team.rank < length:
            team.subteam([team.rank, (team.rank + 1) % length]).barrier()

    return body, lambda _n: set(range(length))


def alone_on_a_subteam(team: pt.Team) -> None:
    (team.subteam([1, 0]) if team.rank == 1 else team).barrier()


def gather_against_barrier(team: pt.Team) -> None:
    if team.rank == 0:
        team.subteam([2, 0]).allgather_data("x" * 100_000)
    else:
        team.barrier()


def plan_on_a_subteam(team: pt.Team) -> None:
    pair = team.subteam([1, 2])
    if team.rank == 2:
        run(ring(2, 1000), pair)
    else:
        run(ring(team.size, 1000), team)


def other_order_of_members(team: pt.Team) -> None:
    """Three against one: whoever is told of the circle of two others passes both rounds, too."""
    team.subteam(range(team.size)[:: -1 if team.rank else 1]).barrier()


def different_axes(team: pt.Team) -> None:
    """Ranks 0 and 3 meet along the rows of a grid, 1 and 2 along its columns."""
    if team.rank < 4:
        grid = team.subteam(range(4)).grid(2, 2)
        grid.subgrid([1] if team.rank in (0, 3) else [0]).barrier()


def started_and_awaited(team: pt.Team) -> None:
    if team.rank == 0:
        ring_of_all = ring(team.size, 10)
        ring_of_all.start(np.zeros(10), team).wait()
    else:
        team.subteam(range(team.size)[::-1]).barrier()


def while_another_computes(team: pt.Team) -> None:
    """One rank of the team computes; the others are told without it, and it when it comes."""
    if team.rank == 2:
        time.sleep(2 * LONG_SECONDS)
    alone_on_a_subteam(team)


def inside_with(team: pt.Team) -> None:
    """The error ends a block on the team; its members know of it already."""
    with team:
        alone_on_a_subteam(team)


def of_a_union(team: pt.Team) -> None:
    halves = team.subteam([0, 1]).union(team.subteam([2]))
    if team.rank == 2:
        halves.with_deadline(30).barrier()
    elif team.rank < 2:
        team.subteam([2, 1, 0]).barrier()


def through_a_near_call(team: pt.Team) -> None:
    """Each rank waits for the next to copy its halo, the last but one for the last to come."""
    layout = pt.Layout((4 * team.size, 3), f"block+halo(1,1), * @ {team.size}")
    array = pt.from_local(team.empty(layout.local_shape(team.rank)), layout, team)
    plan = pt.plan(pt.Layout(layout.shape, f"block, * @ {team.size}"), layout)
    mine = np.zeros(plan.source.local_shape(team.rank))
    for _ in range(3):
        plan.apply(mine, team, out=array.local)
    if team.rank == team.size - 1:
        team.subteam([team.size - 1, 0]).barrier()
    else:
        plan.apply(mine, team, out=array.local)
    team.barrier()


CROSSED: dict[str, Crossed] = {
    "two": circle_of(2),
    "three": circle_of(3),
    "four": circle_of(4),
    "a sub-team": (alone_on_a_subteam, everybody),
    "gather and barrier": (gather_against_barrier, everybody),
    "plan on a sub-team": (plan_on_a_subteam, everybody),
    "other order": (other_order_of_members, everybody),
    "different axes": (different_axes, lambda _n: {0, 1, 2, 3}),
    "started and awaited": (started_and_awaited, everybody),
    "while another computes": (while_another_computes, everybody),
    "inside with": (inside_with, everybody),
    "of a union": (of_a_union, lambda _n: {0, 1, 2}),
}


# Processes that wait for others to copy tell nobody of it, and are told at the deadline.
CROSSED_OF_THREADS: dict[str, Crossed] = {
    "through a near call": (through_a_near_call, everybody),
}


def slow_rank(team: pt.Team) -> None:
    """One rank computes while all others wait for it, on a team and a part of it."""
    first = team.subteam(range(team.size - 1))
    for slow in (0, team.size - 1):
        if team.rank == slow:
            time.sleep(LONG_SECONDS)
        if first.active:
            first.barrier()
        team.barrier()


def long_work_in_a_subteam(team: pt.Team) -> None:
    """Ranks 0 and 1 work in a team of their own while the others wait for them already."""
    pair = team.subteam([1, 0])
    for _ in range(6):
        if pair.active:
            time.sleep(LONG_SECONDS / 4 * pair.rank)
            run(ring(2, 100), pair)
    team.barrier()


def deep_nesting(team: pt.Team) -> None:
    """Each team waits for the next smaller one, and the smallest for one slow rank."""
    nested = [team.subteam(range(size)) for size in range(1, team.size + 1)]
    for each in nested[team.rank :]:
        if team.rank == 0 and each.size in (2, team.size):
            time.sleep(LONG_SECONDS)
        each.barrier()


def posted_but_not_read(team: pt.Team) -> None:
    """A rank that has posted and gone on is missing nowhere."""
    pair = team.subteam([0, 1])
    if team.rank == 0:
        pair.native.report("on purpose")
        team.barrier()
    elif team.rank == 1:
        time.sleep(LONG_SECONDS)
        told = attempt(pair.barrier)
        assert told is not None
        assert told[1] == "rank-raised", told
        team.barrier()
    else:
        team.barrier()


def started_and_elsewhere(team: pt.Team) -> None:
    """A movement under way on one team while its ranks meet on another, in any order."""
    plan, turned = ring(team.size, 10), team.subteam(range(team.size)[::-1])
    source = np.full(10, float(team.rank))
    if team.rank == 0:
        turned.barrier()
        time.sleep(LONG_SECONDS)
        found = run(plan, team)
    else:
        running = plan.start(source, team)
        turned.barrier()
        time.sleep(LONG_SECONDS / 2 * (team.rank % 2))
        found = running.wait()
    assert (found == (team.rank - 1) % team.size).all()


def calls_of_two_threads(team: pt.Team) -> None:
    """A rank whose second thread comes late to another team is not stuck."""
    turned = team.subteam(range(team.size)[::-1])

    def later() -> None:
        turned.allgather_data(1)
        time.sleep(LONG_SECONDS)
        turned.barrier()

    if team.rank == 0:
        second = in_background(later)
        team.barrier()
        second.join()
    else:
        turned.allgather_data(1)
        turned.barrier()
        team.barrier()


def grids(team: pt.Team) -> None:
    """Rows and columns in the same order on every rank, some of them late."""
    if team.rank < 4:
        grid = team.subteam(range(4)).grid(2, 2)
        for turn in range(4):
            time.sleep(LONG_SECONDS / 4 if turn == team.rank else 0)
            total = pt.all_sum_reduce(np.ones(3), grid, axes=[turn % 2])
            assert total.tolist() == [2.0] * 3
    team.with_deadline(30).barrier()


LEGAL: dict[str, Callable[[pt.Team], Any]] = {
    "slow rank": slow_rank,
    "long work in a sub-team": long_work_in_a_subteam,
    "deep nesting": deep_nesting,
    "posted but not read": posted_but_not_read,
    "started and elsewhere": started_and_elsewhere,
    "calls of two threads": calls_of_two_threads,
    "grids": grids,
}


def cross(team: pt.Team, name: str) -> tuple[Told, bool, float]:
    """What this rank is told, whether its teams work on, and how long it took."""
    body, _ = (CROSSED | CROSSED_OF_THREADS)[name]
    team.barrier()
    start = time.perf_counter()
    told = attempt(lambda: body(team))
    seconds = time.perf_counter() - start
    return told, works(team) and works(team.subteam(range(team.size)[::-1])), seconds


def obey(team: pt.Team, name: str) -> bool:
    """A legal program, and what comes after it."""
    LEGAL[name](team)
    return works(team)


def some_team(random: Random, n: int, among: list[int]) -> list[int]:
    """Some ranks that include the given ones, in any order."""
    others = [rank for rank in range(n) if rank not in among]
    members = among + random.sample(others, random.randrange(len(others) + 1))
    random.shuffle(members)
    return members


def call(team: pt.Team, members: list[int], kind: int) -> None:
    """A call of some kind on the team of these members, if this rank is one."""
    part = team.subteam(members)
    if not part.active:
        return
    if kind == 0:
        part.barrier()
    elif kind == 1:
        assert part.allgather_data(team.rank) == members
    else:
        found = run(ring(part.size, 4), part)
        assert found.tolist() == [float((part.rank - 1) % part.size)] * 4


def call_all(team: pt.Team, calls: list[tuple[list[int], int]]) -> None:
    for members, kind in calls:
        call(team, members, kind)


def random_legal(team: pt.Team, seed: int, n_programs: int) -> int:
    """Calls on random teams, in the same order on every rank; some come late."""
    random, own = Random(seed), Random(seed + 1 + team.rank)
    for _ in range(n_programs):
        calls = [(some_team(random, team.size, []), random.randrange(3)) for _ in range(6)]
        for members, kind in calls:
            if own.random() < 0.02:
                time.sleep(own.choice([0.03, 0.09, 0.15]))
            if members:
                call(team, members, kind)
    return n_programs


def random_crossed(team: pt.Team, seed: int, n_programs: int) -> list[str]:
    """The same with two calls that one rank makes in the other order; gives what went wrong."""
    random, wrong = Random(seed), []
    for number in range(n_programs):
        bad, other = random.sample(range(team.size), 2)
        teams = [some_team(random, team.size, [bad, other]) for _ in range(2)]
        if teams[0] == teams[1]:
            continue
        before = some_team(random, team.size, [])
        kinds = [random.randrange(3) for _ in range(3)]
        calls = [(before, kinds[0])] if before else []
        calls += zip(teams[:: -1 if team.rank == bad else 1], kinds[1:], strict=True)
        start = time.perf_counter()
        told = attempt(partial(call_all, team, calls))
        seconds = time.perf_counter() - start
        is_told = told is not None and told[:2] == ("MismatchError", "teams-differ")
        if is_told != (team.rank in teams[0] + teams[1]) or seconds > 5:
            wrong.append(f"{number}: {teams} of {bad}: {told} after {seconds:.1f} s")
    return wrong
