"""Ray: arrays whose pieces are objects in Ray's stores.

    refs = [make_piece.remote(k) for k in range(4)]
    a = partita.from_ray(refs, partita.Layout((4096, 512), "block, * @ 4x1"))
    b = a.redistribute(partita.Layout(a.shape, "*, cyclic(64) @ 1x4"))

Plans run as tasks on the nodes that hold the pieces. Within a node, a task reads the store without
a copy; between nodes, only the parts that are needed travel. This process holds only references.

- `array`: `RayArray`.
- `taking_over`: `from_ray`.
- `hand_over`: from the ranks of a team, and to other processes.
- `views`: a Ray array on the workers of Dask.
- `fetch`: `get` of its `__partitioned__`.
- `cluster`: nodes, and where objects lie.
"""

from partita._tasks.share import share
from partita.ray.array import RayArray
from partita.ray.fetch import get
from partita.ray.taking_over import from_ray

__all__ = ["RayArray", "from_ray", "get", "share"]
