"""Corners where partita once was not NumPy: one number, odd types, views, texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, called, check, spread

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita
nan, inf = np.nan, np.inf


@pytest.mark.parametrize("n_ranks", RANKS)
def test_one_number_has_an_axis_in_reductions(n_ranks: int) -> None:
    names = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "ptp", "nanmax"]
    names += ["nansum", "nanmean", "nanargmin", "cumsum", "cumprod", "cumulative_sum", "argsort"]
    names += ["count_nonzero", "mean", "std", "median", "sort"]

    def reduced(name: str, axis: Any, np: Any, array: Any) -> Any:
        return getattr(np, name)(array(3.0), axis=axis)

    works: dict[str, Work] = {
        f"{name} {axis}": partial(reduced, name, axis) for name in names for axis in (0, -1, 1)
    }
    works["method"] = lambda np, array: array(3.0).sum(-1)
    works["several"] = lambda np, array: array(3.0).sum((0,))
    works["initial"] = lambda np, array: np.sum(array(3.0), axis=0, initial=4.0)
    works["reduce"] = lambda np, array: np.maximum.reduce(array(3.0), axis=-1)
    check(works, n_ranks)


def test_what_is_brought_to_numpys_arrays_is_counted() -> None:
    def body(_: Any) -> None:
        d, x = pt.arange(100.0), np.ones(100)
        x *= d
        np.add(x, d, out=x)
        np.testing.assert_array_equal(x, 2 * np.arange(100.0))

    before = pt.gathers().get("out=", 0)
    # One rank has it whole, and brings nothing.
    pt.spmd(lambda _: np.add(np.ones(3), pt.ones(3), out=np.ones(3)), 1)
    assert pt.gathers().get("out=", 0) == before
    with pytest.warns(pt.GatherWarning, match="100 elements"):
        pt.spmd(body, 2)
    assert pt.gathers()["out="] == before + 2


@pytest.mark.parametrize("n_ranks", RANKS)
def test_arrays_are_texts_and_rows_as_numpys(n_ranks: int) -> None:
    def body(_: Any) -> None:
        a = spread([1.0, 2.5, 4.0])
        with pytest.raises(TypeError, match="unsupported format string"):
            f"{a:.2f}"
        assert (f"{a}", f"{a.sum():.2f}") == (str(a), "7.50")
        assert list(reversed(a)) == [4.0, 2.5, 1.0]
        rows = [one.tolist() for one in reversed(spread([[1, 2], [3, 4]]))]
        assert rows == [[3, 4], [1, 2]]
        with pytest.raises(TypeError, match="no length"):
            reversed(a.sum())
        for shape in ((0,), (3, 0, 2), (2, 3)):
            assert pt.zeros(shape).strides == np.zeros(shape).strides

    pt.spmd(body, n_ranks)


def _norm_kept(x: Any, order: Any, module: Any, array: Callable[..., Any]) -> Any:
    return module.linalg.norm(array(x), order, axis=1, keepdims=1)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_sums_of_truth_values_and_kept_dimensions_are_numpys(n_ranks: int) -> None:
    x = np.array([[0.0, 2, 0], [0, 0.5, 3]])
    works: dict[str, Work] = {
        "initial": called("sum", x, axis=0, dtype=bool, initial=True),
        "where": lambda m, array: m.sum(array(x), axis=0, dtype=bool, where=array(x) > 2),
        "reduce": lambda m, array: m.add.reduce(array(x), dtype=bool),
        "accumulate": lambda m, array: m.add.accumulate(array(x), dtype=bool),
        "small": called("mean", x, dtype="uint16"),
        "complex": called("max", x + 1j, axis=1, keepdims=1),
        "complex place": called("argmax", x + 1j, axis=1, keepdims=1),
        "counted": lambda m, array: m.mean(array(x), axis=1, keepdims=1, where=array(x) >= 0),
        "holes": called("nanmean", np.array([[nan, 1.0]]), axis=1, keepdims=1),
    }
    for name in ("sum", "prod", "mean", "cumsum", "cumprod"):
        for axis in (0, 1, None):
            works[f"{name} {axis}"] = called(name, x, axis=axis, dtype=bool)
    names = "sum prod mean var std any all argmax argmin max nansum nanmean nanvar median ptp"
    for name in names.split():
        for keeps in (1, 0):
            works[f"{name} keeps {keeps}"] = called(name, x, axis=1, keepdims=keeps)
    for order in (None, 1, inf):
        works[f"norm {order}"] = partial(_norm_kept, x, order)
    wrong: list[Any] = [(0, 1), [0], True]
    for one in wrong:
        works[f"axis {one}"] = called("argmax", x, axis=one)
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_types_of_small_numbers_are_numpys(n_ranks: int) -> None:
    works: dict[str, Work] = {}
    kinds = "?bBhHiIlLefd"
    for name in ("heaviside", "logaddexp2"):
        for first in kinds:
            x = np.arange(3).astype(first)
            for second in kinds:
                works[f"{name} {first}{second}"] = called(name, x, np.ones(3).astype(second))
            for number in (1, 0.5, True, np.float16(2), 300):
                works[f"{name} {first} {number!r}"] = called(name, x, number)
    for kind in "?bBhilefdFD":
        works[f"round {kind}"] = called("round", np.array([1, 0]).astype(kind))
        works[f"angle {kind}"] = called("angle", np.array([1, 0]).astype(kind))
    bounds: dict[str, tuple[str, Any, Any]] = {
        "half": ("int16", 0.5, np.float16(2)),
        "wide": ("int8", 128, np.int64(-3)),
        "wide behind": ("int8", np.int64(-3), 300),
        "below": ("uint8", -1, 2),
        "none below": ("uint8", None, np.int16(2)),
        "beyond": ("int8", 128, 5),
        "list": ("int8", [0, 1, 2, 3], [2.5]),
        "complex": ("float32", 1, np.complex64(2)),
    }
    for name, (kind, low, high) in bounds.items():
        works[f"clip {name}"] = called("clip", np.arange(4).astype(kind), low, high)
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_one_number_is_a_row_as_by_numpy(n_ranks: int) -> None:
    works: dict[str, Work] = {
        "sums": lambda m, array: m.cumulative_sum(array(3.0)),
        "sums from": lambda m, array: m.cumulative_sum(array(3.0), include_initial=True),
        "products": lambda m, array: m.cumulative_prod(array(3.0), axis=0),
        "repeat": lambda m, array: m.repeat(array(3.0), 3, axis=0),
        "repeat behind": lambda m, array: m.repeat(array(3.0), 3, axis=-1),
        "repeat outside": lambda m, array: m.repeat(array(3.0), 3, axis=1),
        "repeat nothing": lambda m, array: m.repeat(array(np.zeros(0)), []),
        "repeat too few": lambda m, array: m.repeat(array(np.zeros(2)), []),
        "repeat floats": lambda m, array: m.repeat(array(np.zeros(2)), np.array([1.0, 2.0])),
        "take": lambda m, array: m.take(array(3.0), 0, axis=0),
        "take some": lambda m, array: m.take(array(3.0), [0, 0], axis=-1),
        "take outside": lambda m, array: m.take(array(3.0), 0, axis=1),
        "grid": lambda m, array: tuple(m.meshgrid(array([[1, 2], [3, 4]]), array([5, 6]))),
        "grid of numbers": lambda m, array: tuple(m.meshgrid(array(1), array([5, 6]))),
    }
    check(works, n_ranks)


def test_arrays_of_one_shape_stay_writable_together() -> None:
    a, b = pt.zeros(3), pt.ones(3)
    first, _ = pt.broadcast_arrays(a, b)
    first[0] = 9
    assert a.tolist() == [9, 0, 0]


def test_repeated_views_of_one_shape_are_read_only() -> None:
    a = pt.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        pt.broadcast_to(a, a.shape)[0] = 9


@pytest.mark.parametrize("n_ranks", RANKS)
def test_views_are_read_in_the_order_that_is_asked_for(n_ranks: int) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    orders = [None, (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)]
    works: dict[str, Work] = {}
    for axes in orders:
        for order in "CAK":
            works[f"ravel {axes} {order}"] = partial(
                lambda axes, order, np, array: array(x).transpose(axes).ravel(order), axes, order
            )
            works[f"flatten {axes} {order}"] = partial(
                lambda axes, order, np, array: array(x).transpose(axes).flatten(order), axes, order
            )
        works[f"reshape {axes}"] = partial(
            lambda axes, np, array: array(x).transpose(axes).reshape(6, 4, order="A"), axes
        )
    works["one entry"] = lambda np, array: array(x).T[:, 1:2].ravel("K")
    works["in turn"] = lambda np, array: array(x).T[:, 1].ravel("A")
    works["no shape's order"] = lambda np, array: array(x).reshape(6, 4, order="K")
    check(works, n_ranks)

    def refused(_: Any) -> None:
        with pytest.raises(pt.LayoutError, match=r"use 'C', or a.copy\(\) first"):
            pt.ones((4, 4))[:, ::2].ravel("K")

    pt.spmd(refused, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_reductions_of_one_element_and_of_several_axes(n_ranks: int) -> None:
    cube = -np.ones((2, 1, 3))
    works: dict[str, Work] = {
        "hypot": lambda np, array: np.hypot.reduce(array([-3.0])),
        "gcd": lambda np, array: np.gcd.reduce(array([[-3], [4]]), axis=1),
        "lcm": lambda np, array: np.lcm.reduce(array([-3])),
        "all axes": lambda np, array: np.subtract.reduce(array(cube), axis=None),
        "two axes": lambda np, array: np.divide.reduce(array(cube), axis=(0, 2)),
        "one axis": lambda np, array: np.subtract.reduce(array(cube), axis=(2,)),
        "hypot of all": lambda np, array: np.hypot.reduce(array(cube), axis=None),
    }
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_between_others_have_numpys_types(n_ranks: int) -> None:
    small = np.array([0.5, 2.0], "f4")
    ends: list[tuple[Any, Any]] = [
        (np.float32(0.5), np.float32(2)),
        (np.float16(1), 3.0),
        (np.int8(1), 7),
        (np.complex64(1), 2),
        (small, small + 1),
        (small, 2),
        (small.astype("c8"), 1),
    ]

    def between(name: str, start: Any, stop: Any, options: Any, np: Any, array: Any) -> Any:
        given = [array(one) if numpy.ndim(one) else one for one in (start, stop)]
        return getattr(np, name)(*given, 5, **options)

    works: dict[str, Work] = {
        f"{name} {at} {options}": partial(between, name, *both, options)
        for name in ("linspace", "logspace", "geomspace")
        for at, both in enumerate(ends)
        for options in ({}, {"endpoint": False}, {"dtype": "c16"})
    }
    for base in ([2, 3, 4], [2, 3], np.float32(3)):
        works[f"base {base}"] = partial(between, "logspace", 0, 2, {"base": base})
    works["bases"] = partial(between, "logspace", [0, 1, 2], 2, {"base": [2, 3, 4], "axis": 1})
    works["more bases"] = partial(between, "logspace", [[0], [1]], 2, {"base": [2, 3], "axis": -1})
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_rarer_arguments_are_numpys(n_ranks: int) -> None:
    def in_order(np: Any, array: Any) -> Any:
        made = array([3.0, 1.0, 2.0])
        made.sort(stable=True)
        return made

    nothing = np.zeros(0, "f4")
    works: dict[str, Work] = {
        "stable": in_order,
        "bounds": lambda np, array: np.histogram2d(array(nothing), array(nothing))[1],
        "weights": lambda np, array: np.average(array(4.0), axis=0, weights=array(2.0)),
    }
    check(works, n_ranks)
