"""The class of NumPy's universal functions: called, and with reduce, accumulate, outer, at.

>>> import partita as pt
>>> print(pt.multiply.outer(pt.arange(3), pt.arange(3)).sum(), pt.add.reduce(pt.arange(5)))
9 10
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import accumulating
from partita._functions.creation import an_array
from partita._functions.elementwise import reduced_to, written
from partita._functions.manipulation import reshape
from partita._functions.serving import serves
from partita._functions.updating import update
from partita._partita import UfuncBase

if TYPE_CHECKING:
    from collections.abc import Callable


def _call(*operands: Any, **options: Any) -> Any: ...


_SIGNATURE = inspect.signature(_call)
# What a call may be given beside operands.
_OPTIONS = ("out", "where", "dtype", "casting", "order", "subok")


class ufunc(UfuncBase):
    """A function of each element alone, by the name and with the methods that NumPy's has."""

    __module__ = "partita"

    def __init__(
        self, name: str, function: Callable[..., Any], text: str | None, reduction: Any = None
    ) -> None:
        self._theirs: np.ufunc = getattr(np, name)
        self._function = function
        self._reduction = reduction
        known: str = self._theirs.__name__
        self.__name__ = self.__qualname__ = known
        self.__doc__ = text
        self.nin, self.nout = self._theirs.nin, self._theirs.nout
        self.nargs, self.ntypes = self._theirs.nargs, self._theirs.ntypes
        self.types, self.identity = self._theirs.types, self._theirs.identity
        self.signature = None

    @property
    def __signature__(self) -> inspect.Signature:
        """What it takes; the call itself is native."""
        return _SIGNATURE

    def __repr__(self) -> str:
        return f"<partita.ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        return self.__name__

    def _called(self, operands: tuple[Any, ...], options: dict[str, Any] | None) -> Any:
        """The function of each element; options as NumPy has them."""
        for one in operands:
            if serves(one):
                return one.__array_ufunc__(self._theirs, "__call__", *operands, **(options or {}))
        if not options and len(operands) == self.nin:
            return self._function(*operands)
        for option in options or {}:
            if option not in _OPTIONS:
                known = f"{', '.join(_OPTIONS[:-1])} or {_OPTIONS[-1]}"
                raise TypeError(f"{self.__name__}() takes no option {option}; use {known}")
        return self._with(operands, **(options or {}))

    def _with(
        self,
        operands: tuple[Any, ...],
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: Any = "same_kind",
        order: Any = "K",
        subok: bool = True,
    ) -> Any:
        """The function with its results in other arrays, at some places, in another type."""
        operands, targets = self._divided(operands, out)
        if dtype is not None or casting != "same_kind":
            operands = self._cast(operands, dtype, casting)
        made = self._function(*operands)
        results = made if self.nout > 1 else (made,)
        pairs = zip(results, targets, strict=True)
        found = tuple(written(one, target, where) for one, target in pairs)
        return found if self.nout > 1 else found[0]

    def _divided(self, given: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], list[Any]]:
        """Operands, and where each result goes, which may be said by position."""
        operands, extra = given[: self.nin], given[self.nin :]
        if len(operands) < self.nin or len(extra) > self.nout:
            most = f"{self.nin} operands" + (f" and {self.nout} more to write to")
            raise TypeError(f"{self.__name__} of {len(given)} arguments; give {most}")
        if extra and out is not None:
            raise TypeError(f"{self.__name__} with out= by position and by name; give it once")
        targets = list(extra) if extra else list(out) if isinstance(out, tuple) else [out]
        if len(targets) > self.nout:
            raise ValueError(f"{len(targets)} arrays for {self.nout} results; give as many")
        return operands, targets + [None] * (self.nout - len(targets))

    def _cast(self, operands: tuple[Any, ...], dtype: Any, casting: Any) -> tuple[Any, ...]:
        """Operands in the types that NumPy would compute with."""
        given = [_kind(one) for one in operands]
        wanted = (None,) * self.nin + (None if dtype is None else np.dtype(dtype),) * self.nout
        kinds = self._theirs.resolve_dtypes(
            (*given, *(None,) * self.nout), signature=wanted, casting=casting
        )
        pairs = zip(operands, kinds, strict=False)
        return tuple(an_array(one).astype(kind, copy=False) for one, kind in pairs)

    def resolve_dtypes(self, dtypes: Any, **options: Any) -> tuple[np.dtype[Any], ...]:
        """Return the types that NumPy's function of this name would compute in."""
        return self._theirs.resolve_dtypes(dtypes, **options)

    def _binary(self, method: str, dtype: Any = None) -> None:
        """Refuse what NumPy has no such method for."""
        name = f"{self.__name__}.{method}"
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"{name}: only functions of two operands have it")
        is_truth = self.__name__.startswith("logical")
        if is_truth and dtype is not None and np.dtype(dtype) != np.bool:
            raise TypeError(f"{name} makes truth values, not {np.dtype(dtype)}; leave dtype out")

    def _typed(self, array: Array, dtype: Any) -> Array:
        """An array in the type that its elements are put together in, if one is given."""
        if dtype is not None:
            # NumPy knows which types the function has, and refuses others.
            self._theirs.accumulate(np.ones(1, array.dtype), dtype=dtype)
        return typed(array, dtype)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Return all elements along axes put together; with `initial=None` there must be some."""
        self._binary("reduce", dtype)
        given = an_array(array)
        if self._reduction is not None:
            if initial is None:
                accumulating.refuse_nothing(self, given, axis, where)
            begin = None if initial is np._NoValue else initial
            return self._reduction(given, axis, dtype, out, keepdims, begin, where)
        given = self._typed(given, dtype)
        made = accumulating.reduced(self, given, axis, keepdims, initial, where)
        return reduced_to(made, out)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Return what the elements so far put together are, along an axis."""
        self._binary("accumulate", dtype)
        given = self._typed(an_array(array), dtype)
        return reduced_to(accumulating.running(self, given, axis, dtype), out)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Return the elements from each position to the next put together."""
        self._binary("reduceat", dtype)
        given = self._typed(an_array(array), dtype)
        return reduced_to(accumulating.in_ranges(self, given, indices, axis, dtype), out)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Return the function of every element of one array with every one of another."""
        self._binary("outer")
        first, second = an_array(A), an_array(B)
        wide = reshape(first, first.shape + (1,) * second.ndim)
        return self(wide, second, **options)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Change elements at positions in place; one that is named twice is changed twice."""
        if (self.nin == 2) != (b is not None):
            raise ValueError(f"{self.__name__}.at with {self.nin} operands; give as many")
        update(self._theirs, a, indices, b)


def _kind(operand: Any) -> Any:
    """What NumPy's rules for types see of an operand."""
    if type(operand) in (int, float, complex):
        return type(operand)
    return operand.dtype if isinstance(operand, Array) else np.asarray(operand).dtype


def typed(array: Array, dtype: Any) -> Array:
    """An array in a type, if one is given."""
    return array if dtype is None else array.astype(dtype, copy=False)


__all__ = ["ufunc"]
