"""What SciPy's sparse arrays have and sparse tensors have not, with what to use instead."""

from __future__ import annotations

from partita._missing import Absent

_OWN = "this rank's slice, to be read only"


class Absences:
    """Names that raise an AttributeError with a cure; `hasattr` says that they are not there."""

    data = Absent("data", "t.values, those of this rank, and t.with_values(values) to change them")
    indices = Absent("indices", f"t.to_scipy().indices of {_OWN}")
    indptr = Absent("indptr", f"t.to_scipy().indptr of {_OWN}")
    coords = Absent("coords", "t.find(), or t.to_scipy().tocoo().coords of this rank's slice")
    row = Absent("row", "t.find()[0], or t.to_scipy().tocoo().row of this rank's slice")
    col = Absent("col", "t.find()[1], or t.to_scipy().tocoo().col of this rank's slice")
    tolil = Absent("tolil", "t.set_slice, or from_coo with all entries")
    todok = Absent("todok", "t.set_slice, or from_coo with all entries")
    todia = Absent("todia", "t.tocsr(), and t.diagonal(k) for one diagonal")
    tobsr = Absent("tobsr", "t.tocsr()")
    getH = Absent("getH", "t.H")
    sum_duplicates = Absent("sum_duplicates", "the tensor as it is: places come once")
    sort_indices = Absent("sort_indices", "the tensor as it is: lines of CSR and CSC are in order")
    resize = Absent("resize", "t.reshape(shape), t[:m, :n], or partita.sparse.block_array")
