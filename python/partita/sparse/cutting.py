"""A slice cut out of a tensor that one rank has whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse
from partita.sparse.block import Block
from partita.sparse.columns import is_wide, renumbered

if TYPE_CHECKING:
    from partita._local.sparse import Csr
    from partita.sparse.slices import SliceId, Slices

Local = np.ndarray[Any, Any]


def cut(block: Block, slices: Slices, slice_id: SliceId) -> Block:
    """Return a slice in the format of the whole: views of its memory where they are stretches."""
    shape = slices.slice_shape(slice_id)
    if all(slices.is_straight(dim) for dim in range(block.ndim)):
        return block
    if block.format == "coo":
        return _cut_coords(block, slices, slice_id)
    major, minor = (0, 1) if block.format == "csr" else (1, 0)
    lines = _some_lines(block.lines, slices, major, slice_id[major])
    if slices.dist[minor] == "distributed" and is_wide(block.shape[minor], len(lines[1])):
        parts, places = slices.places(minor, lines[1])
        lines = renumbered(lines, np.where(parts == slice_id[minor], places, -1))
    elif slices.dist[minor] == "distributed":
        new = np.full(block.shape[minor], -1, np.int64)
        chosen = _members(slices, minor, slice_id[minor])
        new[chosen] = np.arange(len(chosen))
        lines = sparse.chosen_columns(*lines, new)
    return Block.of_lines(shape, block.format, lines)


def _members(slices: Slices, dim: int, part: int) -> Local:
    """The indices of one part of a dimension, in the order of the slice."""
    axis = slices.axes[dim]
    local = np.arange(axis.local_shape(part)[0])
    found: Local = axis.globalize(part, local[:, None])[:, 0]
    return found


def _some_lines(lines: Csr, slices: Slices, dim: int, part: int) -> Csr:
    indptr, indices, data = lines
    if slices.dist[dim] == "replicated":
        return lines
    stretch = slices.stretch(dim, part)
    if stretch is None:
        return sparse.taken_rows(indptr, indices, data, _members(slices, dim, part))
    first, end = (int(indptr[at]) for at in stretch)
    starts = indptr[stretch[0] : stretch[1] + 1]
    return (
        starts - indptr.dtype.type(first) if first else starts,
        indices[first:end],
        data[first:end],
    )


def _cut_coords(block: Block, slices: Slices, slice_id: SliceId) -> Block:
    is_here = np.ones(block.nnz, bool)
    inside = list(block.coords)
    for dim, kind in enumerate(slices.dist):
        if kind == "distributed":
            parts, local = slices.places(dim, block.coords[dim])
            is_here &= parts == slice_id[dim]
            inside[dim] = local
    dtype = block.index_dtype
    coords = [one[is_here].astype(dtype, copy=False) for one in inside]
    return Block(slices.slice_shape(slice_id), "coo", block.data[is_here], coords=coords)
