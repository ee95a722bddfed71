"""Arrays that live in many address spaces at once.

A layout says which rank holds which elements; a plan says what moves where:

>>> import partita as pt
>>> rows = pt.Layout((8, 8), "block, * @ 2x1")
>>> columns = pt.Layout((8, 8), [pt.Whole(), pt.Block()], grid=(1, 2))
>>> plan = pt.plan(rows, columns, dtype="float64")
>>> plan.n_messages, plan.bytes_moved
(2, 256)
"""

import sys as _sys
import types as _types
import typing as _typing

from partita import _engines as _engines
from partita._errors import (
    DeadlineError,
    GatherWarning,
    LayoutError,
    MismatchError,
    PartitaError,
    ProgramError,
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
from partita._team import place as _place  # noqa: F401  (watches forks from the start)

if _typing.TYPE_CHECKING:
    from partita._array.array import Array
    from partita._findings import Finding
    from partita._functions.creation import *  # noqa: F403
    from partita._functions.elementwise import *  # noqa: F403
    from partita._functions.files.in_hdf5 import *  # noqa: F403
    from partita._functions.files.in_zarr import *  # noqa: F403
    from partita._functions.files.npy import *  # noqa: F403
    from partita._functions.files.npz import *  # noqa: F403
    from partita._functions.files.text import *  # noqa: F403
    from partita._functions.gathered import *  # noqa: F403
    from partita._functions.looking import *  # noqa: F403
    from partita._functions.manipulation import *  # noqa: F403
    from partita._functions.placing import *  # noqa: F403
    from partita._functions.searching import *  # noqa: F403
    from partita._functions.statistics import *  # noqa: F403
    from partita._functions.types import *  # noqa: F403
    from partita._protocol.check import check
    from partita._protocol.distarray import from_distarray
    from partita._protocol.from_local import from_local
    from partita._protocol.partitioned import from_partitioned
    from partita._tables.frame import Frame
    from partita._team.spmd import spmd, world
    from partita._team.team import Grid, Team
    from partita.dask import from_dask
    from partita.distdl.functions import (
        all_sum_reduce,
        broadcast,
        halo_exchange,
        sum_reduce,
        transpose_partition,
    )
    from partita.ray import from_ray

# What needs NumPy or threads is loaded when it is first used.
_LATER = {
    "Array": "_array.array",
    "Finding": "_findings",
    "Frame": "_tables.frame",
    "Grid": "_team.team",
    "Team": "_team.team",
    "all_sum_reduce": "distdl.functions",
    "broadcast": "distdl.functions",
    "check": "_protocol.check",
    "from_dask": "dask",
    "from_distarray": "_protocol.distarray",
    "from_local": "_protocol.from_local",
    "from_partitioned": "_protocol.partitioned",
    "from_ray": "ray",
    "halo_exchange": "distdl.functions",
    "spmd": "_team.spmd",
    "sum_reduce": "distdl.functions",
    "transpose_partition": "distdl.functions",
    "world": "_team.spmd",
}


# Functions of arrays, by the module that has them.
_FUNCTIONS = {
    "creation": """arange array asarray copy empty empty_like eye full full_like linspace meshgrid
        ndim ones ones_like shape size zeros zeros_like""",
    "elementwise": """angle around clip fmax fmin isclose positive rint
        abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
        asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_not
        bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh
        divide equal erf erfc exp exp2 expm1 fabs floor floor_divide greater greater_equal hypot
        imag invert isfinite isinf isnan left_shift less less_equal log log10 log1p log2
        logaddexp logical_and logical_not logical_or logical_xor maximum minimum mod multiply
        negative nextafter not_equal pow power real reciprocal remainder right_shift round sign
        signbit sin sinh sqrt square subtract tan tanh true_divide trunc""",
    "files.in_hdf5": "from_hdf5",
    "files.in_zarr": "from_zarr",
    "files.npy": "fromfile load save",
    "files.npz": "savez savez_compressed",
    "files.text": "loadtxt savetxt",
    "gathered": "gathers",
    "looking": "explain memory_limit profile progress",
    "manipulation": """broadcast_arrays broadcast_shapes broadcast_to concat concatenate expand_dims
        flip hstack matrix_transpose moveaxis permute_dims ravel repeat reshape roll squeeze stack
        swapaxes tile transpose tril triu unstack vstack""",
    "placing": "compute default_layout",
    "searching": "argmax argmin count_nonzero nonzero where",
    "statistics": """all allclose amax amin any array_equal cumprod cumsum cumulative_prod
        cumulative_sum max mean min prod std sum var""",
    "types": """astype bool can_cast complex64 complex128 dtype e finfo float16 float32
        float64 iinfo inf int8 int16 int32 int64 isdtype nan newaxis pi result_type
        uint8 uint16 uint32 uint64""",
}
_LATER |= {
    name: f"_functions.{module}" for module, names in _FUNCTIONS.items() for name in names.split()
}

_MODULES = ("dask", "dist", "distdl", "fft", "ir", "random", "ray")
# Those that are nothing without another library are not listed, but found.
_EXTRAS = ("jax", "torch")


def _to_dask() -> _types.ModuleType:
    from partita.dask import hand_over

    return hand_over


def _to_ray() -> _types.ModuleType:
    from partita.ray import hand_over

    return hand_over


_engines.LOADERS.update(dask=_to_dask, ray=_to_ray)


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _MODULES or name in _EXTRAS:
        return import_module(f"partita.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    found = getattr(import_module(f"partita.{_LATER[name]}"), name)
    if "partita._array.array" in _sys.modules:
        # Whoever can meet an array needs its methods, which come with the functions.
        import_module("partita._functions.methods")
    # A name is looked for once: programs use it in their loops.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *_LATER, *_MODULES]


__all__ = [
    "Array",
    "Block",
    "Cyclic",
    "DeadlineError",
    "Finding",
    "Frame",
    "GatherWarning",
    "Grid",
    "Layout",
    "LayoutError",
    "ProgramError",
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
    *sorted(name for names in _FUNCTIONS.values() for name in names.split()),
]
