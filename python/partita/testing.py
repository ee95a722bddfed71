"""NumPy's assertions for distributed arrays: the same verdict on every rank. Collective.

Each compares where the elements are; only if the arrays differ do a few elements travel, for the
text. Objects that are no arrays of partita are given to `numpy.testing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import (
    assert_no_warnings,
    assert_raises,
    assert_raises_regex,
    assert_string_equal,
    assert_warns,
)

from partita._array.array import Array
from partita._functions import elementwise, statistics, ufuncs
from partita._functions.creation import an_array
from partita._functions.searching import nonzero
from partita._missing import no_attribute

# So many of the elements that differ are shown.
_MOST_SHOWN = 5


def _is_ours(*given: Any) -> bool:
    return any(isinstance(one, Array) for one in given)


def _refuse(equal: Array, a: Array, b: Array, why: str, err_msg: str) -> None:
    """Raise on every rank, if elements differ on any, with the first of them."""
    if bool(statistics.all(equal)):
        return
    places = nonzero(~equal if equal.ndim else ~equal.reshape(1))
    n_wrong = len(places[0])
    lines = [f"{why}: {n_wrong} of {equal.size} elements differ", err_msg]
    for at in range(min(_MOST_SHOWN, n_wrong)):
        place = tuple(int(one[at]) for one in places)[: equal.ndim]
        found, wanted = (one._broadcast(equal.shape)[place].item() for one in (a, b))
        lines.append(f"  at {place}: {found!r}, wanted {wanted!r}")
    raise AssertionError("\n".join(line for line in lines if line))


def _pair(actual: Any, desired: Any, err_msg: str, *, strict: bool = False) -> tuple[Array, Array]:
    a, b = an_array(actual), an_array(desired)
    alike = a.shape == b.shape or (not strict and (a.ndim == 0 or b.ndim == 0))
    if not alike:
        raise AssertionError(f"shapes differ: {a.shape}, wanted {b.shape}\n{err_msg}".rstrip())
    if strict and a.dtype != b.dtype:
        raise AssertionError(f"types differ: {a.dtype}, wanted {b.dtype}\n{err_msg}".rstrip())
    return a, b


def _same_nans(a: Array, b: Array) -> Array:
    found: Array = elementwise.isnan(a) & elementwise.isnan(b)
    return found


def assert_array_equal(
    actual: Any, desired: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    """Refuse arrays of which shapes or elements differ; what is no number equals its like."""
    if not _is_ours(actual, desired):
        np.testing.assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
        return
    a, b = _pair(actual, desired, err_msg, strict=strict)
    _refuse((a == b) | _same_nans(a, b), a, b, "arrays are not equal", err_msg)


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
    *,
    strict: bool = False,
) -> None:
    """Refuse arrays whose elements differ by more than `atol + rtol * abs(desired)`."""
    if not _is_ours(actual, desired):
        np.testing.assert_allclose(
            actual, desired, rtol, atol, equal_nan, err_msg, verbose, strict=strict
        )
        return
    a, b = _pair(actual, desired, err_msg, strict=strict)
    near = elementwise.isclose(a, b, rtol, atol, equal_nan)
    _refuse(near, a, b, f"arrays differ by more than rtol={rtol:g}, atol={atol:g}", err_msg)


def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: int = 6, err_msg: str = "", verbose: bool = True
) -> None:
    """Refuse arrays whose elements differ by 1.5 units or more of a decimal."""
    if not _is_ours(actual, desired):
        np.testing.assert_array_almost_equal(actual, desired, decimal, err_msg, verbose)
        return
    a, b = _pair(actual, desired, err_msg)
    distance = elementwise.abs(a.astype(np.result_type(a.dtype, np.float64)) - b)
    near = (distance < 1.5 * 10.0**-decimal) | (a == b) | _same_nans(a, b)
    _refuse(near, a, b, f"arrays are not almost equal to {decimal} decimals", err_msg)


def assert_almost_equal(
    actual: Any, desired: Any, decimal: int = 7, err_msg: str = "", verbose: bool = True
) -> None:
    """Refuse numbers or arrays that differ by 1.5 units or more of a decimal."""
    if not _is_ours(actual, desired):
        np.testing.assert_almost_equal(actual, desired, decimal, err_msg, verbose)
        return
    assert_array_almost_equal(actual, desired, decimal, err_msg, verbose)


def assert_equal(
    actual: Any, desired: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    """Refuse objects that differ: arrays by their elements, lists and dictionaries by theirs."""
    if isinstance(desired, dict) and isinstance(actual, dict):
        np.testing.assert_equal(sorted(actual, key=repr), sorted(desired, key=repr), err_msg)
        for key, wanted in desired.items():
            assert_equal(actual[key], wanted, f"key {key!r}\n{err_msg}", verbose)
    elif isinstance(desired, list | tuple) and isinstance(actual, list | tuple):
        np.testing.assert_equal(len(actual), len(desired), err_msg)
        for at, (found, wanted) in enumerate(zip(actual, desired, strict=True)):
            assert_equal(found, wanted, f"item {at}\n{err_msg}", verbose)
    elif _is_ours(actual, desired):
        assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
    else:
        np.testing.assert_equal(actual, desired, err_msg, verbose, strict=strict)


def assert_array_less(
    x: Any, y: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    """Refuse arrays of which an element is not less than its like."""
    if not _is_ours(x, y):
        np.testing.assert_array_less(x, y, err_msg, verbose, strict=strict)
        return
    a, b = _pair(x, y, err_msg, strict=strict)
    _refuse((a < b) | _same_nans(a, b), a, b, "arrays are not ordered", err_msg)


def assert_array_almost_equal_nulp(x: Any, y: Any, nulp: float = 1) -> None:
    """Refuse arrays whose elements differ by more than so many steps between neighbours."""
    if not _is_ours(x, y):
        np.testing.assert_array_almost_equal_nulp(x, y, nulp)
        return
    a, b = _pair(x, y, "")
    step = ufuncs.spacing(elementwise.maximum(elementwise.abs(a), elementwise.abs(b)))
    near = (elementwise.abs(a - b) <= nulp * step) | (a == b)
    _refuse(near, a, b, f"arrays are not equal to {nulp} steps", "")


def assert_(val: Any, msg: str = "") -> None:
    """Refuse what is not true."""
    if not bool(val):
        raise AssertionError(msg)


def assert_approx_equal(
    actual: Any, desired: Any, significant: int = 7, err_msg: str = "", verbose: bool = True
) -> None:
    """Refuse numbers that differ in their first digits."""
    one, other = (
        given.item() if isinstance(given, Array) else given for given in (actual, desired)
    )
    np.testing.assert_approx_equal(one, other, significant, err_msg, verbose)


__all__ = [
    "assert_",
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_equal",
    "assert_no_warnings",
    "assert_raises",
    "assert_raises_regex",
    "assert_string_equal",
    "assert_warns",
]


def __getattr__(name: str) -> Any:
    raise no_attribute("partita.testing", name, __all__)
