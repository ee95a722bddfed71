"""Communicators of mpi4py: both protocols between processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from launch import launch

SOURCE = """
import os
import pickle
import numpy as np
from mpi4py import MPI
import partita as pt

comm = MPI.COMM_WORLD
half = comm.Split(comm.rank % 2)
for part in (comm, half):
    team = pt.world(part)
    rank, size = team.rank, team.size
    whole = np.arange(60.0).reshape(12, 5)
    cuts = [12 * k // size for k in range(size + 1)]
    mine = whole[cuts[rank] : cuts[rank + 1]].copy()
    dims = (
        {"dist_type": "b", "size": 12, "proc_grid_size": size, "proc_grid_rank": rank,
         "start": cuts[rank], "stop": cuts[rank + 1]},
        {},
    )
    a = pt.from_distarray({"__version__": "0.10.0", "buffer": mine, "dim_data": dims}, team=team)
    assert a.local is mine
    np.testing.assert_array_equal(a.gather(), whole)
    handed = a.__partitioned__
    assert pt.check(handed, strict=True) == []
    assert pt.check(handed, team=team) == []
    pids = [part_["location"][0][1] for part_ in handed["partitions"].values()]
    assert pids == part.allgather(os.getpid()), pids
    assert all(isinstance(place["location"][0][0], str) for place in handed["partitions"].values())
    pickle.loads(pickle.dumps(handed))
    b = pt.from_partitioned(handed, team=team)
    np.testing.assert_array_equal(b.local, mine)
    assert np.shares_memory(b.local, mine)
    bad = dict(dims[0], size=13) if rank == size - 1 and size > 1 else dims[0]
    try:
        wrong = {"__version__": "0.10.0", "buffer": mine, "dim_data": (bad, {})}
        pt.from_distarray(wrong, team=team)
        assert size == 1
    except pt.ProtocolError as error:
        assert f"ranks[{size - 1}]" in str(error), error
    assert part.allreduce(1) == size
"""


@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_communicators(tmp_path: Path, n_ranks: int) -> None:
    launch(tmp_path, SOURCE, n_ranks)
