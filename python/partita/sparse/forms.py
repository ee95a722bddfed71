"""The same tensor in another form: transposed, another format, element type or layout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import checked_axes, integers, is_listed, shown
from partita._array.array import Array
from partita._array.parts import array_of
from partita._errors import LayoutError
from partita.sparse.agreement import agreed, computed
from partita.sparse.base import Base
from partita.sparse.block import checked_format
from partita.sparse.collecting import collected
from partita.sparse.even_rows import even_layout, is_in_stretches
from partita.sparse.kinds import at_least, checked_dtype, values_of
from partita.sparse.outside import to_pydata
from partita.sparse.pointers import check_pointers
from partita.sparse.reducing import taken_in_rank_order
from partita.sparse.room import dense_room
from partita.sparse.slices import Slices, slices_for
from partita.sparse.travel import sent_home

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from partita._partita import Layout

Local = np.ndarray[Any, Any]

# As many elements as integers of 64 bits can count.
_MOST = 2**63 - 1


class Forms(Base):
    """What a tensor can be turned into."""

    __slots__ = ()

    @property
    def T(self) -> Self:
        """The tensor with its dimensions reversed, over the same memory."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None, copy: bool = False) -> Self:
        """Return the tensor with its dimensions in another order, over the same memory.

        A CSR matrix becomes a CSC matrix. Nothing moves. Here and below `copy` is SciPy's: tensors
        are not changed, so that a copy matters only to those who change the memory below them.
        """
        # What is wrong here and below may be wrong on this rank only: the others are told.
        with self._team:
            order = self._order(axes)
        block = self._block.transposed(order)
        slices = self._slices.transposed(order)
        return self._made(block.copy() if copy else block, f"transpose {order}", slices)

    def _order(self, axes: Sequence[int] | None) -> tuple[int, ...]:
        if axes is None:
            return tuple(reversed(range(self.ndim)))
        order = tuple(checked_axes(axes, self.ndim))
        if len(order) != self.ndim:
            message = f"axes {order} of {self.ndim} dimensions; name each once"
            raise LayoutError(message, "axis-count")
        return order

    def asformat(self, format: str | None, copy: bool = False) -> Self:
        """Return the tensor in a format, itself if it has it; nothing moves between ranks."""
        with self._team:
            wanted = self.format if format is None else checked_format(format, self.ndim)
        if wanted == self.format:
            return self.copy() if copy else self
        check_pointers(self._slices, wanted, lambda: self.nnz, 'keep it in format="coo"')
        # Memory may be too little on this rank only: no rank waits for another here.
        with self._team:
            block = self._block.in_format(wanted)
            return self._made(block.copy() if copy else block, "")

    def tocsr(self, copy: bool = False) -> Self:
        """Return the matrix in compressed rows."""
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> Self:
        """Return the matrix in compressed columns."""
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool = False) -> Self:
        """Return the tensor as a list of coordinates."""
        return self.asformat("coo", copy)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Self:
        """Return the tensor with another element type; the pattern is shared.

        `casting` says which changes are refused, as NumPy has it.
        """
        with self._team:
            kind = checked_dtype(dtype)
            # What is refused is so on every rank, also on those without entries.
            np.empty(0, self.dtype).astype(kind, casting=casting)
        data = computed(self._team, lambda: self._block.data.astype(kind, copy=False))
        return self._made(self._block.with_data(data), "astype")

    def copy(self) -> Self:
        """Return the same tensor in new memory."""
        return self._made(self._block.copy(), "")

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> Any:
        # As dense arrays: whoever unpickles it has the whole tensor, cut as is usual there.
        return type(self).from_scipy, (self.gather(),)  # type: ignore[attr-defined]

    def with_values(self, values: Any) -> Self:
        """Return a tensor of the same pattern, which is shared, with this rank's other values.

        They are in the order of `values`, and are not copied. Nothing is compared between ranks.
        An array of partita has the values of all ranks, as `find` gives them where no zeros are
        stored. Collective for such an array.
        """
        if isinstance(values, Array):
            values = taken_in_rank_order(self, values, "with_values")
        with self._team:
            given = values_of(values)
            if len(given) != self.nnz_local:
                message = f"{len(given)} values for {self.nnz_local} entries"
                message += f" on rank {self.team.rank}; give one for each"
                raise LayoutError(message, "sparse-lengths")
        return self._made(self._block.with_data(given), "with_values")

    def pattern_is(self, other: Base) -> bool:
        """Return whether another tensor shares this one's pattern, so that plans fit both."""
        return (
            isinstance(other, Base)
            and self._block.pattern is other._block.pattern
            and self._slices.layout == other._slices.layout
        )

    def redistribute(
        self,
        dist: Sequence[str] | None = None,
        *,
        layout: Layout | str | None = None,
        grid: Sequence[int] | None = None,
        format: str | None = None,
    ) -> Self:
        """Return the same tensor cut in another way, in another format if one is named.

        Without any layout it stays where it is. Collective.
        """
        stays = dist is None and layout is None and grid is None

        def look() -> tuple[tuple[Slices, str], dict[str, Any], None]:
            found = (
                self._slices
                if stays
                else slices_for(self.shape, self.team.size, dist, layout, grid)
            )
            wanted = checked_format(format, self.ndim, self.format)
            return (
                (found, wanted),
                {"the layout": found.layout.notation, "the format": wanted},
                None,
            )

        (slices, wanted), _ = agreed(self.team, "redistribute", look, self._words)
        check_pointers(slices, wanted, lambda: self.nnz, 'use format="coo"')
        if slices.layout == self.layout:
            return self._made(self._block.in_format(wanted), "", slices).share()
        coords, values = self._owned_entries()
        block = sent_home(self.team, slices, wanted, coords, values, at_least(self.index_dtype))
        return self._made(block, "", slices).share()

    def balanced(self) -> Self:
        """Return the same tensor in whole rows, with about as many entries on each rank.

        Worth it before many products with a matrix some of whose rows are long. Collective.
        """
        rows = self
        if not is_in_stretches(self):
            rows = self.redistribute(["distributed", *["replicated"] * (self.ndim - 1)])
        return rows.redistribute(layout=even_layout(rows))

    def _owned_entries(self) -> tuple[list[Local], Local]:
        """Global coordinates and values of what this rank owns; of copies only the owner's."""
        coords = self._slices.globalized(self.slice_id, self._block.all_coords())
        if self._slices.is_owner(self.team.rank):
            return coords, self._block.data
        return [one[:0] for one in coords], self._block.data[:0]

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> Self:
        """Return the tensor in another shape of as many elements; one extent may be -1. Collective.

        Its first dimension is cut into even blocks. Entries travel, into memory of their own.
        """

        def look() -> tuple[tuple[int, ...], dict[str, Any], None]:
            if order not in ("C", "F"):
                raise ValueError(f"order={shown(order)}; use 'C' or 'F'")
            wanted = new_shape(self.shape, shape[0] if len(shape) == 1 else shape)
            return wanted, {"the shape": wanted, "the order": order}, None

        wanted, _ = agreed(self.team, "reshape", look, self._words)
        coords, values = self._owned_entries()
        if len(values):
            flat = np.ravel_multi_index(coords, self.shape, order=order)  # type: ignore[call-overload]
            coords = list(np.unravel_index(flat, wanted, order=order))  # type: ignore[call-overload]
        else:
            coords = [np.empty(0, np.int64) for _ in wanted]
        made: Any = type(self)
        format = self.format if self.ndim == len(wanted) == 2 else None
        found: Self = made.from_coo(wanted, coords, values, team=self.team, format=format)
        return found

    def toarray(self, *args: Any, **options: Any) -> Any:
        """Refuse: a dense array of all elements is asked for in other words."""
        message = "a DistTensor lies on many ranks; use t.to_dense() for an array that does so, too"
        raise TypeError(f"{message}, or t.gather().toarray() for all elements on every rank")

    todense = toarray

    def __len__(self) -> int:
        raise TypeError("the length of a sparse tensor is ambiguous; use t.shape[0] or t.nnz")

    def to_dense(self) -> Array:
        """Return the tensor as a dense array that lies where the tensor lies."""
        # Nobody asks another here: the next meeting finds ranks that have different tensors.
        self._team.say(f"to_dense of {self._words}")
        cure = "keep it sparse, or take a part, such as t[:1000]"
        with dense_room(self._team, self.shape, self.dtype, cure):
            block = self._block.tidy()
            local = np.zeros(block.shape, block.dtype)
            local[tuple(block.all_coords())] = block.data
            return array_of(local, self.layout, self.team)

    def gather(self, root: int | None = None) -> Any:
        """Return the whole tensor as a SciPy array on every rank, or on `root`. Collective."""
        whole = collected(self, root)
        return None if whole is None else whole.to_scipy()

    def to_pydata(self) -> Any:
        """Return this rank's slice as an array of PyData's `sparse`."""
        return to_pydata(self._block)


def new_shape(shape: Sequence[int], given: Any) -> tuple[int, ...]:
    """Return a shape that is asked for, if it has as many elements as another one."""
    wanted = list(integers(given if is_listed(given) else (given,), "shape"))
    n = math.prod(shape)
    if n > _MOST:
        message = f"{n} elements, more than 64 bits can count"
        raise ValueError(f"{message}; use from_coo with new coordinates")
    if wanted.count(-1) == 1:
        rest = -math.prod(wanted)
        wanted[wanted.index(-1)] = n // rest if rest else 0
    if not wanted or min(wanted) < 0 or math.prod(wanted) != n:
        message = f"shape {tuple(wanted)} for the {n} elements of {tuple(shape)}"
        raise ValueError(f"{message}; use extents whose product is {n}")
    return tuple(wanted)
