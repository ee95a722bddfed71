"""Run by test_dask_engine.py under mpiexec: ranks hand their array to Dask and fetch it again."""

import sys

import numpy as np

import partita as pt


def main(address: str) -> None:
    team = pt.world()
    values = np.arange(17 * 6.0).reshape(17, 6)
    rows = pt.Layout(values.shape, "block, * @ 3x1")
    a = pt.from_local(np.array_split(values, 3)[team.rank], rows, team)
    # Only one rank knows the cluster.
    x = a.to_dask(address if team.rank == 1 else None)
    np.testing.assert_array_equal((x * 2).compute(), values * 2)
    held = pt.from_dask(x + 1) if team.rank == 2 else None
    columns = pt.Layout(values.shape, "*, cyclic @ 1x3")
    b = pt.dask.share(held, team, root=2).to_team(team, columns)
    np.testing.assert_array_equal(b.local, values[:, team.rank :: 3] + 1)
    # One write, so that lines of different ranks do not mix.
    print(f"{team.rank}\n", end="", flush=True)
    team.barrier()


if __name__ == "__main__":
    main(*sys.argv[1:])
