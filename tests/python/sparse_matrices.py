"""Sparse matrices for tests: patterns, formats, layouts, all the same on every rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float32", "float64", "complex64", "complex128"]
FORMATS = ["csr", "csc", "coo"]
# Rows, columns and both cut, whole, more rows than ranks and fewer; maps of all kinds.
LAYOUTS = ["block, *", "*, block", "block, block", "*, *", "cyclic, *", "*, cyclic(2)"]
LAYOUTS += ["cyclic(2), block", "cyclic, cyclic"]
SHAPES = [(11, 9), (1, 1), (0, 4), (4, 0), (3, 20), (20, 3), (2, 2)]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Small whole numbers, whose sums are exact in every type and order."""
    rng = np.random.default_rng(seed)
    made = rng.integers(-3, 4, shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.integers(-3, 4, shape)
    return made.astype(dtype)


def matrix(shape: tuple[int, int], dtype: str = "float64", seed: int = 0) -> Any:
    """A pattern with empty rows and columns, and zeros that are stored."""
    rng = np.random.default_rng(seed + 100)
    is_there = rng.random(shape) < 0.3
    is_there[1::3] = False
    is_there[:, 2::5] = False
    rows, columns = np.nonzero(is_there)
    values = numbers((len(rows),), dtype, seed)
    return sp.coo_array((values, (rows, columns)), shape=shape).tocsr()


def spread(team: pt.Team, whole: Any, layout: Any = "block, *", format: str = "csr") -> Any:
    """The same matrix on ranks."""
    return DistTensor.from_scipy(whole, team=team, format=format, layout=layout)


def cases() -> Iterator[tuple[tuple[int, int], str, str, str]]:
    """Every shape in every layout, one of them in every format; every type some time."""
    number = 0
    for shape in SHAPES:
        for layout in LAYOUTS:
            for format in FORMATS if shape == SHAPES[0] else [FORMATS[number % 3]]:
                number += 1
                yield shape, layout, format, DTYPES[number % len(DTYPES)]


def same(found: Any, wanted: Any) -> None:
    """The array of partita is what SciPy gives, of the same type."""
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    np.testing.assert_array_equal(found.gather(), wanted)


def dense(tensor: Any) -> Any:
    """All elements of a matrix, on every rank."""
    team, slices = tensor.team, tensor._slices
    whole = np.zeros(tensor.shape, tensor.dtype)
    coords = slices.globalized(tensor.slice_id, tensor._block.all_coords())
    data = tensor._block.data
    told = team.allgather_data([*(np.asarray(one, np.int64) for one in coords), data])
    is_counted = [slices.owner(slices.slice_of(rank)) == rank for rank in range(team.size)]
    for (*places, values), counts in zip(told, is_counted, strict=True):
        if counts:
            np.add.at(whole, tuple(places), values)
    return whole
