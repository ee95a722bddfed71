"""Run by test_ray_engine.py under mpiexec: ranks hand their array to Ray and fetch it again."""

import sys

import numpy as np
import ray

import partita as pt


def main(address: str) -> None:
    team = pt.world()
    values = np.arange(17 * 6.0).reshape(17, 6)
    rows = pt.Layout(values.shape, "block, * @ 2x1")
    a = pt.from_local(np.array_split(values, 2)[team.rank], rows, team)
    # Only one rank knows the cluster.
    if team.rank == 0:
        ray.init(address=address, log_to_driver=False, include_dashboard=False)
    refs = a.to_ray()
    columns = pt.Layout(values.shape, "*, cyclic @ 1x2")
    held = pt.from_ray(refs, rows).redistribute(columns) if team.rank == 1 else None
    b = pt.ray.share(held, team, root=1).to_team(team, columns)
    np.testing.assert_array_equal(b.local, values[:, team.rank :: 2])
    # One write, so that lines of different ranks do not mix.
    print(f"{team.rank}\n", end="", flush=True)
    # Objects belong to the rank that put them.
    team.barrier()


if __name__ == "__main__":
    main(*sys.argv[1:])
