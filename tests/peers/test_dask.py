"""Plans between chunkings against dask's rechunk: same pieces, same slices, same arrays."""

from __future__ import annotations

from itertools import pairwise, product
from math import prod
from random import Random

import dask.array as da
import numpy as np
import pytest
from chunks import layout, random_case
from dask.array.core import normalize_chunks
from dask.array.rechunk import intersect_chunks, old_to_new

import partita as pt

SEEDS = range(200)
Region = tuple[tuple[int, int], ...]


def region(indices: list[np.ndarray]) -> Region:
    """The start and stop of a dense region per dimension."""
    for dim in indices:
        np.testing.assert_array_equal(dim, np.arange(dim[0], dim[0] + len(dim)))
    return tuple((int(dim[0]), int(dim[0]) + len(dim)) for dim in indices)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_pieces_as_intersect_chunks(seed: int) -> None:
    shape, old, new = random_case(seed)
    source, target = layout(shape, old), layout(shape, new)
    plan = pt.plan(source, target)
    numbers = np.arange(source.n_ranks).reshape(source.grid_shape)
    theirs = list(intersect_chunks(old, new))
    assert len(theirs) == target.n_ranks
    for rank, pieces in enumerate(theirs):
        wanted = {
            int(numbers[tuple(number for number, _ in piece)]): tuple(
                (part.start, part.stop) for _, part in piece
            )
            for piece in pieces
        }
        found = {move.source_rank: region(move.source_indices()) for move in plan.receives(rank)}
        assert found == wanted
        covered = sum(prod(stop - start for start, stop in piece) for piece in wanted.values())
        assert covered == target.n_held(rank)
    assert plan.n_moves == sum(len(list(pieces)) for pieces in intersect_chunks(old, new))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_slices_as_old_to_new(seed: int) -> None:
    """One dimension at a time, target positions too."""
    shape, old, new = random_case(seed)
    per_dim = old_to_new(old, new)
    for dim, extent in enumerate(shape):
        source, target = layout((extent,), (old[dim],)), layout((extent,), (new[dim],))
        plan = pt.plan(source, target)
        for rank, wanted in enumerate(per_dim[dim]):
            moves = sorted(plan.receives(rank), key=lambda move: move.source_rank)
            found = [(move.source_rank, region(move.source_indices())) for move in moves]
            assert found == [(chunk, ((part.start, part.stop),)) for chunk, part in wanted]
            ends = [region(move.target_indices())[0] for move in moves]
            assert ends[0][0] == 0
            assert ends[-1][1] == new[dim][rank]
            assert all(a[1] == b[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("seed", range(60))
def test_the_same_array_as_rechunk(seed: int) -> None:
    shape, old, new = random_case(seed)
    values = np.random.default_rng(seed).integers(0, 10**6, shape)
    rechunked = da.from_array(values, chunks=old).rechunk(new)
    assert rechunked.chunks == new
    source, target = layout(shape, old), layout(shape, new)
    plan = pt.plan(source, target)
    before = {rank: block(values, source, rank) for rank in range(source.n_ranks)}
    for rank, position in enumerate(product(*(range(len(lengths)) for lengths in new))):
        after = np.full(target.local_shape(rank), -1)
        for move in plan.receives(rank):
            taken = before[move.source_rank][np.ix_(*move.source_indices())]
            after[np.ix_(*move.target_indices())] = taken
        theirs = rechunked.blocks[position].compute(scheduler="synchronous")
        np.testing.assert_array_equal(after, theirs)


def block(values: np.ndarray, source: pt.Layout, rank: int) -> np.ndarray:
    """A rank's part of an array."""
    [piece] = source.pieces(rank)
    parts = zip(piece.start, piece.shape, strict=True)
    return values[tuple(slice(start, start + length) for start, length in parts)]


@pytest.mark.parametrize("seed", range(200))
def test_blocks_of_ceil_are_normalized_chunks(seed: int) -> None:
    """Dask cuts an extent into chunks of one length, the rest last: block(ceil)."""
    rng = Random(seed)
    n, p = rng.randint(1, 100), rng.randint(1, 12)
    cut = pt.Layout(n, f"block(ceil) @ {p}")
    sizes = [cut.local_shape(rank)[0] for rank in range(p)]
    [chunks] = normalize_chunks((-(-n // p),), shape=(n,))
    assert [size for size in sizes if size] == list(chunks)
    split = [len(part) for part in np.array_split(np.arange(n), p)]
    even = pt.Layout(n, f"block @ {p}")
    assert [even.local_shape(rank)[0] for rank in range(p)] == split
    last = pt.Layout(n, f"block(last) @ {p}")
    assert [last.local_shape(rank)[0] for rank in range(p)] == split[::-1]
