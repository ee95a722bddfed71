"""What single calls cost here: ranks in processes beside MPI, and ranks that are threads.

`python benches/calls.py OUT.json` measures both for several numbers of ranks; `--mpiexec` names a
launcher. All calls of a table take turns in one run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from machine import processor

import partita as pt
from partita._command.doctor import mpiexec

if TYPE_CHECKING:
    from mpi4py import MPI

PROCESSES = (2, 4, 8, 16, 64)
THREADS = (2, 4, 8, 16)
N_REPETITIONS = 9
ROWS_TO_COLUMNS = ("block, *", "*, block")

Body = Callable[[], object]
# Microseconds by engine, number of ranks, and call.
Times = dict[str, dict[str, dict[str, float]]]


def _in_turns(team: pt.Team, bodies: dict[str, Body], n_turns: int) -> dict[str, float]:
    """Microseconds of a turn of each on the slowest rank, the middle of the repetitions."""
    times: dict[str, list[float]] = {name: [] for name in bodies}
    for number in range(N_REPETITIONS + 1):
        for name, body in bodies.items():
            team.barrier()
            start = time.perf_counter()
            for _ in range(n_turns if number else min(n_turns, 10)):
                body()
            if number:
                times[name].append((time.perf_counter() - start) / n_turns * 1e6)
    mine = {name: sorted(of)[N_REPETITIONS // 2] for name, of in times.items()}
    everybodys = team.allgather_data(list(mine.values()))
    return dict(zip(mine, np.max(everybodys, axis=0).tolist(), strict=True))


def _bodies(team: pt.Team) -> tuple[dict[str, Body], np.ndarray]:
    """Calls of partita, and the memory in which rows are exchanged."""
    layout = pt.Layout((4096, 4096), f"block+halo(1,1), * @ {team.size}")
    local = team.empty(layout.local_shape(team.rank))
    local[:] = team.rank
    array = pt.from_local(local, layout, team)
    rows, columns = (pt.Layout((512, 512), f"{text} @ {team.size}") for text in ROWS_TO_COLUMNS)
    moved = pt.plan(rows, columns)
    small, out = (team.empty(one.local_shape(team.rank)) for one in (rows, columns))
    small[:] = team.rank
    bodies: dict[str, Body] = {
        "barrier": team.barrier,
        "allgather_data": partial(team.allgather_data, team.rank),
        "redistribution": partial(moved.apply, small, team, out=out),
        "halo rows": array.exchange_halo,
        "halo rows, bound": pt.plan(layout, layout).bind(local, team, out=local).run,
    }
    return bodies, local


def _exchanged_rows(comm: "MPI.Comm", local: np.ndarray, nobody: int) -> None:
    """A row to each neighbour, as mpi4py's tutorials write it."""
    above = comm.rank - 1 if comm.rank > 0 else nobody
    below = comm.rank + 1 if comm.rank < comm.size - 1 else nobody
    first, last = int(above != nobody), len(local) - 1 - int(below != nobody)
    comm.Sendrecv(local[first], above, 0, local[-1], below, 0)
    comm.Sendrecv(local[last], below, 1, local[0], above, 1)


def _process(n_turns: int) -> dict[str, float]:
    """One rank under a launcher."""
    from mpi4py import MPI

    comm, team = MPI.COMM_WORLD, pt.world()
    bodies, local = _bodies(team)
    by_hand = partial(_exchanged_rows, comm, local, MPI.PROC_NULL)
    peers: dict[str, Body] = {"MPI_Barrier": comm.Barrier, "halo rows by Sendrecv": by_hand}
    return _in_turns(team, peers | bodies, n_turns)


def _threads(n_ranks: int, n_turns: int) -> dict[str, float]:
    """All ranks of one process."""
    meeting = threading.Barrier(n_ranks)

    def rank(team: pt.Team) -> dict[str, float]:
        peers: dict[str, Body] = {"threading.Barrier": meeting.wait}
        return _in_turns(team, peers | _bodies(team)[0], n_turns)

    found: dict[str, float] = pt.spmd(rank, n_ranks, deadline=300)[0]
    return found


def _turns(n_ranks: int) -> int:
    """So many that a repetition takes long enough to be measured, and no longer than it must."""
    n_crowded = max(1, n_ranks // (os.cpu_count() or 1))
    return max(20, 2000 // n_crowded // max(1, n_ranks // 8))


def _launched(launcher: str, n_ranks: int) -> dict[str, float]:
    """What so many processes have measured."""
    again = "OMPI_ALLOW_RUN_AS_ROOT"
    environment = {again: "1", f"{again}_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if n_ranks > (os.cpu_count() or 1):
        environment["OMPI_MCA_hwloc_base_binding_policy"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "times.json"
        command = [launcher, "-n", str(n_ranks), sys.executable, __file__, str(out)]
        command += ["--process", str(_turns(n_ranks))]
        subprocess.run(command, check=True, timeout=240, env=os.environ | environment)
        times: dict[str, float] = json.loads(out.read_text())
    return times


def measured(launcher: str | None = None) -> Times:
    """What all calls cost here."""
    named = launcher or mpiexec() or "mpiexec"
    return {
        "processes": {str(n): _launched(named, n) for n in PROCESSES},
        "threads": {str(n): _threads(n, _turns(n)) for n in THREADS},
    }


def main() -> None:
    """Measure everything, or be one rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--mpiexec", help="the launcher of the MPI that is measured")
    parser.add_argument("--mpi", default="MPICH", help="what it is called on the page")
    parser.add_argument("--process", type=int, help="be one rank, with so many turns")
    options = parser.parse_args()
    if options.process is None:
        where = {"processor": processor(), "cores": os.cpu_count()}
        found = {**where, "mpi": options.mpi, "times": measured(options.mpiexec)}
        options.out.write_text(json.dumps(found, indent=1))
        return
    times = _process(options.process)
    if pt.world().rank == 0:
        options.out.write_text(json.dumps(times))


if __name__ == "__main__":
    main()
