"""An array whose pieces are objects in Ray's stores."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from partita._tasks import worker
from partita._tasks.array import TaskArray
from partita._tasks.ray_references import cluster_address
from partita.ray.cluster import (
    alive_nodes,
    node_addresses,
    object_nodes,
    one_clear_error,
    remote,
    store_pid,
)
from partita.ray.fetch import get
from partita.ray.views import views_on_dask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._partita import Plan
    from partita._tasks.handles import Handle
    from partita._tasks.schedule import Cut, Join, Place, Schedule

# Plans above this size (they carry lists of indices) are put into the store once.
LARGE_PLAN_BYTES = 1 << 16


class RayArray(TaskArray):
    """An array whose slots are objects in the stores of a Ray cluster."""

    engine = "ray"

    def to_ray(self) -> list[Any]:
        """Return the references, one per buffer, in rank order."""
        return self.handles

    def to_dask(self, client: Any = None) -> Any:
        """Return a `dask.array` of the same pieces, in chunks.

        Workers on a node that has a piece view it in Ray's store, read-only and without a copy.
        """
        return views_on_dask(self.as_chunks(), client).to_dask()

    def _homes(self) -> dict[int, Sequence[Place]]:
        cluster_address()
        found = object_nodes(self.handles)
        homes: dict[int, Sequence[Place]] = {}
        for rank, refs in self._handles.items():
            nodes = [set(found[ref]) for ref in refs]
            homes[rank] = sorted(set.intersection(*nodes)) if nodes else []
        return homes

    def _all_places(self) -> Sequence[Place]:
        return [node["NodeID"] for node in alive_nodes() if node["Resources"].get("CPU", 0) > 0]

    def _locations(self, handles: list[Handle]) -> list[list[tuple[str, int]]]:
        addresses, found = node_addresses(), object_nodes(handles)
        return [
            [(addresses[node], store_pid(node)) for node in found[ref] if node in addresses]
            for ref in handles
        ]

    def _submit_cuts(self, made: Plan, cuts: list[Cut]) -> list[Handle]:
        return self._cuts(_shared(made), cuts)

    def _cuts(self, pickled: Any, cuts: list[Cut]) -> list[Handle]:
        return [
            remote(_cut, one.place).remote(pickled, one, *self._handles[one.source]) for one in cuts
        ]

    def _run(self, made: Plan, tasks: Schedule) -> dict[int, list[Handle]]:
        import ray

        pickled = _shared(made)
        cuts = self._cuts(pickled, tasks.cuts)
        handles, done = {}, []
        for one in tasks.joins:
            *handles[one.target], last = self._join(made, pickled, one, cuts)
            done.append(last)
        # What tells that all went well is small; the data stays where it is.
        with one_clear_error():
            ray.get(done)
        return handles

    def _join(self, made: Plan, pickled: Any, one: Join, cuts: list[Handle]) -> list[Handle]:
        n_returns = made.target.n_buffers(one.target) + 1
        counts, objects = [], []
        for take in one.takes:
            given = self._handles[take.source] if take.cut is None else [cuts[take.cut]]
            counts.append(len(given))
            objects += given
        task = remote(_join, one.place, num_returns=n_returns)
        made_refs = task.remote(pickled, one.target, one.takes, counts, *objects)
        return [made_refs] if n_returns == 1 else list(made_refs)

    def _fetch(self, handles: list[Handle]) -> list[Any]:
        import ray

        # Asked for an object, Ray would start a new cluster, which has it not.
        cluster_address()
        with one_clear_error():
            fetched: list[Any] = ray.get(handles)
        return fetched

    def _wait(self, handles: list[Handle]) -> None:
        import ray

        if handles:
            ray.wait(handles, num_returns=len(handles), fetch_local=False)

    def _get(self) -> Callable[[Any], Any]:
        return get


def _cut(pickled: bytes, one: Cut, *buffers: Any) -> Any:
    return worker.cut(pickled, one, buffers)


def _join(pickled: bytes, target: int, takes: list[Any], counts: list[int], *objects: Any) -> Any:
    """The buffers, and a small thing to wait for."""
    rest = iter(objects)
    parts = []
    for take, count in zip(takes, counts, strict=True):
        given = [next(rest) for _ in range(count)]
        parts.append(given if take.cut is None else given[0])
    buffers = worker.join(pickled, target, takes, parts)
    return (*buffers, None) if buffers else None


def _shared(made: Plan) -> Any:
    import ray

    pickled = pickle.dumps(made)
    return ray.put(pickled) if len(pickled) > LARGE_PLAN_BYTES else pickled
