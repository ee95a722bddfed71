"""Corners where partita once was not NumPy: nothing, one number, no numbers, odd types."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import partita
from partita._algorithms import lookup
from partita._functions import sets
from partita._local import choosing

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita
RANKS = [1, 3]
nan, inf = np.nan, np.inf

Work = Callable[[Any, Callable[..., Any]], Any]


def spread(x: Any) -> Any:
    """An array of partita of what NumPy makes, cut along its first dimension."""
    local = np.asarray(x)
    made = pt.asarray(local, "block" if local.ndim else None)
    made.sync()
    return made


def outcome(work: Work, module: Any, array: Callable[..., Any]) -> Any:
    """What a program makes with a module's functions: arrays of NumPy, or the kind of its error."""
    try:
        with np.errstate(all="ignore"):
            made = work(module, array)
    except (TypeError, ValueError, IndexError) as error:
        kinds = (np.exceptions.AxisError, np.linalg.LinAlgError, TypeError, ValueError)
        return next(kind for kind in kinds if isinstance(error, kind))
    parts = made if isinstance(made, tuple) else (made,)
    return [one.gather() if isinstance(one, pt.Array) else np.asarray(one) for one in parts]


def check(works: dict[str, Work], n_ranks: int) -> None:
    """Compare programs with NumPy's results: shapes, types, elements and errors."""

    def body(_: Any) -> None:
        for name, work in works.items():
            found, wanted = outcome(work, pt, spread), outcome(work, np, np.asarray)
            if not isinstance(wanted, list) or not isinstance(found, list):
                assert found is wanted, name
                continue
            for one, other in zip(found, wanted, strict=True):
                assert (one.shape, one.dtype) == (other.shape, other.dtype), name
                np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=name)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [*RANKS, 4])
def test_transforms_of_nothing_are_zeros(n_ranks: int) -> None:
    wide = np.zeros((8, 3))

    def transform(name: str, shape: Any, options: Any, module: Any, array: Any) -> Any:
        rows, columns = shape
        view = array(wide)[rows:, columns:]
        return getattr(module.fft, name)(view, **options)

    works: dict[str, Work] = {}
    for shape in ((0, 3), (8, 0), (8, 3)):
        # NumPy's own inverses to real numbers read memory that nobody has written here.
        for name in ("fft", "ifft", "rfft"):
            for axis in (0, 1):
                options = {"n": 4, "axis": axis}
                works[f"{name} {shape} {axis}"] = partial(transform, name, shape, options)
        for name in ("fft2", "ifftn", "rfft2"):
            several = {"s": (4, 5), "axes": (0, 1)}
            works[f"{name} {shape}"] = partial(transform, name, shape, several)
    works["a row"] = lambda np, array: np.fft.fft(array(wide)[8:, 0], n=5)
    check(works, n_ranks)

    def body(_: Any) -> None:
        made = pt.fft.irfft(spread(wide)[:, 3:], n=4)
        assert (made.dtype, made.gather().tolist()) == (np.float64, np.zeros((8, 4)).tolist())

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_norms_of_nothing_are_zero(n_ranks: int) -> None:
    works: dict[str, Work] = {}
    for shape in ((0, 3), (3, 0), (1, 0, 0), (2, 0, 3)):
        for order in (None, 1, 2, -2, inf, -inf, "nuc"):
            for name in ("norm", "matrix_norm", "vector_norm"):

                def norm(np: Any, array: Any, name: str = name, of: Any = (shape, order)) -> Any:
                    sizes, order = of
                    x = array(numpy.zeros(sizes))
                    return getattr(np.linalg, name)(x, ord=order, keepdims=True)

                works[f"{name} {shape} {order}"] = norm
    works["of a row"] = lambda np, array: np.linalg.norm(array(numpy.zeros(0)), inf)
    check(works, n_ranks)


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


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_bounds_and_counts_are_numpys(n_ranks: int) -> None:
    def digitized(bounds: Any, np: Any, array: Any) -> Any:
        x = array([0.5, 1.5, nan, -1.0])
        return tuple(np.digitize(x, one, right) for one in bounds for right in (False, True))

    def counted(rule: Any, np: Any, array: Any) -> Any:
        return np.histogram(array([True, False, True]), bins=rule)

    rows = ([0.0, 1.0, nan], [nan, 0.0], [2.0, 1.0, nan], [nan, nan], [0.0, nan, 1.0, 2.0])
    works: dict[str, Work] = {f"digitize {row}": partial(digitized, [row]) for row in rows}
    for rule in ("auto", "sqrt", "fd", 3):
        works[f"truths {rule}"] = partial(counted, rule)
    works["two types"] = lambda np, array: np.histogram2d(
        array(numpy.arange(3.0)), array(numpy.arange(3, dtype=numpy.float16))
    )
    works["nothing"] = lambda np, array: np.bincount(
        array(numpy.zeros(0, int)), weights=array(numpy.zeros(0)), minlength=2
    )
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_factorisations_carry_on_what_is_no_number(n_ranks: int) -> None:
    large = np.eye(100) * 3
    some = np.random.default_rng(0).random((5, 3))
    some[2, 1] = nan

    def lower(x: Any, np: Any, array: Any) -> Any:
        return np.linalg.cholesky(array(x))

    def upper(x: Any, np: Any, array: Any) -> Any:
        return np.linalg.cholesky(array(x), upper=True)

    def columns(x: Any, np: Any, array: Any) -> Any:
        return np.isnan(np.linalg.qr(array(x))[0])

    def triangle(x: Any, np: Any, array: Any) -> Any:
        return abs(np.linalg.qr(array(x), "r"))

    def with_one(place: tuple[int, int], value: float) -> Any:
        made = large.copy()
        made[place] = made[place[::-1]] = value
        return made

    given = {
        "infinite": [[inf, 0], [0, 1.0]],
        "none": [[1.0, nan], [nan, 1.0]],
        "none before": [[nan, 0], [0, -1.0]],
        "negative before": [[-1.0, 0], [0, nan]],
        "diagonal": np.diag([1, nan, -1.0]),
        "stack": np.stack([np.eye(3), np.diag([1, nan, 2.0])]),
        "in panels": with_one((80, 3), nan),
        "in the last panel": with_one((99, 99), nan),
        "infinite in panels": with_one((70, 70), inf),
        "negative in panels": with_one((70, 70), -1.0),
    }
    works: dict[str, Work] = {}
    for name, x in given.items():
        works |= {f"{name} lower": partial(lower, x), f"{name} upper": partial(upper, x)}
    for name, x in {
        "all": np.full((3, 2), nan),
        "some": some,
        "tall": np.full((90, 3), nan),
    }.items():
        works |= {f"q of {name}": partial(columns, x), f"r of {name}": partial(triangle, x)}
    check(works, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_types_are_refused_and_kept_as_by_numpy(n_ranks: int) -> None:
    def put(dtype: str, np: Any, array: Any) -> Any:
        made = array(numpy.zeros(3))
        np.put(made, array(numpy.asarray([1], dtype)), 5.0)
        return made

    truths, halves = np.asarray([True, False, True]), np.ones(3, np.float16)
    works: dict[str, Work] = {dtype: partial(put, dtype) for dtype in ("uint64", "uint32", "int64")}
    works["sign"] = lambda np, array: np.sign(array(truths))
    works["round"] = lambda np, array: np.round(array(truths), 1)
    works["round to tens"] = lambda np, array: array(truths).round(-1)
    works["irfft"] = lambda np, array: np.fft.irfft(array(halves))
    works["hfft"] = lambda np, array: np.fft.hfft(array(halves))
    works["rfft"] = lambda np, array: np.fft.rfft(array(halves))
    works["irfft2"] = lambda np, array: np.fft.irfft2(array(numpy.ones((4, 3), numpy.float16)))
    check(works, n_ranks)


def test_dealt_out_arrays_are_not_looked_at_piece_by_piece() -> None:
    """Work that counts pieces costs as many calls of Python as there are elements."""
    x = np.arange(30_000.0)

    def body(team: Any) -> None:
        a, n_calls = pt.asarray(x, "cyclic"), 0

        def count(*_: Any) -> None:
            nonlocal n_calls
            n_calls += 1

        works: list[Callable[[], Any]] = [
            lambda: a[pt.asarray(x > 5, "cyclic")].gather(),
            lambda: a.owned,
            lambda: pt.linalg.qr(a.reshape(300, 100)),
            lambda: pt.asarray(x.reshape(300, 100), "cyclic, cyclic") @ np.ones(100),
        ]
        for number, work in enumerate(works):
            n_calls = 0
            sys.setprofile(count if team.rank == 0 else None)
            try:
                work()
            finally:
                sys.setprofile(None)
            assert n_calls < 10_000, (number, n_calls)

    pt.spmd(body, 3)


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
def test_lists_and_numbers_are_joined_by_index(n_ranks: int) -> None:
    small = np.arange(3, dtype=np.int8)
    works: dict[str, Work] = {
        "lists": lambda np, array: np.c_[[1, 2], [3, 4]],
        "tuples": lambda np, array: np.c_[(1, 2), (3.5, 4)],
        "mixed": lambda np, array: np.r_[0, [5, 6], array([7.5])],
        "axis": lambda np, array: np.r_["0,2", [1, 2], [3, 4]],
        "columns": lambda np, array: np.r_["1,2,0", [1, 2], [3, 4]],
        "types of numbers": lambda np, array: np.r_[array(small), 1],
        "types of lists": lambda np, array: np.r_[array(small), [1]],
        "slices": lambda np, array: np.r_[1:5:3j, [1], 0:2],
    }
    check(works, n_ranks)

    def too_large(_: Any) -> None:
        with pytest.raises(OverflowError):
            pt.r_[spread(small), 300]

    pt.spmd(too_large, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_that_a_type_cannot_hold_become_no_array(n_ranks: int) -> None:
    def body(_: Any) -> None:
        for make in (pt.asarray, pt.array):
            for given in (300, [1, 300], [[-129]]):
                with pytest.raises(OverflowError):
                    make(given, dtype=np.int8)
            with pytest.raises(TypeError):
                make([1j], dtype=float)
            with pytest.raises(ValueError, match="no memory to share"):
                make([1, 2], dtype=np.int64, copy=False)
            with pytest.raises(TypeError, match="no element type"):
                make([1, 2], dtype=object)
            assert make([1.5, 2], dtype=np.int8).tolist() == [1, 2]
            assert make([spread([1, 2])], dtype=np.int8).tolist() == [[1, 2]]

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_lookups_of_crowded_values_are_right_and_even(
    n_ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "_FEW_VALUES", 0)
    source = np.random.default_rng(7)
    wide = np.sort(source.integers(0, 100, 90).astype(float))
    cases: list[tuple[Any, Any]] = [
        (wide, np.full(100, 3.0)),
        (wide, source.random(100)),
        (np.where(wide > 50, nan, wide), np.where(source.random(100) > 0.1, nan, 1.0)),
        (np.full(90, 3.0), source.integers(2, 5, 100).astype(float)),
        (wide.astype(complex), source.random(100) * 1j),
        (wide[:50].astype(int), np.full(60, 99)),
        (wide[:5], np.full(100, 3.0)),
        (wide[:0], np.full(4, 3.0)),
    ]

    def body(_: Any) -> None:
        for number, (x, v) in enumerate(cases):
            row, values = spread(x), spread(v)
            for side in ("left", "right"):
                found, wanted = pt.searchsorted(row, values, side), np.searchsorted(x, v, side)
                np.testing.assert_array_equal(found.gather(), wanted, str(number))
            np.testing.assert_array_equal(pt.isin(values, row).gather(), np.isin(v, x))
            np.testing.assert_array_equal(
                pt.intersect1d(values, row).gather(), np.intersect1d(v, x)
            )

    pt.spmd(body, n_ranks)


def test_no_rank_is_asked_for_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    n_asked: list[int] = []
    search = lookup.is_among

    def counted(run: Any, values: Any) -> Any:
        n_asked.append(len(values))
        return search(run, values)

    monkeypatch.setattr(sets, "is_among", counted)

    def body(team: Any) -> None:
        values = pt.random.default_rng(1).random(20_000)
        for tests in (pt.arange(10.0), pt.arange(20_000.0), pt.arange(20_000.0) / 15_000):
            pt.isin(values, tests).sync()
            team.barrier()

    pt.spmd(body, 4)
    assert len(n_asked) == 12
    assert max(n_asked) < 12_000, n_asked


@pytest.mark.parametrize("n_ranks", [*RANKS, 4])
def test_no_rank_has_all_of_many_empty_bins(n_ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n_bins: list[int] = []
    zeros = choosing.count_values

    def counted(values: Any, n: int) -> Any:
        n_bins.append(n)
        return zeros(values, n)

    monkeypatch.setattr(choosing, "count_values", counted)
    x, heavy = np.asarray([7, 0, 7, 9_000, 5, 5, 40_000, 7]), np.arange(8.0)
    works: dict[str, Work] = {
        "counts": lambda np, array: np.bincount(array(x)),
        "bools": lambda np, array: np.bincount(array(x > 6), minlength=500),
        "weights": lambda np, array: np.bincount(array(x), array(heavy)),
        "one": lambda np, array: np.bincount(array(x * 0 + 30_000), minlength=50_000),
    }
    check(works, n_ranks)
    assert n_ranks == 1 or not n_bins


@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_are_set_in_arrays_of_small_types(n_ranks: int) -> None:
    mask = np.asarray([True, False, True, True])

    def put(name: str, given: Any, np: Any, array: Any) -> Any:
        a = array(numpy.ones(4, numpy.uint8))
        where = [0, 2, 3] if name == "put" else array(mask)
        getattr(np, name)(a, where, given)
        return a

    works: dict[str, Work] = {}
    for name in ("put", "place", "putmask"):
        for given in (9, [9], [8, 9], [7.5], np.asarray([3, 4], np.uint8)):
            works[f"{name} {given}"] = partial(put, name, given)
        works[f"{name} complex"] = partial(put, name, [1j])
    check(works, n_ranks)

    def too_large(_: Any) -> None:
        for name in ("put", "place", "putmask"):
            with pytest.raises(OverflowError):
                put(name, [300], pt, spread)

    pt.spmd(too_large, n_ranks)


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


def test_positions_outside_name_their_dimension() -> None:
    a = pt.ones((2, 5, 7))
    for key in ((slice(None), slice(None), [9]), (..., [9]), (None, [0], None, 0, [9])):
        with pytest.raises(IndexError, match="index 9 is outside of dimension 2 with 7 entries"):
            a[key]
        with pytest.raises(IndexError, match="index 9 is outside of dimension 2 with 7 entries"):
            a[key] = 1
    with pytest.raises(IndexError, match="dimension 2"):
        pt.take(a, [9], axis=2)
    with pytest.raises(IndexError, match="there is nothing to choose"):
        pt.take(pt.ones(0), [0])


def test_the_class_by_numpys_name_has_methods() -> None:
    assert float(pt.ndarray.sum(pt.ones(3))) == 3.0
    with pytest.raises(AttributeError, match="no 'base' here"):
        _ = pt.ndarray.base
    with pytest.raises(TypeError, match="use asarray"):
        pt.ndarray((2,), buffer=np.ones(2))


@pytest.mark.parametrize("n_ranks", RANKS)
def test_random_numbers_between_wrong_bounds_are_refused(n_ranks: int) -> None:
    def body(_: Any) -> None:
        source = pt.random.default_rng(1)
        for low, high in ((3, 1), (pt.zeros(4), [1, 1, -1, 1])):
            with pytest.raises(ValueError, match="high is below low"):
                source.uniform(low, high)
        with pytest.raises(OverflowError):
            source.uniform(0, inf)
        with pytest.raises(np.exceptions.AxisError):
            source.permutation(2.5)
        # The old functions take both orders, as NumPy's do.
        found = pt.random.RandomState(1).uniform(3, 1, 20).gather()
        assert ((found > 1) & (found <= 3)).all()

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [*RANKS, 5])
def test_no_quantile_lies_between_an_infinity_and_a_number(n_ranks: int) -> None:
    x = np.asarray([-inf, -3, 2], np.float16)
    works: dict[str, Work] = {}
    for method in ("averaged_inverted_cdf", "linear", "hazen", "inverted_cdf"):
        for q in (0.25, 0.5, 0.56, 1.0, [0.56, 0.9]):
            works[f"{method} {q}"] = partial(
                lambda q, method, np, array: np.quantile(array(x), q, method=method), q, method
            )
    check(works, n_ranks)
