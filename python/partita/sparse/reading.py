"""Rows that a rank takes out of their owners' memory, where all of them can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._local import choosing, sparse
from partita.sparse.carrying import entries_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partita._local.sparse import Csr
    from partita._team.window import Window
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


class _Share(NamedTuple):
    """What comes from one owner: places of rows there, and of the rows among those asked for."""

    owner: int
    places: Local
    rows: Local


class Reading:
    """Rows in the order in which they are asked for, read from ranks that do not take part.

    `lines` are the rows as they were first. Owners leave their memory as it is until all have read.
    """

    def __init__(self, source: Base, shares: list[_Share]) -> None:
        assert source._window is not None
        self.source = source
        self._window: Window = source._window
        self._shares = shares
        # Where the entries of each share lie at their owner, and where among those asked for.
        self._entries: list[tuple[Local, Local]] | None = None
        self.lines = self._first()

    @classmethod
    def of(
        cls, source: Base, owners: Local, places: Local, problem: IndexError | None
    ) -> Reading | None:
        """Return the rows asked for; none if some rank cannot look at what it wants. Collective.

        A rank's problem is raised on every rank.
        """
        team, window = source.team, source._window
        if team.size == 1 or window is None:
            return None
        wanted = np.unique(owners).tolist() if problem is None else []
        can = all(owner == team.rank or window.is_mapped(owner) for owner in wanted)
        told = source._met("get_rows", str(problem) if problem is not None else can)
        for rank, one in enumerate(told):
            if isinstance(one, str):
                raise problem or IndexError(f"{one} (on rank {rank})")
        if not all(told):
            return None
        # Short integers are sorted by counting.
        order = np.argsort(owners.astype(np.int16), kind="stable")
        rows = np.split(order, np.searchsorted(owners[order], wanted)[1:])
        # A rank that asks for nothing has one empty stretch, and no owner for it.
        pairs = zip(wanted, rows[: len(wanted)], strict=True)
        return cls(source, [_Share(owner, places[at], at) for owner, at in pairs])

    def _first(self) -> Csr:
        """The rows, all of them read by this rank. Collective."""
        source = self.source
        taken = [sparse.taken_rows(*lines, share.places) for share, lines in self._looked()]
        if len(taken) == 1 and len(self._shares[0].rows):
            # They come in order from the one owner.
            found = taken[0]
        else:
            found = _joined(taken, self._shares, source._block.lines)
        source.team.barrier()
        return found

    def values(self) -> Local:
        """The values of the rows as they are now. Collective."""
        if self._entries is None:
            self._entries = self._found_entries()
        indptr = self.lines[0]
        out = np.empty(int(indptr[-1]), self.source.dtype)
        pairs = zip(self._looked(), self._entries, strict=True)
        for (_, (_, _, data)), (there, here) in pairs:
            choosing.scatter(out, here, choosing.gather(data, there))
        self.source.team.barrier()
        return out

    def _found_entries(self) -> list[tuple[Local, Local]]:
        mine = self.lines[0]
        return [
            (entries_of(lines[0], share.places), entries_of(mine, share.rows))
            for share, lines in self._looked()
        ]

    def _looked(self) -> Iterator[tuple[_Share, Csr]]:
        """Each share, and the rows of its owner where they are."""
        for share in self._shares:
            if share.owner == self.source.team.rank:
                yield share, self.source._block.lines
            else:
                with self._window.view(share.owner) as (indptr, indices, data):
                    yield share, (indptr, indices, data)


def _joined(taken: list[Csr], shares: list[_Share], like: Csr) -> Csr:
    """The rows of several owners in the order in which they were asked for."""
    if not taken:
        kinds = [one.dtype for one in like]
        return np.zeros(1, kinds[0]), np.empty(0, kinds[1]), np.empty(0, kinds[2])
    starts = [0]
    for indptr, _, _ in taken:
        starts.append(starts[-1] + int(indptr[-1]))
    ends = [one[0][1:] + start for one, start in zip(taken, starts[:-1], strict=True)]
    kind = np.result_type(*(one[0].dtype for one in taken))
    kind = np.dtype(np.int64) if starts[-1] > np.iinfo(kind).max else kind
    indptr = np.concatenate([[0], *ends]).astype(kind)
    indices = np.concatenate([one[1] for one in taken]).astype(kind, copy=False)
    data = np.concatenate([one[2] for one in taken])
    came = np.concatenate([share.rows for share in shares])
    order = np.empty(len(came), np.int64)
    order[came] = np.arange(len(came))
    return sparse.taken_rows(indptr, indices, data, order)
