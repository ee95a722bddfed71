"""Products of sparse vectors, which are tensors of one dimension: as matrices of one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.manipulation import reshape
from partita._partita import Whole
from partita.sparse.block import Block
from partita.sparse.matmul import sparse_product
from partita.sparse.multiplying import multiplied
from partita.sparse.slices import Slices, grid_of_ranks, on_axes


def vector_times_dense(vector: Any, operand: Any) -> Any:
    """Return a number for a dense vector, an array of one dimension for a matrix. Collective."""
    x = operand if isinstance(operand, Array) else np.asarray(operand)
    n = vector.shape[0]
    if x.ndim not in (1, 2) or x.shape[0] != n:
        problem = f"a vector of {n} times an operand of shape {x.shape}"
        raise vector.team.told(ValueError(f"{problem}; give it {n} rows, and 1 or 2 dimensions"))
    found = multiplied(_row(vector), x, 1)
    return found.dtype.type(found.item()) if x.ndim == 1 else reshape(found, -1)


def sparse_vector_product(left: Any, right: Any) -> Any:
    """Return the product of two sparse tensors, of which one or both are vectors. Collective.

    A number of two vectors, else a vector.
    """
    if left.shape[-1] != right.shape[0]:
        problem = f"a tensor of {left.shape} times one of {right.shape}; use vectors and matrices"
        raise left.team.told(ValueError(f"{problem} with as many rows as the first has columns"))
    rows = _row(left) if left.ndim == 1 else left
    columns = _row(right).T if right.ndim == 1 else right
    found: Any = sparse_product(rows, columns)
    if left.ndim == right.ndim:
        return found[0, 0]
    return found[0] if left.ndim == 1 else found[:, 0]


def _row(vector: Any) -> Any:
    """Return a vector as a matrix of one row, cut as the vector is, over the same values.

    Its pattern is kept with the vector's, so that plans are made once.
    """

    def made() -> tuple[Block, Slices]:
        layout, block = vector.layout, vector._block
        maps = [Whole(), *(layout.maps or ())]
        wide = on_axes(grid_of_ranks(layout), (1, *vector.shape), maps, [None, 0])
        coords = [np.zeros_like(block.coords[0]), *block.coords]
        return Block((1, *block.shape), "coo", block.data, coords=coords), Slices(wide)

    block, slices = vector._plans.kept("as a row", made)
    return vector._made(block.with_data(vector._block.data), "", slices)
