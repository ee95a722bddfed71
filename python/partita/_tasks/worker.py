"""What workers run: tasks that cut, join and describe pieces. They are pickled by their names."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._memory.views import as_numpy, is_frame
from partita._memory.warm import empty
from partita._partita import join_parts, local_shapes, pack_parts
from partita._tasks.cache import remembered
from partita._tasks.loans import lend

if TYPE_CHECKING:
    from partita._array.array import Local
    from partita._partita import Plan
    from partita._tasks.loans import LentPart
    from partita._tasks.schedule import Cut, Take


@remembered
def _plan(pickled: bytes) -> Plan:
    made: Plan = pickle.loads(pickled)
    return made


def cut(pickled: bytes, one: Cut, buffers: Any) -> Local | LentPart:
    """The task that packs what one slot gives to some others."""
    lent = lend(one.n_bytes) if one.is_near else None
    packed = empty((one.n_bytes,), np.uint8) if lent is None else lent.array
    sources = [plain(buffer) for buffer in buffers]
    pack_parts(_plan(pickled), one.source, one.targets, sources, packed)
    return packed if lent is None else lent


def join(pickled: bytes, target: int, takes: list[Take], parts: Any) -> list[Local]:
    """The task that writes what one slot takes into fresh buffers.

    A part is a packed row of bytes, or the list of buffers of a slot that lies here.
    """
    made = _plan(pickled)
    fresh = [empty(shape, made.dtype) for shape in local_shapes(made.target, target)]
    given: list[tuple[int, Any]] = []
    for take, part in zip(takes, parts, strict=True):
        if take.cut is None:
            given.append((take.source, [plain(one) for one in part]))
        else:
            packed = part if isinstance(part, np.ndarray) else part.array
            given.append((take.source, packed[take.start : take.stop]))
    join_parts(made, target, given, fresh)
    return fresh


def join_one(pickled: bytes, target: int, takes: list[Take], parts: Any) -> Local:
    """The same where the slot has one buffer."""
    [buffer] = join(pickled, target, takes, parts)
    return buffer


def describe(buffer: Any) -> tuple[tuple[int, ...], str]:
    """The task that tells shape and dtype of a buffer."""
    array = plain(buffer)
    return array.shape, array.dtype.str


def plain(buffer: Any) -> Local:
    """A piece as an array; masks and labels would be lost, so those are refused."""
    if type(buffer) is np.ndarray:
        return buffer
    if is_frame(buffer):
        message = "a table as a piece would lose its labels; use from_partitioned on a team"
        raise LayoutError(message, "data-type")
    return as_numpy(buffer)[0]
