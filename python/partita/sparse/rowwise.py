"""Matrices whose rows are whole on a rank, in CSR: what rows are read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.parts import cut_along
from partita._errors import LayoutError
from partita._partita import Layout, Whole
from partita.sparse.pointers import check_pointers
from partita.sparse.slices import Slices

if TYPE_CHECKING:
    from partita.sparse.base import Base

    T = TypeVar("T", bound=Base)

Local = np.ndarray[Any, Any]

_CURE = "use get_rows, lists or slices of rows, which do without, or a matrix of the rows that have"


def rowwise(tensor: T) -> T:
    """Return the matrix with whole rows, in CSR; itself where it is so. Collective."""
    if tensor.ndim != 2:
        message = f"rows of a tensor of {tensor.ndim} dimensions; use one of 2"
        raise LayoutError(message, "sparse-matrix")
    is_whole = tensor._slices.is_straight(1)
    if tensor.format != "csr":
        slices = tensor._slices if is_whole else Slices(_even_rows(tensor))
        check_pointers(slices, "csr", lambda: tensor.nnz, f"{_CURE} entries")
    if is_whole:
        block = tensor._block.in_format("csr")
        return tensor if block is tensor._block else tensor._made(block, "")
    moved: Any = tensor
    found: T = moved.redistribute(layout=_even_rows(tensor), format="csr")
    return found


def _even_rows(tensor: Base) -> Layout:
    return cut_along(tensor.shape, 0, tensor.team.size)


def rows_slices(slices: Slices, shape: tuple[int, int]) -> Slices:
    """Return how a matrix is cut whose rows lie as those of another one, whose rows are whole."""
    (by,) = slices.axes[0].maps or ()
    # The other's map of columns may be one for another number of them.
    return Slices(Layout(shape, [by, Whole()], grid=slices.grid, ranks=list(slices.layout.ranks)))
