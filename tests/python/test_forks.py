"""Processes that ranks make: forked ones see arrays as they were, and none of them is a rank."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bodies_forks as forks
import engines
import numpy as np
import pytest
from bodies_forks import Child
from engines import Case
from places import Place, launchers

from partita._partita import LentBytes

SECONDS = 20.0

pytestmark = pytest.mark.timeout(300)

PLACES = [Place("threads", 3), *(Place("mpi", 3, launcher) for launcher in launchers())]
PLACES += [Place("mpi", 3, launchers()[0], shared=False), Place("mpi", 1, launchers()[0])]

ON_ARRAYS = (
    forks.writes_stay_apart,
    forks.child_keeps_what_was,
    forks.neighbours_write_later,
)
ALONE = (
    forks.child_works_by_itself,
    forks.big_and_empty,
    forks.child_is_refused,
    forks.child_of_a_running_plan,
    forks.tells_in_child,
)


def named(body: Callable[..., Any], *args: Any) -> Case:
    words = [body.__name__.replace("_", " "), *(str(arg) for arg in args)]
    return Case(", ".join(words), body, args)


CASES = [
    named(body, size, how)
    for body in ON_ARRAYS
    for size in forks.SIZES
    for how in ("result", "empty")
]
CASES += [named(body) for body in ALONE]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_child_is_apart(
    place: Place,
    case: Case,
    request: pytest.FixtureRequest,
) -> None:
    engines.settled(request, place, case, SECONDS)


def launch(tmp_path: Path, source: str, n_ranks: int = 3, *, shared: bool = True) -> str:
    """A program on several ranks that must come to a good end; what it writes."""
    script = tmp_path / "script.py"
    script.write_text(source)
    place = Place("mpi", n_ranks, launchers()[0], shared=shared)
    done = subprocess.run(
        place.command(str(script)),
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


LEAVES = """
import gc, os, sys
import numpy as np
{first}
import partita as pt
team = pt.world()
kept = [team.empty((5000,)), team.subteam([0]), team]
team.barrier()
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        {last}
    pid, status = os.waitpid(pid, 0)
    assert (status >> 8) in (0, 1), status
    team.barrier()
    assert team.allgather_data(team.rank) == list(range(team.size))
print("fine")
"""


@pytest.mark.parametrize(
    "last",
    [
        "sys.exit(0)",
        "raise ValueError('boom')",
        "del kept, team; gc.collect(); sys.exit(0)",
        "team.barrier()",
    ],
)
@pytest.mark.parametrize("shared", [True, False])
def test_a_child_leaves_quietly(tmp_path: Path, last: str, shared: bool) -> None:
    found = launch(tmp_path, LEAVES.format(first="", last=last), shared=shared)
    assert found.count("fine") == 3, found
    assert "boom" in last or "Error" not in found.replace("TeamError", ""), found


SPAWNS = """
import multiprocessing, subprocess, sys
import partita as pt

CODE = '''
import partita as pt
try:
    pt.world()
except pt.TeamError as error:
    print(error.reason)
else:
    print("joined")
'''

def child(queue):
    try:
        pt.world()
        queue.put("joined")
    except pt.TeamError as error:
        queue.put(error.reason)

if __name__ == "__main__":
    before = "{when}" == "before"
    if before:
        pt.world()
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get() == "not-a-rank"
    process.join()
    for close in (True, False) if before else (True,):
        done = subprocess.run(
            [sys.executable, "-c", CODE], capture_output=True, text=True, close_fds=close
        )
        assert done.stdout == "not-a-rank\\n", (close, done)
    team = pt.world()
    assert team.allgather_data(team.rank) == list(range(team.size))
    print("fine")
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_spawned_child_is_no_rank(tmp_path: Path, when: str) -> None:
    """Whether it is started before or after its parent has joined the job."""
    assert launch(tmp_path, SPAWNS.format(when=when)).count("fine") == 3


NESTED = """
import subprocess, sys
import partita as pt
team = pt.world()
if team.rank == 0:
    command = [{mpiexec!r}, "-n", "2", sys.executable, "-c",
               "import partita as pt; pt.world().barrier(); print('joined')"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.count("joined") == 2, done
team.barrier()
print("fine")
"""


def test_a_rank_may_launch_another_job(tmp_path: Path) -> None:
    """Its ranks have places of their own."""
    mpiexec = launchers()[0].command[0]
    assert launch(tmp_path, NESTED.format(mpiexec=mpiexec), 2).count("fine") == 2


def test_a_process_of_mpi4py_is_forked(tmp_path: Path) -> None:
    """MPI was started by mpi4py, and partita asks for it in the child first."""
    source = """
import os
from mpi4py import MPI
import partita as pt
pid = os.fork()
if pid == 0:
    try:
        pt.world()
    except pt.TeamError as error:
        os._exit(7 if error.reason == "forked" else 8)
    os._exit(9)
assert os.waitpid(pid, 0)[1] >> 8 == 7
pt.world().barrier()
print("fine")
"""
    assert launch(tmp_path, source).count("fine") == 3


def test_multiprocessing_hands_arrays_to_forked_processes(tmp_path: Path) -> None:
    source = """
import multiprocessing, sys
import numpy as np
import partita as pt
team = pt.world()
n = 200_000
layout = pt.Layout((n * team.size,), f"block @ {team.size}")
a = pt.from_local(np.full(n, float(team.rank)), layout, team).redistribute(
    pt.Layout((n * team.size,), f"cyclic(10) @ {team.size}"))
before = a.local.copy()

def work(k):
    a.local[k] = -1
    return float(a.local.sum())

with multiprocessing.get_context("fork").Pool(2) as pool:
    sums = pool.map(work, [0] * 8)
np.testing.assert_array_equal(a.local, before)
assert set(sums) == {float(before[1:].sum() - 1)}
team.barrier()
print("fine")
"""
    assert launch(tmp_path, source).count("fine") == 3


def seen(memory: LentBytes | None) -> Any:
    """Lent or borrowed bytes as an array."""
    assert memory is not None
    return np.frombuffer(memory, np.uint8)  # type: ignore[call-overload]


def lent(value: int) -> tuple[LentBytes, Any]:
    """Bytes of this value that others may read."""
    loan = LentBytes.lend(1 << 20)
    array = seen(loan)
    array[...] = value
    assert loan is not None
    return loan, array


def lent_again(address: int) -> None:
    """Lend until the block at an address is used again."""
    loans = [lent(2) for _ in range(64)]
    assert address in [array.ctypes.data for _, array in loans], "the block was not used again"


def test_a_child_sees_loans_as_they_were() -> None:
    """The lender ends the loan, and lends the same block again with other bytes."""
    kept = [lent(1)]
    address = kept[0][1].ctypes.data
    child = Child(lambda: forks.ends(kept[0][1]))
    kept.clear()
    lent_again(address)
    assert child.result() == [1, 1]


def test_a_child_that_drops_a_loan_does_not_end_it() -> None:
    kept = [lent(1)]
    note = kept[0][0].note

    def drop() -> bool:
        kept.clear()
        return LentBytes.borrow(note) is not None

    assert Child(drop).result() is True
    assert LentBytes.borrow(note) is not None


def test_a_child_that_drops_what_it_borrowed_does_not_give_it_back() -> None:
    """Its parent still reads it: the lender must not use the block for the next loan."""
    loans = [lent(1)]
    views = [seen(LentBytes.borrow(loans[0][0].note))]
    Child(views.clear).result()
    loans.clear()
    later = [lent(2) for _ in range(16)]
    assert (views[0] == 1).all(), "lent again while it was read"
    assert len(later) == 16


def test_a_child_sees_what_was_borrowed_as_it_was() -> None:
    """The parent gives it back, and the lender uses the block for the next loan."""
    loans = [lent(1)]
    address = loans[0][1].ctypes.data
    views = [seen(LentBytes.borrow(loans[0][0].note))]
    child = Child(lambda: forks.ends(views[0]))
    views.clear()
    loans.clear()
    lent_again(address)
    assert child.result() == [1, 1]


def test_a_child_of_a_plain_process_is_a_team_of_one_as_well() -> None:
    """Nobody else was a rank of the team before."""
    source = """
import os
import partita as pt
team = pt.world()
pid = os.fork()
if pid == 0:
    pt.world().barrier()
    team.barrier()
    os._exit(7 if team.allgather_data(5) == [5] else 8)
assert os.waitpid(pid, 0)[1] >> 8 == 7
team.barrier()
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI"))}
    subprocess.run([sys.executable, "-c", source], env=environment, timeout=30, check=True)
