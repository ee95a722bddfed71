"""Rows that a rank takes out of their owners' memory, where all of them can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from partita._local import sparse
from partita._team.together import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._local.sparse import Csr
    from partita._team.window import Sight
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]
T = TypeVar("T")


class Wanted(NamedTuple):
    """Rows in the order in which they are asked for."""

    # The rank of each, and where it is there.
    owners: Local
    places: Local
    # Each of the ranks once.
    asked: list[int]

    @classmethod
    def of(cls, owners: Local, places: Local) -> Wanted:
        """The same, by owners and places alone."""
        # Told by counting: sorting thousands would take longer than reading them.
        return cls(owners, places, np.flatnonzero(np.bincount(owners)).tolist())


class Reading:
    """Rows in the order in which they are asked for, read from ranks that do not take part.

    Owners leave their memory as it is until all have read.
    """

    def __init__(self, source: Base, wanted: Wanted) -> None:
        self._source = source
        self._owners, self._places, self._asked = wanted
        # Where the entries of each row begin at its owner, and among those asked for.
        self._starts: Local | None = None
        self._indptr: Local | None = None

    def lines(self, problem: IndexError | None = None) -> Csr:
        """The rows as they are now. Collective; a problem of one rank is raised by all."""

        def work() -> tuple[Csr, Local]:
            if problem is not None:
                raise problem
            return self._read(lambda lines: sparse.taken_from(lines, self._owners, self._places))

        found: Csr
        found, self._starts = self._met(work)
        self._indptr = found[0]
        return found

    def values(self) -> Local:
        """Their values alone. Collective."""
        if self._starts is None:
            return self.lines()[2]
        return self._met(lambda: self._read(self._values))

    def _values(self, lines: list[Csr | None]) -> Local:
        data = [None if one is None else one[2] for one in lines]
        assert self._starts is not None
        assert self._indptr is not None
        return sparse.values_from(data, self._owners, self._starts, self._indptr)

    def _met(self, work: Callable[[], T]) -> T:
        """What this rank reads, once all have read theirs: until then no owner goes on."""
        source = self._source
        return together(source.team, work, "DistTensor.get_rows", source._words)

    def _read(self, take: Callable[[list[Csr | None]], T]) -> T:
        """What is taken of the rows of all owners, by rank."""
        source, sights = self._source, {}
        lines: list[Csr | None] = [None] * source.team.size
        lines[source.team.rank] = source._block.lines
        for owner in self._asked:
            if owner != source.team.rank:
                sights[owner] = sight = self._sight(owner)
                indptr, indices, data = sight.arrays
                lines[owner] = indptr, indices, data
        try:
            found = take(lines)
        finally:
            # What was wrong with rows that are not there any more does not matter.
            for sight in sights.values():
                sight.check()
        return found

    def _sight(self, owner: int) -> Sight:
        """The owner's rows where they are; looked for again if it has others now."""
        source = self._source
        known = source._sights.get(owner)
        if known is None or not known.is_still:
            assert source._window is not None
            source._sights[owner] = known = source._window.sight(owner)
        return known
