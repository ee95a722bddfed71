"""Tall matrices of few columns, of which each rank has its rows as plain memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import array_of
from partita._partita import Layout, Whole
from partita.sparse.linalg.basis import added
from partita.sparse.teams import part_on

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._team.team import Team
    from partita.sparse.linalg.operators import LinearOperator

Local = np.ndarray[Any, Any]


class Tall:
    """Where the rows of tall matrices lie, and what is computed with them."""

    def __init__(self, rows: Layout, team: Team, dtype: np.dtype[Any]) -> None:
        self.rows, self.team, self.dtype = rows, team, dtype

    def layout(self, n_columns: int) -> Layout:
        """The layout of a matrix of so many columns, cut along its rows."""
        maps = self.rows.maps
        assert maps is not None
        return Layout((self.rows.shape[0], n_columns), [*maps, Whole()], grid=(self.team.size, 1))

    def array(self, local: Local) -> Array:
        """The array of which every rank has its rows."""
        local = np.ascontiguousarray(local)
        return array_of(local, self.layout(local.shape[1]), self.team)

    def local(self, array: Array) -> Local:
        """This rank's rows, as fresh memory. Collective."""
        own = part_on(array, self.layout(array.shape[1]), self.team)
        return own.astype(self.dtype, copy=True)

    def times(self, operator: LinearOperator | None, local: Local) -> Local:
        """This rank's rows of an operator's product; nothing is the identity. Collective."""
        if operator is None or local.shape[1] == 0:
            return local
        return self.local(operator.matmat(self.array(local)))

    def products(self, *pairs: tuple[Local, Local]) -> list[Local]:
        """Inner products of columns with columns, all in one meeting. Collective."""
        mine = [left.conj().T @ right for left, right in pairs]
        flat = added(self.team, np.concatenate([one.reshape(-1) for one in mine]))
        cuts = np.cumsum([one.size for one in mine])[:-1]
        parts = np.split(flat, cuts)
        return [one.reshape(like.shape) for one, like in zip(parts, mine, strict=True)]

    def lengths(self, local: Local) -> Local:
        """The length of each column. Collective."""
        squares = (local.real**2 + local.imag**2).sum(axis=0)
        return np.sqrt(added(self.team, squares))
