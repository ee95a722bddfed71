"""Arrays that live in many address spaces at once.

A layout says which rank holds which elements; a plan says what moves where:

>>> import partita as pt
>>> rows = pt.Layout((8, 8), "block, * @ 2x1")
>>> columns = pt.Layout((8, 8), [pt.Whole(), pt.Block()], grid=(1, 2))
>>> plan = pt.plan(rows, columns, dtype="float64")
>>> plan.n_messages, plan.bytes_moved
(2, 256)
"""

import typing as _typing

from partita._errors import (
    DeadlineError,
    LayoutError,
    MismatchError,
    PartitaError,
    RemoteError,
    TeamError,
)
from partita._partita import (
    Block,
    Cyclic,
    Layout,
    Move,
    Piece,
    Pieces,
    Plan,
    Run,
    Unstructured,
    Whole,
    __version__,
    plan,
)

if _typing.TYPE_CHECKING:
    from partita._array import Array, from_local
    from partita._primitives import (
        all_sum_reduce,
        broadcast,
        halo_exchange,
        sum_reduce,
        transpose_partition,
    )
    from partita._team import Grid, Team, spmd, world

# What needs NumPy or threads is loaded when it is first used.
_LATER = {
    "Array": "_array",
    "Grid": "_team",
    "Team": "_team",
    "all_sum_reduce": "_primitives",
    "broadcast": "_primitives",
    "from_local": "_array",
    "halo_exchange": "_primitives",
    "spmd": "_team",
    "sum_reduce": "_primitives",
    "transpose_partition": "_primitives",
    "world": "_team",
}


# Parts that are imported when they are first named.
_PARTS = ("distdl", "jax", "torch")


def __getattr__(name: str) -> _typing.Any:
    if name in _PARTS:
        from importlib import import_module

        return import_module(f"partita.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"partita.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_LATER]


__all__ = [
    "Array",
    "Block",
    "Cyclic",
    "DeadlineError",
    "Grid",
    "Layout",
    "LayoutError",
    "MismatchError",
    "Move",
    "PartitaError",
    "Piece",
    "Pieces",
    "Plan",
    "RemoteError",
    "Run",
    "Team",
    "TeamError",
    "Unstructured",
    "Whole",
    "__version__",
    "all_sum_reduce",
    "broadcast",
    "from_local",
    "halo_exchange",
    "plan",
    "spmd",
    "sum_reduce",
    "transpose_partition",
    "world",
]
