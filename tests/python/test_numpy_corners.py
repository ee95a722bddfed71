"""Corners where partita once was not NumPy: nothing, one number, no numbers, odd types."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import partita

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
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        kinds = (np.exceptions.AxisError, np.linalg.LinAlgError, TypeError, ValueError)
        kinds += (IndexError, OverflowError)
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


def written(work: Callable[..., None], x: Any) -> Work:
    """A program that writes to an array of what is given, and shows it."""

    def shown(module: Any, array: Callable[..., Any]) -> Any:
        made = array(np.array(x))
        work(made, array)
        return made

    return shown


@pytest.mark.parametrize("n_ranks", RANKS)
def test_fractions_are_no_positions(n_ranks: int) -> None:
    x = np.arange(12.0).reshape(4, 3)
    keys: dict[str, Callable[[Any], Any]] = {
        "floats": lambda array: array([1.0, 0.0]),
        "fractions": lambda array: array([1.5]),
        "complex": lambda array: array([1 + 0j]),
        "one": lambda array: array(1.0),
        "behind": lambda array: (slice(None), array([1.0])),
        "beside": lambda array: (array([1.0]), array([1])),
        "none": lambda array: array([]),
        "list": lambda _: [],
        "integers": lambda array: array([1, 0]),
    }
    for name, key in keys.items():
        reading = {name: lambda _, array, key=key: array(x)[key(array)]}
        check(reading, n_ranks)

        def write(made: Any, array: Any, key: Any = key) -> None:
            made[key(array)] = 9

        check({name: written(write, x)}, n_ranks)
    positions: dict[str, Work] = {
        "outside": lambda _, array: array(x)[[], 7],
        "of nothing": lambda _, array: array(np.zeros((0, 4))).T[[], 2],
        "behind nothing": lambda _, array: array(np.zeros((5, 1, 2))).T[4, :, False],
        "inside": lambda _, array: array(x)[[], -3],
    }
    check(positions, n_ranks)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_numbers_of_python_that_do_not_fit_are_refused(n_ranks: int) -> None:
    works: dict[str, Work] = {
        "too large": lambda m, _: m.asarray([300, -1], dtype="uint8"),
        "negative": lambda m, _: m.array([[-1]], dtype="uint64"),
        "one": lambda m, _: m.asarray(300, dtype="uint8"),
        "complex": lambda m, _: m.asarray([1j, 2], dtype="float32"),
        "no number": lambda m, _: m.asarray([nan], dtype="uint8"),
        "infinite": lambda m, _: m.asarray([inf], dtype="int64"),
        "uneven": lambda m, _: m.asarray([[1], [2, 3]], dtype="uint8"),
        "of NumPy": lambda m, _: m.asarray([np.int64(300)], dtype="uint8"),
        "cut": lambda m, _: m.asarray([1.7, -2.7], dtype="int8"),
        "wide": lambda m, _: m.asarray([2**70], dtype=float),
        "before": lambda m, _: m.arange(-3, 1, dtype="uint32"),
        "behind": lambda m, _: m.arange(255, 258, dtype="uint8"),
        "cut before": lambda m, _: m.arange(-1.5, 3, dtype="uint8"),
        "none": lambda m, _: m.arange(300, 200, dtype="uint8"),
        "one alone": lambda m, _: m.arange(255, 256, dtype="uint8"),
    }
    check(works, n_ranks)
    small, mask = np.zeros(5, "uint8"), np.array([True, False, True, False, False])
    for values in ([300, 1], [-1, 2], [nan, 1], [1j, 0], [1.7, 2], np.array([300, -1])):
        keys: dict[str, Any] = {"mask": mask, "list": [0, 3]}
        for name, key in keys.items():

            def write(made: Any, _: Any, key: Any = key, values: Any = values) -> None:
                made[key] = values

            check({f"{name} {values}": written(write, small)}, n_ranks)


def test_what_is_no_array_is_said() -> None:
    for given, words in (
        (None, "nan where one is missing"),
        ({1, 2}, "list"),
        ((n for n in range(3)), "list"),
        ([None], "no arrays of objects"),
        ([1, {}], "dict are no numbers"),
        ({}, "dict shows no memory"),
        (b"ab", "frombuffer"),
        ("ab", "text"),
    ):
        with pytest.raises(ValueError, match=words):
            pt.asarray(given)
    assert pt.asarray(bytearray(b"ab")).tolist() == [97, 98]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_a_copy_is_refused_where_none_is_allowed(n_ranks: int) -> None:
    def body(_: Any) -> None:
        a = pt.ones(8)
        for options in ({"layout": "cyclic"}, {"dtype": "float32"}):
            with pytest.raises(ValueError, match="copy=None"):
                pt.asarray(a, copy=False, **options)
        assert pt.asarray(a, copy=False, dtype=float) is a
        assert pt.asarray(a, copy=False, layout=a.layout) is a

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_arrays_to_write_to_have_the_shape_of_results(n_ranks: int) -> None:
    x = np.arange(24.0).reshape(4, 6)
    functions: dict[str, Callable[[Any, Any, Any], Any]] = {
        "add": lambda m, a, out: m.add(a, a, out=out),
        "masked": lambda m, a, out: m.add(a, a, out=out, where=a > 2),
        "mask": lambda m, a, out: m.add(a[0], 1, out=out, where=a > 2),
        "clip": lambda m, a, out: m.clip(a, 1, 2, out=out),
        "round": lambda m, a, out: m.round(a, out=out),
        "sum": lambda m, a, out: m.sum(a, axis=0, out=out),
        "method": lambda m, a, out: a.sum(axis=0, out=out),
        "std": lambda m, a, out: m.std(a, axis=0, out=out),
        "nanstd": lambda m, a, out: m.nanstd(a, axis=0, out=out),
        "ptp": lambda m, a, out: m.ptp(a, axis=0, out=out),
        "cumsum": lambda m, a, out: m.cumsum(a, axis=0, out=out),
        "reduce": lambda m, a, out: m.subtract.reduce(a, out=out),
        "dot": lambda m, a, out: m.dot(a.T, a[:, 0], out=out),
        "einsum": lambda m, a, out: m.einsum("ij->j", a, out=out),
        "concatenate": lambda m, a, out: m.concatenate([a[0]], out=out),
    }
    for shape in ((6,), (1, 6), (4, 6), (2, 4, 6), (6, 4), ()):
        for name, function in functions.items():

            def work(m: Any, array: Any, shape: Any = shape, function: Any = function) -> Any:
                return function(m, array(x), array(np.zeros(shape)))

            def to_numpy(m: Any, array: Any, shape: Any = shape, function: Any = function) -> Any:
                return function(m, array(x), np.zeros(shape))

            check({f"{name} {shape}": work, f"{name} {shape} of NumPy": to_numpy}, n_ranks)


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
