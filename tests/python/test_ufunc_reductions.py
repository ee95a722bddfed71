"""Reductions by any universal function: what they begin with, and which elements count."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, check

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita

pytestmark = pytest.mark.filterwarnings("ignore::partita.GatherWarning")

FLOATS = np.arange(12.0).reshape(4, 3) - 2
WHOLE = np.arange(1, 13).reshape(3, 4)
MASKS = {"float": FLOATS > 0, "whole": WHOLE % 3 > 0}
FUNCTIONS = {
    "float": "subtract divide hypot fmax fmin logaddexp logaddexp2 copysign fmod logical_xor add "
    "maximum logical_and heaviside nextafter",
    "whole": "bitwise_and bitwise_or bitwise_xor gcd lcm subtract floor_divide remainder "
    "left_shift power multiply minimum",
}


def reduced(name: str, kind: str, options: dict[str, Any], np: Any, array: Any) -> Any:
    given = array(FLOATS if kind == "float" else WHOLE)
    if "where" in options:
        options = options | {"where": array(options["where"])}
    return getattr(np, name).reduce(given, **options)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_reductions_begin_with_a_number_and_leave_elements_out(n_ranks: int) -> None:
    works: dict[str, Work] = {}
    for kind, names in FUNCTIONS.items():
        for name in names.split():
            for axis in (0, 1, ()):
                for options in (
                    {"initial": 2},
                    {"where": MASKS[kind]},
                    {"initial": 2, "where": MASKS[kind], "keepdims": True},
                    {"initial": 2, "where": MASKS[kind][:1]},
                    {"initial": None},
                ):
                    given = {"axis": axis, **options}
                    works[f"{name} {given}"] = partial(reduced, name, kind, given)
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_reductions_of_nothing_and_of_one_number_begin_too(n_ranks: int) -> None:
    row = FLOATS.reshape(-1)
    works: dict[str, Work] = {
        "nothing": lambda np, array: np.subtract.reduce(array(FLOATS[:0]), initial=1.0),
        "no identity": lambda np, array: np.fmax.reduce(array(FLOATS[:0]), initial=1.0),
        "none at all": lambda np, array: np.add.reduce(array(FLOATS[:0]), initial=None),
        "no begin": lambda np, array: np.add.reduce(array(FLOATS), initial=None),
        "one": lambda np, array: np.subtract.reduce(array(5.0), axis=None, initial=1),
        "alone": lambda np, array: np.hypot.reduce(array([-3.0]), initial=None),
        "no axis": lambda np, array: np.hypot.reduce(array(-FLOATS), axis=()),
        "row": lambda np, array: np.subtract.reduce(array(row), initial=3, where=array(row > 2)),
        "two axes": lambda np, array: np.subtract.reduce(array(FLOATS), axis=None, initial=1),
        "typed": lambda np, array: np.subtract.reduce(array(FLOATS), dtype="f4", initial=3),
        "too large": lambda np, array: np.bitwise_or.reduce(array(np.uint8([1])), initial=300),
        "several": lambda np, array: np.subtract.reduce(array(FLOATS), initial=[1, 2]),
        "complex": lambda np, array: np.subtract.reduce(array(FLOATS), initial=1j),
        "negative powers": lambda np, array: np.power.reduce(array(-WHOLE), initial=1, axis=1),
    }
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_angles_of_angles_are_taken_in_order(n_ranks: int) -> None:
    # NumPy's own reduction loses elements on some processors, its running results do not.
    lines = np.concatenate([np.full((4, 1), 7.0), FLOATS], axis=1)
    wanted = np.arctan2.accumulate(lines, axis=1)[:, -1]
    kept = np.arctan2.accumulate(lines[:, [0, 1, 3]], axis=1)[:, -1]

    def body(_: Any) -> None:
        angles = partial(pt.arctan2.reduce, pt.asarray(FLOATS), axis=1, initial=7.0)
        np.testing.assert_allclose(angles().gather(), wanted)
        np.testing.assert_allclose(angles(where=[True, False, True]).gather(), kept)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_masks_do_not_repeat_elements(n_ranks: int) -> None:
    large = np.ones((2, 4, 3), bool)

    def masked(name: str, np: Any, array: Any) -> Any:
        function = np.add.reduce if name == "add.reduce" else getattr(np, name)
        return function(array(FLOATS), where=array(large))

    names = ["sum", "prod", "any", "all", "mean", "var", "add.reduce"]
    check({name: partial(masked, name) for name in names}, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_types_that_a_function_does_not_have_are_refused(n_ranks: int) -> None:
    def typed(name: str, method: str, dtype: str, np: Any, array: Any) -> Any:
        rest = [[0, 1]] if method == "reduceat" else []
        return getattr(getattr(np, name), method)(array([1, 2, 3]), *rest, dtype=dtype)

    works: dict[str, Work] = {
        f"{name} {method} {dtype}": partial(typed, name, method, dtype)
        for name in ("divide", "copysign", "hypot", "power", "bitwise_or", "add", "less")
        for method in ("reduce", "accumulate", "reduceat")
        for dtype in ("i8", "f4", "c8", "?")
    }
    check(works, n_ranks)
