"""bfloat16, which NumPy knows only with the help of other libraries: its bits travel as uint16."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

NAME = "bfloat16"

Local = np.ndarray[Any, Any]


def storage(dtype: Any) -> np.dtype[Any]:
    """The type of the memory of elements of a type."""
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    return np.dtype("uint16") if name == NAME else np.dtype(dtype)


def taught() -> np.dtype[Any]:
    """The type itself, once the library that brings it has taught NumPy."""
    try:
        found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError:
        raise TypeError("NumPy has no bfloat16; install ml_dtypes, which brings it") from None
    return found


def as_bits(array: Any) -> Any:
    """The memory of an array as engines see it; others than bfloat16 are as they are."""
    # Its kind tells most others apart; asking for names takes a microsecond.
    if not isinstance(array, np.ndarray) or array.dtype.kind != "V" or array.dtype.name != NAME:
        return array
    return array.view("uint16")


def as_numbers(array: Local, name: str) -> Local:
    """Bits as bfloat16 where some library has taught NumPy that type, else as they are."""
    if name != NAME:
        return array
    try:
        return array.view(NAME)
    except TypeError:
        return array
