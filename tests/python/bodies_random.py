"""Random movements against the dense model: any layouts, any memory, every way to run a plan.

All ranks make the same layouts and numbers from a seed, and each chooses its own memory: such that
others can map and such that they cannot, several buffers of a rank mixed.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from random import Random
from typing import Any

import families
import generate
import numpy as np
import oracle
from bodies_moves import DTYPES, listed, same
from oracle import Values
from planned import (
    Planned,
    check_serial_adjoint,
    random_summands,
    random_values,
    source_data,
    target_data,
)

import partita as pt

Array = np.ndarray[Any, Any]

# Blocks from this size on can be mapped by other processes.
PAGE_BYTES = 4096
# What lies between the elements of a buffer.
MARK = 77
CHILD_SECONDS = 20.0


@dataclass
class Memory:
    """A buffer and the memory it lies in."""

    buffer: Array
    block: Array
    """All of the memory, the buffer's elements and what lies between them."""
    is_between: Array

    def check(self) -> None:
        """What lies between the elements is as it was."""
        assert (self.block[self.is_between] == MARK).all(), "written between the elements"


def shared(team: pt.Team, shape: oracle.Index, dtype: str, shift: int) -> Array:
    """Memory that neighbours can map, however small: a part of a larger block."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    room = team.empty((max(n_bytes + shift, PAGE_BYTES),), "uint8")
    return room[shift : shift + n_bytes].view(dtype).reshape(shape)


def arranged(how: str, block: Array) -> Array:
    """The buffer in a block that was made for it."""
    # The dots make a view of what has no dimension, too.
    every: dict[str, Any] = {"strided": slice(1, None, 2), "reversed": slice(None, None, -1)}
    match how:
        case "strided" | "reversed":
            found: Array = block[*(every[how],) * block.ndim, ...]
            return found
        case "Fortran":
            return block.T
        case _:
            return block


def remember(team: pt.Team, rng: Random, like: Array) -> Memory:
    """Memory of some kind for a buffer."""
    how = rng.choice(["C", "C", "strided", "reversed", "Fortran"])
    shape = tuple(2 * n + 1 for n in like.shape) if how == "strided" else like.shape
    shape = shape[::-1] if how == "Fortran" else shape
    kind, dtype = rng.choice(["plain", "small", "shared", "shared"]), str(like.dtype)
    match kind:
        case "plain":
            block: Array = np.empty(shape, dtype)
        case "small":
            block = team.empty(shape, dtype)
        case _:
            block = shared(team, shape, dtype, rng.choice([0, 64, 8, 1]))
    is_between = np.ones(shape, bool)
    block[...] = MARK
    arranged(how, is_between)[...] = False
    return Memory(arranged(how, block), block, is_between)


def all_memory(team: pt.Team, rng: Random, like: list[Array]) -> list[Memory]:
    return [remember(team, rng, one) for one in like]


def own(values: Values, rank: int, dtype: str) -> list[Array]:
    """One rank's buffers, in order."""
    return [values[key].astype(dtype) for key in sorted(values) if key[0] == rank]


def sources(team: pt.Team, rng: Random, values: list[Array]) -> list[Memory]:
    """The values in memory of all kinds, some of it read-only."""
    made = all_memory(team, rng, values)
    for memory, one in zip(made, values, strict=True):
        memory.buffer[...] = one
        memory.buffer.flags.writeable = rng.randrange(3) > 0
    return made


def run(
    team: pt.Team, rng: Random, plan: pt.Plan, given: list[Array], like: list[Array]
) -> list[Array]:
    """Runs a plan in one of the ways there are; gives the target's buffers."""
    out = all_memory(team, rng, like) if rng.randrange(2) else None
    buffers = None if out is None else [memory.buffer for memory in out]
    maybe_fork(rng, given, out or [])
    if rng.randrange(3) == 0:
        moved = plan.start(given, team, out=buffers).wait()
    else:
        moved = plan.apply(given, team, buffers)
    for memory in out or []:
        memory.check()
    return listed(moved)


def maybe_fork(rng: Random, given: list[Array], out: list[Memory]) -> None:
    """Now and then a child is forked that looks at everything and writes what is its own."""
    if rng.randrange(50):
        return
    kept = [one.copy() for one in given]
    child = os.fork()
    if child == 0:
        os._exit(0 if is_as_kept(given, kept) and scribbles(out) else 1)
    assert ended(child) == 0, "the forked child saw other data than its parent had"
    same(given, kept, "the source, after a child was forked")
    for memory in out:
        assert (memory.block == MARK).all(), "a forked child wrote its parent's memory"


def is_as_kept(given: list[Array], kept: list[Array]) -> bool:
    return all(bool((one == other).all()) for one, other in zip(given, kept, strict=True))


def scribbles(out: list[Memory]) -> bool:
    """Writes everything: it is a copy in a child."""
    for memory in out:
        memory.block[...] = 5
    return True


def ended(child: int) -> int:
    """A child's status; one that hangs is ended."""
    end = time.monotonic() + CHILD_SECONDS
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.001)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1


def forth(team: pt.Team, rng: Random, found: Planned, seed: int) -> list[Array]:
    """Runs a plan; gives its result."""
    numbers, dtype = np.random.default_rng(seed), found.plan.dtype
    summands = random_summands(numbers, found.source)
    values = own(source_data(numbers, found.source, summands), team.rank, dtype)
    wanted = own(target_data(found, summands), team.rank, dtype)
    given = sources(team, rng, values)
    moved = run(team, rng, found.plan, [one.buffer for one in given], wanted)
    same(moved, wanted, "forth")
    same([one.buffer for one in given], values, "the source")
    return moved


def back(team: pt.Team, rng: Random, found: Planned, seed: int, moved: list[Array]) -> None:
    """Runs the adjoint, now and then from the memory of the result."""
    numbers, dtype = np.random.default_rng(seed + 1), found.plan.dtype
    y = random_values(numbers, found.target)
    values, like = own(y, team.rank, dtype), own(found.source.zeros(), team.rank, dtype)
    given = moved
    if rng.randrange(2):
        given = [memory.buffer for memory in sources(team, rng, values)]
    else:
        for one, other in zip(moved, values, strict=True):
            one[...] = other
    got = run(team, rng, found.plan.adjoint(), given, like)
    same(given, values, "the adjoint's source")
    numbers_got = [one.real.astype(np.int64) for one in got]
    everywhere = team.allgather_data(numbers_got)
    # One rank checks for all; the others hear of it if it is wrong.
    if team.rank == seed % team.size:
        check_serial_adjoint(found, y, by_rank(everywhere, found.source))


def by_rank(everywhere: list[list[Array]], dense: oracle.Dense) -> Values:
    return {(rank, number): everywhere[rank][number] for rank, number in dense.zeros()}


def in_place(team: pt.Team, rng: Random, case: oracle.Case, seed: int, dtype: str) -> None:
    """Fills halos in the memory of the array itself, several times."""
    dense, numbers = oracle.Dense(case), np.random.default_rng(seed + 2)
    layout = generate.build(case)
    plan = pt.plan(layout, layout, dtype)
    memory = all_memory(team, rng, own(dense.zeros(), team.rank, dtype))
    for _ in range(3):
        summands = random_summands(numbers, dense)
        before = own(source_data(numbers, dense, summands), team.rank, dtype)
        for one, values in zip(memory, before, strict=True):
            one.buffer[...] = values
        team.native.run_in_place(plan, [one.buffer for one in memory])
        same([one.buffer for one in memory], own(dense.fill(summands), team.rank, dtype), "halos")
    for one in memory:
        one.check()


def movement(team: pt.Team, seed: int) -> None:
    """All of one seed."""
    common, rng = Random(seed), Random(f"{seed} on rank {team.rank}")
    source, target = families.movement(common, team.size)
    dtype = DTYPES[seed % len(DTYPES)]
    found = Planned(source, target, dtype)
    moved = forth(team, rng, found, seed)
    back(team, rng, found, seed, moved)
    if seed % 3 == 0 and families.has_all(target, target):
        in_place(team, rng, target, seed, dtype)


def movements(team: pt.Team, first: int, count: int) -> None:
    """Seeds in turn; a failing one says how to run it alone."""
    for seed in range(first, first + count):
        try:
            movement(team, seed)
        except BaseException as error:
            error.add_note(
                f"seed {seed} on {team.size} ranks of {team.engine}; to run it alone: "
                f"PARTITA_SEED={seed} PARTITA_CASES=1 python -m pytest "
                f"tests/python/test_random.py -k PLACE"
            )
            raise
