"""Dask: arrays whose pieces are futures on a `distributed` cluster.

    x = dask.array.random.random((8192, 8192), chunks=(1024, 8192))
    a = partita.from_dask(x)
    b = a.redistribute(partita.Layout(a.shape, "*, cyclic(64) @ 1x8"))

Plans run as tasks on the workers that hold the pieces; this process holds only futures.

- `array`: `DaskArray`.
- `taking_over`: `from_dask`.
- `hand_over`: from the ranks of a team, and to other processes.
- `fetch`: `get` of its `__partitioned__`.
- `submission`: a plan as tasks; `spilling`: lent parts that a worker moves to its disk.
- `cluster`: clients and workers.
- `waiting`: for futures, not for ever.
"""

from partita._tasks.share import share
from partita.dask.array import DaskArray
from partita.dask.fetch import get
from partita.dask.taking_over import from_dask

__all__ = ["DaskArray", "from_dask", "get", "share"]
