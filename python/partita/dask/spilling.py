"""Lent parts that a worker moves to its disk: their bytes go there, not the note of where they lay.

A note is what travels to other workers. A worker that runs out of memory pickles what it holds and
drops it: a note alone would then tell of bytes that nobody lends any more.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._tasks import worker
from partita._tasks.loans import LentPart

if TYPE_CHECKING:
    from partita._array.array import Local
    from partita._tasks.schedule import Cut


def cut(pickled: bytes, one: Cut, buffers: Any) -> Local | LentPart:
    """The task that packs what one slot gives to some others, and may be moved to disk."""
    register()
    return worker.cut(pickled, one, buffers)


@cache
def register() -> None:
    """Tell Dask in this process how lent parts are moved to disk and back."""
    from distributed.protocol import dask_deserialize, dask_serialize

    dask_serialize.register(LentPart, _to_disk)
    dask_deserialize.register(LentPart, _from_disk)


def _to_disk(part: LentPart, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
    # Messages to other workers have a context: for them parts are pickled, as notes.
    if context is not None:
        raise NotImplementedError
    return {}, [part.array.data]


def _from_disk(header: dict[str, Any], frames: list[Any]) -> Local:
    del header
    return np.frombuffer(b"".join(frames), np.uint8)
