"""`partita.ndarray`: the class's name that programs call and ask for."""

from __future__ import annotations

from typing import Any

from partita._array.array import Array
from partita._functions.creation import empty


class _LikeArray(type):
    """Lets one class stand for another when it is asked for, and make its arrays when called."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Array)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, Array)

    def __call__(cls, shape: Any, dtype: Any = float, **where: Any) -> Array:
        """Return an array whose elements nobody has set."""
        return empty(shape, dtype, **where)


class ndarray(metaclass=_LikeArray):
    """Arrays by NumPy's name: `isinstance(a, ndarray)`, and `ndarray(shape, dtype)` makes one."""


__all__ = ["ndarray"]
