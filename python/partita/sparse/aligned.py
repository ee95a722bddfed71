"""Blocks of one shape, element by element: combined, compared, some entries left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse
from partita.sparse.block import Block

if TYPE_CHECKING:
    from partita._local.sparse import Csr

Local = np.ndarray[Any, Any]


def combined(left: Block, right: Block, operation: str) -> Block:
    """Return add, subtract, multiply, maximum or minimum of two blocks of one shape."""
    left, right = left.tidy(), right.in_format(left.format).tidy()
    dtype = np.result_type(left.dtype, right.dtype)
    index = np.result_type(left.index_dtype, right.index_dtype)
    a, b = (_one_type(*_lines(one), dtype, index) for one in (left, right))
    if left.format == "coo":
        n_columns = int(np.prod(left.shape, dtype=np.int64))
        _, keys, data = sparse.combined(a, b, operation, n_columns)
        return _of_keys(keys, data, left)
    n_columns = left.shape[1] if left.format == "csr" else left.shape[0]
    return Block.of_lines(left.shape, left.format, sparse.combined(a, b, operation, n_columns))


def _lines(block: Block) -> Csr:
    """The rows of a block; a tensor of coordinates is one long row."""
    if block.format != "coo":
        return block.lines
    return np.array([0, block.nnz]), keys_of(block), block.data


def _one_type(indptr: Local, indices: Local, data: Local, dtype: Any, index: Any) -> Csr:
    kind = np.result_type(index, indices.dtype)
    return (
        indptr.astype(kind, copy=False),
        indices.astype(kind, copy=False),
        data.astype(dtype, copy=False),
    )


def keys_of(block: Block) -> Local:
    """Return the position of each entry, counted in C order."""
    coords = [one.astype(np.int64, copy=False) for one in block.all_coords()]
    if 0 in block.shape:
        return np.zeros(0, np.int64)
    return np.ravel_multi_index(coords, block.shape) if coords else np.zeros(block.nnz, np.int64)


def _of_keys(keys: Local, data: Local, like: Block) -> Block:
    """A block of entries by their positions, in the format of another."""
    if 0 in like.shape or not like.shape:
        coords = [np.zeros(len(keys), like.index_dtype) for _ in like.shape]
    else:
        coords = [one.astype(like.index_dtype) for one in np.unravel_index(keys, like.shape)]
    return Block.of_coords(like.shape, like.format, coords, data)


def side_by_side(left: Block, right: Block) -> tuple[Local, Local, Local]:
    """Return the positions where either has an entry, and the values of both there."""
    left, right = left.tidy(), right.tidy()
    ours, theirs = keys_of(left), keys_of(right)
    keys = np.union1d(ours, theirs)
    values = []
    for own, block in ((ours, left), (theirs, right)):
        spread = np.zeros(len(keys), block.dtype)
        spread[np.searchsorted(keys, own)] = block.data
        values.append(spread)
    return keys, values[0], values[1]


def multiplied_elements(left: Block, right: Block) -> Block:
    """Return the products of elements; NaN and infinities meet the zeros that are not stored."""
    if _is_finite(left.data) and _is_finite(right.data):
        return combined(left, right, "multiply")
    keys, a, b = side_by_side(left, right)
    with np.errstate(all="ignore"):
        data = a * b
    kept = data != 0
    return _of_keys(keys[kept], data[kept], left)


def _is_finite(data: Local) -> bool:
    """Whether all values are known to be finite: by their sum, which is read fastest."""
    if data.dtype.kind not in "fc":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(data.sum()))


def compared(left: Block, right: Block, compare: Any) -> Block:
    """Return where a comparison of two blocks holds; it must not hold for two zeros."""
    keys, a, b = side_by_side(left, right)
    holds = compare(a, b)
    return _of_keys(keys[holds], np.ones(int(holds.sum()), bool), left)


def negated(block: Block) -> Block:
    """Return where a block of truth values has none."""
    dense = np.ones(block.shape, bool)
    true = block.data
    dense[tuple(one[true] for one in block.all_coords())] = False
    coords = [one.astype(block.index_dtype) for one in np.nonzero(dense)]
    data = np.ones(len(coords[0]) if coords else int(dense), bool)
    return Block.of_coords(block.shape, block.format, coords, data)


def filtered(block: Block, kept: Local) -> Block:
    """Return a block with some of its entries."""
    if block.format == "coo":
        coords = [one[kept] for one in block.coords]
        return Block(block.shape, "coo", block.data[kept], coords=coords)
    indptr, indices, data = block.lines
    before = np.concatenate([[0], np.cumsum(kept)])
    lines = (before[indptr].astype(indptr.dtype), indices[kept], data[kept])
    return Block.of_lines(block.shape, block.format, lines)
