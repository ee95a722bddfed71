"""Numbers that algorithms once gave otherwise than NumPy: of nothing, of no numbers, crowded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, called, check, spread

import partita
from partita._algorithms import lookup
from partita._functions import sets
from partita._local import choosing

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita
nan, inf = np.nan, np.inf


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
def test_short_powers_keep_infinities(n_ranks: int) -> None:
    x = np.array([complex(inf, 1), complex(-inf, 0), 2 - 1j, complex(1, inf)])
    works: dict[str, Work] = {}
    for at, exponent in enumerate((1, 1.0, -1, 0.5, 2, 2.0)):
        works[f"{exponent!r} {at}"] = partial(_power, x, exponent)
        works[f"{exponent!r} {at} real"] = partial(_power, np.array([inf, -inf, -0.0, 4]), exponent)
    check(works, n_ranks)


def _power(x: Any, exponent: Any, module: Any, array: Callable[..., Any]) -> Any:
    return array(x) ** exponent


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


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", [*RANKS, 2])
def test_reductions_go_from_left_to_right(n_ranks: int) -> None:
    """NumPy's own loses elements on some processors, where a line of numbers lies in order."""
    square = np.asarray([[2.0, 3], [2, 2], [3, 1]])
    long = np.random.default_rng(3).uniform(0.9, 1.1, (7, 20))

    def body(_: Any) -> None:
        for name in ("power", "arctan2"):
            theirs = getattr(np, name)
            for x in (square, square.T, long, square[:, 0], long[0].astype("float32")):
                for axis in range(x.ndim):
                    wanted = reduce(theirs, np.moveaxis(x, axis, 0))
                    found = getattr(pt, name).reduce(spread(x), axis=axis)
                    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-6)
                    begun = getattr(pt, name).reduceat(spread(x), [0], axis=axis)
                    np.testing.assert_allclose(begun.gather().ravel(), wanted.ravel(), rtol=1e-6)
                    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_reductions_of_one_element_and_of_none(n_ranks: int) -> None:
    works: dict[str, Work] = {}

    def ranges(name: str, x: Any, at: Any, options: Any, np: Any, array: Any) -> Any:
        return getattr(np, name).reduceat(array(x), at, **options)

    def reduced(name: str, x: Any, np: Any, array: Any) -> Any:
        return getattr(np, name).reduce(array(x), axis=0)

    rows = {"f": np.asarray([-3.0, -4, 0]), "i": np.asarray([-3, -4, 0], "int8")}
    rows["wide"] = np.asarray([[-3, -4, 6]])
    for name in ("hypot", "gcd", "add", "logical_xor", "subtract", "logical_and", "maximum"):
        for row, x in rows.items():
            last = {"axis": x.ndim - 1}
            for at in ([0, 1], [], [1, 0, 2], [0], [2, 1], [0.0, 2.0], 1, [[0]], [3]):
                works[f"{name} {row} {at}"] = partial(ranges, name, x, at, last)
    typed = partial(ranges, "add", rows["i"], [0, 1], {"dtype": "int32"})
    works |= {"typed": typed, "none": partial(ranges, "add", np.zeros(0), [], {})}
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd"):
        for dtype in ("uint8", "uint32", "uint64", "int16", "bool"):
            for shape in (0, 1, (0, 3), (1, 2), 4):
                works[f"{name} {dtype} {shape}"] = partial(reduced, name, np.ones(shape, dtype) * 3)
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_complex_numbers_are_made_as_by_numpy(n_ranks: int) -> None:
    z = np.asarray([1 + 2j, 0, -3j, complex(inf, 0), complex(-inf, 1), 1000 + 1j, complex(nan, 0)])
    works: dict[str, Work] = {
        "exp2": called("exp2", z),
        "exp2 short": called("exp2", z[:3].astype("complex64")),
        "exp2 of reals": called("exp2", np.arange(3, dtype="int8")),
        "exp2 of one": called("exp2", 3),
        "exp2 as complex": called("exp2", np.arange(3.0), dtype=complex),
    }
    for dtype in ("int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "bool"):
        works[f"sort {dtype}"] = called("sort_complex", np.asarray([1, 0, 1], dtype))
    works["sort complex64"] = called("sort_complex", z.astype("complex64"))
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_integers_that_no_type_holds_together_are_compared_as_numbers(n_ranks: int) -> None:
    signed = np.array([2**63 - 1, -1, 0, 5, -(2**63), 2**53 + 1])
    unsigned = np.array([2**63, 2**64 - 1, 0, 4, 2**63, 2**53], "uint64")
    names = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
    works: dict[str, Work] = {}
    for name in names:
        works[name] = called(name, signed, unsigned)
        works[f"{name}, turned"] = called(name, unsigned, signed)
        works[f"{name}, one"] = called(name, signed, np.uint64(2**63))
    check(works, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_results_are_cast_once_where_a_mask_is_true(n_ranks: int) -> None:
    a = np.array([2**63, 2**60 + 1, 5, 7], "uint64")
    mask = np.array([True, True, False, True])

    def copied(module: Any, array: Callable[..., Any]) -> Any:
        to = array(np.zeros(4, "int64"))
        module.copyto(to, array(a), where=array(mask))
        return to

    def added(module: Any, array: Callable[..., Any]) -> Any:
        to = array(np.zeros(4, "int64"))
        module.add(array(a), array(np.ones(4, "uint64")), out=to, where=array(mask))
        return to

    check({"copyto": copied, "add": added}, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_sums_are_made_in_the_type_of_the_array_for_them(n_ranks: int) -> None:
    x = np.full(1000, 1 / 3, "f4")

    def into(name: str, shape: Any, dtype: str) -> Work:
        def work(module: Any, array: Callable[..., Any]) -> Any:
            to = array(np.zeros(shape, dtype))
            getattr(module, name)(array(x), axis=0, out=to)
            return to

        return work

    def body(_: Any) -> None:
        for name in ("sum", "mean", "cumsum"):
            shape = (1000,) if name == "cumsum" else ()
            work = into(name, shape, "f8")
            found, wanted = work(pt, spread).gather(), work(np, np.asarray)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)

    pt.spmd(body, n_ranks)
