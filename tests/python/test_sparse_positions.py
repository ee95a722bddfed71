"""Where the extremes of sparse tensors are, for any number of dimensions and axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita.sparse import DistTensor

SHAPES: list[tuple[int, ...]] = [(3,), (7,), (1,), (5, 4), (3, 4, 5), (2, 3, 2, 3)]


def tensors(shape: tuple[int, ...]) -> list[Any]:
    """Extremes of either sign, none, and tensors without zeros."""
    found = np.random.default_rng(len(shape)).integers(-2, 3, shape).astype(float)
    return [found, abs(found), -abs(found), 0 * found, abs(found) + 1, -abs(found) - 1]


def wanted(dense: Any, name: str, axes: tuple[int, ...]) -> Any:
    """NumPy's positions along several axes, which are one behind the other."""
    along = sorted(axis % dense.ndim for axis in axes)
    turned = np.moveaxis(dense, along, range(-len(along), 0))
    flat = turned.reshape(*turned.shape[: dense.ndim - len(along)], -1)
    return getattr(flat, name)(axis=-1)


@pytest.mark.parametrize("n_ranks", [1, 3])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_along_any_axes(name: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape in SHAPES:
            dims = range(len(shape))
            axes = [
                one for n in range(1, len(shape) + 1) for one in itertools.combinations(dims, n)
            ]
            for dense in tensors(shape):
                t = DistTensor.from_dense(dense)
                assert getattr(t, name)() == getattr(dense, name)()
                for axis in [*axes, tuple(reversed(dims)), (-1,)]:
                    given: Any = axis[0] if len(axis) == 1 else axis
                    found = getattr(t, name)(axis=given)
                    whole = found.gather() if isinstance(found, pt.Array) else found
                    np.testing.assert_array_equal(whole, wanted(dense, name, axis))

    pt.spmd(body, n_ranks, deadline=60.0)


def test_positions_that_cannot_be_are_refused() -> None:
    def body(team: pt.Team) -> None:
        with pytest.raises(ValueError, match="no axis"):
            DistTensor.from_dense(np.eye(2)).argmax(axis=())
        with pytest.raises(ValueError, match="with elements"):
            DistTensor.from_coo((0, 2, 2), [[], [], []], []).argmax()
        wide = DistTensor.from_coo((2**32, 2**32 - 1), [[], []], [], format="coo")
        with pytest.raises(ValueError, match="name one axis"):
            wide.argmax()

    pt.spmd(body, 2, deadline=20.0)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_positions_of_stored_elements(n_ranks: int) -> None:
    dense = np.array([[0, 0, -3], [0, -1, 0], [-2, 0, 0]])

    def body(team: pt.Team) -> None:
        t = DistTensor.from_dense(dense)
        assert t.argmax(explicit=True) == 4
        assert t.argmin(explicit=True) == 2
        # Zero is the position of an element that nobody has stored.
        with pytest.raises(ValueError, match="no stored element"):
            DistTensor.from_dense(0 * dense).argmax(explicit=True)

    pt.spmd(body, n_ranks, deadline=20.0)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "nanmax", "nanmin", "argmax"])
def test_results_are_not_written_elsewhere(name: str) -> None:
    def body(team: pt.Team) -> None:
        with pytest.raises(ValueError, match="no out="):
            getattr(DistTensor.from_dense(np.eye(3)), name)(axis=0, out=np.zeros(3))

    pt.spmd(body, 2, deadline=20.0)
