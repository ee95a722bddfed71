"""What the tests of Dask and of Ray have in common: layouts of every kind, and their buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

import partita as pt

SHAPE = (23, 14)


def layouts(shape: tuple[int, int] = SHAPE) -> dict[str, pt.Layout]:
    """One layout of every kind, without summands."""
    rows, columns = shape
    order = np.random.default_rng(5).permutation(rows)
    lists = pt.Unstructured([order[:9], order[9:10], order[10:]])
    halves = [
        [((0, 0), (rows, 5))],
        [((0, 5), (10, columns - 5)), ((10, 5), (rows - 10, columns - 5))],
        [],
    ]
    return {
        "blocks": pt.Layout(shape, "block, block(last) @ 3x2"),
        "rows": pt.Layout(shape, "block(ceil), * @ 4x1"),
        "given sizes": pt.Layout(
            shape, [pt.Block(sizes=[0, rows - 3, 3]), pt.Whole()], grid=(3, 1)
        ),
        "cyclic": pt.Layout(shape, "cyclic, cyclic(3) @ 2x2"),
        "halo": pt.Layout(shape, "block+halo(2,1), * @ 3x1"),
        "periodic": pt.Layout(shape, "*, block+halo(1,2)+periodic @ 1x3"),
        "lists": pt.Layout(shape, [lists, pt.Cyclic(2)], grid=(3, 2)),
        "boxes": pt.Layout.from_boxes(shape, halves),
        "replicated": pt.Layout(shape, "*, block @ 2x2"),
        "one": pt.Layout(shape, "*, * @ 1x1"),
        "other ranks": pt.Layout(shape, "*, block @ 1x3", ranks=[7, 2, 5]),
        "more ranks than rows": pt.Layout(shape, f"block, * @ {rows + 4}x1"),
    }


def buffers(values: np.ndarray, layout: pt.Layout) -> list[np.ndarray]:
    """Every rank's buffers of an array, filled piece by piece."""
    made = []
    for rank in layout.ranks:
        own = [
            np.full(layout.local_shape(rank, buffer=n), 101, values.dtype)
            for n in range(layout.n_buffers(rank))
        ]
        for piece in layout.pieces(rank):
            own[piece.buffer][box(piece.local_start, piece.shape)] = values[
                box(piece.start, piece.shape)
            ]
        made += own
    return made


def box(start: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Slices of a box."""
    return tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))


def check(array: Any, layout: pt.Layout, values: np.ndarray) -> None:
    """Every buffer of every slot is what the layout says."""
    assert array.layout == layout
    assert array.dtype == values.dtype
    wanted = buffers(values, layout)
    found = array._fetch(array.handles)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def numbers(seed: int, shape: tuple[int, ...] = SHAPE, dtype: str = "float64") -> np.ndarray:
    """Random whole numbers, so that sums are exact."""
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def summands(shape: tuple[int, int] = SHAPE) -> tuple[pt.Layout, list[np.ndarray], np.ndarray]:
    """A layout of summands, their buffers, and their sum."""
    layout = pt.Layout(shape, [pt.Block(), pt.Whole()], grid=(2, 3), partial=[1])
    parts = [numbers(seed, shape) for seed in range(3)]
    halves = np.array_split(np.arange(shape[0]), 2)
    listed = [parts[k][rows] for rows in halves for k in range(3)]
    return layout, listed, sum(parts)
