"""A matrix in one rank's memory as lines: its rows, or its columns, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._errors import LayoutError
from partita.sparse.axes import globals_along
from partita.sparse.balance import threads_for
from partita.sparse.exchange import Fetch

if TYPE_CHECKING:
    from partita._partita import Layout
    from partita.sparse.base import Base
    from partita.sparse.block import Block

Local = np.ndarray[Any, Any]


class Lines(NamedTuple):
    """The pattern of a block by lines."""

    dim: int  # 0 for rows, 1 for columns
    indptr: Local
    indices: Local
    order: Local | None  # which value stands at each place; none if they lie in order

    def values(self, data: Local) -> Local:
        """Return a block's values in the order of lines."""
        return data if self.order is None else data[self.order]

    def restored(self, values: Local) -> Local:
        """Return values in the order of lines as the block has them."""
        if self.order is None:
            return values
        data = np.empty_like(values)
        data[self.order] = values
        return data

    def filled(self) -> Local:
        """Return the lines that have entries."""
        return np.flatnonzero(self.indptr[1:] > self.indptr[:-1])


def lines_of(tensor: Base) -> Lines:
    """Return the lines of this rank's slice, kept with the pattern."""
    if tensor.ndim != 2:
        message = f"a tensor of {tensor.ndim} dimensions where a matrix is needed"
        raise LayoutError(f"{message}; use one of 2 dimensions", "sparse-matrix")
    return tensor._plans.kept("lines", lambda: _lines(tensor._block))


def _lines(block: Block) -> Lines:
    if block.format != "coo":
        indptr, indices, _ = block.lines
        return Lines(int(block.format == "csc"), indptr, indices, None)
    rows, columns = block.coords
    kind = np.int64 if columns.dtype == np.int64 else np.int32
    counts = np.bincount(rows, minlength=block.shape[0])
    indptr = np.zeros(block.shape[0] + 1, kind)
    np.cumsum(counts, out=indptr[1:])
    if bool((rows[1:] >= rows[:-1]).all()):
        return Lines(0, indptr, np.ascontiguousarray(columns, kind), None)
    order = np.argsort(rows, kind="stable")
    return Lines(0, indptr, columns[order].astype(kind, copy=False), order)


class Reach(NamedTuple):
    """Lines whose indices count the rows of a dense operand: this rank's own, then ghosts."""

    fetch: Fetch
    indptr: Local
    indices: Local
    n_threads: int | None


def reach_of(tensor: Base, layout: Layout) -> Reach:
    """Return the lines beside an operand whose rows lie in a layout. Collective once per layout.

    The operand lies along the dimension that crosses the lines.
    """
    lines = lines_of(tensor)
    return tensor._plans.kept(("reach", lines.dim, layout), lambda: _reach(tensor, lines, layout))


def _reach(tensor: Base, lines: Lines, layout: Layout) -> Reach:
    rank, across = tensor.team.rank, 1 - lines.dim
    n = tensor._block.shape[across]
    is_touched = np.zeros(n, bool)
    is_touched[lines.indices] = True
    touched = np.flatnonzero(is_touched)
    wanted = globals_along(tensor._slices, across, rank, touched)
    fetch = Fetch(tensor.team, layout, wanted, f"a product with {tensor._words}")
    threads = threads_for(tensor)
    if np.array_equal(fetch.positions, touched):
        return Reach(fetch, lines.indptr, lines.indices, threads)
    kind = lines.indices.dtype
    if fetch.n_own + fetch.n_ghosts > np.iinfo(kind).max:
        kind = np.dtype(np.int64)
    new = np.zeros(n, kind)
    new[touched] = fetch.positions
    return Reach(fetch, lines.indptr.astype(kind, copy=False), new[lines.indices], threads)
