"""Shapes that are assigned to arrays, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import partita as pt


def same(ours: Any, theirs: Any) -> None:
    assert ours.shape == theirs.shape
    assert (len(ours), ours.ndim) == (len(theirs), theirs.ndim)
    np.testing.assert_array_equal(ours.gather(), theirs)


def reshaped(array: Any) -> list[Any]:
    """A program that gives shapes to an array, to views of it and back, and writes between."""
    other_name, view, every_second = array, array[6:18], array[::2]
    array.shape = 4, -1
    array += 1
    array[1] = 7
    view.shape = (3, 4)
    view[:, 0] *= -1
    array.shape = 24
    array[::5] = 50
    array.shape = (2, 3, 4)
    sums = array.sum(axis=1)
    sums.shape = sums.size
    every_second.shape = (3, 2, 2)
    for _ in range(3):
        array.shape = (1, 24)
        array.shape = (6, 4)
    return [array, other_name, view, every_second, sums]


def shapes(team: pt.Team) -> None:
    """What is assigned is what NumPy has then, on every layout and in every memory."""
    wanted = reshaped(np.arange(24.0))
    given = [
        pt.arange(24.0),
        pt.arange(24.0, layout="block"),
        pt.asarray(np.arange(24.0)),
        pt.asarray(np.arange(24.0), layout="block"),
        pt.arange(24.0)[::-1][::-1],
    ]
    for array in given:
        for ours, theirs in zip(reshaped(array), wanted, strict=True):
            same(ours, theirs)
    for shape in ((0, 3), (1, 1)):
        empty: Any = pt.zeros(shape)
        empty.shape = (*shape, 1)
        assert empty.shape == (*shape, 1) == empty.gather().shape
    one: Any = pt.ones(1)
    one.shape = ()
    assert float(one) == 1.0
    flat: Any = pt.broadcast_to(pt.arange(3), (2, 3))
    flat.shape = (2, 3, 1)
    assert flat.shape == (2, 3, 1)


def memory(team: pt.Team) -> None:
    """What lies in a rank's memory stays there."""
    whole = np.arange(6)
    array: Any = pt.asarray(whole, team=team, copy=False) if team.size == 1 else pt.asarray(whole)
    array.shape = (2, 3)
    array[1] = 9
    array.sync()
    assert array.local.tolist() == [[0, 1, 2], [9, 9, 9]]
    assert team.size > 1 or whole.tolist() == [0, 1, 2, 9, 9, 9]
    rows: Any = pt.zeros((4 * team.size, 3))
    rows.local[...] = team.rank
    rows.shape = (2 * team.size, 6)
    assert rows.local.shape == (2, 6)
    assert (rows.local == team.rank).all()
    rows.shape = (4 * team.size, 3)
    rows.local[...] += 1
    assert float(rows.sum()) == 12 * sum(range(1, team.size + 1))


def refused(team: pt.Team) -> None:
    """What needs a copy, or another number of elements, is refused as in NumPy."""
    for make in (np.arange, pt.arange):
        array: Any = make(12)
        array.shape = (3, 4)
        for shape in [(5,), (2, 3, 3), (-1, 5), ()]:
            with pytest.raises(ValueError):  # noqa: PT011 (the words are each library's own)
                array.shape = shape
        for view in (array.T, array[:, 1:], array[::2, ::3]):
            with pytest.raises(AttributeError):
                view.shape = view.size
        with pytest.raises(AttributeError):
            del array.shape
        with pytest.raises(ValueError):  # noqa: PT011
            array[:2].resize((5, 5))
        array.resize(4, 3)
        array.resize((2, 6))
        assert array.shape == (2, 6)
    with pytest.raises(AttributeError, match=r"use a = a\.reshape\(\(12,\)\)"):
        array.T.shape = 12
    with pytest.raises(AttributeError, match="the element type of an array"):
        array.dtype = np.float32
    with pytest.raises(AttributeError, match="use slices"):
        array.strides = (8, 8)
    with pytest.raises(ValueError, match=r"partita\.resize\(a, \(5, 5\)\)"):
        array.resize(5, 5)
    halo = pt.Layout((12 * team.size,), f"block+halo(1,1) @ {team.size}")
    with_halo: Any = pt.from_local(np.zeros(halo.local_shape(team.rank)), halo, team)
    dealt: Any = pt.zeros(12 * team.size, layout="cyclic")
    for one in [with_halo, dealt] if team.size > 1 else []:
        with pytest.raises(AttributeError, match="needs a copy"):
            one.shape = (12, team.size)


BODIES = (shapes, memory, refused)
