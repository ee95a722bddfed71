"""Runs plans on NumPy buffers, one move at a time: what an engine does, without its speed."""

from __future__ import annotations

import numpy as np
from oracle import Values

import partita as pt


def run(plan: pt.Plan, source: Values, target: Values) -> Values:
    """Moves data from the source's buffers into the target's, which start as zeros."""
    for rank in plan.target.ranks:
        for move in plan.moves(rank):
            if move.target_rank != rank:
                continue
            values = source[move.source_rank, move.source_buffer]
            into = target[rank, move.target_buffer]
            at, to = move.source_indices(), move.target_indices()
            taken = values[np.ix_(*at)] if at else values
            place = np.ix_(*to) if to else ()
            assert taken.size == move.n_elements
            if plan.combine == "sum":
                # A buffer may take the same element several times: its halo went around the ring.
                np.add.at(into, place, taken)
            else:
                into[place] = taken
    return target
