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
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        named = (np.exceptions.AxisError, np.linalg.LinAlgError)
        kinds = (*named, TypeError, ValueError, IndexError, OverflowError)
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


def called(name: str, *given: Any, **options: Any) -> Work:
    """A program that calls a function, with arrays for those of NumPy."""

    def work(module: Any, array: Callable[..., Any]) -> Any:
        operands = [array(one) if isinstance(one, np.ndarray) else one for one in given]
        return getattr(module, name)(*operands, **options)

    return work


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

        def read(_: Any, array: Any, key: Any = key) -> Any:
            return array(x)[key(array)]

        def write(made: Any, array: Any, key: Any = key) -> None:
            made[key(array)] = 9

        check({f"{name} read": read, name: written(write, x)}, n_ranks)
    positions: dict[str, Work] = {
        "outside": lambda _, array: array(x)[[], 7],
        "of nothing": lambda _, array: array(np.zeros((0, 4))).T[[], 2],
        "behind nothing": lambda _, array: array(np.zeros((5, 1, 2))).T[4, :, False],
        "inside": lambda _, array: array(x)[[], -3],
    }
    check(positions, n_ranks)


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
        keys: dict[str, Any] = {"mask": mask, "list": [0, 3], "slice": slice(0, 2)}
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


@pytest.mark.parametrize("n_ranks", RANKS)
def test_functions_that_make_arrays_take_layouts(n_ranks: int) -> None:
    def body(team: Any) -> None:
        x = np.arange(12).reshape(3, 4)
        options = {"layout": "*, block", "device": "cpu", "team": team}
        for made, wanted in (
            (pt.tri(3, 4, 1, **options), np.tri(3, 4, 1)),
            (pt.tril(x, **options), np.tril(x)),
            (pt.triu(pt.asarray(x), 1, layout="*, block"), np.triu(x, 1)),
            (pt.meshgrid([1, 2, 3, 4], [5, 6, 7], **options)[1], np.meshgrid(x[0], [5, 6, 7])[1]),
        ):
            assert made.layout.notation == f"*, block @ 1x{team.size}"
            np.testing.assert_array_equal(made.gather(), wanted, strict=True)

    pt.spmd(body, n_ranks)


def test_a_notation_serves_arrays_of_any_number_of_dimensions() -> None:
    def body(team: Any) -> None:
        made: list[Any] = [
            pt.zeros(4, layout="block, block, block"),
            pt.asarray(np.zeros(4), layout="block, *"),
            pt.zeros(4).redistribute("block, *"),
        ]
        with pt.default_layout("block, *"):
            made.append(pt.zeros(4))
        assert [one.local.shape for one in made] == [(2,)] * 4
        assert pt.zeros((), layout="block").shape == ()

    pt.spmd(body, 2)


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


@pytest.mark.parametrize("n_ranks", RANKS)
def test_methods_take_what_functions_take(n_ranks: int) -> None:
    x = np.array([[0.0, 2, 0], [0, 0.5, 3]])
    works: dict[str, Work] = {
        "sum": lambda _, array: array(x).sum(axis=0, dtype=bool),
        "prod": lambda _, array: array(x).prod(axis=0, dtype=bool),
        "mean": lambda _, array: array(x).mean(axis=0, dtype="uint16"),
        "kept": lambda _, array: array(x).sum(axis=0, keepdims=1),
        "not kept": lambda _, array: array(x).max(axis=0, keepdims=0),
    }
    check(works, n_ranks)


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
