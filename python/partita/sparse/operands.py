"""Products on each rank's own rows of the dense operands: what differentiable wrappers call.

Operands lie along the two dimensions of a pattern, results too, each in a layout that is fixed for
its dimension: what comes out along a dimension can go in along it again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._args import integer
from partita._array.parts import array_of, cut_along, part
from partita._errors import LayoutError, MismatchError
from partita._partita import Layout, Whole
from partita.sparse.axes import result_along
from partita.sparse.base import Base
from partita.sparse.multiplying import multiplied
from partita.sparse.sampling import sddmm

Local = np.ndarray[Any, Any]


class Operands:
    """The layouts of dense operands along the dimensions of a pattern, and products in them.

    Rows of operands lie where a product puts them: as those of the pattern, or in even blocks. A
    square pattern has one layout for both of its dimensions.
    """

    def __init__(self, pattern: Base) -> None:
        slices, team = pattern._slices, pattern.team
        if pattern.ndim != 2:
            message = f"products with a tensor of shape {pattern.shape}; use one of 2 dimensions"
            raise LayoutError(message, "sparse-matrix")
        if int(np.prod(slices.counts)) != team.size:
            message = f"{team.size} ranks hold {int(np.prod(slices.counts))} slices; gradients need"
            raise LayoutError(f"{message} a pattern with one for each", "sparse-replicas")
        rows = result_along(slices, 0)
        if rows.partial or rows.n_owned(team.rank) != rows.n_held(team.rank):
            rows = cut_along(pattern.shape[:1], 0, team.size)
        is_square = pattern.shape[0] == pattern.shape[1]
        # Gradients are asked for later, when `set_slice` may have given it other entries.
        self.pattern = pattern._same()
        self.layouts = (rows, rows if is_square else result_along(slices, 1))

    def n_rows(self, dim: int) -> int:
        """Return how many rows of an operand along a dimension are this rank's."""
        return self._layout(dim).local_shape(self.pattern.team.rank)[0]

    def indices(self, dim: int) -> Local:
        """Return which rows of an operand along a dimension are this rank's, in their order."""
        rank = self.pattern.team.rank
        found: Local = self._layout(dim).globalize(rank, np.arange(self.n_rows(dim))[:, None])
        return found.reshape(-1)

    def _layout(self, dim: int) -> Layout:
        """Return where the rows of an operand along a dimension are."""
        if integer(dim, "dim") not in (0, 1):
            raise LayoutError(f"dimension {dim} of a pattern; use 0 or 1", "dim-outside")
        return self.layouts[dim]

    @property
    def n_values(self) -> int:
        """Number of entries that this rank has."""
        return self.pattern._block.nnz

    def product(self, values: Local, x: Local, over: int) -> Local:
        """Return this rank's rows of `t @ x` (over 1) or `t.T @ x` (over 0). Collective."""
        found = multiplied(self.pattern._revalued(values, "values"), self._array(x, over), over)
        layout = wide(self.layouts[1 - over], x.shape[1:])
        return np.ascontiguousarray(part(found, layout))

    def sampled(self, x: Local, y: Local) -> Local:
        """Return this rank's values of `x @ y.T` where the pattern has entries. Collective."""
        return sddmm(self.pattern, self._array(x, 0), self._array(y, 1))._block.data

    def _array(self, local: Local, dim: int) -> Any:
        layout = wide(self.layouts[dim], local.shape[1:])
        return array_of(np.ascontiguousarray(local), layout, self.pattern.team)


def operands_of(pattern: Base) -> Operands:
    """Return the operands of a pattern, kept with it."""
    if not isinstance(pattern, Base):
        message = f"a {type(pattern).__name__} as the pattern of a product; use a DistTensor"
        raise LayoutError(message, "sparse-type")
    return pattern._plans.kept("operands", lambda: Operands(pattern))


def misfit(name: str, shape: tuple[int, ...], n: int) -> str | None:
    """Return what is wrong with the shape of this rank's part of an operand, if anything is."""
    shape = tuple(shape)
    if name == "values":
        message = f"values of shape {shape} for this rank's {n} entries"
        return None if shape == (n,) else f"{message}; give nnz_local of them in one dimension"
    if len(shape) not in (1, 2):
        return f"{name} of shape {shape}, of {len(shape)} dimensions; use a vector or a matrix"
    message = f"{name} of shape {shape} where this rank has {n} rows"
    return None if shape[0] == n else f"{message}; use operand_rows(pattern, dim)"


def check_alike(rows: list[list[int]]) -> None:
    """Refuse operands whose rows have one length on some rank and another on the next."""
    for rank, row in enumerate(rows):
        if row != rows[0]:
            message = f"rows of shape {tuple(rows[0])} on rank 0 and {tuple(row)} on rank {rank}"
            raise MismatchError(f"{message}; use the same on all", "operand-rows-differ", rank)


def wide(layout: Layout, row: tuple[int, ...]) -> Layout:
    """Return the layout of rows of a shape that lie as those of a layout of one dimension."""
    if not row:
        return layout
    first, *rest = layout.grid_shape
    maps = [*(layout.maps or ()), *(Whole() for _ in row)]
    grid = [first, *(1 for _ in row), *rest]
    return Layout((*layout.shape, *row), maps, grid=grid, ranks=list(layout.ranks))
