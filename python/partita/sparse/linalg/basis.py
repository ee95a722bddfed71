"""Orthonormal vectors, of which each rank has its rows as plain memory.

Inner products of one vector with all others are one local product and one meeting of the ranks:
recorded one by one, each would be a reduction of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import array_of
from partita.sparse.teams import part_on

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def added(team: Team, mine: Local) -> Local:
    """Return the sum of every rank's numbers, in rank order: the same bits on all. Collective."""
    if team.size == 1:
        return mine
    parts = team.gather_inside("sums of a solver", mine)
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    return np.asarray(total)


class Basis:
    """Up to `most` orthonormal vectors in one layout."""

    def __init__(self, most: int, layout: Layout, team: Team, dtype: np.dtype[Any]) -> None:
        self.team, self.layout = team, layout
        n_here = layout.local_shape(team.rank)[0]
        self.rows = np.zeros((most, n_here), dtype)
        self.n = 0

    def vector(self, at: int) -> Array:
        """Return one of the vectors, over the same memory."""
        return array_of(self.rows[at], self.layout, self.team)

    def local(self, x: Array) -> Local:
        """Return this rank's part of a vector, as fresh memory."""
        return part_on(x, self.layout, self.team).astype(self.rows.dtype, copy=True)

    def take(self, local: Local, length: float) -> None:
        """Append a vector that is orthogonal to the others, by its length."""
        self.rows[self.n] = local / length
        self.n += 1

    def begin(self, x: Array) -> float:
        """Begin anew with a vector; return its length. Collective."""
        own = self.local(x)
        length = math.sqrt(added(self.team, np.array([np.vdot(own, own).real]))[0])
        self.n = 0
        if length > 0:
            self.take(own, length)
        return length

    def without(self, x: Array) -> tuple[Local, Local, float]:
        """Return a vector's parts along the others, what is left here, and its whole length.

        Twice, because the first time leaves rounding errors as large as what was taken away.
        Collective, two meetings.
        """
        own = self.local(x)
        basis = self.rows[: self.n]
        parts = added(self.team, basis.conj() @ own)
        own -= parts @ basis
        again = np.concatenate([basis.conj() @ own, [np.vdot(own, own)]])
        *more, squared = added(self.team, again)
        rest = np.asarray(more, parts.dtype)
        own -= rest @ basis
        left = squared.real - np.vdot(rest, rest).real
        return parts + rest, own, math.sqrt(max(left, 0.0))

    def combined(self, weights: Local) -> Array:
        """Return a sum of the first vectors with weights."""
        made = weights.astype(self.rows.dtype) @ self.rows[: len(weights)]
        return array_of(made, self.layout, self.team)
