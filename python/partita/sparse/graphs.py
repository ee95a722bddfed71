"""Random graphs whose degrees follow a power law, made in parallel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import integer, real
from partita._local.randomness import words
from partita._team.spmd import own_team
from partita.random.seeds import Seeds
from partita.sparse.agreement import agreed
from partita.sparse.generators import known_seeds, made, own_numbers, seed_words
from partita.sparse.kinds import checked_dtype
from partita.sparse.room import entries_room

if TYPE_CHECKING:
    from partita._local.randomness import Stream
    from partita._team.team import Team
    from partita.sparse.tensor import DistTensor
from partita.sparse.telling import telling

Local = np.ndarray[Any, Any]

# So many edges are made at a time, to keep their numbers in the cache.
_AT_ONCE = 1 << 16
# A random word has bits for so many levels; shares are as exact as that.
_LEVELS, _BITS = 4, 16


@telling
def rmat(
    scale: int,
    edge_factor: int = 16,
    seed: Any = 0,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    directed: bool = True,
    dtype: Any = float,
    format: str = "csr",
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return an R-MAT graph of 2^scale vertices and edge_factor times as many edges. Collective.

    Each edge chooses a quarter of the matrix, by the shares a, b, c and the rest, then a quarter of
    that, and so on. Elements count edges. An edge depends on the seed and its number only: the
    graph is the same for every number of ranks. Undirected graphs have each edge both ways.
    """
    team = own_team(team)

    def look() -> tuple[tuple[np.dtype[Any], Seeds | None], dict[str, Any], None]:
        levels, factor = integer(scale, "scale"), integer(edge_factor, "edge_factor")
        shares = (real(a, "a"), real(b, "b"), real(c, "c"))
        kind, seeds = _check(levels, factor, shares, dtype), known_seeds(seed, team)
        facts: dict[str, Any] = {"scale": int(scale), "edge_factor": int(edge_factor)}
        facts |= {"a, b, c": (float(a), float(b), float(c)), "directed": bool(directed)}
        facts |= {"the element type": kind.name, "seed": seed_words(seed, seeds)}
        return (kind, seeds), facts, None

    (kind, seeds), _ = agreed(team, "sparse.rmat", look)
    if seeds is None:
        seeds = Seeds.of(None, team)
    n = 1 << scale
    n_edges = edge_factor << scale
    stream, begin = seeds.take("words", n_edges * -(-scale // _LEVELS))
    first, end = own_numbers(n_edges, team)
    with entries_room(team, (n, n), n_edges):
        rows, columns = (np.zeros(end - first, np.int64) for _ in range(2))
        for at in range(first, end, _AT_ONCE):
            here = slice(at - first, min(at + _AT_ONCE, end) - first)
            _choose(stream, begin, at, n_edges, scale, (a, b, c), rows[here], columns[here])
        rows, columns = _mixed(rows, scale), _mixed(columns, scale)
        if not directed:
            other = rows != columns
            rows, columns = (
                np.concatenate([rows, columns[other]]),
                np.concatenate([columns, rows[other]]),
            )
        return made((n, n), [rows, columns], np.ones(len(rows), kind), team, format, where)


def _check(
    scale: int, edge_factor: int, shares: tuple[float, float, float], dtype: Any
) -> np.dtype[Any]:
    if not 0 <= scale < 62 or edge_factor < 0:
        message = f"scale={scale}, edge_factor={edge_factor}; use a scale from 0 to 31, so that"
        raise ValueError(f"{message} 64 bits count all elements, and edges from 0 on")
    if min(shares) < 0 or sum(shares) > 1:
        raise ValueError(f"shares of {shares}; use numbers whose sum is at most 1")
    return checked_dtype(dtype)


def _choose(
    stream: Stream,
    begin: int,
    first: int,
    n_edges: int,
    scale: int,
    shares: tuple[float, float, float],
    rows: Local,
    columns: Local,
) -> None:
    """Choose a quarter for each edge, level by level: one bit of the row, one of the column."""
    a, b, c = shares
    limits = [round(share * (1 << _BITS)) for share in (a, a + b, a + b + c)]
    random = np.empty(len(rows), np.uint64)
    for level in range(scale):
        group, within = divmod(level, _LEVELS)
        if within == 0:
            words(stream, begin + group * n_edges + first, random)
        bits = (random >> np.uint64(_BITS * within)).astype(np.uint16)
        is_low = bits >= limits[1]
        # Of the upper quarters the second, of the lower ones the last.
        is_right = ((bits >= limits[0]) ^ is_low) | (bits >= limits[2])
        for vertices, bit in ((rows, is_low), (columns, is_right)):
            vertices <<= 1
            vertices |= bit


def _mixed(vertices: Local, scale: int) -> Local:
    """Other numbers for vertices, so that those with many edges do not stand together."""
    mask = np.int64((1 << scale) - 1)
    half = max(scale // 2, 1)
    # Odd factors and shifts can be undone: no two vertices get one number.
    for factor in (0x2545F491, 0x5DEECE66D):
        vertices = (vertices * np.int64(factor & int(mask) | 1)) & mask
        vertices = vertices ^ (vertices >> half)
    return vertices
