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
    from partita._functions.applying import *  # noqa: F403
    from partita._functions.bits import *  # noqa: F403
    from partita._functions.counting import *  # noqa: F403
    from partita._functions.creation import *  # noqa: F403
    from partita._functions.diagonals import *  # noqa: F403
    from partita._functions.differences import *  # noqa: F403
    from partita._functions.einsums import *  # noqa: F403
    from partita._functions.elementwise import angle as angle
    from partita._functions.elementwise import around as around
    from partita._functions.elementwise import clip as clip
    from partita._functions.elementwise import erf as erf
    from partita._functions.elementwise import erfc as erfc
    from partita._functions.elementwise import imag as imag
    from partita._functions.elementwise import isclose as isclose
    from partita._functions.elementwise import real as real
    from partita._functions.elementwise import round as round
    from partita._functions.files.in_hdf5 import *  # noqa: F403
    from partita._functions.files.in_zarr import *  # noqa: F403
    from partita._functions.files.npy import *  # noqa: F403
    from partita._functions.files.npz import *  # noqa: F403
    from partita._functions.files.text import *  # noqa: F403
    from partita._functions.finding import *  # noqa: F403
    from partita._functions.flat import ndenumerate as ndenumerate
    from partita._functions.gathered import *  # noqa: F403
    from partita._functions.grids import *  # noqa: F403
    from partita._functions.histograms import *  # noqa: F403
    from partita._functions.inspection import __array_api_version__ as __array_api_version__
    from partita._functions.inspection import __array_namespace_info__ as __array_namespace_info__
    from partita._functions.joining import *  # noqa: F403
    from partita._functions.kinds import *  # noqa: F403
    from partita._functions.likes import *  # noqa: F403
    from partita._functions.looking import *  # noqa: F403
    from partita._functions.manipulation import *  # noqa: F403
    from partita._functions.moments import *  # noqa: F403
    from partita._functions.nans import *  # noqa: F403
    from partita._functions.ndarrays import *  # noqa: F403
    from partita._functions.numbers import *  # noqa: F403
    from partita._functions.order import *  # noqa: F403
    from partita._functions.padding import *  # noqa: F403
    from partita._functions.picking import *  # noqa: F403
    from partita._functions.placing import *  # noqa: F403
    from partita._functions.poly1d import *  # noqa: F403
    from partita._functions.polynomials import *  # noqa: F403
    from partita._functions.products import *  # noqa: F403
    from partita._functions.searching import *  # noqa: F403
    from partita._functions.sets import *  # noqa: F403
    from partita._functions.sorting import *  # noqa: F403
    from partita._functions.statistics import *  # noqa: F403
    from partita._functions.texts import *  # noqa: F403
    from partita._functions.types import *  # noqa: F403
    from partita._functions.ufuncs import *  # noqa: F403
    from partita._functions.vectorizing import *  # noqa: F403
    from partita._functions.windows import *  # noqa: F403
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
    from partita.linalg.fitting import polyfit
    from partita.ray import from_ray

# What needs NumPy or threads is loaded when it is first used.
_LATER = {
    "Array": "_array.array",
    "Finding": "_findings",
    "Frame": "_tables.frame",
    "Grid": "_team.team",
    "Team": "_team.team",
    "__array_api_version__": "_functions.inspection",
    "__array_namespace_info__": "_functions.inspection",
    "all_sum_reduce": "distdl.functions",
    "broadcast": "distdl.functions",
    "check": "_protocol.check",
    "from_dask": "dask",
    "from_distarray": "_protocol.distarray",
    "from_local": "_protocol.from_local",
    "from_partitioned": "_protocol.partitioned",
    "from_ray": "ray",
    "halo_exchange": "distdl.functions",
    "polyfit": "linalg.fitting",
    "spmd": "_team.spmd",
    "sum_reduce": "distdl.functions",
    "transpose_partition": "distdl.functions",
    "world": "_team.spmd",
}


# Functions of arrays, by the module that has them.
_FUNCTIONS = {
    "applying": "apply_along_axis apply_over_axes",
    "bits": "packbits unpackbits",
    "counting": "bincount histogram histogram_bin_edges",
    "creation": """arange array asanyarray asarray asarray_chkfinite ascontiguousarray
        asfortranarray copy empty eye from_dlpack full linspace meshgrid ndim ones require shape
        size zeros""",
    "diagonals": "diag diagflat fill_diagonal",
    "differences": "convolve correlate diff ediff1d gradient interp polyval trapezoid unwrap",
    "einsums": "einsum einsum_path",
    "elementwise": "angle around clip erf erfc imag isclose real round",
    "files.in_hdf5": "from_hdf5",
    "files.in_zarr": "from_zarr",
    "files.npy": "fromfile load save",
    "files.npz": "savez savez_compressed",
    "files.text": "genfromtxt loadtxt savetxt",
    "finding": "digitize searchsorted",
    "flat": "ndenumerate",
    "gathered": "gathers",
    "grids": """c_ diag_indices diag_indices_from frombuffer fromfunction fromiter geomspace
        identity indices ix_ logspace mask_indices mgrid ogrid r_ ravel_multi_index tri tril_indices
        tril_indices_from triu_indices triu_indices_from unravel_index vander""",
    "histograms": "histogram2d histogramdd",
    "joining": """append array_split atleast_1d atleast_2d atleast_3d block column_stack delete
        dsplit dstack fliplr flipud hsplit insert resize rollaxis rot90 row_stack split trim_zeros
        vsplit""",
    "kinds": """False_ ScalarType True_ base_repr binary_repr bool_ byte cdouble common_type
        complexfloating csingle double dtypes errstate euler_gamma exceptions floating
        format_float_positional format_float_scientific generic get_printoptions geterr half
        index_exp inexact int_ intc integer intp iscomplexobj isfortran isrealobj isscalar
        issubdtype iterable little_endian long longlong may_share_memory min_scalar_type mintypecode
        ndindex number printoptions promote_types s_ sctypeDict set_printoptions seterr
        shares_memory short signedinteger single typecodes typename ubyte uint uintc uintp ulong
        ulonglong unsignedinteger ushort""",
    "likes": "empty_like full_like ones_like zeros_like",
    "looking": "explain memory_limit profile progress",
    "manipulation": """broadcast_arrays broadcast_shapes broadcast_to concat concatenate
        expand_dims flip hstack matrix_transpose moveaxis permute_dims ravel repeat reshape roll
        squeeze stack swapaxes tile transpose tril triu unstack vstack""",
    "moments": "average corrcoef cov ptp",
    "nans": """nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd
        nansum nanvar""",
    "ndarrays": "ndarray",
    "numbers": "fix i0 iscomplex isneginf isposinf isreal nan_to_num real_if_close sinc",
    "order": "median nanmedian nanpercentile nanquantile percentile quantile",
    "padding": "pad",
    "picking": """argwhere choose compress copyto extract flatnonzero piecewise place put
        put_along_axis putmask select take take_along_axis""",
    "placing": "compute default_layout",
    "poly1d": "poly1d",
    "polynomials": "poly polyadd polyder polydiv polyint polymul polysub roots",
    "products": """cross diagonal dot inner kron matmul matvec outer tensordot trace vdot vecdot
        vecmat""",
    "searching": "argmax argmin count_nonzero nonzero where",
    "sets": """intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts
        unique_inverse unique_values""",
    "sorting": "argpartition argsort lexsort partition sort sort_complex",
    "statistics": """all allclose amax amin any array_equal array_equiv cumprod cumsum
        cumulative_prod cumulative_sum max mean min prod std sum var""",
    "texts": "array2string array_repr array_str",
    "types": """astype bool can_cast complex128 complex64 dtype e finfo float16 float32 float64
        iinfo inf int16 int32 int64 int8 isdtype nan newaxis pi result_type uint16 uint32 uint64
        uint8""",
    "ufuncs": """abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2
        arctanh asin asinh atan atan2 atanh bitwise_and bitwise_count bitwise_invert
        bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj
        conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs
        float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside
        hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 log1p
        log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum
        mod modf multiply negative nextafter not_equal positive pow power rad2deg radians
        reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt square subtract
        tan tanh true_divide trunc ufunc""",
    "vectorizing": "frompyfunc vectorize",
    "windows": "bartlett blackman hamming hanning kaiser",
}
_LATER |= {
    name: f"_functions.{module}" for module, names in _FUNCTIONS.items() for name in names.split()
}

_MODULES = (
    "dask",
    "dist",
    "distdl",
    "emath",
    "fft",
    "ir",
    "lib",
    "linalg",
    "random",
    "ray",
    "sparse",
    "testing",
)
# Those that are nothing without another library are not listed, but found.
_EXTRAS = ("jax", "torch")


def _to_dask() -> _types.ModuleType:
    from partita.dask import hand_over

    return hand_over


def _to_ray() -> _types.ModuleType:
    from partita.ray import hand_over

    return hand_over


def _methods() -> _types.ModuleType:
    from partita._functions import methods

    return methods


_engines.LOADERS.update(dask=_to_dask, ray=_to_ray, methods=_methods)


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _MODULES or name in _EXTRAS:
        return import_module(f"partita.{name}")
    if name not in _LATER:
        from partita._missing import no_attribute

        raise no_attribute("partita", name, _LATER)
    found = getattr(import_module(f"partita.{_LATER[name]}"), name)
    if "partita._array.array" in _sys.modules:
        # Whoever can look at the class shall find its methods, also before the first array.
        _engines.load_methods()
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
    "polyfit",
    "spmd",
    "sum_reduce",
    "transpose_partition",
    "world",
    *sorted(name for names in _FUNCTIONS.values() for name in names.split()),
]
