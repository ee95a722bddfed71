"""Handing arrays on: `__partitioned__` in its dialects, and `__distarray__`.

The dictionaries are new at every call, hold views of this rank's memory, and can be pickled; a
pickle holds a copy of the local data and None for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._args import integers
from partita._errors import ProtocolError
from partita._partita import PartitionTable, distarray_dims, number_of
from partita._team import addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partita._array.array import Array
    from partita._partita import Partitions

Position = tuple[int, ...]
# Position, start, shape and ranks of a partition.
PartitionRow = tuple[Position, Position, Position, list[int]]

DIALECTS = ("spec", "heat", "ip")


def get(handles: Any) -> Any:
    """The data behind handles: in these dictionaries the arrays themselves."""
    return handles


def whole(array: Array) -> Any:
    """This rank's memory, where it is the whole array; others see no single array here."""
    if array._held.is_whole:
        return array._buffers[0]
    layout = array.layout
    message = (
        f"this rank has a part of the array only ({layout.notation}); use .gather() for the whole "
        "array, or .local, .owned or .pieces for what lies here"
    )
    raise ProtocolError(message, "array-divided")


def partitioned(array: Array, dialect: str) -> dict[str, Any]:
    """The dictionary of `__partitioned__`."""
    if dialect not in DIALECTS:
        message = f"dialect {dialect!r}; use one of {', '.join(DIALECTS)}"
        raise ProtocolError(message, "dialect-unknown")
    held = _held(array)
    place = _places(array, dialect)
    parts = {
        position: {
            "start": start,
            "shape": shape,
            "data": held.get(position),
            "location": place(position, ranks),
        }
        for position, start, shape, ranks in _parts(array)
    }
    top, own = array._held.imported[2] if array._held.imported else ({}, {})
    for position, extras in own.items():
        parts[position].update(extras)
    return {
        "shape": array.shape,
        "partition_tiling": _tiling(array),
        "partitions": parts,
        "locals": sorted(held),
        "get": get,
        **top,
    }


def _tiling(array: Array) -> Position:
    if array._held.imported:
        tiling: Position = array._held.imported[0].tiling
        return tiling
    return PartitionTable(array.layout).tiling


def _parts(array: Array) -> Iterator[PartitionRow]:
    """The partitions in C order. An array that was taken over is handed on as it came."""
    if not array._held.imported:
        yield from PartitionTable(array.layout).parts()
        return
    table, holders, _ = array._held.imported
    ranks: list[list[int]] = [[] for _ in range(len(table))]
    for rank, own in enumerate(holders):
        for number in own:
            ranks[number].append(rank)
    for (position, start, shape), own in zip(table.parts(), ranks, strict=True):
        yield position, start, shape, own


def _held(array: Array) -> dict[Position, Any]:
    """This rank's partitions, as views of its buffers."""
    if not array.team.active:
        return {}
    if array._held.imported:
        table, holders, _ = array._held.imported
        positions = [table.position(number) for number in holders[array.team.rank]]
        return dict(zip(positions, array._buffers, strict=True))
    found, buffers = {}, array._buffers
    for position, buffer, start, shape in PartitionTable(array.layout).of_rank(array.team.rank):
        cut = zip(start, shape, strict=True)
        box = tuple(slice(first, first + length) for first, length in cut)
        found[position] = array._view(buffers[buffer], box)
    return found


def _places(array: Array, dialect: str) -> Callable[[Position, Sequence[int]], list[Any]]:
    """How the places of a partition are written; where no rank here has it, as they came."""
    where = [] if dialect == "heat" else addresses.addresses(array.team)

    def places(position: Position, ranks: Sequence[int]) -> list[Any]:
        if not ranks and array._held.imported:
            return list(dict.fromkeys(_given_places(array._held.imported[0], position, dialect)))
        if dialect == "heat":
            return list(ranks)
        own = [where[rank] for rank in ranks]
        return list(dict.fromkeys(ip for ip, _ in own) if dialect == "ip" else dict.fromkeys(own))

    return places


def _given_places(table: Partitions, position: Position, dialect: str) -> list[Any]:
    """What the producer said of a partition, as far as the dialect has words for it."""
    number = number_of(position, table.tiling)
    if dialect == "spec":
        return table.places(number)
    wanted = 0 if dialect == "heat" else 1
    return [place[wanted] for place in table.locations(number) if place[wanted] is not None]


def partition(array: Array, position: Sequence[int]) -> Any:
    """The data of one partition, if it is local."""
    wanted = integers(position, "position")
    held = _held(array)
    if wanted in held:
        return held[wanted]
    for found, _, _, ranks in _parts(array):
        if found == wanted:
            where = _places(array, "spec")(wanted, ranks) or [f"rank {rank}" for rank in ranks]
            message = f"partition {wanted} is not local (location {where}); redistribute to get it"
            raise ProtocolError(message, "partition-not-local")
    message = f"no partition {wanted} in a grid of {_tiling(array)}; use one of its positions"
    raise ProtocolError(message, "position-outside")


def distarray(array: Array) -> dict[str, Any]:
    """The dictionary of `__distarray__`."""
    team, layout = array.team, array.layout
    dims, beyond = distarray_dims(layout, team.rank, team.size, list(array._held.boundary))
    buffer = array.local
    if any(map(any, beyond)):
        # The protocol has no indices for what lies beyond the ends of a periodic dimension.
        cut = zip(beyond, buffer.shape, strict=True)
        buffer = buffer[tuple(slice(left, length - right) for (left, right), length in cut)]
    return {"__version__": "0.10.0", "buffer": buffer, "dim_data": dims}
