"""Products of sparse tensors of three and more dimensions, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor


def _values(*shape: int) -> Any:
    made = np.random.default_rng(sum(shape)).integers(-3, 4, shape)
    return np.where(made < 0, 0, made).astype(float)


def _whole(found: Any) -> Any:
    """A result of any kind as NumPy has it."""
    dense = found.to_dense() if isinstance(found, DistTensor) else found
    return dense.gather() if isinstance(dense, pt.Array) else dense


CUBE, DEEP = _values(3, 4, 5), _values(2, 3, 4, 5)
PAIRS = {
    "cube and matrix": (CUBE, _values(5, 6)),
    "matrix and cube": (_values(7, 4), CUBE),
    "cube and cube": (CUBE, _values(3, 5, 2)),
    "cube and vector": (CUBE, _values(5)),
    "vector and cube": (_values(4), CUBE),
    "four dimensions": (DEEP, _values(2, 3, 5, 3)),
    "four and a matrix": (DEEP, _values(5, 2)),
    "nothing": (np.zeros((0, 4, 5)), np.zeros((0, 5, 2))),
}


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_products_of_sparse_tensors(name: str, n_ranks: int) -> None:
    left, right = PAIRS[name]

    def body(team: pt.Team) -> None:
        a, b = DistTensor.from_dense(left), DistTensor.from_dense(right)
        for found in (a @ b, a @ sp.coo_array(right)):
            assert isinstance(found, DistTensor)
            np.testing.assert_array_equal(_whole(found), left @ right)

    pt.spmd(body, n_ranks)


def test_products_of_other_shapes_are_refused() -> None:
    others = [DEEP, _values(4, 4), _values(4), _values(2, 5, 4), _values(3, 4, 5)]

    def body(team: pt.Team) -> None:
        for other in others:
            with pytest.raises(ValueError, match="use as many matrices, or one, on either side"):
                _ = DistTensor.from_dense(CUBE) @ DistTensor.from_dense(other)
            team.barrier()

    pt.spmd(body, 2)


SUMS: dict[str, tuple[Any, Any, Any]] = {
    "named": (CUBE, _values(5, 4, 2), ([1, 2], [1, 0])),
    "two": (CUBE, _values(4, 5, 3), 2),
    "one": (CUBE, _values(5, 6), 1),
    "all": (CUBE, CUBE, 3),
    "none": (CUBE, _values(2, 3), 0),
    "numbers": (CUBE, _values(5, 4, 3), (0, 2)),
    "from the end": (CUBE, _values(5, 4, 3), ([-1], [-3])),
    "vector": (_values(5, 6), _values(6), 1),
}


@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize("name", SUMS)
def test_tensordot(name: str, n_ranks: int) -> None:
    left, right, axes = SUMS[name]
    wanted = np.tensordot(left, right, axes)

    def body(team: pt.Team) -> None:
        t = DistTensor.from_dense(left)
        for other in (DistTensor.from_dense(right), right, pt.asarray(right), sp.coo_array(right)):
            np.testing.assert_array_equal(_whole(t.tensordot(other, axes)), wanted)
            np.testing.assert_array_equal(_whole(np.tensordot(t, other, axes)), wanted)

    pt.spmd(body, n_ranks)


def test_tensordot_names_what_does_not_fit() -> None:
    t = DistTensor.from_dense(CUBE)
    wrong: list[tuple[Any, Any, str]] = [
        (CUBE, 2, "use dimensions of equal extents"),
        (CUBE, 4, "axes=4 for 3 and 3 dimensions"),
        (CUBE, (1,), "use a number, or those of each"),
        (CUBE, ([0, 1], [0]), "name as many of both"),
        (CUBE, "x", "axes"),
    ]
    for other, axes, said in wrong:
        with pytest.raises(ValueError, match=said):
            t.tensordot(other, axes)
