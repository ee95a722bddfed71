"""Ray: arrays whose pieces are objects in Ray's stores.

    refs = [make_piece.remote(k) for k in range(4)]
    a = partita.from_ray(refs, partita.Layout((4096, 512), "block, * @ 4x1"))
    b = a.redistribute(partita.Layout(a.shape, "*, cyclic(64) @ 1x4"))

Plans run as tasks on the nodes that hold the pieces. On its own node a task reads the store without
a copy; between nodes only the parts that are needed travel. This process keeps references only.
"""

from __future__ import annotations

import os
import pickle
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from partita import _tasks
from partita._errors import LayoutError, TeamError
from partita._exchange import cluster_address
from partita._handover import share
from partita._remember import remembered
from partita._tasks import TaskArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partita._partita import Layout, Plan
    from partita._schedule import Cut, Join, Place, Schedule
    from partita._tasks import Handle

# Plans above this size (they carry lists of indices) are put into the store once.
LARGE_PLAN_BYTES = 1 << 16

# How long `get` waits for pieces that are still being made.
GET_SECONDS = 60.0

# What to do with references that another process shall read.
LET_RAY_CARRY = (
    "let Ray carry the dictionary, as a task's argument or by ray.put, or use partita.ray.share: "
    "a reference that pickle carries loses its owner"
)

__all__ = ["RayArray", "from_ray", "get", "share"]


class RayArray(TaskArray):
    """An array whose slots are objects in the stores of a Ray cluster."""

    engine = "ray"

    def to_ray(self) -> list[Any]:
        """The references, one per buffer, in the order of ranks."""
        return self.handles

    def to_dask(self, client: Any = None) -> Any:
        """A `dask.array` of the same pieces, in chunks.

        Workers on a node that has a piece look at it in Ray's store, without a copy and read-only.
        """
        from partita._exchange import views_on_dask

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
        return [node["NodeID"] for node in _alive_nodes() if node["Resources"].get("CPU", 0) > 0]

    def _locations(self, handles: list[Handle]) -> list[list[tuple[str, int]]]:
        addresses, found = _addresses(), object_nodes(handles)
        return [
            [(addresses[node], store_pid(node)) for node in found[ref] if node in addresses]
            for ref in handles
        ]

    def _submit_cuts(self, made: Plan, cuts: list[Cut]) -> list[Handle]:
        return self._cuts(_shared(made), cuts)

    def _cuts(self, pickled: Any, cuts: list[Cut]) -> list[Handle]:
        return [
            _remote(_cut, one.place).remote(pickled, one, *self._handles[one.source])
            for one in cuts
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
        task = _remote(_join, one.place, num_returns=n_returns)
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
    return _tasks.cut(pickled, one, buffers)


def _join(pickled: bytes, target: int, takes: list[Any], counts: list[int], *objects: Any) -> Any:
    """The buffers, and a small thing to wait for."""
    rest = iter(objects)
    parts = []
    for take, count in zip(takes, counts, strict=True):
        given = [next(rest) for _ in range(count)]
        parts.append(given if take.cut is None else given[0])
    buffers = _tasks.join(pickled, target, takes, parts)
    return (*buffers, None) if buffers else None


@remembered
def _as_remote(function: Any) -> Any:
    """The function as a remote one; made once, because each costs an export."""
    import ray

    return ray.remote(function)


def _remote(function: Any, node: Place | None, **options: Any) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if node is not None:
        # A node may die: its tasks may then run elsewhere.
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
    remote = _as_remote(function)
    return remote.options(**options) if options else remote


def _shared(made: Plan) -> Any:
    import ray

    pickled = pickle.dumps(made)
    return ray.put(pickled) if len(pickled) > LARGE_PLAN_BYTES else pickled


def _alive_nodes() -> list[dict[str, Any]]:
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def object_nodes(refs: Sequence[Any]) -> dict[Any, list[str]]:
    """Nodes that hold each object; none for lost ones, and for small ones that tasks returned.

    Ray keeps those in the process that owns them.
    """
    import ray

    ready = list(refs)
    if ready:
        ray.wait(ready, num_returns=len(ready), fetch_local=False)
    # One by one: asked about objects of several owners at once, Ray may end the process.
    found = {ref: ray.experimental.get_object_locations([ref]) for ref in ready}
    return {ref: list(places.get(ref, {}).get("node_ids", ())) for ref, places in found.items()}


def _parent_pid() -> int:
    return os.getppid()


def _addresses() -> dict[Place, str]:
    return {node["NodeID"]: node["NodeManagerAddress"] for node in _alive_nodes()}


def addresses_of(refs: Sequence[Any]) -> dict[Any, list[str]]:
    """Addresses of the machines that hold each object."""
    addresses = _addresses()
    found = object_nodes(refs).items()
    return {ref: [addresses[node] for node in nodes if node in addresses] for ref, nodes in found}


@remembered
def store_pid(node: Place) -> int:
    """The process that keeps the store of a node: the parent of its workers."""
    import ray

    pid: int = ray.get(_remote(_parent_pid, node).remote())
    return pid


def get(handles: Any) -> Any:
    """Data of a reference, or of a list of them: `get` of `__partitioned__`.

    Ray knows the owner of references that it has carried itself: as a task's argument, or in an
    object that was put. Those that pickle has carried are refused.
    """
    import ray

    if not ray.is_initialized():
        # Asked for an object, Ray would start a new cluster, which has it not.
        message = "this process is in no Ray cluster; call ray.init(address=...), and "
        raise TeamError(message + LET_RAY_CARRY, "ray-missing")
    listed = list(handles) if isinstance(handles, tuple) else handles
    try:
        with one_clear_error():
            return ray.get(listed, timeout=GET_SECONDS)
    except ray.exceptions.GetTimeoutError:
        message = f"pieces are not there after {GET_SECONDS:.0f} s; look at the tasks that make "
        raise TeamError(f"{message}them, and {LET_RAY_CARRY}", "data-late") from None
    except ValueError as error:
        if "owner" not in str(error):
            raise
        message = f"Ray does not know who owns the pieces; {LET_RAY_CARRY}"
        raise TeamError(message, "source-lost") from error


@contextmanager
def one_clear_error() -> Iterator[None]:
    """Turn what Ray raises when objects or workers are lost into one error."""
    from ray import exceptions

    try:
        yield
    except exceptions.RayError as error:
        if isinstance(error, exceptions.GetTimeoutError):
            raise
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, exceptions.ObjectLostError):
            message = (
                f"pieces are lost with the process that owned them ({type(cause).__name__}); "
                "what was put cannot be made again: put it anew, or make it by tasks"
            )
            raise TeamError(message, "source-lost") from error
        if isinstance(error, exceptions.RayTaskError):
            raise
        message = f"Ray could not run a task ({_first_line(error)}); see its logs"
        raise TeamError(message, "worker-died") from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def from_ray(refs: Sequence[Any], layout: Layout, *, dtype: Any = None) -> RayArray:
    """An array of objects in Ray's stores, without a copy.

    References stand in the order of the layout's ranks, one per buffer.
    """
    import ray

    listed = _tasks.listed(refs, "references")
    for ref in listed:
        if not isinstance(ref, ray.ObjectRef):
            message = f"a {type(ref).__name__} is no reference of Ray; use ray.put or a task's"
            raise LayoutError(message, "ray-type")
    handles = _tasks.by_rank(listed, layout)
    nodes = object_nodes(listed)
    tasks = [_remote(_tasks.describe, next(iter(nodes[ref]), None)).remote(ref) for ref in listed]
    with one_clear_error():
        found = ray.get(tasks)
    return RayArray(handles, layout, _tasks.check_buffers(found, layout, dtype))
