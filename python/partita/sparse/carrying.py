"""Sparse rows on their way from their owners to the ranks that asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse
from partita._team.routes import Routes
from partita.sparse.asking import brought_along, short_of
from partita.sparse.exchange import add_rows

if TYPE_CHECKING:
    from partita._local.sparse import Csr
    from partita.sparse.asking import Asked

Local = np.ndarray[Any, Any]


class Carried:
    """Rows of one pattern, brought once with their columns and then by their values alone.

    They come in the order of their owners: `indptr`, `indices`, and `first`, the values that came
    with them.
    """

    def __init__(self, asked: Asked, lines: Csr, words: str) -> None:
        """Bring the rows asked for, given the rows of this rank. Collective.

        The words say what for, alike on all ranks.
        """
        self.asked = asked
        self._indptr = lines[0]
        self._none = np.zeros(len(asked.given), np.int64)
        (starts, columns, data), self._begins = sparse.taken_from([lines], self._none, asked.given)
        self._starts = starts
        cuts = np.cumsum([0, *asked.routes.n_leaving])
        leaving = np.diff(starts[cuts]).tolist()
        lengths = np.diff(starts)
        counts = _diagonal(leaving)
        if not asked.routes.is_at_home:
            team = asked.team
            # Each rank may have an index type of its own; what travels is of the widest.
            own = [starts.itemsize, leaving, short_of(team, lengths)]
            told = team.gather_alike("DistTensor rows that travel", words, own)
            kind = np.dtype(f"i{max(one[0] for one in told)}")
            counts, short = [one[1] for one in told], [one[2] for one in told]
            lengths, columns = lengths.astype(kind, copy=False), columns.astype(kind, copy=False)
            lengths = brought_along(team, asked.routes.counts, short, lengths)
        self._entries = Routes(asked.team, counts)
        self.indptr = np.zeros(len(lengths) + 1, columns.dtype)
        np.cumsum(lengths, out=self.indptr[1:])
        self.indices = self._entries.there(columns)
        self.first = self._entries.there(data)

    def values(self, data: Local, about: str) -> Local:
        """Return the values of the rows asked for, given all values of this rank. Collective.

        What they are `about` all ranks say alike.
        """
        given = sparse.values_from([data], self._none, self._begins, self._starts)
        return self._entries.there(given, about=about)

    def add_back(self, values: Local, own: Local) -> None:
        """Add values of the rows that came to those of their owners. Collective."""
        places = entries_of(self._indptr, self.asked.given)
        add_rows(own, places, self._entries.back(values))


def entries_of(indptr: Local, rows: Local) -> Local:
    """Return where the entries of rows lie, one row behind the other."""
    starts = indptr[rows].astype(np.int64, copy=False)
    lengths = indptr[rows + 1] - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _diagonal(leaving: list[int]) -> list[list[int]]:
    """Return counts of rows that all stay at home: those of other ranks do not matter."""
    return [
        [n if at == rank else 0 for at in range(len(leaving))] for rank, n in enumerate(leaving)
    ]
