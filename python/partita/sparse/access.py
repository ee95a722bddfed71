"""Whether ranks read each other's rows where they are, and what is done so that they can.

Memory that a tensor has taken over from SciPy cannot be mapped by other processes: rows of it
travel. Once so many have travelled that a copy would have cost less, ranks show each other copies
that all can map, and keep their own rows where they are: others may hold them too. Ranks on
several nodes, or without shared memory, never read each other's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._memory.warm import empty
from partita._team.together import together, together_telling

if TYPE_CHECKING:
    from partita._team.window import Window
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]

# Rows that travel cost so many times what a copy of them costs: measured on rows of 16 entries.
_COPIES = 16

# Less memory than this is not shared.
_LEAST_BYTES = 1 << 13


class Access:
    """How rows of one tensor come to the ranks that ask for them; alike on all ranks."""

    def __init__(self, tensor: Base) -> None:
        """Find out who can look at whose memory. Collective where the tensor is shared."""
        self._n_rows = tensor.shape[0]
        self._n_travelled = 0
        # One rank alone has all rows.
        self.is_read = tensor.team.size == 1
        # The ranks whose memory somebody cannot map; none if some share no memory at all.
        self._private: set[int] | None = None
        window = tensor._window
        if tensor.team.size > 1 and window is not None:
            self._private = _private_ranks(tensor, window)
            self.is_read = self._private == set()

    def count(self, n_rows: int) -> None:
        """Note that so many rows have travelled between ranks."""
        self._n_travelled += n_rows

    @property
    def is_to_copy(self) -> bool:
        """Whether it is time to let all ranks read rows where they are."""
        enough = self._n_travelled * _COPIES >= self._n_rows > 0
        return not self.is_read and self._private is not None and enough

    def copy(self, tensor: Base) -> None:
        """Show copies of rows where all ranks can read them. Collective."""
        assert self._private is not None
        assert tensor._window is not None
        window, team = tensor._window, tensor.team
        is_mine = team.rank in self._private

        def work() -> tuple[list[Local], bool]:
            try:
                return (_shared(tensor._block.arrays) if is_mine else []), True
            except MemoryError:
                return [], False

        copies, told = together_telling(team, work, "DistTensor rows to be shared", tensor._words)
        if not all(told):
            # Rows go on travelling.
            self._private = None
            return

        def show() -> None:
            if copies:
                # The window keeps them.
                window.replace(copies)

        together(team, show, "DistTensor rows that are shared", tensor._words)
        self.is_read = _private_ranks(tensor, window) == set()
        # What can be mapped nowhere is not copied again.
        self._private = set() if self.is_read else None


def access_of(tensor: Base) -> Access:
    """Return how rows of a tensor come to other ranks. Collective when it is first asked for."""
    if tensor._access is None:
        tensor._access = Access(tensor)
    return tensor._access


def _private_ranks(tensor: Base, window: Window) -> set[int] | None:
    """The ranks whose memory another one cannot map; none if some are out of reach. Collective."""
    team = tensor.team
    others = [rank for rank in range(team.size) if rank != team.rank]

    def look() -> tuple[None, list[int] | None]:
        # Rows that come over a connection one by one would cost more than those that travel.
        if not all(team.shares_memory_with(rank) for rank in others):
            return None, None
        if any(window.reach(rank) is not None for rank in others):
            return None, None
        return None, [rank for rank in others if not window.is_mapped(rank)]

    _, told = together_telling(team, look, "DistTensor rows where they are", tensor._words)
    if any(one is None for one in told):
        return None
    return {rank for one in told for rank in one or ()}


def _shared(arrays: list[Local]) -> list[Local]:
    """The same in memory that processes share."""
    copies = []
    for one in arrays:
        memory = empty((max(one.nbytes, _LEAST_BYTES),), np.uint8)
        copy = memory[: one.nbytes].view(one.dtype)
        copy[...] = one
        copies.append(copy)
    return copies
