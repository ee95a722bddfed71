"""Nodes of a Ray cluster, where objects lie, and what is lost with them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from partita._errors import TeamError
from partita._tasks.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partita._tasks.schedule import Place


@remembered
def _as_remote(function: Any) -> Any:
    """The function as a remote one; made once, because each costs an export."""
    import ray

    return ray.remote(function)


def remote(function: Any, node: Place | None, **options: Any) -> Any:
    """A function as a remote one, for a node and with options."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if node is not None:
        # A node may die: its tasks may then run elsewhere.
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
    made = _as_remote(function)
    return made.options(**options) if options else made


def alive_nodes() -> list[dict[str, Any]]:
    """What Ray says of the nodes that live."""
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


def node_addresses() -> dict[Place, str]:
    """The addresses of the nodes that live."""
    return {node["NodeID"]: node["NodeManagerAddress"] for node in alive_nodes()}


def addresses_of(refs: Sequence[Any]) -> dict[Any, list[str]]:
    """Addresses of the machines that hold each object."""
    addresses = node_addresses()
    found = object_nodes(refs).items()
    return {ref: [addresses[node] for node in nodes if node in addresses] for ref, nodes in found}


@remembered
def store_pid(node: Place) -> int:
    """The process that keeps the store of a node: the parent of its workers."""
    import ray

    pid: int = ray.get(remote(_parent_pid, node).remote())
    return pid


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
