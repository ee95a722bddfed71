"""Blocks of one shape, element by element: combined, compared, some entries left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse
from partita.sparse.block import Block
from partita.sparse.sorting import numbered

if TYPE_CHECKING:
    from partita._local.sparse import Csr

Local = np.ndarray[Any, Any]


def combined(left: Block, right: Block, operation: str) -> Block:
    """Return add, subtract, multiply, maximum or minimum of two blocks of one shape.

    Results that are 0 are not stored, as SciPy's are not.
    """
    left, right = left.tidy(), right.in_format(left.format).tidy()
    dtype = np.result_type(left.dtype, right.dtype)
    index = np.result_type(left.index_dtype, right.index_dtype)
    if left.format == "coo":
        numbers = Numbers(left, right)
        a, b = (
            _one_type(np.array([0, one.nnz]), keys, one.data, dtype, np.int64)
            for one, keys in zip((left, right), numbers.keys, strict=True)
        )
        _, keys, data = sparse.combined(a, b, operation, numbers.end)
        return without_zeros(numbers.block(keys, data))
    n_columns = left.shape[1] if left.format == "csr" else left.shape[0]
    a, b = (_one_type(*one.lines, dtype, index) for one in (left, right))
    lines = sparse.combined(a, b, operation, n_columns)
    return without_zeros(Block.of_lines(left.shape, left.format, lines))


def _one_type(indptr: Local, indices: Local, data: Local, dtype: Any, index: Any) -> Csr:
    kind = np.result_type(index, indices.dtype)
    return (
        indptr.astype(kind, copy=False),
        indices.astype(kind, copy=False),
        data.astype(dtype, copy=False),
    )


class Numbers:
    """Numbers of the places of two blocks of one shape, in C order, and the way back.

    A place is counted among all elements of the shape, or only among those of the two blocks where
    integers of 64 bits cannot count all.
    """

    def __init__(self, left: Block, right: Block) -> None:
        self._like = left
        # Of both, whichever way this rank's values take: all ranks go the same for the others.
        self._index = np.result_type(left.index_dtype, right.index_dtype)
        both = [
            np.concatenate([one.astype(np.int64, copy=False) for one in pair])
            for pair in zip(left.all_coords(), right.all_coords(), strict=True)
        ]
        n_places = math.prod(left.shape)
        self._places: list[Local] | None = None
        if n_places <= np.iinfo(np.int64).max:
            #: Behind the last number.
            self.end = n_places
            keys = np.ravel_multi_index(both, left.shape) if n_places else np.zeros(0, np.int64)
        else:
            self._places, keys = numbered(both)
            self.end = len(self._places[0])
        #: Of both blocks.
        self.keys = keys[: left.nnz], keys[left.nnz :]

    def block(self, keys: Local, data: Local) -> Block:
        """Return entries by their numbers, in the format of the first block."""
        like = self._like
        if self._places is not None:
            coords = [one[keys] for one in self._places]
        elif 0 in like.shape:
            coords = [keys for _ in like.shape]
        else:
            coords = list(np.unravel_index(keys, like.shape))
        # NumPy unravels into columns of one array; others read only what is in one stretch.
        coords = [np.ascontiguousarray(one, self._index) for one in coords]
        return Block.of_coords(like.shape, like.format, coords, data)


def side_by_side(left: Block, right: Block) -> tuple[Numbers, Local, Local, Local]:
    """Return the numbers of places where either has an entry, and the values of both there."""
    left, right = left.tidy(), right.tidy()
    numbers = Numbers(left, right)
    keys = np.union1d(*numbers.keys)
    values = []
    for own, block in zip(numbers.keys, (left, right), strict=True):
        spread = np.zeros(len(keys), block.dtype)
        spread[np.searchsorted(keys, own)] = block.data
        values.append(spread)
    return numbers, keys, values[0], values[1]


def multiplied_elements(left: Block, right: Block) -> Block:
    """Return the products of elements; NaN and infinities meet the zeros that are not stored."""
    if _is_finite(left.data) and _is_finite(right.data):
        return combined(left, right, "multiply")
    numbers, keys, a, b = side_by_side(left, right)
    with np.errstate(all="ignore"):
        data = a * b
    kept = data != 0
    return numbers.block(keys[kept], data[kept])


def hypotenuses(left: Block, right: Block) -> Block:
    """Return the roots of sums of squares of elements."""
    numbers, keys, a, b = side_by_side(left, right)
    return without_zeros(numbers.block(keys, np.hypot(a, b)))


def _is_finite(data: Local) -> bool:
    """Whether all values are known to be finite: by their sum, which is read fastest."""
    if data.dtype.kind not in "fc":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(data.sum()))


def compared(left: Block, right: Block, compare: Any) -> Block:
    """Return where a comparison of two blocks holds; it must not hold for two zeros."""
    numbers, keys, a, b = side_by_side(left, right)
    holds = compare(a, b)
    return numbers.block(keys[holds], np.ones(int(holds.sum()), bool))


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


def without_zeros(block: Block) -> Block:
    """Return a block without entries that are 0; itself if it has none."""
    if block.data.all():
        return block
    return filtered(block, block.data != 0)
