"""Names of element types, what types have in common, and questions about them; NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array

# Types by other names, and the abstract ones above them.
bool_, int_, uint, intp, uintp = np.bool, np.int_, np.uint, np.intp, np.uintp
byte, short, intc, long, longlong = np.byte, np.short, np.intc, np.long, np.longlong
ubyte, ushort, uintc, ulong, ulonglong = np.ubyte, np.ushort, np.uintc, np.ulong, np.ulonglong
half, single, double, csingle, cdouble = np.half, np.single, np.double, np.csingle, np.cdouble
generic, number, integer, inexact = np.generic, np.number, np.integer, np.inexact
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating

True_, False_ = np.True_, np.False_
# Texts of single numbers, and indices, which are no arrays.
base_repr, binary_repr = np.base_repr, np.binary_repr
format_float_positional = np.format_float_positional
format_float_scientific = np.format_float_scientific
s_, index_exp, ndindex = np.s_, np.index_exp, np.ndindex

euler_gamma = np.euler_gamma
little_endian = np.little_endian

issubdtype, promote_types = np.issubdtype, np.promote_types
typename, typecodes, mintypecode = np.typename, np.typecodes, np.mintypecode
ScalarType, sctypeDict = np.ScalarType, np.sctypeDict
# Classes of exceptions and types, which programs name.
exceptions, dtypes = np.exceptions, np.dtypes
geterr = np.geterr
set_printoptions, get_printoptions = np.set_printoptions, np.get_printoptions
printoptions = np.printoptions


# Ways to treat floating point errors that need to know the line where one happens.
_UNHEARD = ("raise", "call", "log")


def errstate(**kwargs: Any) -> np.errstate:
    """Return what treats NumPy's floating point errors otherwise in a `with` block.

    Arrays of ranks have NumPy's values without its warnings. Errors by themselves are refused: an
    operation is computed later, with others, by all ranks.
    """
    _refuse_unheard(kwargs)
    return np.errstate(**kwargs)


def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> Any:
    """Set how NumPy treats floating point errors; return how it did. As for `errstate`."""
    kinds = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    _refuse_unheard(kinds)
    return np.seterr(all=all, divide=divide, over=over, under=under, invalid=invalid)


def _refuse_unheard(kinds: dict[str, Any]) -> None:
    for name, how in kinds.items():
        if name != "call" and how in _UNHEARD:
            message = (
                f"{name}={how!r} cannot be heeded: operations are computed later, with others; "
                "look at the result, as in np.isfinite(a).all(), or use numpy.errstate for arrays "
                "of NumPy"
            )
            raise NotImplementedError(message)


def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    """Return the smallest type that holds a number; of an array its own."""
    if isinstance(a, Array):
        return a.dtype if a.ndim else np.min_scalar_type(a.item())
    return np.min_scalar_type(a)


def common_type(*arrays: Any) -> Any:
    """Return the floating type that holds all elements of arrays."""
    seen = [np.empty(0, one.dtype) if isinstance(one, Array) else one for one in arrays]
    return np.common_type(*seen)


def isscalar(element: Any) -> bool:
    """Return whether an object is a number, and no array."""
    return np.isscalar(element)


def iscomplexobj(x: Any) -> bool:
    """Return whether elements are of a complex type."""
    return x.dtype.kind == "c" if isinstance(x, Array) else np.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Return whether elements are of no complex type."""
    return not iscomplexobj(x)


def isfortran(a: Any) -> bool:
    """Return whether elements lie in the order of Fortran alone; here they never do."""
    return False if isinstance(a, Array) else np.isfortran(a)


def iterable(y: Any) -> bool:
    """Return whether an object has entries to go through."""
    return y.ndim > 0 if isinstance(y, Array) else np.iterable(y)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Return whether the memory of two arrays may overlap on this rank; computes both."""
    return _on_each_pair(np.may_share_memory, a, b)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Return whether two arrays have elements in the same memory on this rank; computes both."""
    return _on_each_pair(np.shares_memory, a, b)


def _on_each_pair(asked: Any, a: Any, b: Any) -> bool:
    ours, theirs = (x._buffers if isinstance(x, Array) else [x] for x in (a, b))
    return any(bool(asked(one, other)) for one in ours for other in theirs)


__all__ = [
    "False_",
    "ScalarType",
    "True_",
    "base_repr",
    "binary_repr",
    "bool_",
    "byte",
    "cdouble",
    "common_type",
    "complexfloating",
    "csingle",
    "double",
    "dtypes",
    "errstate",
    "euler_gamma",
    "exceptions",
    "floating",
    "format_float_positional",
    "format_float_scientific",
    "generic",
    "get_printoptions",
    "geterr",
    "half",
    "index_exp",
    "inexact",
    "int_",
    "intc",
    "integer",
    "intp",
    "iscomplexobj",
    "isfortran",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "little_endian",
    "long",
    "longlong",
    "may_share_memory",
    "min_scalar_type",
    "mintypecode",
    "ndindex",
    "number",
    "printoptions",
    "promote_types",
    "s_",
    "sctypeDict",
    "set_printoptions",
    "seterr",
    "shares_memory",
    "short",
    "signedinteger",
    "single",
    "typecodes",
    "typename",
    "ubyte",
    "uint",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]
