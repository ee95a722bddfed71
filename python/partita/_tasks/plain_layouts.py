"""Layouts as plain data, so that ranks can tell each other theirs without pickling.

>>> from partita import Layout
>>> layout = Layout((6, 4), "cyclic(2), * @ 2x1")
>>> from_plain(to_plain(layout)) == layout
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita import _unpickle
from partita._partita import Block, Cyclic, Unstructured, Whole

if TYPE_CHECKING:
    from partita._partita import Layout
    from partita._types import Map


def to_plain(layout: Layout) -> list[Any]:
    """Lists, numbers, texts and arrays that say what the layout says."""
    make, args = layout.__reduce__()
    if make is _unpickle.boxes:
        return ["boxes", *args[:2], list(args[2])]
    shape, maps, grid, ranks, partial = args
    return ["maps", shape, [_map(one) for one in maps], grid, list(ranks), partial]


def _map(one: Map) -> list[Any]:
    match one:
        case Block():
            return ["block", *one.__reduce__()[1]]
        case Cyclic():
            return ["cyclic", one.block]
        case Unstructured():
            return ["unstructured", one.indices, one.one_to_one]
        case _:
            return ["whole"]


def from_plain(plain: list[Any]) -> Layout:
    """The layout again."""
    kind, *args = plain
    if kind == "boxes":
        return _unpickle.boxes(*args)
    shape, maps, grid, ranks, partial = args
    return _unpickle.layout(shape, [_map_again(*one) for one in maps], grid, ranks, partial)


def _map_again(kind: str, *args: Any) -> Map:
    match kind:
        case "block":
            return _unpickle.block(*args)
        case "cyclic":
            return Cyclic(*args)
        case "unstructured":
            return _unpickle.unstructured(*args)
        case _:
            return Whole()
