"""What may be written to an array, and what is refused at its line."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import partita as pt

READ_ONLY = "read-only"


def repeated() -> list[pt.Array]:
    """Views in which elements are there several times, and views of such views."""
    row = pt.arange(4.0)
    wide = pt.broadcast_to(row, (2, 4))
    return [wide, wide[0], wide[:, 1:], wide.T, wide[None], pt.broadcast_arrays(row, wide)[0]]


@pytest.mark.parametrize("at", range(6))
def test_views_that_repeat_elements_are_read_only(at: int) -> None:
    view = repeated()[at]
    before = view.gather()
    with pytest.raises(ValueError, match=READ_ONLY) as refused:
        view[...] = 9
    assert refused.value.reason == READ_ONLY  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=READ_ONLY):
        view[0] = 9
    with pytest.raises(ValueError, match=READ_ONLY):
        view += 1
    with pytest.raises(ValueError, match=READ_ONLY):
        view[[0]] = 9
    with pytest.raises(ValueError, match=READ_ONLY):
        view[view > 1] = 9
    with pytest.raises(ValueError, match=READ_ONLY):
        pt.add(view, 1, out=view)
    assert not view.local.flags.writeable
    np.testing.assert_array_equal(view.gather(), before)


def test_what_repeats_nothing_can_be_written() -> None:
    row = pt.arange(4.0)
    # As in NumPy, what was broadcast is read-only even then.
    with pytest.raises(ValueError, match="read-only"):
        pt.broadcast_to(row, (1, 4))[0, 1] = 9
    row[None][...] += 1
    np.testing.assert_array_equal(row.gather(), [1, 2, 3, 4])
    copy = pt.broadcast_to(row, (2, 4)).copy()
    copy[0] = 0
    copy.local[1] = 7
    np.testing.assert_array_equal(copy.gather(), [[0] * 4, [7] * 4])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_numbers(dtype: str) -> None:
    x = (np.arange(4) + 1j * np.arange(4, 8)).astype(dtype)
    z: Any = pt.asarray(x.copy())
    np.testing.assert_array_equal(z.real.gather(), x.real)
    assert z.imag.dtype == x.imag.dtype
    for part in (z.real, z.imag, z.real[1:]):
        with pytest.raises(ValueError, match=r"read-only.*z\.real = x"):
            part[0] = 5
        with pytest.raises(ValueError, match=READ_ONLY):
            part += 1
    for one in (z, x):
        one.real = [1, np.nan, np.inf, -0.0]
        one.imag = 2
        one[1:].imag = np.inf
        one[2:].real = [7, -np.inf]
    found = z.gather()
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.view(x.real.dtype), x.view(x.real.dtype))
    mine = pt.real(z)
    mine[0] = 5  # the function gives an array of its own
    assert float(z.real[0]) == x.real[0]


def test_parts_of_real_numbers() -> None:
    a: Any = pt.arange(3.0)
    a.real[0] = 7
    a.real += 1
    np.testing.assert_array_equal(a.gather(), [8, 2, 3])
    np.testing.assert_array_equal(a.imag.gather(), [0, 0, 0])
    with pytest.raises(ValueError, match=READ_ONLY):
        a.imag[0] = 1
    with pytest.raises(TypeError, match="float64 have no imaginary parts"):
        a.imag = 1


LOST: list[tuple[str, Any, type[Exception], str]] = [
    ("float64", 5 + 7j, TypeError, r"5\.0\+7\.0j"),
    ("int8", 5 + 0j, TypeError, "complex"),
    ("int64", float("nan"), ValueError, "cannot convert float NaN to integer"),
    ("int64", np.float64("nan"), ValueError, "cannot convert float NaN to integer"),
    ("int64", float("inf"), OverflowError, "inf does not fit into int64"),
    ("int8", 300.5, OverflowError, "300.5 does not fit into int8"),
    ("uint8", -1.5, OverflowError, "does not fit into uint8"),
    ("int64", 1e30, OverflowError, "does not fit into int64"),
]


@pytest.mark.parametrize(("dtype", "value", "kind", "words"), LOST)
def test_numbers_are_not_cut_down(
    dtype: str, value: Any, kind: type[Exception], words: str
) -> None:
    a = pt.ones(3, dtype=dtype)
    for key in (0, slice(None), [0, 1], [True, False, True]):
        with pytest.raises(kind, match=words):
            a[key] = value
        with pytest.raises(kind):
            np.ones(3, dtype=dtype)[0] = value
    with pytest.raises(kind, match=words):
        a.fill(value)
    np.testing.assert_array_equal(a.gather(), [1, 1, 1])


def test_what_python_cuts_is_cut() -> None:
    a = pt.zeros(3, dtype="int8")
    a[0], a[1], a[2] = 2.75, -2.75, True
    np.testing.assert_array_equal(a.gather(), [2, -2, 1])
    truths = pt.zeros(2, dtype=bool)
    truths[0] = 1j
    np.testing.assert_array_equal(truths.gather(), [True, False])


def test_complex_arrays_lose_their_parts_with_a_warning() -> None:
    a = pt.zeros(2)
    with pytest.warns(np.exceptions.ComplexWarning):
        a[...] = np.array([1 + 2j, 3])
    with pytest.warns(np.exceptions.ComplexWarning):
        a[0] = pt.asarray([5j])[0]
    np.testing.assert_array_equal(a.gather(), [0, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.zeros(2, dtype=complex)[...] = a


def test_results_are_written_where_they_are_wanted() -> None:
    x, mask = np.arange(6.0).reshape(2, 3), np.array([True, False, True])
    a, target, theirs = pt.asarray(x), pt.full((2, 3), 9.0), np.full((2, 3), 9.0)
    assert pt.add(a, 1, target) is target
    np.testing.assert_array_equal(target.gather(), x + 1)
    assert np.multiply(a, 2, out=target) is target
    np.testing.assert_array_equal(target.gather(), x * 2)
    pt.sqrt(a, out=target, where=mask)
    np.copyto(theirs, x * 2)
    np.testing.assert_array_equal(target.gather(), np.sqrt(x, out=theirs, where=mask))
    some: Any = np.add(a, 10, where=pt.asarray(mask))
    np.testing.assert_array_equal(some.gather()[:, mask], x[:, mask] + 10)
    np.testing.assert_array_equal(pt.add(a, 10, out=theirs), x + 10)
    rows, order = pt.zeros(2), pt.zeros(2, dtype=int)
    for how in ("sum", "prod", "mean", "max", "min", "std", "var"):
        assert getattr(pt, how)(a, 1, out=rows) is rows
        np.testing.assert_array_equal(rows.gather(), getattr(x, how)(1))
        assert getattr(a, how)(axis=1, out=rows) is rows
    assert a.sum(1, None, rows) is rows
    assert pt.max(a, 1, rows) is rows
    pt.argmax(a, axis=1, out=order)
    np.testing.assert_array_equal(order.gather(), [2, 2])
    pt.cumsum(a, axis=0, out=target)
    np.testing.assert_array_equal(target.gather(), np.cumsum(x, 0))
    with pytest.raises(TypeError, match="float64 for an array of int64"):
        pt.add(a, 1, out=pt.zeros((2, 3), dtype=int))
    with pytest.raises(TypeError, match="2 operands"):
        pt.add(a, 1, target, target)


def test_repeated_columns_lie_in_order() -> None:
    repeated = pt.repeat(pt.ones((3, 2)), [1, 2], axis=1)
    repeated.reshape(-1)[...] = 0
    assert float(repeated.sum()) == 0
