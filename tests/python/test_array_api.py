"""The Array API 2025.12: names, parameters, promotion, special cases; and on several ranks.

`make conformance` runs the standard's own suite. What is here notices without it.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import engines
import numpy as np
import pytest
from array_api_table import ATTRIBUTES, METHODS, PROMOTED, ROWS, SPECIAL
from bodies_array_api import handed_over, like_others, picked
from engines import Case
from generate import fitted
from places import Place, launchers

import partita as pt

RANKS = [1, 2, 3, 4]
REFUSED = (TypeError, ValueError, IndexError)
LAYOUTS = ["block, *", "*, block", "cyclic, *", "*, *", "block(last), *"]


def found(path: str) -> Any:
    """What has a name in the namespace or one of its extensions."""
    whole, _, last = path.rpartition(".")
    return getattr(getattr(pt, whole) if whole else pt, last)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row).split()[0])
def test_functions_take_the_parameters_of_the_standard(row: str) -> None:
    name, _, parameters = row.partition(" ")
    function = found(name)
    before, _, rest = parameters.partition("/")
    either, _, by_name = rest.partition("|")
    signature = inspect.signature(function)
    # By position, then by name; each raises a TypeError that names what is missing.
    signature.bind(*before.split(), *either.split(), **dict.fromkeys(by_name.split()))
    signature.bind(*before.split(), **dict.fromkeys((either + by_name).split()))


@pytest.mark.parametrize("name", [*METHODS.split(), *ATTRIBUTES.split()])
def test_arrays_have_what_the_standard_names(name: str) -> None:
    assert hasattr(pt.ones((2, 2)), name)


def test_constants() -> None:
    assert (pt.e, pt.pi, pt.inf, pt.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(pt.nan)


@pytest.mark.parametrize("row", PROMOTED.strip().splitlines())
def test_promotion(row: str) -> None:
    first, second, wanted = row.split()
    a, b = pt.ones(2, first), pt.ones(2, second)
    for x, y in ((a, b), (b, a)):
        assert pt.result_type(x, y) == pt.result_type(x.dtype, y.dtype) == np.dtype(wanted)
        assert pt.where(x == y, x, y).dtype == pt.concat([x, y]).dtype == np.dtype(wanted)
        if wanted != "bool":
            assert (x + y).dtype == np.dtype(wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", SPECIAL.strip().splitlines())
def test_special_cases(row: str, dtype: str) -> None:
    name, *numbers = row.split()
    *operands, wanted = (np.asarray([float(word)] * 9, dtype) for word in numbers)
    got = getattr(pt, name)(*map(pt.asarray, operands)).gather()
    np.testing.assert_allclose(got, wanted, rtol=3 * float(np.finfo(dtype).eps), atol=0)
    if not np.isnan(wanted[0]):
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


def test_the_namespace_says_what_it_has() -> None:
    info = pt.__array_namespace_info__()
    assert pt.__array_api_version__ == "2025.12"
    assert pt.ones(1).__array_namespace__(api_version="2025.12") is pt
    assert info.default_device() in info.devices() == ("cpu",)
    assert pt.ones(2).device == "cpu"
    most = info.capabilities()["max dimensions"]
    assert pt.ones((1,) * most).sum().item() == 1
    assert list(info.dtypes(kind="complex floating")) == ["complex64", "complex128"]
    assert list(info.dtypes(kind=("bool", "unsigned integer"))) == [
        *("bool", "uint8", "uint16", "uint32", "uint64")
    ]
    for use, make in (("integral", pt.arange(3)), ("real floating", pt.ones(3))):
        assert info.default_dtypes()[use] == make.dtype
    assert info.default_dtypes()["indexing"] == pt.argmax(pt.ones(3)).dtype
    with pytest.raises(ValueError, match=r"'gpu'.*use 'cpu'"):
        info.dtypes(device="gpu")
    makers: list[Any] = [pt.zeros, pt.ones, pt.empty, pt.arange, pt.eye]
    for maker in makers:
        with pytest.raises(ValueError, match="'gpu'"):
            maker(2, device="gpu")
    for change in (pt.asarray, pt.from_dlpack, pt.zeros_like, pt.ones_like, pt.empty_like):
        with pytest.raises(ValueError, match="'gpu'"):
            change(pt.ones(2), device="gpu")
    with pytest.raises(ValueError, match="'gpu'"):
        pt.astype(pt.ones(2), "int8", device="gpu")
    with pytest.raises(ValueError, match="'gpu'"):
        pt.ones(2).to_device("gpu")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_limits_are_numbers_of_python(dtype: str) -> None:
    ours, theirs = pt.finfo(pt.ones(1, dtype)), np.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(ours, name)) is float
        assert getattr(ours, name) == getattr(theirs, name)
    assert (ours.bits, ours.dtype, ours.resolution) == (
        theirs.bits,
        theirs.dtype,
        theirs.resolution,
    )
    with pytest.raises(AttributeError):
        ours.no_such_limit  # noqa: B018


def split(values: Any, layout: str) -> Any:
    whole = np.asarray(values)
    return pt.asarray(whole, fitted(layout, whole.ndim))


def on_ranks(ranks: int, body: Any, *given: Any, **options: Any) -> Any:
    """What a body returns, which is the same on all ranks."""
    results = pt.spmd(lambda team: body(*given, **options), ranks)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0], strict=True)
    return results[0]


def one_of(name: str, layout: str, array: Any, *others: Any, **options: Any) -> Any:
    """A function's result with arrays in a layout."""
    given = [split(one, layout) if isinstance(one, np.ndarray) else one for one in others]
    return getattr(pt, name)(split(array, layout), *given, **options).gather()


def matrix(dtype: str, shape: tuple[int, ...] = (5, 4)) -> Any:
    values = np.resize([3, -1, 0, 7, -5, 2, 1, -7, 4], shape)
    return values.astype("int64").astype(dtype)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("layout", ["block, *", "*, block", "cyclic, *", "*, *"])
def test_take_beside_numpy(ranks: int, layout: str) -> None:
    a = matrix("float32")
    for indices, axis, mode in (
        ([4, 0, -1, 4], 0, "raise"),
        ([[1, 3], [0, -4]], 1, "raise"),
        ([], 0, "raise"),
        (2, 1, "raise"),
        ([0, 19, -20], None, "raise"),
        ([-7, 9, 5], 0, "wrap"),
        ([-7, 9, 5], 0, "clip"),
        ([True, False], 0, "raise"),
    ):
        given = np.asarray(indices, None if indices else "int64")
        got = on_ranks(ranks, one_of, "take", layout, a, indices, axis=axis, mode=mode)
        wanted: Any = np.take(a, given, axis, mode=mode)  # type: ignore[call-overload]
        np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("ranks", RANKS)
def test_take_refuses_on_every_rank(ranks: int) -> None:
    def body() -> list[str]:
        a, said = split(matrix("int8"), "block, *"), []
        for indices, options in (
            ([5], {"axis": 0}),
            ([0.5], {"axis": 0}),
            ([0], {"axis": 0, "mode": "odd"}),
            ([0], {"axis": 2}),
        ):
            with pytest.raises(REFUSED) as caught:
                pt.take(a, indices, **options).gather()
            said.append(next(one.__name__ for one in REFUSED if isinstance(caught.value, one)))
        return said

    assert list(on_ranks(ranks, body)) == ["IndexError", "TypeError", "ValueError", "ValueError"]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("layout", ["block, *", "*, block", "cyclic, *", "*, *"])
def test_take_along_axis_beside_numpy(ranks: int, layout: str) -> None:
    for dtype, shape in (("complex64", (5, 4)), ("bool", (1, 3)), ("float64", (3, 1))):
        a = matrix(dtype, shape)
        for axis in (0, 1, -1, None):
            row = a.ravel() if axis is None else a
            at = np.argsort(row, axis=-1 if axis is None else axis, kind="stable")
            at = at - (at % 2) * row.shape[axis or 0]
            got = on_ranks(ranks, one_of, "take_along_axis", layout, a, at, axis=axis)
            np.testing.assert_array_equal(got, np.take_along_axis(a, at, axis), strict=True)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("layout", ["block, *", "*, block", "cyclic, *", "*, *"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex128"])
def test_diff_beside_numpy(ranks: int, layout: str, dtype: str) -> None:
    a = matrix(dtype)
    ends = {"prepend": matrix(dtype, (5, 1)), "append": matrix(dtype, (5, 2))}
    for options in (
        {},
        {"n": 0},
        {"n": 2, "axis": 0},
        {"n": 6, "axis": 0},
        {"axis": 1, **ends},
        {"axis": 0, "prepend": np.dtype(dtype).type(1)},
    ):
        got = on_ranks(ranks, one_of, "diff", layout, a, **options)
        np.testing.assert_array_equal(got, np.diff(a, **options), strict=True)


def test_diff_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="-1 times"):
        pt.diff(pt.ones(3), n=-1)
    with pytest.raises(ValueError, match="axis"):
        pt.diff(pt.ones(()))


@pytest.mark.parametrize("ranks", RANKS)
def test_dlpack_takes_what_is_whole_and_refuses_what_is_split(ranks: int) -> None:
    a = matrix("float64")

    def body() -> Any:
        taken = pt.from_dlpack(a)
        kept = split(a, "block, *")
        assert pt.from_dlpack(kept) is kept
        assert pt.from_dlpack(kept, copy=True) is not kept
        if ranks == 1:
            np.testing.assert_array_equal(np.from_dlpack(kept), a)
        else:
            with pytest.raises(BufferError, match=r"use \.gather"):
                np.from_dlpack(kept)
        return taken.gather()

    np.testing.assert_array_equal(on_ranks(ranks, body), a)
    with pytest.raises(AttributeError, match="use asarray"):
        pt.from_dlpack([1.0])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 1), (0, 3), (2, 1), (7, 5)])
def test_arrays_like_others_are_where_those_are(
    ranks: int, layout: str, shape: tuple[int, int]
) -> None:
    def body() -> Any:
        # Computed, not only made: then the layout is read off what the ranks hold.
        one = pt.zeros(shape, layout=layout) + 1
        one.sync()
        made = pt.full_like(one, 7, "int16")
        assert made.layout.shape == shape
        assert max(made.layout.ranks, default=0) < ranks
        return made.gather()

    np.testing.assert_array_equal(on_ranks(ranks, body), np.full(shape, 7, "int16"), strict=True)


def test_several_arrays_come_in_tuples() -> None:
    assert type(pt.meshgrid(pt.ones(2), pt.ones(3))) is tuple
    assert type(pt.broadcast_arrays(pt.ones(2), pt.ones((3, 1)))) is tuple


@pytest.mark.parametrize("place", [Place("mpi", n, launchers()[0]) for n in (2, 3)], ids=str)
def test_on_processes(place: Place) -> None:
    bodies = (picked, handed_over, like_others)
    found = engines.run(place, [Case(body.__name__, body) for body in bodies])
    failures = [f"{name}:\n{one.failure}" for name, one in found.items() if one.failure]
    assert not failures, "\n".join(failures)
