"""Sparse tensors in arithmetic: with numbers, with each other, with dense arrays."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise
from partita.sparse.agreement import agreed, computed
from partita.sparse.aligned import combined, hypotenuses, multiplied_elements
from partita.sparse.answers import answered
from partita.sparse.comparing import Comparing
from partita.sparse.complex_order import dense_extreme
from partita.sparse.diagonals import Diagonals
from partita.sparse.elements import as_number, broadcast, check_fits, is_number, number_words
from partita.sparse.extremes import Extremes
from partita.sparse.kinds import check_result
from partita.sparse.outside import is_old_matrix
from partita.sparse.unary import Unary

if TYPE_CHECKING:
    from collections.abc import Callable

Local = np.ndarray[Any, Any]


def is_dense(given: Any) -> bool:
    """Whether an operand is a dense array, of partita or NumPy."""
    return isinstance(given, Array | np.ndarray | list | tuple)


def _dividend_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What SciPy divides instead of a type: what doubles can hold as doubles."""
    return np.dtype(np.float64) if np.can_cast(dtype, np.float64) else dtype


def _quotient_type(dtype: np.dtype[Any], number: Any) -> np.dtype[Any]:
    """The type of quotients by a number, as SciPy has it: a product with its inverse."""
    by = _inverse_type(number.dtype) if hasattr(number, "dtype") else number
    return np.result_type(_dividend_type(dtype), by)


def _inverse_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of inverses: doubles for all whole numbers."""
    found: np.dtype[Any] = np.true_divide(1.0, dtype.type(1)).dtype
    return found


def _quotients(values: Local, by: Local) -> Local:
    """Quotients by the elements of a dense array, in SciPy's type: of products with inverses."""
    kind = np.result_type(values.dtype, _inverse_type(by.dtype))
    return np.asarray(np.true_divide(values, by, dtype=kind))


class Arithmetic(Comparing, Extremes, Diagonals, Unary):
    """Operators as SciPy's sparse arrays have them: `*` is element by element.

    The right operand is brought to where the left one lies. All of them are collective.
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        found = self._added(other, "add", operator.add)
        return answered(self, found, other, "+", "__radd__")

    def __radd__(self, other: Any) -> Any:
        return answered(self, self._added(other, "add", operator.add), other, "+")

    def __sub__(self, other: Any) -> Any:
        found = self._added(other, "subtract", operator.sub)
        return answered(self, found, other, "-", "__rsub__")

    def __rsub__(self, other: Any) -> Any:
        if is_number(other) and as_number(other) == 0:
            return -self
        found = self._added(other, "", lambda ours, theirs: theirs - ours)
        return answered(self, found, other, "-")

    def _added(self, other: Any, name: str, operation: Callable[[Any, Any], Any]) -> Any:
        if is_number(other):
            if as_number(other) == 0:
                return self._same()
            message = "adding a nonzero scalar to a sparse tensor would fill it"
            message += "; use t.to_dense() for that"
            raise self._team.told(NotImplementedError(message))
        right = self._sparse(other)
        if right is not None:
            if not name:
                return right - self
            step = f"{name} {right._words}"
            return self._made(combined(self._block, self._beside(right), name), step)
        if not is_dense(other):
            return NotImplemented
        whole: Any = self
        # An array of NumPy may not fit on this rank only: the others are told.
        with self._team:
            return operation(whole.to_dense(), other)

    def multiply(self, other: Any) -> Any:
        """Return the products of elements; rows, columns and numbers are broadcast. Collective."""
        return answered(self, self._multiplied(other), other, "*")

    def __mul__(self, other: Any) -> Any:
        return answered(self, self._multiplied(other), other, "*", "__rmul__")

    def __rmul__(self, other: Any) -> Any:
        # The class on the left decides what the sign means, as in SciPy.
        if is_old_matrix(other):
            whole: Any = self
            return whole.__rmatmul__(other)
        return self.multiply(other)

    def _multiplied(self, other: Any) -> Any:
        if is_number(other):
            return self._by_number(other, operator.mul)
        right = self._sparse(other)
        if right is None:
            if not is_dense(other):
                return NotImplemented
            return self._scaled(other, operator.mul)
        if right.shape == self.shape:
            step = f"multiply {right._words}"
            return self._made(multiplied_elements(self._block, self._beside(right)), step)
        shape = broadcast(self.shape, right.shape)
        if shape == self.shape:
            # One row or column: as a dense array it is small, and no entry has to travel twice.
            return self._scaled(right.to_dense(), operator.mul).eliminate_zeros()
        if shape == right.shape:
            return right.multiply(self)
        return self._spread(shape).multiply(right)

    def _scaled(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """The entries with the elements of a dense array."""

        def look() -> tuple[tuple[int, ...], dict[str, Any], None]:
            given = np.shape(other)
            kind = np.dtype(other.dtype) if hasattr(other, "dtype") else np.asarray(other).dtype
            if kind.kind not in "biufc":
                raise TypeError(f"an operand of {kind}; use numbers")
            return broadcast(self.shape, given), {"the operand's shape": given}, None

        # An array of NumPy may be another one on each rank.
        shape = look()[0] if isinstance(other, Array) else agreed(self._team, "*", look)[0]
        if shape != self.shape:
            return self._spread(shape)._scaled(other, operation)
        block = self._block
        values = self._dense_values(other, block)
        data = computed(self._team, lambda: operation(block.data, values))
        return self._with_data(data, operation.__name__)

    def _by_number(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        number = as_number(other)
        # Integers may be too large for the tensor's type, and on this rank only.
        with self._team:
            check_fits(number, self.dtype)
            data = computed(self._team, lambda: operation(self._block.data, number))
        return self._with_data(data, f"{operation.__name__} {number_words(number)}")

    def _spread(self, shape: tuple[int, ...]) -> Any:
        """The tensor repeated along dimensions of size 1. Collective."""
        if len(shape) != self.ndim:
            message = f"a tensor of {self.ndim} dimensions for {len(shape)}"
            raise ValueError(f"{message}; use tensors of as many dimensions")
        coords, values = self._own_entries()
        for dim, (own, wanted) in enumerate(zip(self.shape, shape, strict=True)):
            if own != wanted:
                n = len(values)
                coords = [np.tile(one, wanted) for one in coords]
                coords[dim] = np.repeat(np.arange(wanted, dtype=np.int64), n)
                values = np.tile(values, wanted)
        made: Any = type(self)
        return made.from_coo(shape, coords, values, self.dist, self._team, self.format)

    def __truediv__(self, other: Any) -> Any:
        return answered(self, self._divided(other), other, "/", "__rtruediv__")

    def _divided(self, other: Any) -> Any:
        if is_number(other):
            number = as_number(other)
            with self._team:
                kind = _quotient_type(self.dtype, number)
                given = self._block.data.astype(kind)
                data = computed(self._team, lambda: (given / number).astype(kind))
            return self._with_data(data, f"truediv {number_words(number)}")
        whole: Any = self
        right = self._sparse(other)
        if right is not None:
            # Complex quotients have NumPy's type: SciPy's loses their imaginary parts.
            kind = self.dtype if right.dtype.kind == "c" else _dividend_type(self.dtype)
            # Zeros divided by zeros are not zero.
            return whole.astype(kind).to_dense() / right.to_dense()
        return self._scaled(other, _quotients) if is_dense(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        message = "divisions by a sparse tensor give infinities for all its zeros"
        raise self._team.told(NotImplementedError(f"{message}; use t.to_dense() for that"))

    def __floordiv__(self, other: Any) -> Any:
        raise self._no_remainders("//")

    def __rfloordiv__(self, other: Any) -> Any:
        raise self._no_remainders("//")

    def __mod__(self, other: Any) -> Any:
        raise self._no_remainders("%")

    def __rmod__(self, other: Any) -> Any:
        raise self._no_remainders("%")

    def __divmod__(self, other: Any) -> Any:
        raise self._no_remainders("divmod")

    def __rdivmod__(self, other: Any) -> Any:
        raise self._no_remainders("divmod")

    def _no_remainders(self, name: str) -> TypeError:
        message = (
            f"sparse tensors have no `{name}`, as SciPy's have none; use t.to_dense() for that"
        )
        return self._team.told(TypeError(message))

    def __pow__(self, other: Any) -> Any:
        return self.power(as_number(other))

    def maximum(self, other: Any) -> Any:
        """Return the larger elements of two tensors, or of a tensor and a number. Collective."""
        return self._chosen(other, "maximum", np.maximum)

    def minimum(self, other: Any) -> Any:
        """Return the smaller elements of two tensors, or of a tensor and a number. Collective."""
        return self._chosen(other, "minimum", np.minimum)

    def _chosen(self, other: Any, name: str, function: Callable[[Any, Any], Any]) -> Any:
        right = self._sparse(other)
        if right is not None:
            step = f"{name} {right._words}"
            return self._made(combined(self._block, self._beside(right), name), step)
        whole: Any = self
        if not is_number(other):
            with self._team:
                return dense_extreme(whole.to_dense(), other, function)
        number = as_number(other)
        with self._team:
            check_fits(number, self.dtype)
            if function(self.dtype.type(0), number) != 0:
                message = f"{name} with {number} would fill a sparse tensor"
                raise NotImplementedError(f"{message}; use t.to_dense() for that")
            data = function(self._block.data, number)
        return self._with_data(data, f"{name} {number_words(number)}")

    def hypot(self, other: Any) -> Any:
        """Return the roots of sums of squares of two tensors' elements. Collective."""
        right = self._sparse(other)
        if right is None:
            if is_number(other) and as_number(other) == 0:
                whole: Any = self
                return whole.fabs()
            return self._dense_hypot(other)
        beside = self._beside(right)
        with self._team:
            # Small integers have halves as roots.
            check_result(np.hypot(self._block.data[:0], beside.data[:0]).dtype, "hypot")
        found = computed(self._team, lambda: hypotenuses(self._block, beside))
        return self._made(found, f"hypot {right._words}")

    def _dense_hypot(self, other: Any) -> Any:
        """That with an array; a number would fill the tensor."""
        if not is_dense(other) or is_number(other):
            message = f"hypot of a sparse tensor and a {type(other).__name__}"
            message += " would fill it; use t.to_dense() for that"
            raise self._team.told(NotImplementedError(message))
        whole: Any = self
        with self._team:
            return elementwise.hypot(whole.to_dense(), other)
