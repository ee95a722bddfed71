"""NumPy's functions, and partita's own by the same names, on sparse tensors: 1 to 3 ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import FORMATS, LAYOUTS, dense

import partita as pt
from partita.sparse import DistTensor

# Its types do not know sparse tensors.
numpy: Any = np
RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])

A = np.array([[1.5, 0, -2, 0], [0, 3, 0, np.nan], [0, 0, 0, 0], [-8, 0, np.inf, 1]])
B = np.array([[0.0, 0, 4, 1], [2, -4, 0, 0], [0, 0, 0, 0], [6, 0, 1, 0]])


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=60.0)


def same(found: Any, wanted: Any) -> None:
    """Whether what is found, of whatever kind, has the elements and the type that are wanted."""
    whole = found.gather() if hasattr(found, "gather") else found
    made = dense(whole) if sp.issparse(whole) else np.asarray(whole)
    assert (made.shape, made.dtype) == (np.shape(wanted), np.asarray(wanted).dtype)
    np.testing.assert_array_equal(made, wanted)


ELEMENTWISE = ["square", "cbrt", "fabs", "isnan", "isinf", "radians", "degrees", "sqrt", "abs"]


@RANKS
def test_functions_that_leave_zeros_zero(n_ranks: int) -> None:
    kinds = ["int32", "int64", "uint16", "float32", "float64"]

    def body(team: pt.Team) -> None:
        for at, kind in enumerate(kinds):
            whole = np.nan_to_num(A, posinf=7).astype(kind) if at < 3 else A.astype(kind)
            t = DistTensor.from_scipy(sp.csr_array(whole), layout=LAYOUTS[at])
            for name in ELEMENTWISE:
                function = getattr(np, name)
                with np.errstate(invalid="ignore"):
                    found = function(t)
                    assert isinstance(found, DistTensor)
                    same(found, function(whole))

    on_ranks(n_ranks, body)


@RANKS
def test_functions_of_two_operands(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for at, layout in enumerate(LAYOUTS):
            format = FORMATS[at % 3]
            t = DistTensor.from_scipy(sp.csr_array(A), layout=layout, format=format)
            u = DistTensor.from_scipy(sp.csr_array(B).astype("float32"))
            for other in (u, sp.csr_array(B)):
                same(numpy.hypot(t, other), np.hypot(A, B))
            assert numpy.hypot(t, u).nnz == np.count_nonzero(np.hypot(A, B))
            same(numpy.hypot(t, 0), np.hypot(A, 0))
            same(numpy.hypot(t, B), np.hypot(A, B))
            same(numpy.hypot(B, t), np.hypot(A, B))
            same(numpy.maximum(0, t), np.maximum(0, A))
            same(numpy.minimum(0, t), np.minimum(0, A))
            same(numpy.maximum(B, t), np.maximum(A, B))
        with pytest.raises(NotImplementedError, match="would fill it"):
            numpy.hypot(t, 3)
        with pytest.raises(ValueError, match="inconsistent shapes"):
            numpy.hypot(t, u[:2])

    on_ranks(n_ranks, body)
