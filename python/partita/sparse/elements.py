"""What all element-wise operations ask of a tensor: its entries, and operands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._array.array import Array
from partita._errors import LayoutError
from partita._functions.gathered import few
from partita._functions.manipulation import reshape
from partita._partita import Whole
from partita.sparse.base import Base
from partita.sparse.outside import block_of, is_foreign
from partita.sparse.slices import grid_of_ranks, on_axes
from partita.sparse.teams import on_team, part_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita.sparse.block import Block

Local = np.ndarray[Any, Any]


# Numbers of more bits are not shown.
_LONG = 128


class Elements(Base):
    """Entries by their global coordinates, and the values of operands at these."""

    __slots__ = ()

    @property
    def _is_owner(self) -> bool:
        """Whether this rank is the first of those that hold its slice: replicas count once."""
        return self._slices.owner(self.slice_id) == self._team.rank

    def _global_coords(self, coords: Sequence[Local]) -> list[Local]:
        return self._slices.globalized(self.slice_id, coords)

    def _own_entries(self) -> tuple[list[Local], Local]:
        """Global coordinates and values of what this rank owns, each place once."""
        block = self._block.tidy()
        coords, data = self._global_coords(block.all_coords()), block.data
        if self._is_owner:
            return coords, data
        return [one[:0] for one in coords], data[:0]

    def _sparse(self, other: Any) -> Any:
        """A sparse operand as a tensor; None if it is something else."""
        if isinstance(other, Base):
            return on_team(other, self._team)
        if is_foreign(other):
            made: Any = type(self)
            return made.from_scipy(other, team=self._team, dist=self.dist, format=self.format)
        return None

    def _beside(self, other: Any) -> Block:
        """This rank's slice of a tensor of the same shape, cut as this one. Collective."""
        if other.shape != self.shape:
            message = f"tensors of inconsistent shapes {self.shape} and {other.shape}"
            raise ValueError(f"{message}; use equal ones, or multiply for rows and columns")
        if other.layout != self.layout:
            other = other.redistribute(layout=self.layout, format=self.format)
        block: Block = other._block
        return block

    def _dense_values(self, other: Any, block: Block) -> Local:
        """What a dense operand, which may be broadcast, has where a block has entries."""
        coords = block.all_coords()
        given = other if isinstance(other, Array) else np.asarray(other)
        missing = self.ndim - given.ndim
        if missing:
            shape = (*(1 for _ in range(missing)), *given.shape)
            given = reshape(given, shape) if isinstance(given, Array) else given.reshape(shape)
        is_one = [n == 1 and own != 1 for n, own in zip(given.shape, self.shape, strict=True)]
        if isinstance(given, Array):
            maps = self.layout.maps or ()
            kept = [Whole() if one else by for one, by in zip(is_one, maps, strict=True)]
            ranks = grid_of_ranks(self.layout)
            layout = on_axes(ranks, given.shape, kept, range(self.ndim))
            given = part_on(given, layout, self._team)
        else:
            coords = self._global_coords(coords)
        zeros = np.zeros(block.nnz, np.int64)
        pairs = zip(is_one, coords, strict=True)
        return np.asarray(given[tuple(zeros if one else at for one, at in pairs)])


def broadcast(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of two that are broadcast; NumPy's function counts all elements in it."""
    n = max(len(one), len(other))
    pairs = list(zip(_padded(one, n), _padded(other, n), strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        message = f"shapes {tuple(one)} and {tuple(other)} cannot be broadcast together"
        raise ValueError(f"{message}; use equal extents, or 1")
    return tuple(b if a == 1 else a for a, b in pairs)


def _padded(shape: Sequence[int], n: int) -> list[int]:
    return [1] * (n - len(shape)) + list(shape)


def is_number(given: Any) -> bool:
    """Whether an operand is one number."""
    if isinstance(given, Array | np.ndarray):
        return given.ndim == 0 and given.dtype.kind in "biufc"
    return isinstance(given, bool | int | float | complex | np.number | np.bool_)


def as_number(given: Any) -> Any:
    """A number of Python or NumPy, of an array without dimensions, too."""
    return given.item() if isinstance(given, Array) else given


def check_fits(number: Any, dtype: np.dtype[Any]) -> None:
    """Refuse a whole number of Python that an integer type does not have."""
    if type(number) is not int or dtype.kind not in "iu":
        return
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if not low <= number <= high:
        message = f"{_short(number)} is outside of {dtype}, which has {low} to {high}"
        message += "; convert the tensor first, as with t.astype(float)"
        raise LayoutError(message, "sparse-number")


def _short(number: int) -> str:
    n_bits = number.bit_length()
    return str(number) if n_bits <= _LONG else f"an integer of {n_bits} bits"


def number_words(number: Any) -> str:
    """What ranks compare of a number: its value, whatever type it has."""
    value = number.item() if hasattr(number, "item") else number
    if isinstance(value, complex) and value.imag == 0 and not np.signbit(value.imag):
        value = value.real
    if isinstance(value, float) and value.is_integer() and (value or not np.signbit(value)):
        value = int(value)
    if isinstance(value, int):
        # Very long ones have no decimal text.
        return hex(value) if value.bit_length() > _LONG else repr(int(value))
    return repr(value)


def option_words(given: Any) -> str:
    """What ranks compare of an option, which may be anything."""
    return number_words(given) if is_number(given) else shown(given)


def is_mask(key: Any) -> bool:
    """Whether an index is a matrix of truth values: NumPy's, partita's, or a sparse one."""
    return getattr(key, "ndim", 0) == 2 and getattr(key, "dtype", None) == np.bool_


def places_of_mask(tensor: Base, mask: Any) -> tuple[Local, ...]:
    """Return where a mask of a matrix holds, row by row, on every rank.

    Collective if the mask lies on many ranks; it is brought to all of them.
    """
    if mask.shape != tensor.shape:
        message = f"a mask of shape {mask.shape} for a matrix of {tensor.shape}; use that shape"
        raise tensor.team.told(IndexError(message))
    spread: Any = mask
    whole = few(spread, "a mask") if isinstance(mask, Array | Base) else mask
    if not is_foreign(whole):
        return np.nonzero(whole)
    block = block_of(whole).tidy()
    rows, columns = (one[block.data] for one in block.all_coords())
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]
