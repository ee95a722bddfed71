"""Arrays on the ranks of a team beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_programs import Program

import partita as pt

REDUCTIONS = ["sum", "prod", "min", "max", "mean", "std", "var", "argmin", "argmax", "any", "all"]


def programs(team: pt.Team, first: int, count: int, layout: str) -> None:
    """Random programs; all ranks make the same ones."""
    for seed in range(first, first + count):
        Program(seed, layout).run()


def stepped(array: Any) -> None:
    """A few steps of a stencil, written through a view."""
    array[0] = 1.0
    array[:, 3] = 2.0
    for _ in range(5):
        center, north, south = array[1:-1, 1:-1], array[:-2, 1:-1], array[2:, 1:-1]
        east, west = array[1:-1, 2:], array[1:-1, :-2]
        center[:] = (center + north + south + east + west) * 0.2


def wholes(team: pt.Team) -> None:
    """Stencils, reductions, running sums, reshapes, masks on arrays that really lie on ranks."""
    ours: Any = pt.zeros((9, 7))
    theirs: Any = np.zeros((9, 7))
    stepped(ours)
    stepped(theirs)
    same(ours, theirs)
    assert ours.layout.notation == f"block(last), * @ {team.size}"
    n_own = ours.local.shape[0]
    assert n_own == 9 // team.size + (team.rank >= team.size - 9 % team.size)
    for name in REDUCTIONS:
        for axis in (None, 0, 1):
            same(getattr(pt, name)(ours, axis=axis), getattr(np, name)(theirs, axis=axis))
    for axis in (0, 1):
        same(pt.cumulative_sum(ours, axis=axis), np.cumsum(theirs, axis=axis))
        same(pt.cumulative_prod(ours + 0.5, axis=axis), np.cumprod(theirs + 0.5, axis=axis))
    same(ours[::-1] + ours, theirs[::-1] + theirs)
    same(ours.T[:, :7] + ours[:7], theirs.T[:, :7] + theirs[:7])
    same(ours.reshape(63)[::2] + 1, theirs.reshape(63)[::2] + 1)
    for one in (ours, theirs):
        one.reshape(63)[::5] = -1
    same(ours, theirs)
    same(ours[ours > 0.5], theirs[theirs > 0.5])
    for one in (ours, theirs):
        one[one > 0.5] = 0.25
        one[[0, 5], [1, 2]] = 7.0
    same(ours, theirs)
    strange = np.array([1.0, np.nan, 3.0, np.nan, -np.inf, 2.0, 5.0, 5.0])
    spread = pt.empty(8)
    spread[...] = strange
    for name in ("argmin", "argmax", "max", "min"):
        same(getattr(pt, name)(spread), getattr(np, name)(strange))
    assert float(pt.sum(spread[5:])) == 12.0


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-12)
