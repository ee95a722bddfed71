"""Sparse times sparse: of the right matrix, the rows come that the left one's columns touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._local import sparse
from partita.sparse.axes import along
from partita.sparse.block import Block
from partita.sparse.carrying import Carried
from partita.sparse.lines import reach_of
from partita.sparse.multiplying import product_type
from partita.sparse.rowwise import rows_slices, rowwise

if TYPE_CHECKING:
    from partita._local.sparse import Csr
    from partita.sparse.base import Base

    T = TypeVar("T", bound=Base)

Local = np.ndarray[Any, Any]


def sparse_product(left: T, right: Base) -> T:
    """Return the product in CSR, its rows where those of the left matrix are. Collective."""
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        problem = f"a matrix of {left.shape} times one of {right.shape}; the second needs as many"
        raise left.team.told(ValueError(f"{problem} rows as the first has columns"))
    a, b = rowwise(left), rowwise(right)
    reach = reach_of(a, along(b._slices, 0))
    dtype = product_type(a.dtype, b.dtype)
    kind = np.result_type(reach.indptr, b._block.index_dtype)
    own = _typed(b._block.lines, kind, dtype)
    ghosts = _none(kind, dtype)
    if reach.fetch.asked is not None:
        came = Carried(reach.fetch.asked, b._block.lines, f"{a._words} times {b._words}")
        ghosts = _typed((came.indptr, came.indices, came.first), kind, dtype)
    lines = _typed((reach.indptr, reach.indices, a._block.data), kind, dtype)
    shape = (a._block.shape[0], b.shape[1])
    found = sparse.product(lines, own, ghosts, b.shape[1])
    slices = rows_slices(a._slices, (a.shape[0], b.shape[1]))
    block = Block.of_lines(shape, "csr", found)
    return left._made(block, f"matmul {right._words}", slices)


def _typed(lines: Csr, kind: Any, dtype: np.dtype[Any]) -> Csr:
    indptr, indices, data = lines
    return (
        indptr.astype(kind, copy=False),
        indices.astype(kind, copy=False),
        data.astype(dtype, copy=False),
    )


def _none(kind: Any, dtype: np.dtype[Any]) -> Csr:
    return np.zeros(1, kind), np.empty(0, kind), np.empty(0, dtype)
