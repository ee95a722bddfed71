"""What `partita doctor` finds out by trying: MPI on two processes, and whether they share memory.

Run as a module it is one of those processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from partita._memory import sharing
from partita._partita import find_mpiexec

# MPI starts in about a second; where it hangs the doctor must not.
_LIMIT_SECONDS = 30
_N_BYTES = 64 << 20


def mpiexec() -> str | None:
    """The launcher: the environment's own before the system's."""
    packages = Path(__file__).parents[2]
    # `pip install --target` puts programs into the folder of the packages.
    own = [Path(sys.executable).parent, packages / "bin"]
    found = find_mpiexec([str(folder) for folder in own])
    return None if found is None else str(found)


def facts() -> list[tuple[str, str]]:
    """MPI's library, whether its processes share memory, and how fast they copy."""
    launcher = mpiexec()
    if launcher is None:
        return []
    command = [launcher, "-n", "2", sys.executable, "-m", "partita._command.doctor"]
    # Root may start Open MPI only if told so, and two ranks may be more than it has slots.
    allowed = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            env={**os.environ, **allowed},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [("MPI library", f"two processes do not start: {error}")]
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return [("MPI library", f"two processes do not work (status {done.returncode}): {last}")]
    return list(json.loads(lines[-1]).items())


def _examine() -> None:
    """One of two processes: find out, and let rank 0 say it."""
    import numpy as np

    import partita as pt
    from partita._team import mpi

    team = pt.world()
    n_items = _N_BYTES // 8
    source = pt.Layout((n_items,), [pt.Whole()], ranks=[0])
    target = pt.Layout((n_items,), [pt.Whole()], ranks=[1])
    plan = pt.plan(source, target)
    local = np.zeros(n_items) if team.rank == 0 else None
    moved = plan.apply(local, team)
    times = []
    for _ in range(5):
        team.barrier()
        start = time.perf_counter()
        plan.apply(local, team, out=moved)
        times.append(time.perf_counter() - start)
    shares = team.shares_memory_with(1 - team.rank)
    found = {
        "MPI library": " ".join(mpi.version().split("\n")[0].split()),
        "shared memory": "works between processes" if shares else _why_not(),
        "moving": f"{_N_BYTES / min(times) / 1e9:.1f} GB/s from one process to another",
    }
    if team.rank == 0:
        print(json.dumps(found), flush=True)


def _why_not() -> str:
    if not sharing.is_wanted():
        return f"switched off by {sharing.VARIABLE}=0; messages are used"
    return "not available (no /proc, or it is closed to other processes); messages are used"


if __name__ == "__main__":
    _examine()
