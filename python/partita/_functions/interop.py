"""NumPy's own functions on our arrays, and their text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.elementwise import written
from partita._functions.manipulation import concat

# More elements than this are shown by their corners.
_MOST_SHOWN = 1000
_AT_EACH_END = 3


def namespace(version: str | None = None) -> Any:
    """The module whose functions arrays are for."""
    if version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"version {version!r} of the Array API; use '2025.12'")
    return sys.modules["partita"]


def array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Let `numpy.sin(a)` and mixed operands stay arrays of ours."""
    function = getattr(namespace(), ufunc.__name__, None)
    options = {k: v for k, v in options.items() if v is not np._NoValue}
    is_reduction = method == "reduce" and ufunc.__name__ in _REDUCTIONS
    if is_reduction:
        function, method = getattr(namespace(), _REDUCTIONS[ufunc.__name__]), "__call__"
        options.setdefault("axis", 0)
    dtype = options.pop("dtype", None)
    if method != "__call__" or function is None or options.get("casting") is not None:
        return NotImplemented
    if dtype is None:
        return function(*inputs, **options)
    # Which elements count is a reduction's own business.
    where = True if is_reduction else options.pop("where", True)
    out = options.pop("out", None)
    return written(function(*inputs, **options).astype(dtype), out, where)


_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}


def array_function(self: Array, function: Any, kinds: Any, args: Any, options: Any) -> Any:
    """Let `numpy.concatenate([a, b])` and the like stay arrays of ours."""
    home = namespace()
    if function.__module__ == "numpy.fft":
        home = home.fft
    ours = getattr(home, function.__name__, None)
    if ours is None or function.__module__ not in ("numpy", "numpy.linalg", "numpy.fft"):
        return NotImplemented
    return ours(*args, **options)


def text_of(array: Array) -> str:
    """The elements as text; of a large array only the corners travel."""
    if array.size <= _MOST_SHOWN:
        return str(array.gather())
    with np.printoptions(threshold=0, edgeitems=_AT_EACH_END):
        return str(_corners(array).gather())


def _corners(array: Array) -> Array:
    """The ends of each dimension, with one entry more to be left out."""
    for axis, size in enumerate(array.shape):
        if size > 2 * _AT_EACH_END:
            before = (slice(None),) * axis
            first = array[(*before, slice(_AT_EACH_END))]
            last = array[(*before, slice(-_AT_EACH_END - 1, None))]
            array = concat([first, last], axis=axis)
    return array
