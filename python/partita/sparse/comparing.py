"""Comparisons, whose results are sparse tensors of truth values."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.place import levels_to_user
from partita.sparse.aligned import compared, filtered, negated, side_by_side
from partita.sparse.answers import answered, equal_or_not
from partita.sparse.complex_order import dense_compared
from partita.sparse.elements import Elements, as_number, is_number, number_words, option_words
from partita.sparse.room import dense_room

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita.sparse.block import Block

# Comparisons that hold for two zeros, and those that hold where they do not.
_OPPOSITE = {
    operator.eq: operator.ne,
    operator.le: operator.gt,
    operator.ge: operator.lt,
}
_SIGNS = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.gt: ">",
    operator.le: "<=",
    operator.ge: ">=",
}


def _warn(compare: Any, opposite: Any) -> None:
    # Without SciPy nobody can filter its class of warnings.
    try:
        from scipy.sparse import SparseEfficiencyWarning as Kind
    except ImportError:
        Kind = UserWarning
    message = f"{_SIGNS[compare]} holds for most zeros, so that the result is nearly full"
    message += f"; try {_SIGNS[opposite]} instead"
    warnings.warn(message, Kind, stacklevel=levels_to_user())


class Comparing(Elements):
    """Comparisons with numbers, sparse tensors and dense arrays."""

    __slots__ = ()

    # Tensors that compare by element have no single truth, and thus no hash.
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        """Whether the one element of a tensor is stored, as SciPy has it. Collective."""
        if any(n != 1 for n in self.shape):
            message = f"a tensor of shape {self.shape} has no single truth"
            raise ValueError(f"{message}; use t.nnz, t.count_nonzero() or t.allclose(other)")
        return self.nnz != 0

    def __eq__(self, other: object) -> Any:
        return equal_or_not(self, self._compared(other, operator.eq), other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return equal_or_not(self, self._compared(other, operator.ne), other, "__ne__")

    def __lt__(self, other: Any) -> Any:
        found = self._compared(other, operator.lt)
        return answered(self, found, other, "<", "__gt__")

    def __gt__(self, other: Any) -> Any:
        found = self._compared(other, operator.gt)
        return answered(self, found, other, ">", "__lt__")

    def __le__(self, other: Any) -> Any:
        found = self._compared(other, operator.le)
        return answered(self, found, other, "<=", "__ge__")

    def __ge__(self, other: Any) -> Any:
        found = self._compared(other, operator.ge)
        return answered(self, found, other, ">=", "__le__")

    def _compared(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        if is_number(other):
            with self._team:
                return self._with_number(as_number(other), compare)
        right = self._sparse(other)
        if right is None:
            if not isinstance(other, Array | np.ndarray | list | tuple):
                return NotImplemented
            whole: Any = self
            # An array of NumPy may not fit on this rank only: the others are told.
            with self._team:
                return dense_compared(whole.to_dense(), other, compare)
        if right.shape != self.shape and compare in (operator.eq, operator.ne):
            return compare is operator.ne
        block = self._beside(right)
        step = f"{compare.__name__} {right._words}"
        if compare not in _OPPOSITE:
            return self._made(compared(self._block, block, compare), step)
        _warn(compare, _OPPOSITE[compare])
        holds = compared(self._block, block, _OPPOSITE[compare])
        return self._made(self._negated(holds, _OPPOSITE[compare]), step)

    def _with_number(self, number: Any, compare: Callable[[Any, Any], Any]) -> Any:
        step = f"{compare.__name__} {number_words(number)}"
        if not compare(self.dtype.type(0), number):
            return self._made(self._where(compare, number), step)
        opposites = {**_OPPOSITE, **{one: two for two, one in _OPPOSITE.items()}}
        opposite = opposites[compare]
        _warn(compare, opposite)
        # Beside NaN neither holds: as in SciPy, what is looked at is where the opposite does not.
        return self._made(self._negated(self._where(opposite, number), opposite), step)

    def _negated(self, block: Block, opposite: Any) -> Block:
        """Where a comparison does not hold, which is nearly everywhere."""
        cure = f"use {_SIGNS[opposite]}, which holds where this does not"
        with dense_room(self._team, self.shape, bool, cure):
            return negated(block)

    def _where(self, compare: Callable[[Any, Any], Any], number: Any) -> Block:
        """Where a comparison of what is stored holds."""
        block = self._block.tidy()
        kept = filtered(block, np.asarray(compare(block.data, number)))
        return kept.with_data(np.ones(kept.nnz, bool))

    def allclose(
        self, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
    ) -> bool:
        """Whether all elements are near those of another tensor, or of a dense array. Collective.

        The same on every rank.
        """
        right = self._sparse(other)
        options: dict[str, Any] = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
        words = ", ".join(f"{name}={option_words(one)}" for name, one in options.items())
        if right is None:
            from partita._functions.statistics import allclose

            whole: Any = self
            self._team.say(f"DistTensor.allclose({words})")
            return bool(allclose(whole.to_dense(), other, **options))
        _, _, ours, theirs = side_by_side(self._block, self._beside(right))
        # A tolerance that is no number may be this rank's only: the others are told.
        with self._team:
            near = bool(np.allclose(ours, theirs, **options))
        return all(self._met("allclose", near, words))
