"""Bodies in which ranks fork: a child sees arrays as they were, and is no rank."""

from __future__ import annotations

import ast
import os
import select
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from bodies_faults import aside, ring, run, works
from bodies_refusals import attempt

import partita as pt

# Results of a page, and of more than the pool keeps without other processes.
SIZES = (700, 300_000)

LONGEST_SECONDS = 30


class Child:
    """A forked process that does one thing when it is told to, and tells what came of it."""

    def __init__(self, task: Callable[[], Any]) -> None:
        told, self._tell = os.pipe()
        self._answer, answer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            # A test that fails meanwhile leaves nobody behind.
            if not select.select([told], [], [], LONGEST_SECONDS)[0]:
                os._exit(1)
            try:
                words = repr(("done", task()))
            except BaseException:
                words = repr(("failed", traceback.format_exc()))
            os.write(answer, words.encode() + b"\n")
            os._exit(0)
        os.close(told)
        os.close(answer)

    def result(self) -> Any:
        """Let it go, and wait for its end."""
        # Children of other threads have these pipes, too: nothing here waits for their end.
        os.write(self._tell, b"!")
        words = b""
        while not words.endswith(b"\n") and (part := os.read(self._answer, 1 << 16)):
            words += part
        os.close(self._tell)
        os.close(self._answer)
        os.waitpid(self._pid, 0)
        kind, value = ast.literal_eval(words.decode())
        assert kind == "done", value
        return value


def write(array: np.ndarray[Any, Any], value: float) -> list[float]:
    """Fill an array; its ends."""
    array[...] = value
    return ends(array)


def ends(array: np.ndarray[Any, Any]) -> list[float]:
    """The least and the largest element."""
    return [float(array.min()), float(array.max())]


def filled(team: pt.Team, size: int, how: str) -> np.ndarray[Any, Any]:
    """An array of ones: a result of a plan, or memory for one."""
    if how == "result":
        array: np.ndarray[Any, Any] = ring(team.size, size).apply(np.ones(size), team)
        return array
    array = team.empty((size,))
    array[...] = 1
    return array


def writes_stay_apart(team: pt.Team, size: int, how: str) -> None:
    """What the child writes stays with it, and what the parent writes stays with the parent."""
    array = filled(team, size, how)
    child = Child(lambda: [ends(array), write(array, 5)])
    write(array, 3)
    assert child.result() == [[1, 1], [5, 5]]
    assert ends(array) == [3, 3]
    assert works(team)


def child_keeps_what_was(team: pt.Team, size: int, how: str) -> None:
    """The parent drops the array, and later results lie in its place."""
    kept = [filled(team, size, how)]
    child = Child(lambda: ends(kept[0]))
    address = kept.pop().ctypes.data
    plan, mine = ring(team.size, size), np.full(size, 7.0)
    results = [plan.apply(mine, team) for _ in range(3)]
    if (
        team.engine == "mpi"
        and team.size > 1
        and team.shares_memory_with((team.rank + 1) % team.size)
    ):
        assert address in [result.ctypes.data for result in results], "the block is used again"
    assert child.result() == [1, 1]


def neighbours_write_later(team: pt.Team, size: int, how: str) -> None:
    """Other ranks write straight into the parent's array after the fork."""
    array = filled(team, size, how)
    child = Child(lambda: ends(array))
    ring(team.size, size).apply(np.full(size, 7.0), team, out=array)
    assert ends(array) == [7, 7]
    assert child.result() == [1, 1]


def child_works_by_itself(team: pt.Team) -> None:
    """Dropping arrays, making new ones and a team of its own are the child's business."""
    arrays = [filled(team, size, how) for size in SIZES for how in ("result", "empty")]

    def work() -> Any:
        arrays.clear()
        for _ in range(3):
            made = [np.asarray(team.empty((size,))) for size in SIZES]
            for array in made:
                write(array, 2)
        return pt.spmd(lambda inner: inner.allgather_data(inner.rank), 3)

    kept = list(arrays)
    assert Child(work).result() == [[0, 1, 2]] * 3
    assert [ends(array) for array in kept] == [[1, 1]] * len(kept)
    assert works(team)


def big_and_empty(team: pt.Team) -> None:
    """An array of which one page was touched costs one page, not all."""
    is_shared = team.engine == "mpi" and team.shares_memory_with((team.rank + 1) % team.size)
    array = team.empty((1 << 36 if is_shared and team.size > 1 else 10,), "int8")
    array[5] = 9
    last = int(array[-1])
    assert Child(lambda: [int(array[5]), int(array[-1])]).result() == [9, last]


def calls(team: pt.Team) -> dict[str, Callable[[], Any]]:
    """Calls by which a child could be taken for a rank."""
    layout = pt.Layout((4 * team.size,), [pt.Block()], grid=(team.size,))
    a = pt.from_local(np.zeros(4), layout, team)
    halo = pt.Layout((4 * team.size,), f"block+halo(1,1) @ {team.size}")
    b = pt.from_local(np.zeros(halo.local_shape(team.rank)), halo, team)
    plan = ring(team.size, 4)
    running = plan.start(np.zeros(4), team)
    running.wait()
    found: dict[str, Callable[[], Any]] = {
        "barrier": team.barrier,
        "allgather_data": lambda: team.allgather_data(1),
        "broadcast_data": lambda: team.broadcast_data(1),
        "subteam": lambda: team.subteam([0]),
        "union": lambda: team.union(team),
        "told": lambda: team.told(ValueError("x")),
        "apply": lambda: run(plan, team),
        "start": lambda: plan.start(np.zeros(4), team).wait(),
        "redistribute": lambda: a.redistribute(plan.target),
        "exchange_halo": b.exchange_halo,
    }
    if team.size > 1:
        # One rank has all elements, and so has its child.
        found["gather"] = a.gather
    if team.engine == "mpi" or team.size > 1:
        found["world"] = pt.world
    return found


def child_is_refused(team: pt.Team) -> None:
    """Every call in the child is refused, at once."""
    made = calls(team)

    def work() -> Any:
        return {name: attempt(call) for name, call in made.items()}

    for name, told in Child(work).result().items():
        assert told is not None, f"{name} was let through"
        assert told[:2] == ("TeamError", "forked"), (name, told)
    assert works(team)


def child_of_a_running_plan(team: pt.Team) -> None:
    """A plan that runs in the parent never ends in the child."""
    plan, mine = ring(team.size, 4), np.full(4, float(team.rank))
    running = plan.start(mine, team) if team.rank == 0 and team.size > 1 else None
    child = Child(lambda: attempt(running.wait)) if running else None
    # The others come only now, or the plan might have ended before the fork.
    aside(team).barrier()
    other = run(plan, team) if running is None else running.wait()
    assert other.tolist() == [float((team.rank - 1) % team.size)] * 4
    if child is not None:
        told = child.result()
        assert told is not None
        assert told[:2] == ("TeamError", "forked"), told


def tells_in_child(team: pt.Team) -> None:
    """A child that fails inside `with team` tells nobody."""

    def work() -> Any:
        try:
            with team:
                raise OSError("disk full")
        except Exception as error:
            return type(error).__name__

    assert Child(work).result() in ("OSError", "TeamError")
    assert works(team)
