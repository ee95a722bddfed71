"""Taking over a `dask.array`, or futures with their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._tasks import handles as given
from partita._tasks import worker
from partita._tasks.chunks import layout_of_chunks
from partita.dask.array import DaskArray
from partita.dask.cluster import a_client, bind, current_client, one_clear_error

if TYPE_CHECKING:
    from partita._partita import Layout


def from_dask(
    x: Any, layout: Layout | None = None, *, client: Any = None, dtype: Any = None
) -> DaskArray:
    """Return an array of the chunks of a `dask.array`, or of futures with their layout.

    Pass one future per buffer, in the order of the layout's ranks. What is not computed yet is
    computed on the cluster; no data comes to this process.
    """
    if client is not None:
        a_client(client)
    if layout is not None:
        if hasattr(x, "__dask_graph__"):
            message = "a dask.array has a layout of its own; use from_dask(x).redistribute(layout)"
            raise LayoutError(message, "dask-type")
        return _from_futures(given.listed(x, "futures"), layout, client, dtype)
    _check_chunks(x)
    _check_meta(x)
    given.movable(x.dtype)
    client = client or _client_of(x) or current_client()
    from distributed import futures_of

    held = client.persist(x)
    by_key = {future.key: future for future in futures_of(held)}
    futures = [by_key[key] for key in _keys(held)]
    layout = layout_of_chunks(x.chunks)
    handles = {rank: [future] for rank, future in zip(layout.ranks, futures, strict=True)}
    return DaskArray(handles, layout, x.dtype).sync()


def _keys(x: Any) -> list[Any]:
    from dask.core import flatten

    return list(flatten(x.__dask_keys__()))


def _client_of(x: Any) -> Any:
    """The client of futures, or of those that a collection already has."""
    from distributed import futures_of

    futures = x if isinstance(x, list | tuple) else futures_of(x)
    return next((getattr(future, "client", None) for future in futures), None)


def _check_chunks(x: Any) -> None:
    if not hasattr(x, "chunks") or not hasattr(x, "__dask_graph__"):
        message = f"a {type(x).__name__} is no dask.array; use one, or futures with a layout"
        raise LayoutError(message, "dask-type")
    for dim, lengths in enumerate(x.chunks):
        if any(length != length for length in lengths):
            message = (
                f"dimension {dim} has chunks of unknown size; call x.compute_chunk_sizes() first"
            )
            raise LayoutError(message, "chunks-unknown")


def _check_meta(x: Any) -> None:
    """Refuse chunks that are no plain arrays: a mask, for one, would be lost."""
    meta = getattr(x, "_meta", None)
    if type(meta) is not np.ndarray:
        kind = type(meta).__name__
        message = f"chunks of type {kind}; make them plain first, by x.map_blocks or da.ma.filled"
        raise LayoutError(message, "chunks-type")
    if meta.dtype.hasobject:
        message = f"chunks of dtype {meta.dtype}; objects cannot be moved, use numbers"
        raise LayoutError(message, "data-type")


def _from_futures(futures: list[Any], layout: Layout, client: Any, dtype: Any) -> DaskArray:
    from distributed import Future

    for future in futures:
        if not isinstance(future, Future):
            message = (
                f"a {type(future).__name__} is no future of Dask; use client.scatter or submit"
            )
            raise LayoutError(message, "dask-type")
    handles = given.by_rank(futures, layout)
    client = client or _client_of(futures) or current_client()
    bind(futures, client)
    tasks = [client.submit(worker.describe, future, pure=False) for future in futures]
    with one_clear_error():
        found = client.gather(tasks)
    dtype = given.check_buffers(found, layout, dtype)
    return DaskArray(handles, layout, dtype)
