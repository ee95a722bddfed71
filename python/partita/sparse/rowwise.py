"""Matrices whose rows are whole on a rank, in CSR: what rows are read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.parts import cut_along
from partita._errors import LayoutError
from partita._partita import Layout, Whole
from partita.sparse.slices import Slices

if TYPE_CHECKING:
    from partita.sparse.base import Base

    T = TypeVar("T", bound=Base)

Local = np.ndarray[Any, Any]

_POINTER = 8
# Pointers to rows may take so much memory on a rank, and more only if entries do.
_MOST_BYTES = 1 << 32
_PER_ENTRY = 1 << 8


def rowwise(tensor: T) -> T:
    """Return the matrix with whole rows, in CSR; itself where it is so. Collective."""
    if tensor.ndim != 2:
        message = f"rows of a tensor of {tensor.ndim} dimensions; use one of 2"
        raise LayoutError(message, "sparse-matrix")
    slices = tensor._slices
    _refuse_hollow(tensor)
    if slices.is_straight(1):
        block = tensor._block.in_format("csr")
        return tensor if block is tensor._block else tensor._made(block, "")
    moved: Any = tensor
    layout = cut_along(tensor.shape, 0, tensor.team.size)
    found: T = moved.redistribute(layout=layout, format="csr")
    return found


def _refuse_hollow(tensor: Base) -> None:
    """Refuse pointers to rows that would take far more memory than all entries. Collective.

    Only a COO matrix with very many rows is looked at; all ranks find the same.
    """
    n_rows = tensor.shape[0]
    if tensor.format != "coo" or n_rows <= _MOST_BYTES // _POINTER:
        return
    sides = [tensor._slices.slice_shape((part, 0))[0] for part in range(tensor.slice_counts[0])]
    most = max(sides) if tensor._slices.is_straight(1) else -(-n_rows // tensor.team.size)
    if most * _POINTER > max(_MOST_BYTES, _PER_ENTRY * tensor.nnz):
        message = f"pointers to {n_rows} rows would take {most * _POINTER >> 30} GiB on a rank, for"
        message += f" {tensor.nnz} entries; use get_rows, lists or slices of rows, which do without"
        raise ValueError(f"{message}, or a matrix of the rows that have entries")


def rows_slices(slices: Slices, shape: tuple[int, int]) -> Slices:
    """Return how a matrix is cut whose rows lie as those of another one, whose rows are whole."""
    (by,) = slices.axes[0].maps or ()
    # The other's map of columns may be one for another number of them.
    return Slices(Layout(shape, [by, Whole()], grid=slices.grid, ranks=list(slices.layout.ranks)))
