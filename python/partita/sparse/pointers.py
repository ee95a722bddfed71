"""Pointers to rows and columns: refused where they would take far more memory than all entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._errors import LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita.sparse.slices import Slices

_POINTER = 8
# Pointers may take so much memory on a rank, and more only if entries do.
_MOST_BYTES = 1 << 32
_PER_ENTRY = 1 << 8


def check_pointers(slices: Slices, format: str, n_entries: Callable[[], int], cure: str) -> None:
    """Refuse a format of pointers for a matrix most of whose rows, or columns, are empty.

    All ranks find the same. How many entries all of them have is only asked where it matters.
    """
    if format == "coo":
        return
    axis = slices.axes[0 if format == "csr" else 1]
    most = max(axis.local_shape(part)[0] for part in range(axis.n_ranks)) * _POINTER
    if most <= _MOST_BYTES or most <= _PER_ENTRY * (n := n_entries()):
        return
    lines = "rows" if format == "csr" else "columns"
    message = f"pointers to {axis.shape[0]} {lines} would take {most >> 30} GiB on a rank, for"
    raise LayoutError(f"{message} {n} entries; {cure}", "sparse-hollow")
