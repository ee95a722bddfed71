"""Laplacians of grids: each point less its neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._team.spmd import own_team
from partita.sparse.agreement import agreed
from partita.sparse.block import Block
from partita.sparse.generators import own_numbers, whole_numbers
from partita.sparse.kinds import checked_dtype
from partita.sparse.room import entries_room
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


@telling
def laplacian(
    shape: Sequence[int],
    *,
    dtype: Any = float,
    format: str = "csr",
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return the matrix of a grid's points, in C order: 2 per dimension, -1 for each neighbour.

    Outside the grid is 0; the matrix is definite. In two dimensions that are the five points, in
    three the seven. Every rank makes its own rows; `dist=` or `layout=` move them. Collective.
    """
    team = own_team(team)

    def look() -> tuple[tuple[tuple[int, ...], np.dtype[Any]], dict[str, Any], None]:
        points, kind = _checked(shape), checked_dtype(dtype)
        facts = {"the grid": points, "the element type": kind.name, "the format": str(format)}
        return (points, kind), facts, None

    (points, kind), _ = agreed(team, "sparse.laplacian", look)
    n = math.prod(points)
    first, end = own_numbers(n, team)
    with entries_room(team, (n, n), n * (2 * len(points) + 1)):
        block = _rows(points, first, end, kind)
        made = DistTensor.from_blocks(block, (n, n), ("distributed", "replicated"), team)
    if format != "csr" or where:
        return made.redistribute(format=format, **where)
    return made


def _checked(shape: Sequence[int]) -> tuple[int, ...]:
    sides = whole_numbers(shape, "shape")
    if not sides or min(sides) < 0:
        raise ValueError(f"a grid of {sides}; use one extent or more, from 0 on")
    return sides


def _rows(shape: tuple[int, ...], first: int, end: int, dtype: np.dtype[Any]) -> Block:
    """The rows of some points. Columns come in order, so that nothing is sorted."""
    n, n_dims = math.prod(shape), len(shape)
    index = np.int32 if n * (2 * n_dims + 1) <= np.iinfo(np.int32).max else np.int64
    points: Local = np.arange(first, end, dtype=index)
    steps = [math.prod(shape[dim + 1 :]) for dim in range(n_dims)]
    width = 2 * n_dims + 1
    is_there = np.ones((len(points), width), bool)
    columns = np.empty((len(points), width), index)
    columns[:, n_dims] = points
    values = np.full(width, -1, dtype)
    values[n_dims] = 2 * n_dims
    for dim, (extent, step) in enumerate(zip(shape, steps, strict=True)):
        at = points // max(step, 1) % max(extent, 1)
        before, after = dim, width - 1 - dim
        is_there[:, before], is_there[:, after] = at > 0, at < extent - 1
        columns[:, before], columns[:, after] = points - step, points + step
    counts = is_there.sum(axis=1, dtype=index)
    indptr = np.concatenate([np.zeros(1, index), np.cumsum(counts, dtype=index)])
    data = np.broadcast_to(values, is_there.shape)[is_there]
    lines = (indptr, columns[is_there], data)
    return Block.of_lines((end - first, n), "csr", lines)
