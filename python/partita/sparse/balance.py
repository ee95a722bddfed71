"""Threads of ranks that have unequal shares of a matrix.

Rows are cut by their number, and a few may have most of the entries: those of a graph, for example.
A rank that has more than its share then works with more threads than it would have alone; the
others are done sooner, and leave their cores to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from partita._local.threads import n_threads

if TYPE_CHECKING:
    from partita.sparse.base import Base

# So many times the mean is still about equal: more threads than cores cost something, too.
_UNEQUAL = 1.25


def threads_for(tensor: Base) -> int | None:
    """Return how many threads this rank's entries are worth; none for as many as usual. Collective.

    More only where all ranks share one machine, and nobody has said how many there shall be.
    """
    team = tensor.team
    if team.size == 1:
        return None
    is_near = all(team.shares_memory_with(rank) for rank in range(team.size))
    is_free = is_near and "PARTITA_THREADS" not in os.environ
    told = tensor._met("product", (tensor._block.nnz, n_threads(), is_free))
    n_all: int = sum(n for n, _, _ in told)
    n_cores: int = sum(n for _, n, _ in told)
    own = tensor._block.nnz * team.size
    if not all(free for _, _, free in told) or own <= _UNEQUAL * n_all:
        return None
    return max(n_threads(), round(n_cores * own / (n_all * team.size)))
