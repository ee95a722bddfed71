"""Taking over objects in Ray's stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError
from partita._tasks import handles as given
from partita._tasks import worker
from partita.ray.array import RayArray
from partita.ray.cluster import object_nodes, one_clear_error, remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Layout


def from_ray(refs: Sequence[Any], layout: Layout, *, dtype: Any = None) -> RayArray:
    """Return an array of objects in Ray's stores, without a copy.

    Pass one reference per buffer, in the order of the layout's ranks.
    """
    import ray

    listed = given.listed(refs, "references")
    for ref in listed:
        if not isinstance(ref, ray.ObjectRef):
            message = f"a {type(ref).__name__} is no reference of Ray; use ray.put or a task's"
            raise LayoutError(message, "ray-type")
    handles = given.by_rank(listed, layout)
    nodes = object_nodes(listed)
    tasks = [remote(worker.describe, next(iter(nodes[ref]), None)).remote(ref) for ref in listed]
    with one_clear_error():
        found = ray.get(tasks)
    return RayArray(handles, layout, given.check_buffers(found, layout, dtype))
