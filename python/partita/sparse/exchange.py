"""Rows of a dense operand that a rank needs and does not hold, fetched by a plan that is kept.

Its adjoint adds such rows to those of their owners: the same plan reversed, copies become sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.enter import is_everywhere
from partita._keeper import Keeper
from partita._local import sparse
from partita._memory.warm import empty
from partita.sparse.asking import Asked

if TYPE_CHECKING:
    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Of so many own elements one is a ghost where choosing between two places costs nothing.
_RARE = 8
# A vector that is looked up so often, element by element, is brought to one place before.
_OFTEN = 2


class Fetch(Keeper):
    """Brings the rows that a rank wants, of a dense operand whose rows lie in a layout.

    `positions` says where each wanted row is: among this rank's own rows, or behind them among the
    ghosts, which are those of other ranks.
    """

    def __init__(self, team: Team, layout: Layout, wanted: Local, words: str) -> None:
        """Plan for global indices, each once. Collective, unless every rank has all rows.

        The words say what for, alike on all ranks.
        """
        super().__init__()
        self.team = team
        self.n_own: int = layout.local_shape(team.rank)[0]
        self.asked: Asked | None = None
        self.n_ghosts = 0
        if is_everywhere(layout, team.size):
            self.positions = wanted
            return
        owners, places = layout.locate(np.asarray(wanted, np.int64)[:, None])
        self.positions = places[:, 0]
        away = np.flatnonzero(owners != home(layout, team.rank))
        asked = Asked(team, owners[away], self.positions[away], words=words)
        order = away if asked.order is None else away[asked.order]
        self.positions[order] = self.n_own + np.arange(len(order))
        self.n_ghosts = len(order)
        self.asked = None if asked.routes.is_at_home else asked

    @property
    def is_local(self) -> bool:
        """Whether no rank wants anything of another."""
        return self.asked is None

    def rows(self, own: Local, about: str) -> Local:
        """Return the ghosts, given the rows that this rank holds. Collective.

        They stay as they are until the next call. What they are `about` all ranks say alike: plans
        are kept for a pattern, which many tensors may have.
        """
        ghosts, packed = self._memory(own.shape[1:], own.dtype)
        if self.asked is not None:
            np.take(own, self.asked.given, axis=0, out=packed, mode="clip")
            self.asked.routes.there(packed, ghosts, about)
        else:
            self._meet(about)
        return ghosts

    def in_one_place(self, own: Local, ghosts: Local, n_entries: int) -> tuple[Local, Local]:
        """Return a vector and its ghosts, one behind the other if so many look-ups are worth it.

        They stay as they are until the next call.
        """
        is_rare = self.n_ghosts * _RARE <= self.n_own
        if own.ndim != 1 or is_rare or n_entries < _OFTEN * (self.n_own + self.n_ghosts):
            return own, ghosts
        # NumPy's memory has huge pages, which look-ups at random need.
        both = self.kept(
            ("both", own.dtype), lambda: np.empty(self.n_own + self.n_ghosts, own.dtype)
        )
        both[: self.n_own], both[self.n_own :] = own, ghosts
        return both, both[:0]

    def room(self, row: tuple[int, ...], dtype: np.dtype[Any]) -> Local:
        """Return the memory of ghosts, of zeros: for sums that are to be added back."""
        ghosts, _ = self._memory(row, dtype)
        ghosts[...] = 0
        return ghosts

    def add_back(self, ghosts: Local, own: Local, about: str) -> None:
        """Add ghosts to the rows of their owners, in the order of ranks. As `rows`, collective."""
        if self.asked is not None:
            _, packed = self._memory(own.shape[1:], own.dtype)
            add_rows(own, self.asked.given, self.asked.routes.back(ghosts, packed, about))
        else:
            self._meet(about)

    def _meet(self, about: str) -> None:
        """Compare what ranks are about where nothing travels that would."""
        if self.team.size > 1:
            self.team.native.allgather("DistTensor product", about, b"")

    def _memory(self, row: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Local, Local]:
        """Return room for the ghosts, and for the rows that others want."""
        n_given = 0 if self.asked is None else len(self.asked.given)
        return self.kept(
            (row, dtype),
            lambda: (empty((self.n_ghosts, *row), dtype), empty((n_given, *row), dtype)),
        )


def add_rows(own: Local, places: Local, rows: Local) -> None:
    """Add rows at places, in their order; a place may come repeatedly."""
    one_each = np.arange(len(places) + 1, dtype=places.dtype)
    none = np.empty((0, *own.shape[1:]), own.dtype)
    ones = np.ones(len(places), own.dtype)
    sparse.times_transposed(one_each, places, ones, rows, own, none)


def home(layout: Layout, rank: int) -> int:
    """Return the owner of what a rank holds: itself, or the first rank that holds the same."""
    if layout.local_shape(rank)[0] == 0:
        return -1
    first = layout.globalize(rank, np.zeros((1, 1), np.int64))
    return int(layout.locate(first.reshape(1, 1))[0][0])
