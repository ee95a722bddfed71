"""Complex sparse tensors: their order beside dense arrays, and their quotients."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita.sparse import DistTensor

COMPARE = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
LEFT = np.array([[0, 1 + 2j, 1 - 1j], [np.nan * 1j, 0, 2], [1 + 1j, 0, complex(1, np.nan)]])
RIGHT = np.array([[1, 1 + 1j, 1 + 0j], [0, 0, 1j], [1 + 2j, np.nan, 0]])


def whole(found: Any) -> Any:
    made = found.gather() if hasattr(found, "gather") else found
    return made.toarray() if hasattr(made, "toarray") else made


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_complex_numbers_beside_dense_ones_have_numpys_order(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for left, right in [
            (LEFT, RIGHT),
            (LEFT, RIGHT.real),
            (LEFT.real, RIGHT),
            (LEFT, RIGHT[1]),
        ]:
            t = DistTensor.from_dense(left)
            for operand in (right, pt.asarray(right)):
                for compare in COMPARE:
                    # NumPy warns of NaN, which has no order.
                    with np.errstate(invalid="ignore"):
                        wanted = compare(left, right)
                    np.testing.assert_array_equal(whole(compare(t, operand)), wanted)
                for name in ("maximum", "minimum"):
                    found = whole(getattr(t, name)(operand))
                    np.testing.assert_array_equal(found, getattr(np, name)(left, right))

    pt.spmd(body, n_ranks, deadline=60.0)


def test_complex_quotients_are_numpys() -> None:
    left, right = np.array([[0, 1], [2, 0]]), np.array([[1, 0], [2, 0]])

    def body(team: pt.Team) -> None:
        for one in ("bool", "int8", "int32", "float32", "float64", "complex64", "complex128"):
            for other in ("complex64", "complex128"):
                a, b = left.astype(one), 1j * right.astype(other)
                with np.errstate(all="ignore"):
                    wanted = a / b
                    found = DistTensor.from_dense(a) / DistTensor.from_dense(b)
                    assert found.dtype == wanted.dtype
                    np.testing.assert_array_equal(found.gather(), wanted)
        with np.errstate(all="ignore"):
            found = whole(DistTensor.from_dense(left) / 0j)
            np.testing.assert_array_equal(found[left != 0], (left / 0j)[left != 0])
        assert (found[left == 0] == 0).all()

    pt.spmd(body, 2, deadline=60.0)
