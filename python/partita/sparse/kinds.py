"""Element types of sparse tensors: of their values, and of their coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._errors import LayoutError

Local = np.ndarray[Any, Any]

VALUES = tuple(
    np.dtype(one)
    for one in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    )
)

MOST_INT32 = np.iinfo(np.int32).max


def values_of(given: Any) -> Local:
    """Return values in one row in this machine's byte order; the same memory where it can be."""
    values = np.asarray(given)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    checked_dtype(values.dtype)
    if values.ndim != 1:
        message = f"values of shape {values.shape}; give one row of them"
        raise LayoutError(message, "sparse-values")
    return in_place(values)


def checked_dtype(given: Any) -> np.dtype[Any]:
    """Return an element type in this machine's byte order, if sparse tensors have it."""
    dtype: np.dtype[Any] = np.dtype(given).newbyteorder("=")
    if dtype not in VALUES:
        message = f"sparse values of {dtype}; use bool, integers, float32, float64 or complex"
        raise LayoutError(message, "sparse-dtype")
    return dtype


def check_result(dtype: np.dtype[Any], by: str) -> None:
    """Refuse a result of a type that sparse tensors have not: of halves, or of long doubles."""
    if dtype in VALUES:
        return
    cure = "t.astype('float32'), or operands of float32"
    if dtype != np.float16:
        cure = f"operands of {'complex128' if dtype.kind == 'c' else 'float64'}"
    message = f"{by} gives {dtype}, which sparse tensors have not; use {cure}"
    raise LayoutError(message, "sparse-dtype")


def index_type(asked: Any, largest: int, n_entries: int) -> np.dtype[Any]:
    """Return the type for coordinates: int32 where extents and entries fit, or what is asked."""
    fits = max(largest, n_entries) <= MOST_INT32
    if asked is None:
        return np.dtype(np.int32 if fits else np.int64)
    dtype: np.dtype[Any] = np.dtype(asked).newbyteorder("=")
    if dtype not in (np.int32, np.int64):
        raise LayoutError(f"index_dtype {dtype}; use int32 or int64", "sparse-index-dtype")
    if dtype == np.int32 and not fits:
        message = f"index_dtype int32 for {max(largest, n_entries)} entries or rows; use int64"
        raise LayoutError(message, "sparse-index-dtype")
    return dtype


def at_least(dtype: np.dtype[Any]) -> Any:
    """What to ask `index_type` for where coordinates of a type go on: as wide, wider if need be."""
    return None if dtype == np.int32 else np.int64


def one_index_type(arrays: list[Local]) -> list[Local]:
    """Return coordinates in one type, int32 or int64; the same memory where they are so."""
    small = all(one.dtype == np.int32 for one in arrays)
    dtype = np.dtype(np.int32 if small else np.int64)
    return [in_place(one.astype(dtype, copy=False)) for one in arrays]


def in_place(given: Local) -> Local:
    """Return elements one after the other at even addresses; the same memory where they are so."""
    return np.require(given, requirements=["C", "A"])
