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

    def __call__(
        cls,
        shape: Any,
        dtype: Any = float,
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: Any = None,
        **where: Any,
    ) -> Array:
        """Return an array whose elements nobody has set."""
        if buffer is not None or offset or strides is not None:
            message = "ndarray takes no buffer=, offset= or strides= here"
            raise TypeError(f"{message}; use asarray(numpy.ndarray(...)), or frombuffer")
        return empty(shape, dtype, order=order, **where)

    def __getattr__(cls, name: str) -> Any:
        """Methods by the class's name, as `ndarray.sum(a)`."""
        if name.startswith("__"):
            raise AttributeError(f"type object 'ndarray' has no attribute {name!r}", name=name)
        return getattr(Array, name)


class ndarray(metaclass=_LikeArray):
    """Arrays by NumPy's name: `isinstance(a, ndarray)`, and `ndarray(shape, dtype)` makes one."""


__all__ = ["ndarray"]
