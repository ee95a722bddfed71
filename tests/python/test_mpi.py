"""The MPI engine: scripts under a real launcher, on 1 to 5 processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import MPIEXEC

HEAD = """
import numpy as np
import partita as pt

team = pt.world()
rank, size = team.rank, team.size


def part(array, layout):
    shape = layout.local_shape(rank)
    local = np.indices(shape).reshape(len(shape), -1).T
    return array[tuple(layout.globalize(rank, local).T)].reshape(shape)

"""

MOVES = """
assert (team.engine, team.ranks) == ("mpi", tuple(range(size)))
array = np.random.default_rng(7).random((12, 20))
rows = pt.Layout((12, 20), f"block+halo(2,1)+periodic, * @ {size}x1")
tiles = pt.Layout((12, 20), f"*, cyclic(3) @ 1x{size}")
a = pt.from_local(part(array, rows), rows)
b = a.redistribute(tiles)
np.testing.assert_array_equal(b.local, part(array, tiles))
np.testing.assert_array_equal(b.redistribute(rows).local, a.local)
np.testing.assert_array_equal(b.gather(), array)
assert (b.gather(root=0) is None) == (rank != 0)
a.local[...] = -1
a.owned[...] = part(array, pt.Layout((12, 20), f"block, * @ {size}x1"))
a.exchange_halo()
np.testing.assert_array_equal(a.local, part(array, rows))
partial = pt.Layout((5,), f"* @ {size} partial 0")
summed = pt.plan(partial, pt.Layout((5,), f"* @ {size}"), "int32")
total = summed.apply(np.full(5, rank, "i4"), team)
np.testing.assert_array_equal(total, np.full(5, sum(range(size))))
running = pt.plan(rows, tiles).start(part(array, rows), team)
np.testing.assert_array_equal(running.wait(), part(array, tiles))
assert team.allgather_data((rank, "x")) == [(r, "x") for r in range(size)]
assert team.broadcast_data(rank * 10, root=size - 1) == 10 * (size - 1)
turned = team.subteam(list(reversed(range(size))))
assert turned.rank == size - 1 - rank
assert turned.allgather_data(rank) == list(reversed(range(size)))
print("fine")
"""


def run(tmp_path: Path, source: str, n_ranks: int) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(HEAD + source)
    command = [MPIEXEC, "-n", str(n_ranks), sys.executable, str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4, 5])
def test_arrays_move_between_processes(tmp_path: Path, n_ranks: int) -> None:
    done = run(tmp_path, MOVES, n_ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    # The launcher may put two ranks' words on one line.
    assert done.stdout.count("fine") == n_ranks


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_communicators_of_mpi4py(tmp_path: Path, n_ranks: int) -> None:
    source = """
from mpi4py import MPI
half = MPI.COMM_WORLD.Split(rank % 2)
team = pt.world(half)
assert team == pt.world(half)
for _ in range(3):
    brief = half.Dup()
    assert pt.world(brief).allgather_data(1) == [1] * half.size
    brief.Free()
assert (team.rank, team.size) == (half.rank, half.size)
assert team.allgather_data(rank) == half.allgather(rank)
print("fine")
"""
    done = run(tmp_path, "from mpi4py import MPI\n" + source, n_ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    # The launcher may put two ranks' words on one line.
    assert done.stdout.count("fine") == n_ranks


STARTED = """
rows, whole = (pt.Layout((50 * size, 300), f"{how}, * @ {size}x1") for how in ("block", "*"))
plan = pt.plan(rows, whole)
for turn in range(2):
    plan.apply(np.zeros((50, 300)), team)
running = plan.start(np.zeros((50, 300)), team)
"""

# The partners of the last ranks have made all their calls, and end, while these wait.
BEHIND = """
import time
layout = pt.Layout((12 * size,), f"block+halo(1,1)+periodic @ {size}")
plan = pt.plan(layout, layout)
local = team.empty(layout.local_shape(rank))
local[...] = rank
bound = plan.bind(local, team, out=local)
for turn in range(4):
    bound.run()
if rank == size // 2:
    time.sleep(0.05)
bound.run()
assert local[0] == (rank - 1) % size
"""


@pytest.mark.parametrize("shared", ["0", "1", "2"])
@pytest.mark.parametrize(("program", "n_ranks"), [(STARTED, 3), (BEHIND, 6)])
def test_programs_end_well(
    tmp_path: Path, program: str, n_ranks: int, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a plan that was started and not waited for, and while others still call."""
    monkeypatch.setenv("PARTITA_SHARED_MEMORY", shared)
    for _ in range(3):
        done = run(tmp_path, program, n_ranks)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not done.stderr, done.stderr


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("if rank == 1: raise ValueError('boom')\nteam.barrier()", "rank-left ValueError: boom"),
        ("if rank == 1: raise SystemExit\nteam.barrier()", "rank-left its program has ended"),
        (
            "team.barrier() if rank else team.allgather_data(1)",
            "calls-differ",
        ),
        (
            "L = pt.Layout((4,), 'block @ 2')\n"
            "local = np.zeros(2 + (rank == 1)) if rank < 2 else None\n"
            "pt.plan(L, L).apply(local, team)",
            "rank-raised",
        ),
    ],
)
def test_failures_reach_every_process(tmp_path: Path, source: str, wanted: str) -> None:
    indented = "\n".join("    " + line for line in source.splitlines())
    # A file per rank: the launcher mixes what several ranks print at once.
    report = f"open({str(tmp_path)!r} + f'/rank{{rank}}', 'w').write(f'{{error.reason}} {{error}}')"
    program = f"try:\n{indented}\nexcept pt.TeamError as error:\n    {report}\n"
    done = run(tmp_path, program, 3)
    told = [file.read_text() for file in sorted(tmp_path.glob("rank*"))]
    assert len(told) >= 2, done.stdout + done.stderr
    first, *rest = wanted.split(" ", 1)
    for line in told:
        assert line.startswith(first)
        assert not rest or rest[0] in line


FREED = """
import os
from mpi4py import MPI

def n_open():
    maps = open("/proc/self/maps").read()
    return len(os.listdir("/proc/self/fd")), maps.count("memfd:partita")

hook = None
for turn in range(1200):
    comm = MPI.COMM_WORLD.Dup()
    brief = pt.world(comm)
    assert brief.allgather_data(rank) == list(range(size))
    if turn == 10:
        at_first = n_open()
        hook = sys.excepthook
    comm.Free()
assert sys.excepthook is hook
after = n_open()
assert all(now <= then + 8 for now, then in zip(after, at_first)), (at_first, after)
try:
    brief.barrier()
except pt.TeamError as error:
    assert error.reason == "comm-freed", error
else:
    raise AssertionError("a team of a freed communicator")
assert team.allgather_data(rank) == list(range(size))
kept = team.empty((100_000,))
kept[...] = rank
team.barrier()
assert (kept == rank).all()
print("fine")
"""


LEFT = """
import time
import partita as pt
from mpi4py import MPI

team = pt.world()
part = MPI.COMM_WORLD.Dup()
if team.rank == 1:
    raise ValueError("the real error")
start = time.perf_counter()
assert pt.world(MPI.COMM_WORLD) == team
try:
    pt.world(part)
except pt.RemoteError as error:
    assert error.reason == "rank-left", error
    assert "the real error" in str(error), error
    assert time.perf_counter() - start < 5
    print("told", flush=True)
"""


def test_a_world_of_a_communicator_is_told_of_who_has_left(tmp_path: Path) -> None:
    done = run(tmp_path, LEFT, 2)
    assert "told" in done.stdout, (done.stdout + done.stderr)[-3000:]
    assert "the real error" in done.stderr


def test_what_belongs_to_a_freed_communicator_is_freed(tmp_path: Path) -> None:
    done = run(tmp_path, "import sys\n" + FREED, 2)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert done.stdout.count("fine") == 2
