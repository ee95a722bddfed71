"""What SciPy's sparse arrays have and sparse tensors have not, with what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from partita._missing import Absent

_OWN = "this rank's slice, to be read only"


class _Unset(Absent):
    """What is neither there nor set: SciPy's arrays would be changed by it."""

    def __set__(self, owner: object, value: Any) -> NoReturn:
        said = f"{type(owner).__name__} has no {self.name!r} to set; use t.with_values(values)"
        said += " for other values, DistTensor.from_coo or from_scipy for other places"
        raise AttributeError(said, name=self.name, obj=owner)


class Absences:
    """Names that raise an AttributeError with a cure; `hasattr` says that they are not there."""

    __slots__ = ()

    data = _Unset("data", "t.values, those of this rank, and t.with_values(values) to change them")
    indices = _Unset("indices", f"t.to_scipy().indices of {_OWN}")
    indptr = _Unset("indptr", f"t.to_scipy().indptr of {_OWN}")
    coords = _Unset("coords", "t.find(), or t.to_scipy().tocoo().coords of this rank's slice")
    row = _Unset("row", "t.find()[0], or t.to_scipy().tocoo().row of this rank's slice")
    col = _Unset("col", "t.find()[1], or t.to_scipy().tocoo().col of this rank's slice")
    tolil = Absent("tolil", "t.set_slice, or from_coo with all entries")
    todok = Absent("todok", "t.set_slice, or from_coo with all entries")
    todia = Absent("todia", "t.tocsr(), and t.diagonal(k) for one diagonal")
    tobsr = Absent("tobsr", "t.tocsr()")
    getH = Absent("getH", "t.H")
    prune = Absent("prune", "the tensor as it is: it has no room beside its entries")
    has_canonical_format = Absent("has_canonical_format", "True: places come once")
    has_sorted_indices = Absent("has_sorted_indices", "True: lines of CSR and CSC are in order")
    sum_duplicates = Absent("sum_duplicates", "the tensor as it is: places come once")
    sort_indices = Absent("sort_indices", "the tensor as it is: lines of CSR and CSC are in order")
    resize = Absent("resize", "t.reshape(shape), t[:m, :n], or partita.sparse.block_array")
