"""Diagonals, triangles, and products with small matrices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.held import default_layout
from partita._functions.gathered import few
from partita.sparse.agreement import agreed, computed
from partita.sparse.aligned import filtered, without_zeros
from partita.sparse.base import Base
from partita.sparse.block import Block
from partita.sparse.digest import digest
from partita.sparse.elements import Elements, as_number, is_number, number_words
from partita.sparse.outside import block_of, is_foreign
from partita.sparse.reducing import lines_layout, placed
from partita.sparse.teams import part_on

if TYPE_CHECKING:
    from typing import Self

Local = np.ndarray[Any, Any]


class Diagonals(Elements):
    """What lies on, above or below a diagonal of a matrix. All are collective."""

    __slots__ = ()

    def _matrix_shape(self) -> tuple[int, int]:
        if self.ndim != 2:
            raise ValueError(f"a tensor of {self.ndim} dimensions has no diagonal; use a matrix")
        return self.shape[0], self.shape[1]

    def _number_of(self, k: Any) -> int:
        """The number of a diagonal of a matrix; what is wrong on this rank the others are told."""
        with self._team:
            self._matrix_shape()
            return _diagonal_number(k)

    def diagonal(self, k: int = 0) -> Array:
        """Return the elements of a diagonal; that of a square matrix lies as its rows do."""
        k = self._number_of(k)
        m, n = self._matrix_shape()
        size = max(min(m + min(k, 0), n - max(k, 0)), 0)
        (rows, columns), values = self._own_entries()
        here = columns - rows == k
        layout = default_layout((size,), self._team)
        if size == m:
            layout, _ = lines_layout(self._slices, [0], self._team)
        return placed(
            self, f"diagonal {k}", layout, [np.minimum(rows, columns)[here]], values[here]
        )

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal."""
        k = self._number_of(offset)
        kind = self.dtype
        if kind.kind in "biu":
            kind = np.dtype(np.uint64 if kind.kind == "u" else np.int64)
        (rows, columns), values = self._own_entries()
        # Of a long diagonal, few elements may be stored.
        here = values[columns - rows == k].astype(kind)
        mine = computed(self._team, lambda: here.sum(dtype=kind))
        total, *others = self._met(f"trace {k}", np.asarray(mine))
        for one in others:
            total = total + one
        return kind.type(total)

    def with_diagonal(self, values: Any, k: int = 0) -> Self:
        """Return the tensor with other elements on a diagonal: an array of them, or a number."""

        def look() -> tuple[tuple[int, int], dict[str, Any], None]:
            number = _diagonal_number(k)
            size = self._diagonal_size(np.shape(values), number)
            self._check_values(values)
            facts = {"k": number, "the shape of the values": np.shape(values)}
            if is_number(values) and not isinstance(values, Array):
                facts["the value"] = number_words(values)
            return (size, number), facts, None

        (size, k), _ = agreed(self._team, "with_diagonal", look, self._words)
        given = np.shape(values)
        layout = default_layout((size,), self._team)
        n_here = layout.local_shape(self._team.rank)[0]
        at = layout.globalize(self._team.rank, np.arange(n_here)[:, None])[:, 0]
        if isinstance(values, Array) and given:
            own = part_on(values, layout, self._team)
        else:
            own = np.broadcast_to(np.asarray(as_number(values)), (size,))[at]
        coords, data = self._own_entries()
        rest = coords[1] - coords[0] != k
        rows = np.concatenate([coords[0][rest], at + max(-k, 0)])
        columns = np.concatenate([coords[1][rest], at + max(k, 0)])
        made = np.concatenate([data[rest], own.astype(data.dtype)])
        return self._from_entries(self.shape, [rows, columns], made, layout=self.layout)

    def _diagonal_size(self, given: tuple[int, ...], k: int) -> int:
        """How long a diagonal is, if values of a shape fit there."""
        m, n = self._matrix_shape()
        size = max(min(m + min(k, 0), n - max(k, 0)), 0)
        if (k > 0 and k >= n) or (k < 0 and -k >= m):
            raise ValueError(f"k={k} exceeds a matrix of shape {self.shape}; use a diagonal of it")
        if given not in ((), (size,)):
            raise ValueError(f"{given} values for a diagonal of {size}; use as many, or a number")
        return size

    def _check_values(self, values: Any) -> None:
        """Refuse what is no number, and complex numbers for a tensor of real ones."""
        has_type = isinstance(values, Array | np.ndarray)
        kind = np.dtype(values.dtype) if has_type else np.asarray(values).dtype
        if kind.kind not in "biufc" or (kind.kind == "c" and self.dtype.kind != "c"):
            message = f"values of {kind} for a diagonal of {self.dtype}"
            raise TypeError(f"{message}; use numbers that it can hold")

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Refuse: tensors are values."""
        raise TypeError("tensors are not changed in place; use t.with_diagonal(values, k)")

    def _from_entries(self, shape: Any, coords: Any, values: Local, **where: Any) -> Self:
        made: Any = type(self)
        found: Self = made.from_coo(
            shape, coords, values, team=self._team, format=self.format, **where
        )
        return found

    def tril(self, k: int = 0) -> Self:
        """Return what lies on a diagonal and below."""
        return self._triangle(k, is_low=True)

    def triu(self, k: int = 0) -> Self:
        """Return what lies on a diagonal and above."""
        return self._triangle(k, is_low=False)

    def _triangle(self, k: int, *, is_low: bool) -> Self:
        k = self._number_of(k)
        rows, columns = self._global_coords(self._block.all_coords())
        kept = columns - rows <= k if is_low else columns - rows >= k
        step = f"{'tril' if is_low else 'triu'} {k}"
        return self._made(filtered(self._block, kept), step)

    def kron(self, other: Any) -> Self:
        """Return the products of each element with a small matrix.

        Every rank has it whole; a sparse tensor is brought to all ranks, with a `GatherWarning` if
        it has many entries.
        """
        m, n = self._matrix_shape()
        spread: Any = other
        given = few(spread, "kron") if isinstance(other, Base) else other
        # All ranks bring it together, and what they are told then is known.
        if isinstance(given, Array):
            given = given.gather()

        def look() -> tuple[Block, dict[str, Any], None]:
            made = _small_matrix(given)
            facts = {"the other's shape": made.shape, "the other's type": made.dtype.name}
            return made, {**facts, "the other's content": digest(made).hex()}, None

        small, _ = agreed(self._team, "kron", look, self._words)
        (rows, columns), values = self._own_entries()
        coords = [
            (one[:, None] * extent + inner).reshape(-1)
            for one, extent, inner in zip(
                (rows, columns), small.shape, small.all_coords(), strict=True
            )
        ]
        data = (values[:, None] * small.data).reshape(-1)
        shape = (m * small.shape[0], n * small.shape[1])
        return self._from_entries(shape, coords, data, dist=self.dist)


def _diagonal_number(k: Any) -> int:
    try:
        return operator.index(k)
    except TypeError:
        raise TypeError(f"{k!r} is no diagonal; use an integer") from None


def _small_matrix(given: Any) -> Block:
    """The entries of a matrix that a rank has whole, sparse or dense, which are not 0."""
    if is_foreign(given):
        block = block_of(given)
    else:
        made = np.asarray(given)
        if made.dtype.kind not in "biufc":
            raise TypeError(f"kron with a matrix of {made.dtype}; use numbers")
        coords = np.nonzero(made)
        block = Block(made.shape, "coo", made[coords], coords=coords)
    if block.ndim != 2:
        raise ValueError(f"kron with {block.ndim} dimensions; use a matrix")
    return without_zeros(block.in_format("coo").tidy())
