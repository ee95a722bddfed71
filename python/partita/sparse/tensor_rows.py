"""Rows of a tensor of one dimension, or of three and more: all that has an index in the first.

The tensor becomes a matrix for it, whose columns are the places in all other dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._partita import Whole
from partita.sparse.block import Block
from partita.sparse.hollow import first_rows
from partita.sparse.outside import is_foreign
from partita.sparse.slices import Slices, grid_of_ranks, on_axes
from partita.sparse.wishes import RowPlan, check_planned

if TYPE_CHECKING:
    from collections.abc import Sequence

Local = np.ndarray[Any, Any]

# As many positions as integers of 64 bits can count.
_MOST = 2**63 - 1


def tensor_rows(tensor: Any, indices: Any) -> Any:
    """Return what this rank asks for, as a SciPy array in COO. Collective."""
    found = first_rows(_flat(_with_whole_rows(tensor)), indices)
    return _raised(found, tensor.shape[1:]).to_scipy()


class TensorRowPlan:
    """Rows that this rank wants of a tensor, planned once: `rows(t)` brings them.

    Made by `t.plan_rows(indices)`. It serves all tensors of `t`'s pattern.
    """

    def __init__(self, tensor: Any, indices: Any) -> None:
        self._pattern = tensor._plans
        self._whole = _with_whole_rows(tensor)
        self._matrix = _flat(self._whole)
        self._rows = RowPlan(self._matrix, indices)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows it brings, and their extents."""
        return self._rows.shape[0], *self._whole.shape[1:]

    def __call__(self, tensor: Any) -> Any:
        """Return the rows of a tensor of the same pattern, as a SciPy array in COO. Collective."""
        check_planned(tensor, self._pattern, self._whole.team)
        whole = _with_whole_rows(tensor)
        block = self._matrix._block.with_data(whole._block.data)
        matrix = whole._made(block, "", self._matrix._slices)
        return _raised(self._rows.block(matrix), self.shape[1:]).to_scipy()

    def adjoint(self, rows: Any) -> Any:
        """Return a tensor in which each rank's rows are added to where they come from. Collective.

        `rows` are values in the order of what `rows(t)` gives, or a SciPy array of its pattern.
        """
        found = self._rows.added_back(lambda: self._values(rows))
        # The sums are in the order of a matrix in CSR.
        block = found._block.in_format("coo")
        rows_here, places = block.coords
        coords = [rows_here, *_unravelled(places, self.shape[1:])]
        made = Block(self._whole._block.shape, "coo", block.data, coords=coords)
        return found._made(made, "", self._whole._slices)

    def _values(self, rows: Any) -> Local:
        if is_foreign(rows) and hasattr(rows, "coords"):
            places = _raised(self._rows.pattern(), self.shape[1:]).coords
            pairs = zip(rows.coords, places, strict=False)
            if rows.shape != self.shape or not all(np.array_equal(*pair) for pair in pairs):
                message = "rows of another pattern than those that came; give their values"
                raise ValueError(f"{message} in the same places")
            rows = rows.data
        return self._rows.checked(rows)


def _with_whole_rows(tensor: Any) -> Any:
    """The tensor cut along its first dimension alone; itself where it is so. Collective."""
    others = range(1, tensor.ndim)
    if tensor.format == "coo" and all(tensor._slices.is_straight(dim) for dim in others):
        return tensor
    return tensor.redistribute(["distributed", *["replicated" for _ in others]], format="coo")


def _flat(tensor: Any) -> Any:
    """A tensor of whole rows as a matrix, over the same values; its pattern is kept."""
    block, slices = tensor._plans.kept("as a matrix", lambda: _flattened(tensor))
    return tensor._made(block.with_data(tensor._block.data), "", slices)


def _flattened(tensor: Any) -> tuple[Block, Slices]:
    sides = tensor.shape[1:]
    n_places = math.prod(sides)
    if n_places > _MOST:
        message = f"rows of shape {sides} have {n_places} places, more than 64 bits can count"
        raise LayoutError(f"{message}; use slices, such as t[i:i + 1]", "sparse-shape")
    block = tensor._block
    inner = [one.astype(np.int64) for one in block.coords[1:]]
    places = np.zeros(block.nnz, np.int64)
    if block.nnz and sides:
        places = np.ravel_multi_index(inner, sides)
    coords = [block.coords[0].astype(np.int64), places]
    maps = [tensor._slices.maps[0], Whole()]
    ranks = grid_of_ranks(tensor.layout)
    layout = on_axes(ranks, (tensor.shape[0], n_places), maps, [0, None])
    return Block((block.shape[0], n_places), "coo", block.data, coords=coords), Slices(layout)


def _raised(rows: Block, sides: Sequence[int]) -> Block:
    """Rows of the matrix as those of a tensor, in COO."""
    at, places = rows.in_format("coo").coords
    coords = [at, *_unravelled(places, sides)]
    return Block((rows.shape[0], *sides), "coo", rows.data, coords=coords)


def _unravelled(places: Local, sides: Sequence[int]) -> list[Local]:
    if not len(places):
        return [places for _ in sides]
    if not sides:
        return []
    return [np.ascontiguousarray(one) for one in np.unravel_index(places, tuple(sides))]
