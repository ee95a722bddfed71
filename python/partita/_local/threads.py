"""How many threads this rank's work may use."""

from __future__ import annotations

from partita._team.spmd import own_team


def n_threads() -> int:
    """Its share of the processor's: ranks of one machine divide them."""
    return own_team(None).arrays.n_threads
