"""The names that NumPy programs use beyond the Array API, beside NumPy, on several ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engines
import numpy as np
import numpy_names
import pytest
from engines import Case
from places import Place, launchers

import partita as pt

pytestmark = pytest.mark.filterwarnings("ignore::partita.GatherWarning")
RANKS = [1, 2, 3]


@pytest.mark.parametrize(
    ("n_ranks", "layout", "every"),
    # On more ranks than cores only some of them: waiting takes most of the time.
    [
        (1, "whole", 1),
        (2, "block, *", 1),
        (2, "cyclic, *", 3),
        (3, "*, block", 3),
        (3, "whole", 5),
        (4, "cyclic, *", 5),
    ],
)
def test_names_mean_what_numpy_means(n_ranks: int, layout: str, every: int) -> None:
    pt.spmd(lambda team: numpy_names.check(team, layout, every), n_ranks)


def test_names_mean_the_same_on_processes() -> None:
    place = Place("mpi", 2, launchers()[0])
    found = engines.run(place, [Case("names", numpy_names.check, ("block, *", 4))])["names"]
    assert not found.failure, found.failure


def on_ranks(body: Callable[[], None]) -> None:
    for n_ranks in RANKS:
        pt.spmd(lambda team: body(), n_ranks)


def split(given: Any, **options: Any) -> Any:
    """An array that really lies on all ranks."""
    return pt.array(given, layout=", ".join(["block", *["*"] * (np.ndim(given) - 1)]), **options)


def test_numpys_own_ufuncs_and_functions_take_our_arrays() -> None:
    x = np.arange(12.0).reshape(4, 3)

    def body() -> None:
        a = split(x)
        pairs = [
            (np.add.reduce(a), np.add.reduce(x)),
            (np.add.reduce(a, axis=1, keepdims=True), np.add.reduce(x, axis=1, keepdims=True)),
            (np.maximum.accumulate(a, axis=1), np.maximum.accumulate(x, axis=1)),
            (np.multiply.outer(a, x[0]), np.multiply.outer(x, x[0])),
            (np.add.reduceat(a, [0, 2]), np.add.reduceat(x, [0, 2])),
            (np.add(a, 1, dtype=np.float32), np.add(x, 1, dtype=np.float32)),
            (np.diff(a, axis=0), np.diff(x, axis=0)),
            (np.pad(a, 1, mode="edge"), np.pad(x, 1, mode="edge")),
            (np.nanmax(a, axis=0), np.nanmax(x, axis=0)),
        ]
        for at, (found, wanted) in enumerate(pairs):
            assert isinstance(found, pt.Array), at
            numpy_names.compare(str(at), found, wanted)
        np.add.at(a, ([0, 0, 3], [1, 1, 2]), 5.0)
        changed = x.copy()
        np.add.at(changed, ([0, 0, 3], [1, 1, 2]), 5.0)
        numpy_names.compare("at", a, changed)
        into = np.zeros((4, 3))
        np.multiply(a, 2, out=into)
        np.testing.assert_array_equal(into, changed * 2)

    on_ranks(body)


def test_what_has_no_counterpart_says_what_has() -> None:
    wanted_of = {
        "nditer": r"\.local",
        "trapz": "trapezoid",
        "typing": "numpy.typing itself",
        "rec": "one array for each field",
        "bytes_": "arrays of numbers",
        "info": "help",
    }
    for name, wanted in wanted_of.items():
        with pytest.raises(AttributeError, match=rf"numpy\.{name} has no counterpart.*{wanted}"):
            getattr(pt, name)
    with pytest.raises(AttributeError, match="nearest is assert_array_equal"):
        pt.testing.assert_array_max_ulp  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'partita' has no attribute 'no_such_name'$"):
        pt.no_such_name  # noqa: B018
    with pytest.raises(TypeError, match=r"numpy\.busday_count has no counterpart in partita"):
        np.busday_count(pt.zeros(3), pt.zeros(3))
    with pytest.raises(TypeError, match=r"numpy\.isnat has no counterpart"):
        np.isnat(pt.zeros(3))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (np, pt),
        (np.linalg, pt.linalg),
        (np.fft, pt.fft),
        (np.random, pt.random),
        (np.lib, pt.lib),
        (np.testing, pt.testing),
        (np.zeros((1, 1)), pt.zeros((1, 1))),
        (np.random.default_rng(1), pt.random.default_rng(1)),
        (np.random.RandomState(1), pt.random.RandomState(1)),
        (np.add, pt.add),
    ],
    ids=lambda one: getattr(one, "__name__", type(one).__name__),
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_name_of_numpy_is_there_or_says_what_to_use(theirs: Any, ours: Any) -> None:
    silent = []
    for name in dir(theirs):
        try:
            getattr(ours, name)
        except AttributeError as error:
            if "; use " not in str(error) and "; the nearest is " not in str(error):
                silent.append(f"{name}: {error}")
    assert not [one for one in silent if not one.startswith("_")]


def test_a_function_of_entries_is_refused_what_does_not_fit() -> None:
    def body() -> None:
        x = pt.ones((4, 3))
        dot: Any = pt.vectorize(lambda a, b: (a * b).sum(), signature="(n),(n)->()")
        calls: list[tuple[Any, str]] = [
            (lambda: dot(x, pt.ones(4)), "dimension n of .* is 3 and 4"),
            (lambda: dot(x, pt.ones(())), r"shape \(\) for \(n\)"),
            (lambda: dot(x), "1 operands for the signature"),
            (lambda: pt.vectorize(len, signature="(n->()"), "no signature"),
            (lambda: pt.zeros((3, 0)).reshape(-1, 0), "any size fits beside 0"),
            (lambda: pt.asarray_chkfinite([1.0, np.inf, 2.0, 3.0]), "infinite or NaN"),
        ]
        for call, wanted in calls:
            with pytest.raises((TypeError, ValueError), match=wanted):
                call()

    on_ranks(body)


def refused(body: Callable[[], Any]) -> str:
    try:
        body()
    except AssertionError as error:
        return str(error)
    return ""


def test_assertions_have_one_verdict_on_every_rank() -> None:
    def body(team: pt.Team) -> list[str]:
        x = np.array([1.0, np.nan, np.inf, -0.0, 5.0, 6.0, 7.0])
        wrong = x.copy()
        # Only the last rank holds the element that differs.
        wrong[6] = 8.0
        a, b = split(x), split(wrong)
        check = pt.testing
        check.assert_array_equal(a, x)
        check.assert_equal([a, {"k": a}], [x, {"k": a}])
        check.assert_allclose(a, a * (1 + 1e-9))
        check.assert_array_almost_equal(a, a + 1e-8)
        check.assert_almost_equal(a, a + 1e-9)
        check.assert_array_less(a[3:], a[3:] + 1)
        check.assert_allclose(pt.zeros((0, 3)), np.zeros((0, 3)))
        check.assert_allclose(3.0, 3.0)
        check.assert_raises(ValueError, pt.split, a, 2)
        return [
            refused(lambda: check.assert_array_equal(a, b, "told")),
            refused(lambda: check.assert_allclose(a, b, rtol=1e-3)),
            refused(lambda: check.assert_array_almost_equal(b, a)),
            refused(lambda: check.assert_equal([a], [b])),
            refused(lambda: check.assert_array_less(a, a)),
            refused(lambda: check.assert_array_equal(a, a[:3])),
            refused(lambda: check.assert_array_equal(a, a.astype("float32"), strict=True)),
            refused(lambda: check.assert_allclose(pt.array([[1.0]]), 2.0)),
            refused(lambda: check.assert_equal(1, 2)),
        ]

    for n_ranks in RANKS:
        first, *others = pt.spmd(body, n_ranks)
        assert all(first)
        assert all(one == first for one in others)
        assert "1 of 7 elements differ" in first[0]
        assert "told" in first[0]
        assert "at (6,): 7.0, wanted 8.0" in first[0]


def test_an_error_in_a_users_function_is_one_on_every_rank() -> None:
    def picky(row: Any) -> Any:
        if row[0] == 4.0:
            raise KeyError("four")
        return float(sum(row))

    def body(team: pt.Team) -> list[str]:
        a = split(np.arange(12.0).reshape(6, 2))
        said = []
        for call in (
            lambda: pt.apply_along_axis(picky, 1, a),
            lambda: pt.vectorize(lambda value: picky([value]))(a),
        ):
            with pytest.raises((KeyError, pt.RemoteError)) as caught:
                call()
            said.append(str(caught.value))
        pt.testing.assert_array_equal(a, a)
        return said

    for n_ranks in (2, 3):
        for said in pt.spmd(body, n_ranks):
            assert all("four" in one for one in said)


def test_ufuncs_are_objects() -> None:
    assert isinstance(pt.add, pt.ufunc)
    assert pt.add.identity == 0
    assert (pt.add.nin, pt.exp.nin, pt.modf.nout) == (2, 1, 2)
    assert repr(pt.maximum) == "<partita.ufunc 'maximum'>"
    assert pt.add.types == np.add.types
    for wrong, error in (
        (lambda: pt.exp.reduce(pt.zeros(3)), ValueError),
        (lambda: pt.add(pt.zeros(3)), TypeError),
        (lambda: pt.add(1, 2, 3, 4), TypeError),
        (lambda: pt.add(pt.zeros(3), 1, pt.zeros(3), out=pt.zeros(3)), TypeError),
        (lambda: pt.add(pt.zeros(3), 1, dtype=int), TypeError),
        (lambda: pt.add.at(pt.zeros(3), [0]), ValueError),
        (lambda: pt.add.at(pt.zeros(3), [3], 1.0), IndexError),
        (lambda: pt.gcd.reduce(pt.zeros(3)), TypeError),
        (lambda: pt.fmax.reduce(pt.zeros(0)), ValueError),
        (lambda: pt.add.reduceat(pt.zeros(3), [3]), IndexError),
    ):
        with pytest.raises(error):
            wrong()


def test_updates_come_in_the_order_of_the_index() -> None:
    rng = np.random.default_rng(3)
    places, values = rng.integers(0, 5, 400), rng.normal(size=400)
    wanted = np.zeros(5)
    np.add.at(wanted, places, values)
    power = np.full(5, 1.5)
    np.power.at(power, places[:20], np.abs(values[:20]))

    def body() -> None:
        a = split(np.zeros(5))
        pt.add.at(a, split(places), split(values))
        # Bitwise: the order does not depend on the number of ranks.
        np.testing.assert_array_equal(a.gather(), wanted)
        b = split(np.full(5, 1.5))
        pt.power.at(b, places[:20], np.abs(values[:20]))
        np.testing.assert_array_equal(b.gather(), power)

    on_ranks(body)


def test_updates_repeat_an_operand_that_is_too_small() -> None:
    def body() -> None:
        a = split(np.zeros(5))
        pt.add.at(a, np.array([[0, -1], [0, 3]]), np.array([1.0, 2.0]))
        # NumPy itself reads beyond the operand here.
        assert a.tolist() == [2.0, 0.0, 0.0, 2.0, 2.0]

    on_ranks(body)


def test_what_has_no_native_kernel_is_computed_where_it_lies() -> None:
    def body(team: pt.Team) -> Any:
        # Of two planes of six rows each rank gets some of the rows.
        made: pt.Array = pt.gcd(pt.arange(48).reshape(2, 6, 4), 6)
        return made.local.shape

    assert pt.spmd(body, 3) == [(2, 2, 4)] * 3


def test_what_every_rank_has_to_know_is_counted_if_it_is_much() -> None:
    def body(team: pt.Team) -> None:
        pt.interp(split(np.zeros(9)), split(np.arange(20_000.0)), split(np.arange(20_000.0)))

    before = pt.gathers().get("interp", 0)
    pt.spmd(body, 2)
    assert pt.gathers()["interp"] == before + 2


def test_parts_and_turns_are_views() -> None:
    def body() -> None:
        a = split(np.zeros((4, 6)))
        pt.split(a, 2)[1][...] = 1.0
        pt.hsplit(a, 3)[0][:] += 2.0
        pt.rot90(a)[0, 0] = 9.0
        pt.flipud(a)[0, 1] = 7.0
        x = np.zeros((4, 6))
        np.split(x, 2)[1][...] = 1.0
        np.hsplit(x, 3)[0][:] += 2.0
        np.rot90(x)[0, 0] = 9.0
        np.flipud(x)[0, 1] = 7.0
        np.testing.assert_array_equal(a.gather(), x)

    on_ranks(body)


def test_ndarray_is_a_callable_and_a_class_to_ask_for() -> None:
    kind: Any = pt.ndarray
    made = kind((3, 2), np.int16)
    assert (made.shape, made.dtype) == ((3, 2), np.int16)
    assert isinstance(made, pt.ndarray)
    assert not isinstance(np.zeros(3), pt.ndarray)
    assert issubclass(pt.Array, pt.ndarray)


def test_text_follows_numpys_options() -> None:
    x = np.arange(3000.0).reshape(60, 50) / 7

    def body() -> None:
        a = split(x)
        assert pt.array_str(a) == np.array_str(x) == str(a)
        assert pt.array2string(a, precision=2) == np.array2string(x, precision=2)
        assert pt.array_repr(a[:2]) == np.array_repr(x[:2])
        assert pt.array_repr(a) == np.array_repr(x)

    on_ranks(body)
    with pt.printoptions(precision=3, threshold=20, edgeitems=1):
        assert str(pt.array(x)) == str(x)


def test_types_and_questions_are_numpys() -> None:
    a = pt.zeros(3, np.int16)
    assert pt.issubdtype(a.dtype, pt.integer)
    assert pt.int_ is np.int_
    assert pt.common_type(a, pt.zeros(2, np.float32)) is np.common_type(
        np.zeros(1, np.int16), np.zeros(1, np.float32)
    )
    assert pt.min_scalar_type(a) == np.int16
    assert pt.min_scalar_type(pt.asarray(300)) == np.min_scalar_type(300)
    assert pt.iterable(a)
    assert not pt.iterable(pt.asarray(1))
    assert pt.shares_memory(a, a[1:])
    assert not pt.may_share_memory(a, a + 1)
    with pt.errstate(all="ignore"):
        pass


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("np.arange(0, 5, 0)", ZeroDivisionError),
        ("np.arange(0.0, 5.0, 0.0)", ZeroDivisionError),
        ("np.lexsort(())", TypeError),
        ("np.max(e + 1j)", ValueError),
        ("np.split(v, 3)", ValueError),
        ("np.vsplit(v, 1)", ValueError),
        ("np.delete(v, 40)", IndexError),
        ("np.insert(v, 40, 1)", IndexError),
        ("np.take(v, 40)", IndexError),
        ("np.take(v, [0], mode='no')", ValueError),
        ("np.choose(k, [1, 2])", ValueError),
        ("np.put(v, [40], 1)", IndexError),
        ("np.add.at(v, np.array([0, -12]), 1.0)", IndexError),
        ("np.add.at(v, [11], 1.0)", IndexError),
        ("np.copyto(k, v[:7])", TypeError),
        ("np.select([k], [k])", TypeError),
        ("np.select([], [])", ValueError),
        ("np.pad(v, -1)", ValueError),
        ("np.pad(v, 1, 'no')", ValueError),
        ("np.pad(v, 1, 'edge', end_values=1)", ValueError),
        ("np.pad(e, 1, 'edge')", ValueError),
        ("np.gradient(o)", ValueError),
        ("np.convolve(v, [])", ValueError),
        ("np.convolve(v, w, 'no')", ValueError),
        ("np.diff(z)", ValueError),
        ("np.average(v, weights=v * 0)", ZeroDivisionError),
        ("np.average(x, weights=w)", TypeError),
        ("np.nanargmin(n[:, :1] * np.nan)", ValueError),
        ("np.geomspace(0, 3)", ValueError),
        ("np.rot90(x, axes=(0, 0))", ValueError),
        ("np.ix_(x)", ValueError),
        ("np.unravel_index(k, (2, 2))", ValueError),
        ("np.block([[w], w])", ValueError),
        ("np.gcd(v, 2)", TypeError),
        ("np.heaviside(c, 1)", TypeError),
    ],
)
def test_errors_are_of_the_kinds_that_numpy_raises(text: str, error: type[Exception]) -> None:
    with pytest.raises(error), np.errstate(all="ignore"):
        numpy_names.evaluate(text, np, np.copy)

    def body(team: pt.Team) -> None:
        with pytest.raises(error):
            numpy_names.evaluate(text, pt, lambda one: numpy_names.placed(one, "block, *"))
        # Nobody is left waiting.
        assert int(pt.arange(5).sum()) == 10

    pt.spmd(body, 2)
