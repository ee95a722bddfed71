"""Sums, means, counts and norms; of all elements, or of lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions import elementwise
from partita._functions.creation import axes_of
from partita._functions.products import cast
from partita.sparse.agreement import computed
from partita.sparse.elements import Elements, is_number
from partita.sparse.kinds import checked_dtype
from partita.sparse.reducing import Lines, placed_in_rank_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array

Local = np.ndarray[Any, Any]


_NORMS = "'fro', 1, -1, inf or -inf, or partita.sparse.linalg.norm for 2"


class Reductions(Elements):
    """Reductions; those of lines are arrays, cut as the lines are. All are collective."""

    __slots__ = ()

    def _entries(self, is_tidy: bool = False) -> tuple[list[Local], Local]:
        """Coordinates in this rank's slice and values; none where another rank counts them."""
        block = self._block.tidy() if is_tidy else self._block
        if self._is_owner:
            return block.all_coords(), block.data
        return [one[:0] for one in block.all_coords()], block.data[:0]

    def _axes(self, axis: Any) -> list[int]:
        """Axes in rising order, all of them if none is named; the others are told of wrong ones."""
        with self._team:
            axes = list(range(self.ndim)) if axis is None else sorted(axes_of(axis, self.ndim))
            if not axes:
                raise ValueError("no axis in axis=(); name one, or use None for all")
        return axes

    def _sum_type(self, dtype: Any, own: np.dtype[Any]) -> Any:
        """The type that is asked for, if dense arrays have it, or that of sums of a type."""
        if dtype is None:
            return _sum_type(own)
        with self._team:
            kind = np.dtype(dtype).newbyteorder("=")
            return kind if kind == np.float16 else checked_dtype(kind)

    def _refuse(self, out: Any) -> None:
        """Refuse to write a result elsewhere, instead of leaving that as it is."""
        if out is not None:
            message = "sparse reductions take no out=; use what they return"
            raise self._team.told(ValueError(message))

    def _total(self, work: Callable[[], Any], call: str) -> Any:
        """The sum of every rank's number, in rank order."""
        mine = computed(self._team, work)
        total, *others = self._met(call, np.asarray(mine))
        for one in others:
            total = total + one
        return np.asarray(total)[()]

    def sum(self, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        """Return the sum of all elements, or an array of those along axes."""
        self._refuse(out)
        # Sums of several types would be added: ranks compare the call.
        kind = np.dtype(self._sum_type(dtype, self.dtype))
        return self._summed(self._entries(), axis, f"sum in {kind}", kind)

    def _summed(
        self, entries: tuple[list[Local], Local], axis: Any, call: str, dtype: Any = None
    ) -> Any:
        coords, data = entries
        wanted = self._sum_type(dtype, data.dtype)
        lines = None if axis is None else Lines(self, self._axes(axis), call)
        if lines is None or not lines.kept:
            return self._total(lambda: data.astype(wanted, copy=False).sum(dtype=wanted), call)
        # As in SciPy, sums of lines are converted, and numbers of which all is one sum.
        kind = _added_in(data.dtype, wanted)
        sums = lines.reduced(np.add, 0, data.astype(kind, copy=False), coords)
        return lines.array(computed(self._team, lambda: sums.astype(wanted, copy=False)))

    def mean(self, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        """Return the mean of all elements, or an array of those along axes."""
        self._refuse(out)
        kind = np.float64 if self.dtype.kind in "biu" else self.dtype
        wanted = None if dtype is None else self._sum_type(dtype, self.dtype)
        n = math.prod(self.shape[dim] for dim in self._axes(axis))
        if n == 0:
            message = f"the mean of no elements (shape {self.shape}); use a tensor with elements"
            raise self._team.told(ZeroDivisionError(message))
        coords, data = self._entries()
        call = f"mean in {np.dtype(kind) if wanted is None else wanted}"
        made = self._summed((coords, data.astype(kind, copy=False)), axis, call) / n
        if wanted is None:
            return made
        return wanted.type(made) if np.ndim(made) == 0 else cast(made, wanted)

    def count_nonzero(self, axis: Any = None) -> Any:
        """Return how many elements are not zero, or an array of how many along axes."""
        coords, data = self._entries(is_tidy=True)
        return self._summed((coords, data != 0), axis, "count_nonzero", np.int64)

    def getnnz(self, axis: Any = None) -> Any:
        """Return how many entries are stored, or an array of how many along axes."""
        if axis is None:
            return self.nnz
        coords, data = self._entries(is_tidy=True)
        return self._summed((coords, np.ones(len(data), bool)), axis, "getnnz", np.int64)

    def norm(self, ord: Any = None, axis: Any = None) -> Any:
        """Return a norm: 'fro', 1, -1, inf, -inf of a matrix; 2, 1, 0, inf, ... of lines."""
        # What is wrong here may be wrong on this rank only: the others are told.
        with self._team:
            self._check_norm(ord, axis)
        coords, data = self._entries(is_tidy=True)
        # Whole numbers are added as wide ones, as in sums.
        sizes = np.abs(data.astype(_sum_type(data.dtype), copy=False))
        if axis is not None and np.ndim(axis) == 0:
            return self._norm_of_lines((coords, sizes), ord, axis)
        if ord in (None, "fro", "f"):
            return np.sqrt(self._total(lambda: _squares(sizes).sum(), "norm"))
        order = abs(ord)
        rows, columns = (0, 1) if axis is None else axes_of(axis, 2)
        sums = self._summed((coords, sizes), rows if order == 1 else columns, "norm")
        return sums.dtype.type((sums.max() if ord > 0 else sums.min()).item())

    def _check_norm(self, ord: Any, axis: Any) -> None:
        if axis is not None and np.ndim(axis) == 0:
            axes_of(axis, self.ndim)
            if ord is not None and not is_number(ord):
                raise ValueError(f"norm {ord!r} of lines; use a number")
            return
        if ord in (None, "fro", "f"):
            return
        if self.ndim != 2:
            raise ValueError(f"norm {ord!r} of {self.ndim} dimensions; use 'fro', or an axis")
        if ord not in (1, -1, np.inf, -np.inf):
            cure = "partita.sparse.linalg.norm(t, 2)" if ord == 2 else _NORMS
            raise NotImplementedError(f"norm {ord!r} of sparse matrices; use {cure}")
        if axis is not None and len(axes_of(axis, 2)) != 2:
            raise ValueError(f"norm {ord!r} along {axis!r}; use two axes, or one number")

    def _norm_of_lines(self, entries: tuple[list[Local], Local], ord: Any, axis: Any) -> Array:
        coords, sizes = entries
        call = f"norm {ord!r}"
        made: Array
        if ord == 0:
            made = self._summed((coords, sizes != 0), axis, call, np.int64)
            return made
        if ord in (np.inf, -np.inf):
            lines = Lines(self, axes_of(axis, self.ndim), call)
            if lines.length == 0:
                message = f"norm {ord!r} of lines without elements (shape {self.shape})"
                raise self._team.told(ValueError(f"{message}; use a tensor with elements"))
            if ord > 0:
                return lines.array(lines.reduced(np.maximum, 0, sizes, coords))
            most = np.inf if sizes.dtype.kind == "f" else np.iinfo(sizes.dtype).max
            smallest = lines.reduced(np.minimum, most, sizes, coords)
            counts = lines.reduced(np.add, 0, np.ones(len(sizes), np.int64), coords)
            return lines.array(np.where(counts == lines.length, smallest, 0).astype(sizes.dtype))
        if ord in (None, 2):
            made = elementwise.sqrt(self._summed((coords, _squares(sizes)), axis, call))
        elif ord == 1:
            made = self._summed((coords, sizes), axis, call)
        else:
            made = self._summed((coords, sizes ** float(ord)), axis, call) ** (1.0 / float(ord))
        return made

    def find(self) -> tuple[Any, ...]:
        """Return coordinates and values of all elements that are not zero, one array each.

        They lie with the ranks that own them; in rank order, and in order on each.
        """
        coords, values = self._own_entries()
        kept = values != 0
        return placed_in_rank_order(self, [*(one[kept] for one in coords), values[kept]])

    def nonzero(self) -> tuple[Any, ...]:
        """Return the coordinates of all elements that are not zero, as `find` does."""
        return self.find()[:-1]


def _squares(sizes: Local) -> Local:
    """Squares of numbers; those of whole numbers as doubles, which do not overflow."""
    made = sizes.astype(np.float64) if sizes.dtype.kind in "biu" else sizes
    return np.asarray(made * made)


def _sum_type(dtype: np.dtype[Any]) -> Any:
    """What sums of a type are: small integers as large ones."""
    if dtype.kind in "bi":
        return np.int64
    return np.uint64 if dtype.kind == "u" else dtype


def _added_in(own: np.dtype[Any], wanted: np.dtype[Any]) -> Any:
    """The type in which lines are added up: the wider one, if both have fractions."""
    has_fractions = own.kind in "fc" and np.dtype(wanted).kind in "fc"
    return np.result_type(own, wanted) if has_fractions else _sum_type(own)
