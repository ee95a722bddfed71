"""Rows and columns of a matrix, wherever they lie."""

from __future__ import annotations

from typing import Any, NoReturn

from partita.sparse.agreement import OfOneTensor
from partita.sparse.base import Base
from partita.sparse.chosen import chosen
from partita.sparse.elements import is_mask, places_of_mask
from partita.sparse.hollow import first_rows
from partita.sparse.indices import whole_index
from partita.sparse.tensor_parts import tensor_part
from partita.sparse.tensor_rows import TensorRowPlan, tensor_rows
from partita.sparse.wishes import RowPlan


class Rows(Base):
    """Rows for one rank each (`get_rows`), and for all of them (`t[rows]`). All are collective."""

    __slots__ = ()

    def get_rows(self, indices: Any) -> Any:
        """Return the rows that this rank asks for, as a SciPy array in CSR.

        Every rank has its own list, in any order; rows may come repeatedly. Negative indices count
        from the end. Whoever asks again for the same rows keeps `plan_rows`. Of tensors of other
        than two dimensions, a row is all that has an index in the first one; they come in COO. An
        array of partita is one list for all ranks, each of which gets all of these rows.
        """
        with OfOneTensor("rows of", self):
            indices = whole_index(indices, self._team)
            if self.ndim != 2:
                return tensor_rows(self, indices)
            return first_rows(self, indices).to_scipy()

    def plan_rows(self, indices: Any) -> RowPlan | TensorRowPlan:
        """Return a plan for the rows that this rank asks for: `plan(t)` brings them.

        `plan.adjoint(rows)` adds such rows to where they come from.
        """
        with OfOneTensor("rows of", self):
            indices = whole_index(indices, self._team)
            return RowPlan(self, indices) if self.ndim == 2 else TensorRowPlan(self, indices)

    def __getitem__(self, key: Any) -> Any:
        """Return some rows and columns as a matrix; for `t[i, j]` the value.

        Indices are the same on every rank. The result has its rows in blocks on all ranks. A mask
        of the matrix's shape gives the elements where it holds, row by row, in one dimension.
        Tensors of other than two dimensions take numbers, slices, and a list for one dimension.
        Lists and masks of one dimension may be arrays of partita, which lie on many ranks.
        """
        if self.ndim == 2 and is_mask(key):
            return chosen(self, places_of_mask(self, key))
        key = whole_index(key, self._team)
        return chosen(self, key) if self.ndim == 2 else tensor_part(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        """Refuse: tensors are values."""
        message = "elements of a DistTensor are not set; use t.with_diagonal(values) or"
        message += " t.with_values(values), t + u with the differences, or t.set_slice"
        raise self._team.told(TypeError(message))

    def getrow(self, i: int) -> Any:
        """Return a row of a matrix as a matrix of one row."""
        return self[[i], :]

    def getcol(self, j: int) -> Any:
        """Return a column of a matrix as a matrix of one column."""
        return self[:, [j]]
