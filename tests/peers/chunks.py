"""Random irregular chunkings, and the layouts that say the same: each chunk is one rank."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import partita as pt

Chunks = tuple[tuple[int, ...], ...]


def random_chunks(rng: Random, shape: tuple[int, ...]) -> Chunks:
    """Chunk lengths per dimension, none of them 0."""
    return tuple(_cut(rng, extent) for extent in shape)


def _cut(rng: Random, extent: int) -> tuple[int, ...]:
    cuts = sorted(rng.sample(range(1, extent), rng.randint(0, min(5, extent - 1))))
    ends = [0, *cuts, extent]
    return tuple(stop - start for start, stop in pairwise(ends))


def layout(shape: tuple[int, ...], chunks: Chunks) -> pt.Layout:
    """The layout of a chunking."""
    maps = [pt.Block(sizes=lengths) for lengths in chunks]
    return pt.Layout(shape, maps, grid=[len(lengths) for lengths in chunks])


def random_case(seed: int) -> tuple[tuple[int, ...], Chunks, Chunks]:
    """A shape and two chunkings of it."""
    rng = Random(seed)
    shape = tuple(rng.randint(1, 30) for _ in range(rng.randint(1, 3)))
    return shape, random_chunks(rng, shape), random_chunks(rng, shape)
