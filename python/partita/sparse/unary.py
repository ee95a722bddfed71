"""Functions of each element that leave zeros zero."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.agreement import computed
from partita.sparse.aligned import without_zeros
from partita.sparse.block import Block
from partita.sparse.elements import Elements, is_number, number_words
from partita.sparse.kinds import checked_dtype

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


def _method(function: Any) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        data = computed(self._team, lambda: function(self._block.data))
        return self._with_data(data, function.__name__)

    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = f"Return {function.__name__} of each element."
    return method


class Unary(Elements):
    """NumPy's functions as methods; results share the pattern, on every rank alike."""

    __slots__ = ()

    sin = _method(np.sin)
    tan = _method(np.tan)
    arcsin = _method(np.arcsin)
    arctan = _method(np.arctan)
    sinh = _method(np.sinh)
    tanh = _method(np.tanh)
    arcsinh = _method(np.arcsinh)
    arctanh = _method(np.arctanh)
    rint = _method(np.rint)
    sign = _method(np.sign)
    expm1 = _method(np.expm1)
    log1p = _method(np.log1p)
    deg2rad = _method(np.deg2rad)
    rad2deg = _method(np.rad2deg)
    radians = _method(np.radians)
    degrees = _method(np.degrees)
    floor = _method(np.floor)
    ceil = _method(np.ceil)
    trunc = _method(np.trunc)
    sqrt = _method(np.sqrt)
    cbrt = _method(np.cbrt)
    square = _method(np.square)
    fabs = _method(np.fabs)
    isnan = _method(np.isnan)
    isinf = _method(np.isinf)
    __abs__ = _method(np.abs)

    def __neg__(self) -> Self:
        if self.dtype == np.bool_:
            message = "truth values have no negative; convert them to numbers"
            raise NotImplementedError(message)
        return self._with_data(-self._block.data, "neg")

    def __round__(self, ndigits: int = 0) -> Self:
        with self._team:
            digits = index(ndigits)
        data = computed(self._team, lambda: np.round(self._block.data, digits))
        return self._with_data(data, f"round {digits}")

    def __pos__(self) -> Self:
        return self._same()

    def _with_data(self, data: Any, by: str) -> Self:
        return self._made(self._block.with_data(data), by)

    def conj(self, copy: bool = True) -> Self:
        """Return the complex conjugates."""
        if self.dtype.kind != "c":
            return self._same()
        return self._with_data(self._block.data.conj(), "conj")

    conjugate = conj

    @property
    def real(self) -> Self:
        """The real parts."""
        if self.dtype.kind != "c":
            return self._same()
        return self._with_data(self._block.data.real.copy(), "real")

    @property
    def imag(self) -> Self:
        """The imaginary parts."""
        if self.dtype.kind != "c":
            return self._with_data(np.zeros_like(self._block.data), "imag")
        return self._with_data(self._block.data.imag.copy(), "imag")

    def power(self, n: Any, dtype: Any = None) -> Self:
        """Return the elements to a power, which is a number other than 0."""
        # What is wrong here may be wrong on this rank only: the others are told.
        with self._team:
            kind = self._power_type(n, dtype)
        data = self._block.data
        made = computed(self._team, lambda: data.astype(kind, copy=False) ** n)
        return self._with_data(made, f"power {number_words(n)}")

    def _power_type(self, n: Any, dtype: Any) -> np.dtype[Any]:
        """The type of what is raised to a power, if that is a number that leaves zeros zero."""
        if not is_number(n):
            raise NotImplementedError(f"a {type(n).__name__} as a power; use a number")
        if not n:
            message = "the power 0 would make all zeros ones"
            raise NotImplementedError(f"{message}; use partita.ones(t.shape)")
        kind = self.dtype if dtype is None else checked_dtype(dtype)
        # What a type does not have is refused here, also where a rank has no entries.
        try:
            with np.errstate(all="ignore"):
                np.ones(1, kind) ** n
        except (ValueError, OverflowError) as error:
            text = str(error).rstrip(".")
            message = f"{kind} to the power {n}: {text}; use t.power({n}, dtype=float)"
            raise type(error)(message) from None
        return kind

    def eliminate_zeros(self) -> Self:
        """Return the tensor without entries that are zero; it is the same to look at."""
        kept = without_zeros(self._block)
        # A new pattern also where this rank drops nothing: what is kept for one holds on all ranks.
        return self._made(Block.from_arrays(kept.shape, kept.format, kept.arrays), "")
