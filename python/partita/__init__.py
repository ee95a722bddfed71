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

from partita import _place as _place
from partita._errors import (
    DeadlineError,
    LayoutError,
    MismatchError,
    PartitaError,
    ProtocolError,
    ProtocolWarning,
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
    from partita._check import Finding, check
    from partita._frame import Frame
    from partita._import import asarray, from_distarray, from_partitioned
    from partita._primitives import (
        all_sum_reduce,
        broadcast,
        halo_exchange,
        sum_reduce,
        transpose_partition,
    )
    from partita._team import Grid, Team, spmd, world
    from partita.dask import from_dask
    from partita.ray import from_ray

# What needs NumPy or threads is loaded when it is first used.
_LATER = {
    "Array": "_array",
    "Finding": "_check",
    "Frame": "_frame",
    "Grid": "_team",
    "Team": "_team",
    "all_sum_reduce": "_primitives",
    "asarray": "_import",
    "broadcast": "_primitives",
    "check": "_check",
    "from_dask": "dask",
    "from_distarray": "_import",
    "from_local": "_array",
    "from_partitioned": "_import",
    "from_ray": "ray",
    "halo_exchange": "_primitives",
    "spmd": "_team",
    "sum_reduce": "_primitives",
    "transpose_partition": "_primitives",
    "world": "_team",
}


_MODULES = ("dask", "distdl", "ray")
# Those that are nothing without another library are not listed, but found.
_EXTRAS = ("jax", "torch")


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _MODULES or name in _EXTRAS:
        return import_module(f"partita.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    return getattr(import_module(f"partita.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_LATER, *_MODULES]


__all__ = [
    "Array",
    "Block",
    "Cyclic",
    "DeadlineError",
    "Finding",
    "Frame",
    "Grid",
    "Layout",
    "LayoutError",
    "MismatchError",
    "Move",
    "PartitaError",
    "Piece",
    "Pieces",
    "Plan",
    "ProtocolError",
    "ProtocolWarning",
    "RemoteError",
    "Run",
    "Team",
    "TeamError",
    "Unstructured",
    "Whole",
    "__version__",
    "all_sum_reduce",
    "asarray",
    "broadcast",
    "check",
    "from_dask",
    "from_distarray",
    "from_local",
    "from_partitioned",
    "from_ray",
    "halo_exchange",
    "plan",
    "spmd",
    "sum_reduce",
    "transpose_partition",
    "world",
]
