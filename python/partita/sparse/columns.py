"""Columns of rows in one rank's memory: those that an index names, counted anew.

Where there are not many more columns than entries, a table has the new number of each. Of more,
numbers and slices are found by arithmetic, lists by searching: the cost is that of the entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse

if TYPE_CHECKING:
    from partita._local.sparse import Csr

Local = np.ndarray[Any, Any]

# With fewer columns than this, or fewer for each entry, a table serves better.
_MANY_COLUMNS = 1 << 20
_COLUMNS_PER_ENTRY = 4


def is_wide(n_columns: int, n_entries: int) -> bool:
    """Whether a number for each column would take far more than all entries."""
    return n_columns > _MANY_COLUMNS and n_columns > _COLUMNS_PER_ENTRY * n_entries


def in_range(lines: Csr, named: range, n: int) -> Csr:
    """Return the columns of a range, of n columns."""
    if not is_wide(n, len(lines[1])):
        wanted = np.arange(named.start, named.stop, named.step)
        return sparse.tidy(*_by_table(lines, wanted, np.arange(len(wanted)), n))
    if not len(named):
        return renumbered(lines, np.full(len(lines[1]), -1, np.int64))
    steps, rest = np.divmod(lines[1].astype(np.int64) - named.start, named.step)
    is_named = (rest == 0) & (steps >= 0) & (steps < len(named))
    return sparse.tidy(*renumbered(lines, np.where(is_named, steps, -1)))


def listed(lines: Csr, wanted: Local, n: int) -> Csr:
    """Return listed columns (int64), of n columns, as often as they are listed."""
    if not is_repeated(wanted):
        order = np.argsort(wanted)
        return sparse.tidy(*_each_once(lines, wanted[order], order, n))
    # Rows of the transposed matrix, which are copied. Values are not computed with, because
    # infinities would not stay what they are.
    distinct, places = np.unique(wanted, return_inverse=True)
    found = _each_once(lines, distinct, np.arange(len(distinct)), n)
    taken = sparse.taken_rows(*sparse.transposed(*found, len(distinct)), places)
    return sparse.transposed(*taken, len(lines[0]) - 1)


def is_repeated(wanted: Local) -> bool:
    """Whether an index is listed more than once."""
    return len(np.unique(wanted)) < len(wanted)


def _each_once(lines: Csr, rising: Local, new: Local, n: int) -> Csr:
    """The columns that rising indices name, with their new numbers."""
    indices = lines[1]
    if not is_wide(n, len(indices)):
        return _by_table(lines, rising, new, n)
    if not len(rising):
        return renumbered(lines, np.full(len(indices), -1, np.int64))
    places = np.minimum(np.searchsorted(rising, indices), len(rising) - 1)
    return renumbered(lines, np.where(rising[places] == indices, new[places], -1))


def _by_table(lines: Csr, wanted: Local, new: Local, n: int) -> Csr:
    indptr, indices, data = lines
    table = np.full(n, -1, np.int64)
    table[wanted] = new
    return sparse.chosen_columns(indptr, indices, data, table)


def renumbered(lines: Csr, new: Local) -> Csr:
    """Return entries with new columns, without those whose new column is -1."""
    indptr, indices, data = lines
    is_kept = new >= 0
    n_before = np.zeros(len(indices) + 1, indptr.dtype)
    np.cumsum(is_kept, out=n_before[1:])
    return n_before[indptr], new[is_kept].astype(indices.dtype), data[is_kept]
