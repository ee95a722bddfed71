"""Sorting, sets, order statistics and counts on the ranks of a team, beside NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from generate import fitted

import partita as pt
from partita._algorithms import rows

# Its types are stricter than what tests give to it.
np: Any = numpy

LAYOUTS = ["block", "*", "cyclic", "*, block"]
DTYPES = ["float64", "float16", "complex64", "int8", "uint64", "bool"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (2,), (300,), (5, 6), (3, 0), (2, 2, 9)]


def same(found: Any, wanted: Any, *case: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), case
    np.testing.assert_array_equal(found.gather(), wanted, err_msg=str(case))


def sample(shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers with repetitions and, where the type has them, what is no number or endless."""
    rng = np.random.default_rng(len(shape))
    made = np.asarray(rng.integers(-20, 20, shape) / 4)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return made > 0
    made = np.asarray(abs(made) if kind == "u" else made).astype(dtype)
    if kind == "c":
        made = made + 1j * rng.integers(0, 2, shape)
    if kind in "fc" and made.size > 8:
        made.reshape(-1)[[1, 4, 5, 6]] = np.nan, np.inf, -0.0, np.nan
    if kind == "c" and made.size > 8:
        made.reshape(-1)[7] = complex(1, np.nan)
    return made


def cases(dtypes: list[str], shapes: list[tuple[int, ...]]) -> Iterator[tuple[Any, Any, str]]:
    """Arrays of NumPy and the same on the ranks, each in a layout that is split and another."""
    for dtype in dtypes:
        for number, shape in enumerate(shapes):
            x = sample(shape, dtype)
            for layout in ("block", LAYOUTS[1 + number % 3]):
                yield x, pt.asarray(x, fitted(layout, x.ndim)), f"{dtype} {shape} {layout}"


def cut(team: pt.Team) -> None:
    """Let also small arrays that every rank has be worked on by all ranks together."""
    rows.FEW_ELEMENTS = 4
    team.barrier()


def turned(x: Any, axis: int) -> Any:
    """Positions that sort in descending order, those of equal elements in order."""
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - backwards, axis)


def sorts(team: pt.Team, dtype: str) -> None:
    cut(team)
    for x, a, case in cases([dtype], SHAPES[1:]):
        for axis in (None, *range(-x.ndim, 0)):
            line, at = (x.reshape(-1), 0) if axis is None else (x, axis)
            same(pt.sort(a, axis=axis), np.sort(line, axis=at), case, axis)
            same(pt.argsort(a, axis=axis), np.argsort(line, axis=at, kind="stable"), case, axis)
            down = pt.sort(a, axis=axis, descending=True)
            same(down, np.flip(np.sort(line, axis=at), at), case, axis)
            same(pt.argsort(a, axis=axis, descending=True), turned(line, at), case, axis)


def long_rows(team: pt.Team) -> None:
    """Rows that take several rounds to cut; the result lies where arrays lie by default."""
    rng = np.random.default_rng(5)
    n = 20_000
    rows_of = {
        "random": rng.normal(size=n),
        "in order": np.arange(n, dtype=float),
        "backwards": np.arange(n, 0, -1, dtype=float),
        "two values": rng.integers(0, 2, n).astype(float),
        "one value": np.ones(n),
        "no numbers": np.full(n, np.nan),
        "mostly one": np.where(rng.random(n) < 0.9, 7.0, rng.normal(size=n)),
        "endless": np.where(rng.random(n) < 0.5, -np.inf, np.inf),
        "integers": rng.integers(-(2**62), 2**62, n),
        "bytes": rng.integers(0, 255, n).astype("uint8"),
    }
    for name, x in rows_of.items():
        for layout in ("block", "cyclic"):
            a = pt.asarray(x, layout)
            made = pt.sort(a)
            same(made, np.sort(x), name)
            assert made.layout.notation == f"block(last) @ {team.size}"
            same(pt.sort(a, descending=True), np.sort(x)[::-1], name)
            same(pt.argsort(a), np.argsort(x, kind="stable"), name)
            same(pt.unique(a), np.unique(x), name)
        lopsided = pt.Block(sizes=[n - 3 * (team.size - 1)] + [3] * (team.size - 1))
        a = pt.asarray(x, pt.Layout((n,), [lopsided], grid=(team.size,)))
        same(pt.sort(a), np.sort(x), name)
        same(pt.argsort(a, descending=True), turned(x, 0), name)


def other_orders(team: pt.Team) -> None:
    cut(team)
    x = np.array([3, 1, 3, 2, 1, 0, 2])
    y = np.array([1.5, 0, -1, 2, -0.5, 2, 2])
    for layout in LAYOUTS:
        row = fitted(layout, 1)
        # Copies: what is sorted in place would change the operands of other ranks too.
        a, b = pt.asarray(x.copy(), row), pt.asarray(y, row)
        same(pt.lexsort((b, a)), np.lexsort((y, x)))
        same(pt.lexsort((a, b)), np.lexsort((x, y)))
        same(pt.partition(a, 2)[2], np.partition(x, 2)[2])
        same(a[pt.argpartition(a, [2, 4])], np.sort(x))
        same(pt.sort_complex(a), np.sort_complex(x))
        same(pt.sort_complex(pt.asarray(x.astype("int8"), row)), np.sort_complex(x.astype("i1")))
        same(np.sort(a), np.sort(x))
        table = np.stack([x, x[::-1]])
        ours = pt.asarray(table.copy(), layout)
        same(pt.lexsort((ours, ours), axis=0), np.lexsort((table, table), axis=0))
        same(pt.lexsort((ours, ours * 0.5)), np.lexsort((table, table * 0.5)))
        many = np.arange(35).reshape(5, 7) * 4 % 11
        split = pt.asarray(many, layout)
        same(pt.lexsort((-split, split % 3)), np.lexsort((-many, many % 3)))
        ours.sort(axis=0)
        table.sort(axis=0)
        same(ours, table)
        a.sort()
        same(a, np.sort(x))


def sets(team: pt.Team, dtype: str) -> None:
    cut(team)
    for x, a, case in cases([dtype], SHAPES):
        wanted = np.unique(x, True, True, True)
        for found, other in zip(pt.unique(a, True, True, True), wanted, strict=True):
            same(found, other, case)
        same(pt.unique(a), wanted[0], case)
        values, indices, inverse, counts = np.unique(x, True, True, True, equal_nan=False)
        for found, other in zip(pt.unique_all(a), (values, indices, inverse, counts), strict=True):
            same(found, other, case)
        same(pt.unique_counts(a).counts, counts, case)
        same(pt.unique_counts(a).values, values, case)
        same(pt.unique_inverse(a).inverse_indices, inverse, case)
        same(pt.unique_values(a), values, case)
        y = wanted[0][::2]
        b = pt.asarray(y, "block")
        same(pt.isin(a, b), np.isin(x, y), case)
        same(pt.isin(a, y.tolist(), invert=True), np.isin(x, y, invert=True), case)
        same(pt.union1d(a, b), np.union1d(x, y), case)
        same(pt.intersect1d(a, b), np.intersect1d(x, y), case)
        for found, other in zip(
            pt.intersect1d(a, b, return_indices=True),
            np.intersect1d(x, y, return_indices=True),
            strict=True,
        ):
            same(found, other, case)
        same(pt.setdiff1d(a, b), np.setdiff1d(x, y), case)
        same(pt.setxor1d(a, b), np.setxor1d(x, y), case)


def places(team: pt.Team, dtype: str) -> None:
    cut(team)
    for x, a, case in cases([dtype], SHAPES):
        flat, ours = x.reshape(-1), a.reshape(-1)
        order = np.argsort(flat, kind="stable")
        some = flat[order][::3]
        for side in ("left", "right"):
            wanted = np.searchsorted(flat[order], x, side)
            same(pt.searchsorted(pt.sort(ours), a, side), wanted, case)
            same(pt.searchsorted(ours, a, side=side, sorter=pt.argsort(ours)), wanted, case)
            same(pt.searchsorted(pt.asarray(some), a, side), np.searchsorted(some, x, side), case)
            same(pt.sort(ours).searchsorted(some, side), np.searchsorted(flat[order], some, side))
        same(pt.flatnonzero(a), np.flatnonzero(x), case)
        same(pt.argwhere(a), np.argwhere(x), case)
        if dtype != "bool":
            same(pt.ediff1d(a), np.ediff1d(x), case)
    bounds = np.array([-1.0, 0.0, 0.5, 2.0])
    for x, a, case in cases(["float64", "int8"], [(9,), (5, 6)]):
        for right in (False, True):
            same(pt.digitize(a, bounds, right), np.digitize(x, bounds, right), case)
            same(pt.digitize(a, bounds[::-1], right), np.digitize(x, bounds[::-1], right), case)
        same(pt.ediff1d(a, [1, 2], [3]), np.ediff1d(x, [1, 2], [3]), case)
    for zeros in ([0, 0, 1, 0, 2, 0], [0, 0], [], [1], [[0, 0, 0], [0, 3, 0]]):
        for trim in ("fb", "f", "b"):
            if np.ndim(zeros) == 1 or trim == "fb":
                same(
                    pt.trim_zeros(pt.asarray(np.array(zeros), "block"), trim), trimmed(zeros, trim)
                )


def trimmed(zeros: Any, trim: str) -> Any:
    return np.trim_zeros(np.array(zeros), trim)


def odd_layouts(team: pt.Team) -> None:
    """Halos, lists, one rank that has all, views, grids: results are the same."""
    cut(team)
    n = team.size
    x = (np.arange(60) * 17 % 23).astype(float)
    lists = pt.Unstructured([list(range(rank, 60, n)) for rank in range(n)])
    arrays = [
        pt.asarray(x, pt.Layout((60,), [pt.Block(halo=(1, 1))], grid=(n,))),
        pt.asarray(x, pt.Layout((60,), [pt.Whole()], ranks=[n - 1])),
        pt.asarray(x, pt.Layout((60,), [lists], grid=(n,))),
        pt.asarray(np.repeat(x, 2), "block")[::2],
        pt.asarray(x[::-1].copy(), "block")[::-1],
    ]
    for number, a in enumerate(arrays):
        same(pt.sort(a), np.sort(x), number)
        same(pt.argsort(a), np.argsort(x, kind="stable"), number)
        for found, wanted in zip(
            pt.unique(a, True, True, True), np.unique(x, True, True, True), strict=True
        ):
            same(found, wanted, number)
        same(pt.median(a), np.median(x), number)
        same(pt.histogram(a)[0], np.histogram(x)[0], number)
        same(pt.bincount(a.astype("int64"), a), np.bincount(x.astype(int), x), number)
        same(pt.searchsorted(pt.sort(a), a), np.searchsorted(np.sort(x), x), number)
    x = x.reshape(12, 5)
    arrays = [
        pt.asarray(x, "block, block"),
        pt.asarray(x.T.copy(), "block").T,
        pt.asarray(x, pt.Layout((12, 5), [pt.Whole(), pt.Whole()], ranks=[0])),
        pt.asarray(np.pad(x, 1), "block, block")[1:-1, 1:-1],
        pt.asarray(x, pt.Layout((12, 5), [pt.Block(halo=(1, 1)), pt.Whole()], grid=(n, 1))),
    ]
    for number, a in enumerate(arrays):
        for axis in (0, 1, None):
            same(pt.sort(a, axis=axis), np.sort(x, axis=axis), number, axis)
            same(pt.median(a, axis), np.median(x, axis), number, axis)
        same(pt.isin(a, a[:2]), np.isin(x, x[:2]), number)


REFUSED: list[tuple[Any, Any]] = [
    (ValueError, lambda a: pt.bincount(a - 1)),
    (ValueError, lambda a: pt.bincount(a, [1.0])),
    (ValueError, lambda a: pt.bincount(a, minlength=-1)),
    (TypeError, lambda a: pt.bincount(a * 0.5)),
    (ValueError, lambda a: pt.histogram(a, 0)),
    (ValueError, lambda a: pt.histogram(a, [2, 1])),
    (ValueError, lambda a: pt.histogram(a, "unheard")),
    (ValueError, lambda a: pt.histogram(a / 0.0)),
    (TypeError, lambda a: pt.histogram(a, "auto", weights=a)),
    (ValueError, lambda a: pt.quantile(a, 1.5)),
    (ValueError, lambda a: pt.percentile(a, -1)),
    (ValueError, lambda a: pt.quantile(a, 0.5, method="unheard")),
    (TypeError, lambda a: pt.quantile(a + 1j, 0.5)),
    (np.exceptions.AxisError, lambda a: pt.sort(a, axis=1)),
    (np.exceptions.AxisError, lambda a: pt.sort(a[0])),
    (ValueError, lambda a: pt.sort(a, kind="unheard")),
    (ValueError, lambda a: pt.partition(a, 99)),
    (ValueError, lambda a: pt.searchsorted(a, 1, side="middle")),
    (ValueError, lambda a: pt.searchsorted(a.reshape(2, -1), 1)),
    (ValueError, lambda a: pt.digitize(a, [1, 3, 2])),
    (ValueError, lambda a: pt.trim_zeros(a, "x")),
    (TypeError, lambda a: pt.ediff1d(a, to_end=[0.5])),
    (ValueError, lambda a: pt.lexsort((a, a[1:]))),
]


def refusals(team: pt.Team) -> None:
    """What is wrong is refused on every rank; the next call is not disturbed."""
    for error, call in REFUSED:
        with np.errstate(all="ignore"), pytest.raises(error):
            call(pt.arange(12))
        assert pt.sort(pt.arange(5)[::-1]).tolist() == [0, 1, 2, 3, 4]


def gathers_only_what_it_says(team: pt.Team) -> None:
    x = np.array([[2, 1], [2, 1], [0, 3]])
    with warnings.catch_warnings():
        warnings.simplefilter("error" if team.size > 1 else "ignore", pt.GatherWarning)
        a = pt.asarray(np.arange(200.0) % 7, "block")
        for call in (pt.sort, pt.argsort, pt.unique, pt.median):
            call(a).sync()
        pt.histogram(a)[0].sync()
        pt.searchsorted(pt.sort(a), a).sync()
    warnings.simplefilter("ignore", pt.GatherWarning)
    for found, wanted in zip(
        pt.unique(pt.asarray(x, "block"), True, True, True, axis=0),
        np.unique(x, True, True, True, axis=0),
        strict=True,
    ):
        same(found, wanted)
