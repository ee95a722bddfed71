"""What the library has of the Array API: capabilities, devices, orders, element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._errors import LayoutError

# The edition of the standard that the functions follow.
__array_api_version__ = "2025.12"

_TYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
    float32 float64 complex64 complex128"""
_DEFAULTS = {
    "real floating": "float64",
    "complex floating": "complex128",
    "integral": "int64",
    "indexing": "int64",
}


def check_device(device: Any) -> None:
    """Refuse a device that is none of ours."""
    if device not in (None, "cpu"):
        message = f"device {device!r} is not known here; use 'cpu' or None"
        raise LayoutError(message, "device-unknown")


def in_c_order(order: Any) -> None:
    """Refuse another order of elements than C's, in which the last index is the fastest."""
    if order not in (None, "C", "A", "K"):
        raise LayoutError(f"order {order!r}; use 'C', or transpose first", "order-unknown")


class NamespaceInfo:
    """Answers to what a program may ask of the namespace."""

    def capabilities(self) -> dict[str, Any]:
        """Return which optional behaviour there is."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self) -> str:
        """Return where arrays are if nothing is said."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Return where arrays can be."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the element types that functions choose by themselves."""
        check_device(device)
        return {use: np.dtype(name) for use, name in _DEFAULTS.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the element types of a kind, or all, by name."""
        check_device(device)
        types = {name: np.dtype(name) for name in _TYPES.split()}
        if kind is None:
            return types
        return {name: one for name, one in types.items() if np.isdtype(one, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Return what the library has of the Array API."""
    return NamespaceInfo()


__all__ = ["__array_api_version__", "__array_namespace_info__"]
