"""Element types, promotion and limits; constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions.inspection import check_device

if TYPE_CHECKING:
    from collections.abc import Callable

# NumPy's own, so that `float32(1.5)` is a number as there.
bool = np.bool
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128

e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi


def _plain(given: Any) -> Any:
    """An array's element type; numbers and types as they are."""
    return given.dtype if isinstance(given, Array) else given


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the element type that operands have together."""
    return np.result_type(*map(_plain, arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> Any:
    """Return whether elements of one type become another without loss, or as is allowed."""
    return np.can_cast(_plain(from_), to, casting)


class finfo:
    """The limits of a floating type, as numbers of Python; what else NumPy says of it, as there."""

    def __init__(self, type: Any, /) -> None:
        self._numpys = np.finfo(_plain(type))
        self.bits = self._numpys.bits
        self.dtype = self._numpys.dtype
        self.eps, self.smallest_normal = float(self._numpys.eps), float(self._numpys.tiny)
        self.max, self.min = float(self._numpys.max), float(self._numpys.min)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._numpys, name)

    def __repr__(self) -> str:
        return repr(self._numpys)


def iinfo(type: Any, /) -> Any:
    """Return the limits of an integer type."""
    return np.iinfo(_plain(type))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Return whether an element type is of a kind."""
    return np.isdtype(dtype, kind)


def astype(x: Array, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """Return the elements in another type."""
    check_device(device)
    if not copy and np.dtype(dtype) == x.dtype:
        return x
    return x._cast(dtype)


dtype: Callable[..., np.dtype[Any]] = np.dtype


__all__ = [
    "astype",
    "bool",
    "can_cast",
    "complex128",
    "complex64",
    "dtype",
    "e",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "nan",
    "newaxis",
    "pi",
    "result_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
