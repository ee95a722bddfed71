"""Matrices with so many rows that a pointer for each would take far more than all entries.

Their rows are found by entries, not by pointers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import cut_along
from partita._team.together import together_telling
from partita.sparse.wishes import RowPlan, positions

if TYPE_CHECKING:
    from partita.sparse.block import Block

Local = np.ndarray[Any, Any]

# With fewer rows than this, or fewer for each entry, pointers serve better: they are made once.
_MANY_ROWS = 1 << 26
_ROWS_PER_ENTRY = 16


def first_rows(tensor: Any, indices: Any) -> Block:
    """Return the rows that this rank asks for, in CSR. Collective."""
    many = tensor.format != "csr" and tensor.shape[0] > _MANY_ROWS
    if many and tensor.shape[0] > _ROWS_PER_ENTRY * tensor.nnz:
        return _by_entries(tensor, indices)
    return RowPlan(tensor, indices).first()


def _by_entries(tensor: Any, indices: Any) -> Block:
    """As `first_rows`: all ranks learn what each asks for, and send the entries that are there."""
    team, n_columns = tensor.team, tensor.shape[1]

    def look() -> tuple[None, Local]:
        return None, positions(indices, tensor.shape[0])

    _, told = together_telling(team, look, "DistTensor.get_rows", tensor._words)
    asked = np.concatenate(told)
    coords, values = tensor._own_entries()
    order = np.argsort(asked, kind="stable")
    starts, ends = (np.searchsorted(asked[order], coords[0], side) for side in ("left", "right"))
    # An entry goes to all places where its row is asked for.
    counts = ends - starts
    entries = np.repeat(np.arange(len(values)), counts)
    steps = np.arange(len(entries)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = [order[starts[entries] + steps], coords[1][entries]]
    shape = (len(asked), n_columns)
    layout = cut_along(shape, 0, team.size, [len(one) for one in told])
    made = type(tensor).from_coo(
        shape, places, values[entries], team=team, format="csr", layout=layout
    )
    block: Block = made._block
    return block
