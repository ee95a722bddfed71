"""NumPy's own functions on our arrays, and their text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from partita._functions.texts import array_str
from partita._missing import words

if TYPE_CHECKING:
    from partita._array.array import Array


def namespace(version: str | None = None) -> Any:
    """The module whose functions arrays are for."""
    if version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"version {version!r} of the Array API; use '2025.12'")
    return sys.modules["partita"]


def array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Let `numpy.sin(a)`, `numpy.add.reduce(a)` and mixed operands stay arrays of ours."""
    ours = getattr(namespace(), ufunc.__name__, None)
    if ours is None:
        _refuse("numpy", ufunc.__name__)
    options = {k: v for k, v in options.items() if v is not np._NoValue}
    if method == "__call__":
        return ours(*inputs, **options)
    function = getattr(ours, method, None)
    if function is None:
        raise TypeError(f"numpy.{ufunc.__name__}.{method} of arrays of partita; use whole arrays")
    out = options.pop("out", None)
    if out is not None:
        options["out"] = out[0] if isinstance(out, tuple) else out
    return function(*inputs, **options)


def array_function(self: Array, function: Any, kinds: Any, args: Any, options: Any) -> Any:
    """Let `numpy.concatenate([a, b])` and the like stay arrays of ours."""
    module = function.__module__
    if module.partition(".")[0] != "numpy":
        return NotImplemented
    ours: Any = namespace()
    for part in module.split(".")[1:]:
        ours = getattr(ours, part, None)
    found = getattr(ours, function.__name__, None)
    if found is None:
        _refuse(module, function.__name__)
    return found(*args, **options)


def _refuse(module: str, name: str) -> NoReturn:
    """Say of a function of NumPy that it takes no arrays of ours, and what does."""
    raise TypeError(words(module, name, dir(namespace())))


def text_of(array: Array) -> str:
    """The elements as text; of a large array only the corners travel."""
    return array_str(array)
