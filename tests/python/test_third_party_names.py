"""Names and meanings that programs of others were found to need, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bodies_third_party
import engines
import numpy as np
import pytest
from engines import Case
from places import Place, launchers

import partita as pt

RANKS = [1, 2, 3, 4]
LAYOUTS = {1: ["block", "cyclic", "*"], 2: ["block, *", "*, block", "cyclic, *", "*, *"]}
RNG = np.random.default_rng(5)


def spread(given: Any) -> list[Any]:
    """Arrays of ours with these elements, in several layouts."""
    return [pt.array(given, layout=layout) for layout in LAYOUTS[np.ndim(given)]]


def same(found: Any, wanted: Any, rtol: float = 1e-9) -> None:
    if isinstance(found, int | float | np.generic):
        assert found == wanted
        return
    found, wanted = found.gather(), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def on_ranks(body: Callable[[], None], ranks: Sequence[int] = RANKS) -> None:
    for n_ranks in ranks:
        pt.spmd(lambda _team: body(), n_ranks)


def test_elements_are_set_and_read_at_numbers_that_were_computed() -> None:
    x = np.arange(63.0).reshape(9, 7)

    def body() -> None:
        computed = pt.asarray(np.array([4, 6])) // 1
        row, column = computed[0], computed[1]
        at = pt.array([2, 5], layout="block")
        for a in spread(x):
            wanted = x.copy()
            assert a[row, column].item() == x[4, 6]
            a[row, column] = wanted[4, 6] = -1
            a[row - 5, column] = wanted[-1, 6] = -2
            a[at[0], at[1]] = wanted[2, 5] = -3
            same(a[at[1]], wanted[5])
            a[at[1]] = wanted[5] = np.arange(7.0)
            same(a, wanted)
            with pytest.raises(IndexError, match="9 is outside"):
                a[row + 5, column] = 0

    on_ranks(body)


def test_chosen_elements_of_cyclic_arrays_are_written_where_they_lie() -> None:
    x = np.arange(24.0).reshape(8, 3)
    cases: list[tuple[Any, Any]] = [
        ((np.array([1, 6]), np.array([1, 2])), -1.0),
        (x > 20, np.array([-1.0, -2.0, -0.0])),
    ]

    def body() -> None:
        for key, value in cases:
            a, wanted = pt.array(x, layout="cyclic, *"), x.copy()
            a[key], wanted[key] = value, value
            rank, n_ranks = a.team.rank, a.team.size
            np.testing.assert_array_equal(a.local, wanted[rank::n_ranks])
            same(a, wanted)

    on_ranks(body)


X, Y, PAIRS, WEIGHTS = (RNG.normal(size=shape) for shape in (40, 40, (40, 3), 40))


@pytest.mark.parametrize(
    "options",
    [{}, {"w": WEIGHTS}, {"cov": True}, {"cov": "unscaled", "w": WEIGHTS}, {"full": True}],
)
def test_polynomials_are_fitted_as_numpy_does(options: dict[str, Any]) -> None:
    def check(x: Any, values: Any, degree: int) -> None:
        for places in spread(x):
            found = pt.polyfit(places, pt.array(values), degree, **options)
            wanted = np.polyfit(x, values, degree, **options)
            several = isinstance(wanted, tuple)
            pairs = zip(found, wanted, strict=True) if several else [(found, wanted)]
            for mine, theirs in pairs:
                same(mine, theirs)

    def body() -> None:
        check(X, Y, 3)
        check(X, PAIRS, 1)

    on_ranks(body, [1, 2, 4])


def test_polynomials_refuse_what_does_not_fit() -> None:
    def body() -> None:
        same(pt.polyfit([1, 2, 3], [2, 4, 7], 1), np.polyfit([1, 2, 3], [2, 4, 7], 1))
        same(pt.polyfit([1, 2], pt.array([2.0, 4]), 1), np.polyfit([1, 2], [2.0, 4], 1))
        for x, y, n, words in [
            (X, Y[:3], 1, "for 40 places"),
            (PAIRS, Y, 1, "use a vector"),
            ([], [], 1, "use a vector"),
        ]:
            with pytest.raises(TypeError, match=words):
                pt.polyfit(x, y, n)
        with pytest.raises(TypeError, match="one weight"):
            pt.polyfit(X, Y, 1, w=[1.0])
        with pytest.raises(ValueError, match="0 or more"):
            pt.polyfit(X, Y, -1)
        with pytest.raises(ValueError, match="unscaled"):
            pt.polyfit([1, 2], [1, 2], 1, cov=True)

    on_ranks(body)
    with pytest.warns(np.exceptions.RankWarning, match="lower one"):
        pt.polyfit([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], 1)


def test_only_what_arrays_have_can_be_set() -> None:
    a: Any = pt.zeros((2, 3), dtype=complex)
    a.real = 2.0
    assert a.sum().item() == 12
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        a.other = 1


WINDOWS = [(3, 0), (1, 0), (9, 0), (0, 0), ((2, 3), None), ((2, 2), (1, 1)), (2, -1)]


@pytest.mark.parametrize(("window", "axis"), WINDOWS)
def test_windows_slide_as_in_numpy(window: Any, axis: Any) -> None:
    x = np.arange(63).reshape(9, 7)
    wanted = np.lib.stride_tricks.sliding_window_view(x, window, axis)

    def body() -> None:
        for a in spread(x):
            same(pt.lib.stride_tricks.sliding_window_view(a, window, axis), wanted)

    on_ranks(body)


def test_windows_refuse_what_does_not_fit() -> None:
    windows = pt.lib.stride_tricks.sliding_window_view
    with pytest.raises(ValueError, match="use 0 to 4"):
        windows(pt.arange(4), 5)
    with pytest.raises(ValueError, match="one size for each axis"):
        windows(pt.zeros((2, 2)), 1)
    with pytest.raises(ValueError, match="writeable=False"):
        windows(pt.arange(4), 2, writeable=True)
    with pytest.raises(AttributeError, match="use sliding_window_view"):
        pt.lib.stride_tricks.as_strided  # noqa: B018


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
def test_functions_leave_the_real_numbers_where_they_must(name: str, dtype: str) -> None:
    ours, theirs = getattr(pt.emath, name), getattr(np.emath, name)
    inside, outside = np.array([0.5, 0.25, 0.75]), np.array([2.0, 3, -2, -7])
    rtol = 1e-5 if dtype in ("float32", "int16") else 1e-12

    def body() -> None:
        for x in (inside, outside.astype(dtype)):
            for a in spread(x):
                same(ours(a), theirs(x), rtol)

    on_ranks(body, [1, 3])


def test_powers_and_bases_leave_the_real_numbers_too() -> None:
    same(pt.emath.power([-2.0, 4.0], 0.5), np.emath.power([-2.0, 4.0], 0.5))
    same(pt.emath.power([2, 4], -2), np.emath.power([2, 4], -2))
    same(pt.emath.logn(2, [-4.0, 8.0]), np.emath.logn(2, [-4.0, 8.0]))
    with pytest.raises(AttributeError, match="emath"):
        pt.emath.cosine  # noqa: B018


@pytest.mark.parametrize("bitorder", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_bits_are_packed_and_unpacked(axis: int | None, bitorder: Any) -> None:
    x = RNG.integers(0, 256, (5, 3)).astype(np.uint8)
    truth = RNG.integers(0, 2, (5, 11)).astype(bool)

    def body() -> None:
        for a, t in zip(spread(x), spread(truth), strict=True):
            for count in (None, 5, 50, -3):
                options = {"axis": axis, "count": count, "bitorder": bitorder}
                same(pt.unpackbits(a, **options), np.unpackbits(x, **options))
            wanted = np.packbits(truth, axis=axis, bitorder=bitorder)
            same(pt.packbits(t, axis=axis, bitorder=bitorder), wanted)

    on_ranks(body)


def test_bits_of_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="use uint8"):
        pt.unpackbits(pt.arange(3))
    with pytest.raises(TypeError, match="truth values"):
        pt.packbits(pt.zeros(3))
    with pytest.raises(ValueError, match="'big' or 'little'"):
        pt.packbits(pt.arange(3), bitorder="middle")


def test_positions_and_elements_are_gone_through_in_c_order() -> None:
    x = np.arange(12).reshape(4, 3)

    def body() -> None:
        for a in spread(x):
            assert list(pt.ndenumerate(a)) == list(np.ndenumerate(x))
        assert list(pt.ndenumerate(pt.zeros((0, 3)))) == []
        assert list(pt.ndenumerate(pt.asarray(7))) == [((), 7)]

    on_ranks(body)


def test_ranges_of_days_are_refused_in_words() -> None:
    with pytest.raises(TypeError, match="'2016-07' is no number"):
        pt.arange("2016-07", "2016-08")


def test_they_mean_the_same_on_processes() -> None:
    place = Place("mpi", 2, launchers()[0])
    case = Case("needed", bodies_third_party.needed_names, ())
    found = engines.run(place, [case])["needed"]
    assert not found.failure, found.failure
