"""Random sparse tensors for tests, the same on every rank, and what they are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

KINDS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
KINDS += ["float32", "float64", "complex64", "complex128"]
FORMATS = ["csr", "csc", "coo"]
LAYOUTS = ["block(last), *", "*, block", "cyclic, *", "block, cyclic(2)", "*, *", "cyclic, block"]
SHAPES = [(7, 5), (0, 3), (3, 0), (1, 1), (1, 9), (9, 1), (23, 17)]


def values(n: int, dtype: str, seed: int) -> Any:
    """Small numbers, so that sums are exact; some are 0."""
    found = np.random.default_rng(seed).integers(0, 9, n)
    return (found * (2 - 1j) if dtype.startswith("complex") else found).astype(dtype)


def entries(shape: tuple[int, ...], dtype: str, seed: int, n: int | None = None) -> Any:
    """Coordinates and values in any order, some places twice; some rows and columns are empty."""
    rng = np.random.default_rng(seed)
    n_entries = 0 if 0 in shape else max(int(np.prod(shape)) // 3, 1) if n is None else n
    coords = [rng.integers(0, side, n_entries) // 2 * 2 % max(side, 1) for side in shape]
    return coords, values(n_entries, dtype, seed)


def tensor(shape: tuple[int, ...], dtype: str, seed: int, format: str = "csr") -> Any:
    """A SciPy array; as COO with places that come twice."""
    coords, data = entries(shape, dtype, seed)
    made = sp.coo_array((data, tuple(coords)), shape=shape)
    return made if format == "coo" else made.asformat(format)


def dense(found: Any) -> Any:
    """A SciPy array as a dense one; NumPy's own adds places of any number of dimensions."""
    coo = found.tocoo()
    made = np.zeros(coo.shape, coo.dtype)
    np.add.at(made, tuple(coo.coords), coo.data)
    return made


def same(found: Any, wanted: Any) -> None:
    """Whether two SciPy arrays are the same tensor, of the same type."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(dense(found), dense(wanted))


def part_of(whole: Any, tensor: Any, slice_id: tuple[int, ...]) -> Any:
    """The slice of a dense array that a layout gives to a slice's number."""
    sides = [
        np.array([at for at in range(n) if axis.owner((at,)) == part])
        if axis.n_ranks > 1 and kind == "distributed"
        else np.arange(n)
        for n, axis, part, kind in zip(
            whole.shape, tensor._slices.axes, slice_id, tensor.dist, strict=True
        )
    ]
    return whole[np.ix_(*(side.astype(int) for side in sides))]


def raised(work: Any, *kinds: type[BaseException]) -> str:
    """What an error says that must be raised; others pass."""
    try:
        work()
    except kinds as error:
        return str(error)
    raise AssertionError(f"no error of {kinds}")
