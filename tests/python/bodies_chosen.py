"""Elements that masks and index arrays select, on the ranks of a team, beside NumPy's."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

import partita as pt
from partita._chosen import taking

# Its types are stricter than what tests give to it.
np: Any = numpy

LAYOUTS = [None, "block", "*, block", "cyclic", "whole"]
TYPES = ["int64", "float32", "complex128", "bool", "uint8", "float16"]


def random_key(source: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index with slices, positions, new axes, dots, index arrays and masks."""
    key: list[Any] = []
    common = source.choice([(3,), (2, 3), (1,), (0,), (4, 1), ()])
    dim = 0
    while dim < len(shape):
        size, kind = shape[dim], source.random()
        if kind < 0.25:
            start, stop = (source.choice([None, source.randint(-3, 5)]) for _ in range(2))
            key.append(slice(start, stop, source.choice([None, 1, 2, -1])))
            dim += 1
        elif kind < 0.35 and size:
            key.append(source.randrange(-size, size))
            dim += 1
        elif kind < 0.45:
            key.append(None)
        elif kind < 0.5 and Ellipsis not in [one for one in key if one is Ellipsis]:
            key.append(Ellipsis)
            dim += source.randint(0, len(shape) - dim)
        elif kind < 0.75 and size:
            sizes = source.choice([common, common[-1:], ()])
            count = int(np.prod(sizes, dtype=int))
            found = [source.randrange(-size, size) for _ in range(count)]
            dtype = source.choice([np.int64, np.int32, np.int8])
            key.append(np.array(found, dtype).reshape(sizes))
            dim += 1
        elif kind < 0.9:
            n_dims = source.randint(1, len(shape) - dim)
            covered = shape[dim : dim + n_dims]
            truth = [source.random() < 0.5 for _ in range(int(np.prod(covered)))]
            key.append(np.array(truth, bool).reshape(covered))
            dim += n_dims
        else:
            break
    return tuple(key)


def spread(source: random.Random, values: Any) -> Any:
    """The same elements, divided among the ranks or as NumPy has them."""
    if not isinstance(values, np.ndarray) or values.ndim == 0 or source.random() < 0.4:
        return values
    made = pt.zeros(values.shape, dtype=values.dtype)
    made[...] = values
    return made


def made_of(source: random.Random, values: Any) -> pt.Array:
    """An array in some layout, or a view of a larger one."""
    layout = source.choice(LAYOUTS)
    if layout == "whole":
        return pt.asarray(values.copy())
    if source.random() < 0.3:
        wide = pt.zeros(tuple(2 * n + 1 for n in values.shape), dtype=values.dtype)
        view = wide[tuple(slice(1, 2 * n + 1, 2) for n in values.shape)]
    else:
        notation = "block" if layout == "*, block" and values.ndim < 2 else layout
        view = pt.zeros(values.shape, dtype=values.dtype, layout=notation)
    view[...] = values
    return view


def everything(array: pt.Array) -> Any:
    return array.gather()


def keys(team: Any, first: int, count: int) -> None:
    """Random indices: what they select, and what is seen after it was set."""
    for seed in range(first, first + count):
        source, numbers = random.Random(seed), np.random.default_rng(seed)
        shape = tuple(source.choice([0, 1, 2, 3, 4, 7]) for _ in range(source.randint(1, 4)))
        wanted = numbers.integers(0, 100, shape).astype(source.choice(TYPES))
        key = random_key(source, shape)
        if not any(isinstance(one, np.ndarray) for one in key):
            continue
        array = made_of(source, wanted)
        given = tuple(spread(source, one) for one in key)
        try:
            picked = wanted[key]
        except IndexError:
            with pytest.raises(IndexError):
                array[given]
            continue
        found = array[given]
        case = (seed, shape, key)
        assert (found.shape, found.dtype) == (picked.shape, picked.dtype), case
        np.testing.assert_array_equal(found.gather(), picked, err_msg=str(case))
        n_dims = source.randint(0, picked.ndim)
        values = numbers.integers(0, 100, picked.shape[picked.ndim - n_dims :])
        values = values.astype(wanted.dtype)
        wanted[key] = values
        array[given] = spread(source, values)
        np.testing.assert_array_equal(array.gather(), wanted, err_msg=str(case))


def reshaped(team: Any) -> None:
    """What is written to views of views by positions is seen in the array."""
    wanted = np.arange(24.0).reshape(4, 6)
    array = pt.zeros((4, 6))
    array[...] = wanted
    for one in (wanted, array):
        one.reshape(-1)[[0, 11, -1, 11]] = [7.0, 8.0, 9.0, 10.0]
        one.T[[1, 3]] = 5.0
        one[::-1, ::2][one[::-1, ::2] > 12] += 100
    np.testing.assert_array_equal(array.gather(), wanted)


def masks_without_entries(team: Any) -> None:
    """They fit any dimension, as in NumPy, and select nothing."""
    wanted = np.arange(12.0).reshape(3, 4)
    array = pt.zeros((3, 4))
    array[...] = wanted
    for mask in (np.zeros((0, 4), bool), np.zeros((3, 0), bool), np.zeros(0, bool)):
        for given in (mask, pt.asarray(mask)):
            assert array[given].shape == wanted[mask].shape
            array[given] = 5.0
    for mask in (np.zeros((2, 4), bool), np.zeros((3, 4, 1), bool)):
        with pytest.raises(IndexError):
            array[mask]
    np.testing.assert_array_equal(array.gather(), wanted)


def outside(team: Any) -> None:
    """A position outside that one rank alone has is refused by all, and nothing is changed."""
    array = pt.arange(40)
    positions = pt.arange(20)
    positions[17] = 40
    with pytest.raises(IndexError, match="index 40 is outside of dimension 0 with 40 entries"):
        array[positions]
    with pytest.raises(IndexError, match="index 40"):
        array[positions] = 1
    with pytest.raises(IndexError, match="mask of shape"):
        array[pt.zeros(39, dtype=bool)]
    assert everything(array).tolist() == [*range(40)]


def many_positions(team: Any) -> None:
    """More positions than fit a block, repeated, from both ends, of elements and of rows."""
    source = np.random.default_rng(7)
    for shape in ((1000,), (997, 3), (2, 5)):
        values = source.random(shape)
        for dtype in (np.int64, np.int16):
            positions = source.integers(-shape[0], shape[0], 3001).astype(dtype)
            wanted, array, places = values.copy(), pt.zeros(shape), pt.zeros(3001, dtype=dtype)
            array[...], places[...] = values, positions
            np.testing.assert_array_equal(everything(array[places]), wanted[positions])
            new = source.random((3001, *shape[1:]))
            wanted[positions] = new
            array[places] = new
            np.testing.assert_array_equal(everything(array), wanted)
            kept = positions.copy()
            np.testing.assert_array_equal(everything(places), kept)


def own_positions(team: Any) -> None:
    """An array that is read and written at positions that are its own elements."""
    wanted = np.random.default_rng(8).permutation(50)
    array = pt.zeros(50, dtype=wanted.dtype)
    array[...] = wanted
    np.testing.assert_array_equal(everything(array[array]), wanted[wanted])
    wanted[wanted.copy()] = np.arange(50) + 100
    array[array] = np.arange(50) + 100
    np.testing.assert_array_equal(everything(array), wanted)


def moves_little(team: Any) -> None:
    """No rank gets the whole array: a few rows of many."""
    array = pt.zeros((1000, 50))
    array[...] = pt.arange(1000.0)[:, None]
    asked = taking.Asked(team, np.array([3, 999, 500]), [0, *[1000] * team.size])
    assert sum(map(len, asked.wanted)) == (3 * team.size if team.rank == 0 else 0)
    found = array[pt.arange(0, 1000, 100)]
    assert everything(found)[:, 7].tolist() == [float(n) for n in range(0, 1000, 100)]
    if team.size > 1:
        assert found.local.shape[0] < 10
        assert array[array % 2 == 0].local.size <= 250 * 50 * 2 * 2 // team.size
        # What a mask selects stays with its rank.
        assert array[array < 1000 // team.size].local.size in (0, 1000 // team.size * 50)
