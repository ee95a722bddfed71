"""What a redistribution needs beyond source and target is at most what `explain()` says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from engines import Case

import partita as pt

N = 1536
# What the interpreter, the allocator and MPI itself take now and then.
NOISE_BYTES = 2 << 20


def memory(name: str) -> int:
    """A figure of this process's memory, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


def layouts(size: int, target: str) -> tuple[pt.Layout, pt.Layout]:
    """Row blocks, and something else."""
    source = pt.Layout((N, N), f"block, * @ {size}")
    return source, pt.Layout((N, N), f"{target} @ {size}")


def grow(team: pt.Team, target: str) -> tuple[int, int]:
    """How much more memory there was while data moved, and how much was foretold."""
    plans = [pt.plan(*layouts(team.size, text)) for text in ("*, cyclic(3)", target)]
    local = team.empty(plans[0].source.local_shape(team.rank))
    outs = [team.empty(plan.target.local_shape(team.rank)) for plan in plans]
    local[:] = team.rank
    for out in outs:
        out[:] = 0
    # The first call also starts what MPI starts late.
    plans[0].apply(local, team, out=outs[0])
    # Processes count a neighbour's pages that they have touched as theirs.
    before = memory("VmRSS") - memory("RssShmem")
    team.barrier()
    if team.engine == "mpi" or team.rank == 0:
        Path("/proc/self/clear_refs").write_text("5")
    team.barrier()
    plans[1].apply(local, team, out=outs[1])
    grown = memory("VmHWM") - memory("RssShmem") - before
    n_ranks = 1 if team.engine == "mpi" else team.size
    team.barrier()
    np.testing.assert_array_equal(outs[1], expected(plans[1].target, team.rank, team.size))
    return grown, plans[1].extra_bytes * n_ranks


def expected(layout: pt.Layout, rank: int, size: int) -> np.ndarray:
    """Every element is the rank that held its row."""
    shape = layout.local_shape(rank)
    rows = np.zeros((shape[0], 2), dtype=np.int64)
    rows[:, 0] = np.arange(shape[0])
    owners, _ = pt.Layout((N, N), f"block, * @ {size}").locate(layout.globalize(rank, rows))
    return np.broadcast_to(owners[:, None], shape).astype(float)


def within(results: list[tuple[int, int]], target: str) -> None:
    """Nobody took more than was foretold."""
    for rank, (grown, foretold) in enumerate(results):
        assert grown <= foretold + NOISE_BYTES, (rank, grown, foretold, target)
        array_bytes = 2 * N * N * 8
        assert foretold <= len(results) * (array_bytes // 20 + (16 << 20))


CASES = [
    Case(f"memory of {target}", grow, (target,), within)
    for target in ("*, block", "cyclic(64), *", "*, cyclic(1)")
]
