"""The functions of the namespace beside NumPy's, over element types and shapes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita._functions import elementwise

REAL = ["float32", "float64"]
WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ALL = ["bool", *WHOLE, *REAL, "complex64", "complex128"]
UNARY = [
    name for name in elementwise.__all__ if getattr(elementwise, name).__doc__.endswith("element.")
]
# What NumPy computes in another type, or not at all.
ONLY_REAL = {"erf", "erfc"}


def sample(dtype: str, shape: tuple[int, ...] = (3, 5), seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(1, 7, shape).astype(dtype)
    made = rng.uniform(0.1, 0.9, shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.uniform(0.1, 0.9, shape)
    return made.astype(dtype)


def same(found: Any, wanted: Any, *, rtol: float = 0.0) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    found = found.gather()
    if wanted.dtype.kind in "fc":
        precision = 4e-6 if wanted.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(found, wanted, rtol=max(rtol, precision))
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", sorted(set(UNARY)))
def test_elementwise_on_floats(name: str, dtype: str) -> None:
    function = getattr(pt, name)
    theirs = getattr(np, name, None)
    if theirs is None or name.startswith(("bitwise", "invert", "left", "right")):
        assert name in ONLY_REAL or "shift" in name or "bitwise" in name or "invert" in name
        return
    n_operands = 2 if isinstance(theirs, np.ufunc) and theirs.nin == 2 else 1
    operands = [sample(dtype, seed=k) for k in range(n_operands)]
    if name in ("acosh", "arccosh"):
        operands = [one + 1 for one in operands]
    same(function(*map(pt.asarray, operands)), theirs(*operands))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "equal", "logical_and"])
@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("b", ALL)
def test_types_of_two_arrays_are_numpys(name: str, a: str, b: str) -> None:
    x, y = sample(a), sample(b, seed=1)
    if name == "less" and "complex" in a + b:
        with pytest.raises(TypeError, match="real"):
            getattr(pt, name)(pt.asarray(x), pt.asarray(y))
        return
    same(getattr(pt, name)(pt.asarray(x), pt.asarray(y)), getattr(np, name)(x, y))


@pytest.mark.parametrize("number", [2, 2.5, True, 1j, np.float32(2), np.int8(3), np.float64(1.5)])
@pytest.mark.parametrize("dtype", ALL)
def test_numbers_take_the_type_of_the_array(dtype: str, number: Any) -> None:
    x = sample(dtype)
    a = pt.asarray(x)
    same(a + number, x + number)
    same(number * a, number * x)
    same(a == number, x == number)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "std", "any", "all"])
@pytest.mark.parametrize("dtype", ALL)
def test_reductions(name: str, dtype: str) -> None:
    x = sample(dtype, (2, 3, 4))
    a = pt.asarray(x)
    for axis in (None, 0, -1, (0, 2), ()):
        for keepdims in (False, True):
            wanted = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            found = getattr(pt, name)(a, axis=axis, keepdims=keepdims)
            if name in ("var", "std", "mean") and np.asarray(wanted).dtype == np.float16:
                wanted = np.asarray(wanted, "float64")
            same(found, wanted, rtol=1e-6 if "32" in dtype or "64" in dtype else 0.0)


def test_shapes_and_orders() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    a = pt.asarray(x)
    pairs = [
        (pt.reshape(a, (4, -1)), x.reshape(4, -1)),
        (pt.permute_dims(a, (2, 0, 1)), x.transpose(2, 0, 1)),
        (pt.moveaxis(a, 0, -1), np.moveaxis(x, 0, -1)),
        (pt.flip(a), np.flip(x)),
        (pt.flip(a, axis=(0, 2)), np.flip(x, (0, 2))),
        (pt.roll(a, 2), np.roll(x, 2)),
        (pt.roll(a, (1, -2), axis=(0, 2)), np.roll(x, (1, -2), (0, 2))),
        (pt.roll(a, (1, 2), axis=0), np.roll(x, (1, 2), 0)),
        (pt.roll(a, 1, axis=(0, 2)), np.roll(x, 1, (0, 2))),
        (pt.concat([a, a], axis=1), np.concatenate([x, x], 1)),
        (pt.concat([a, a], axis=None), np.concatenate([x, x], None)),
        (pt.stack([a, a], axis=-1), np.stack([x, x], -1)),
        (pt.expand_dims(a, axis=(0, -1)), np.expand_dims(x, (0, -1))),
        (pt.squeeze(pt.expand_dims(a, axis=0), axis=0), x),
        (pt.repeat(a, 2, axis=1), np.repeat(x, 2, 1)),
        (pt.repeat(a, [1, 0, 2], axis=1), np.repeat(x, [1, 0, 2], 1)),
        (pt.tile(a, (2, 1, 2)), np.tile(x, (2, 1, 2))),
        (pt.tile(a, (2, 1, 1, 2)), np.tile(x, (2, 1, 1, 2))),
        (pt.broadcast_to(a[:, :1], (2, 3, 4)), np.broadcast_to(x[:, :1], (2, 3, 4))),
        (pt.tril(a), np.tril(x)),
        (pt.triu(a, k=1), np.triu(x, 1)),
        (pt.cumulative_sum(a, axis=1), np.cumsum(x, 1)),
        (pt.cumulative_prod(a[..., 1:], axis=-1), np.cumprod(x[..., 1:], -1)),
        (pt.cumsum(a), np.cumsum(x)),
        (pt.matrix_transpose(a), x.swapaxes(1, 2)),
        (pt.where(a > 3, a, -1.0), np.where(x > 3, x, -1.0)),
        (pt.clip(a, 3, 9), np.clip(x, 3, 9)),
        (pt.tril(a, 1), np.tril(x, 1)),
        (pt.triu(a, 1), np.triu(x, 1)),
        (pt.stack([a, a], 1), np.stack([x, x], 1)),
        (a.reshape(6, 4, order="C"), x.reshape(6, 4)),
        (pt.reshape(a, (6, 4), "C"), x.reshape(6, 4)),
        (a.ravel("C") + a.flatten("C"), 2 * x.ravel()),
        (pt.hstack([a[0], a[1]]), np.hstack([x[0], x[1]])),
        (pt.vstack([a[0, 0], a[1, 0]]), np.vstack([x[0, 0], x[1, 0]])),
        (pt.argmax(a, axis=1), np.argmax(x, 1)),
        (pt.count_nonzero(a, axis=0), np.count_nonzero(x, 0)),
        (pt.astype(a, "int8"), x.astype("int8")),
    ]
    for number, (found, wanted) in enumerate(pairs):
        assert found.shape == wanted.shape, number
        same(found, wanted)
    for found, wanted in zip(pt.nonzero(a > 20), np.nonzero(x > 20), strict=True):
        same(found, wanted)
    for found, wanted in zip(pt.meshgrid(a[0, 0], a[0, :, 0]), np.meshgrid(x[0, 0], x[0, :, 0])):  # noqa: B905
        same(found, wanted)
    for found, wanted in zip(pt.unstack(a, axis=1), np.moveaxis(x, 1, 0), strict=True):
        same(found, wanted)


def test_creation() -> None:
    pairs = [
        (pt.arange(5), np.arange(5)),
        (pt.arange(2, 9, 3), np.arange(2, 9, 3)),
        (pt.arange(5, 0, -2), np.arange(5, 0, -2)),
        (pt.arange(0.5, 3.0, 0.5), np.arange(0.5, 3.0, 0.5)),
        (pt.arange(3, dtype="float32"), np.arange(3, dtype="float32")),
        (pt.arange(3, 3), np.arange(3, 3)),
        (pt.linspace(0, 1, 7), np.linspace(0, 1, 7)),
        (pt.linspace(0, 1, 7, endpoint=False), np.linspace(0, 1, 7, endpoint=False)),
        (pt.linspace(3, 3, 1), np.linspace(3, 3, 1)),
        (pt.linspace(0, 1, 0), np.linspace(0, 1, 0)),
        (pt.linspace(0, 1, 5, True), np.linspace(0, 1, 5, True)),
        (pt.linspace(0, 1, 5, False), np.linspace(0, 1, 5, False)),
        (pt.eye(3, 3, 1), np.eye(3, 3, 1)),
        (pt.eye(3, 4, -1, int), np.eye(3, 4, -1, int)),
        (pt.asarray(range(3)), np.arange(3)),
        (pt.zeros((2, 3)), np.zeros((2, 3))),
        (pt.ones(4, dtype="int16"), np.ones(4, dtype="int16")),
        (pt.full((2,), 7), np.full((2,), 7)),
        (pt.full((), 1.5), np.full((), 1.5)),
        (pt.full(3, True), np.full(3, True)),
        (pt.eye(3), np.eye(3)),
        (pt.eye(2, 4, k=1), np.eye(2, 4, k=1)),
        (pt.zeros_like(pt.ones((2, 2), dtype="int8")), np.zeros((2, 2), "int8")),
        (pt.full_like(pt.ones(3), 2), np.full(3, 2.0)),
        (pt.asarray([[1, 2], [3, 4]], dtype="float32"), np.array([[1, 2], [3, 4]], "float32")),
    ]
    for found, wanted in pairs:
        same(found, wanted)


def test_indices() -> None:
    x = np.arange(60).reshape(3, 4, 5)
    a = pt.asarray(x.copy())
    keys: list[Any] = [
        0,
        (0, 1, 2),
        (..., 0),
        (slice(None, None, -1), ..., slice(1, None, 2)),
        (None, 1, None),
        [0, 2],
        ([0, 2], [1, 3]),
        (slice(None), [1, 3], [0, 4]),
        ([0, 2], slice(None), [1, 3]),
        (0, [1, 2]),
        (0, slice(None), [1, 2]),
        np.array([[0, 1], [2, 0]]),
        (np.array([[0], [1]]), np.array([0, 3])),
        x > 30,
        (x[:, :, 0] > 10,),
        (slice(None), x[0] > 3),
        np.zeros((0,), int),
        [],
        True,
        (..., np.array(2)),
    ]
    for key in keys:
        same(a[key], x[key])
        written, ours = x.copy(), pt.asarray(x.copy())
        written[key] = -1
        ours[key] = -1
        np.testing.assert_array_equal(ours.gather(), written, err_msg=str(key))
        written[key] = np.arange(written[key].size).reshape(written[key].shape)
        ours[key] = np.arange(written[key].size).reshape(written[key].shape)
        np.testing.assert_array_equal(ours.gather(), written, err_msg=str(key))


def _read_only() -> pt.Array:
    local = np.ones(3)
    local.flags.writeable = False
    return pt.asarray(local)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda a: a[5], IndexError, "index 5 of dimension 0 of size 3"),
    (lambda a: a[0, 9], IndexError, "index 9 of dimension 1 of size"),
    (lambda a: a[None, 0, 9], IndexError, "index 9 of dimension 1 of size"),
    (lambda a: a[0, 0, 0], IndexError, "3 indices"),
    (lambda a: a[[0, 7]], IndexError, "index 7"),
    (lambda a: a["x"], IndexError, "no integer, slice or mask"),
    (lambda a: a[::0], ValueError, "zero"),
    (lambda a: a + pt.ones((4,)), ValueError, "do not fit"),
    (lambda a: a.__setitem__(0, pt.ones(7)), ValueError, "do not fit"),
    (lambda a: pt.sum(a, axis=2), ValueError, "axis 2 of an array of 2 dimensions"),
    (lambda a: pt.reshape(a, (4, 2)), ValueError, "cannot become"),
    (lambda a: a.sum(axis=2), IndexError, "axis 2 of an array of 2 dimensions; use -2 to 1"),
    (lambda a: pt.flip(a, axis=2), np.exceptions.AxisError, "axis 2 of"),
    (lambda a: a.T.sum(axis=-3), np.exceptions.AxisError, "axis -3 of"),
    (lambda a: pt.ones(()).sum(axis=1), np.exceptions.AxisError, "give no axis"),
    (lambda a: pt.flip(pt.ones(()), axis=1), np.exceptions.AxisError, "give no axis"),
    (lambda a: a.sum(axis="x"), TypeError, "'x' is no axis"),
    (lambda a: pt.var(a, axis=1.5), TypeError, "1.5 is no axis"),
    (lambda a: pt.flip(a, axis="x"), TypeError, "'x' is no axis"),
    (lambda a: pt.tile(a, -1), ValueError, "-1 repetitions"),
    (lambda a: pt.repeat(a, -1), ValueError, "-1 repetitions"),
    (lambda a: pt.repeat(a, [1, -2], axis=1), ValueError, "-2 repetitions"),
    (lambda a: pt.asarray(2**70), OverflowError, str(2**70)),
    (lambda a: pt.asarray([1, -(2**70)]), OverflowError, str(2**70)),
    (lambda a: pt.arange(1e30), ValueError, r"1e\+30"),
    (lambda a: pt.arange(float("inf")), ValueError, "inf"),
    (lambda a: pt.arange(float("nan")), ValueError, "nan"),
    (lambda a: pt.asarray(["a"]), ValueError, "elements of <U1 are texts"),
    (lambda a: pt.asarray(np.array([b"a"])), ValueError, r"elements of \|S1 are texts"),
    (lambda a: bool(a), ValueError, "any\\(\\) or all"),
    (lambda a: a.item(), ValueError, "no single item"),
    (lambda a: a.item(6), IndexError, "item 6 of 6"),
    (lambda a: a.item((0, 0, 0)), ValueError, "no single item"),
    (lambda a: a.reshape(6, order="F"), ValueError, "order 'F'"),
    (lambda a: pt.fabs(a + 1j), TypeError, "fabs does not take elements of complex128"),
    (lambda a: pt.power(pt.asarray([1, 2]), -2), ValueError, "power -2"),
    (lambda a: pt.max(a, where=a > 0), ValueError, "initial="),
    (lambda a: pt.zeros(0)[0], IndexError, "it has no entries"),
    (lambda a: float(a), TypeError, "no single number"),
    (lambda a: a & 1.5, TypeError, "integers or truth values"),
    (lambda a: pt.zeros((-1,)), ValueError, "negative"),
    (lambda a: pt.max(pt.zeros((0,))), ValueError, "no elements"),
    (lambda a: pt.zeros(3, dtype="uint8") + 256, OverflowError, "256 does not fit into uint8"),
    (lambda a: pt.asarray([1, 2]) ** -1, ValueError, "power -1"),
    (lambda a: pt.astype(a, "datetime64[s]"), TypeError, "datetime64"),
    (lambda a: _read_only().__setitem__(0, 1), ValueError, "read-only"),
    (lambda a: _read_only().__setitem__([0], 1), ValueError, "read-only"),
]


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_wrong_input_is_refused_with_its_value(at: int) -> None:
    call, kind, words = REFUSED[at]
    with pytest.raises(kind, match=words):
        call(pt.asarray(np.ones((3, 2))))


def test_numpys_functions_stay_ours() -> None:
    x = np.linspace(0, 1, 5)
    a = pt.asarray(x)
    for found, wanted in [
        (np.sin(a), np.sin(x)),
        (np.add(a, x), x + x),
        (x + a, x + x),
        (np.add.reduce(a), np.add.reduce(x)),
        (np.concatenate([a, a]), np.concatenate([x, x])),
        (np.sum(a), np.sum(x)),
        (np.where(a > 0.5, a, 0.0), np.where(x > 0.5, x, 0.0)),
        (np.round(a, 1), np.round(x, 1)),
        (np.around(a, 1), np.round(x, 1)),
        (np.rint(a), np.rint(x)),
        (np.fmax(a, 0.5), np.fmax(x, 0.5)),
        (np.fmin(x, a), x),
        (np.isclose(a, 0.25), np.isclose(x, 0.25)),
        (np.clip(a, 0.2, 0.7), np.clip(x, 0.2, 0.7)),
        (np.sum(a, initial=5), np.sum(x, initial=5)),
        (np.add.reduce(a, initial=5), np.add.reduce(x, initial=5)),
    ]:
        assert isinstance(found, pt.Array)
        same(found, wanted)


def test_numpys_questions_are_answered() -> None:
    x = np.arange(6.0).reshape(2, 3)
    a = pt.asarray(x)
    for room in (np, pt):
        assert (room.shape(a), room.ndim(a), room.size(a), room.size(a, 1)) == ((2, 3), 2, 6, 3)
        assert room.allclose(a, x + 1e-10)
        assert not room.allclose(a, x + 1)
        assert room.array_equal(a, x)
        assert not room.array_equal(a, x[0])
        assert room.array_equal(a * np.nan, x * np.nan, equal_nan=True)
    assert (pt.shape([[1, 2]]), pt.ndim(3), pt.size((1, 2))) == ((1, 2), 0, 2)
    assert (a.item(1), a.item(-1), a.item((0, 1)), a.item(1, 2)) == (1.0, 5.0, 1.0, 5.0)
    assert type(pt.arange(3).item(2)) is int


@pytest.mark.parametrize("other", [None, "s"])
def test_no_number_is_equal_to_what_is_none(other: Any) -> None:
    x = np.ones((2, 2))
    same(pt.asarray(x) == other, x == other)
    same(pt.asarray(x) != other, x != other)
    with pytest.raises(TypeError):
        _ = pt.asarray(x) < other


ROUNDED: list[Any] = [
    np.array([1.255, -2.5, 0.05, 1234.5678, np.nan, np.inf]),
    np.array([1.25, -2.5, 1234.5], "float32"),
    np.array([15, 25, -15, 1234, 7]),
    np.array([15, 25, -15], "int8"),
    np.array([1.255 + 2.5j, complex(np.inf, 1.26), complex(0.35, np.nan)]),
]


@pytest.mark.parametrize("decimals", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("x", ROUNDED)
def test_rounding_to_decimals(x: Any, decimals: int) -> None:
    a = pt.asarray(x)
    wanted = np.round(x, decimals)
    theirs: Any = np.round(a, decimals=decimals)
    for found in (pt.round(a, decimals), a.round(decimals), theirs):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found.gather(), wanted)
    target = pt.empty(x.shape, x.dtype)
    assert a.round(decimals, out=target) is target
    np.testing.assert_array_equal(target.gather(), wanted)


BOUNDS: list[tuple[Any, Any]] = [
    (0.5, 2.5),
    (None, 2.5),
    (2, None),
    (None, None),
    (-1, 300),
    (np.array([1, 2, 3, 4, 5, 6]), 5),
    (np.array([1.5]), np.array([[3], [4]])),
    (np.float32(1.5), 4),
]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_clip_has_the_type_of_all(bounds: tuple[Any, Any], dtype: str) -> None:
    x = np.arange(6).astype(dtype)
    a = pt.asarray(x)
    same(pt.clip(a, *bounds), np.clip(x, *bounds))
    ours = [pt.asarray(one) if isinstance(one, np.ndarray) else one for one in bounds]
    same(a.clip(*ours), np.clip(x, *bounds))
    wanted = np.clip(x, *bounds)
    target = pt.zeros(wanted.shape, wanted.dtype)
    assert pt.clip(a, *bounds, out=target) is target
    same(target, wanted)


FLOATING = ["sin", "exp", "sqrt", "arctan", "cbrt", "exp2", "log1p", "rint", "fabs", "tanh"]


@pytest.mark.parametrize("dtype", ["bool", *WHOLE])
def test_floats_of_integers_are_as_small_as_numpys(dtype: str) -> None:
    x, y = sample(dtype), sample("int8", seed=1)
    a, b = pt.asarray(x), pt.asarray(y)
    for name in FLOATING:
        found, wanted = getattr(pt, name)(a), getattr(np, name)(x)
        assert found.dtype == wanted.dtype, name
        rtol = 2e-3 if wanted.dtype == np.float16 else 4e-6
        np.testing.assert_allclose(found.gather(), wanted, rtol=rtol, err_msg=name)
    for name in ("arctan2", "hypot", "logaddexp", "copysign", "divide"):
        assert getattr(pt, name)(a, b).dtype == getattr(np, name)(x, y).dtype, name
        assert getattr(pt, name)(a, 3).dtype == getattr(np, name)(x, 3).dtype, name


def test_what_is_no_number_gives_way() -> None:
    x, y = np.array([1.0, np.nan, 3.0, np.nan]), np.array([2.0, 2.0, np.nan, np.nan])
    for name in ("fmax", "fmin"):
        ours, theirs = getattr(pt, name), getattr(np, name)
        same(ours(pt.asarray(x), pt.asarray(y)), theirs(x, y))
        same(ours(pt.asarray(x), 2), theirs(x, 2))
        same(ours(2, pt.asarray([1, 3])), theirs(2, np.array([1, 3])))


def test_near_numbers_of_all_kinds() -> None:
    pairs: list[tuple[Any, Any]] = [
        (np.array([1, np.inf, -np.inf, np.nan]), np.array([1 + 1e-9, np.inf, np.inf, np.nan])),
        (np.array([1, 2], "uint8"), np.array([2, 1], "uint8")),
        (np.array([True, False]), np.array([True, True])),
        (np.array([1 + 1j]), np.array([1 + 1j + 1e-9])),
    ]
    for x, y in pairs:
        for equal_nan in (False, True):
            found = pt.isclose(pt.asarray(x), pt.asarray(y), equal_nan=equal_nan)
            same(found, np.isclose(x, y, equal_nan=equal_nan))


def test_reductions_that_begin_with_a_number_or_leave_elements_out() -> None:
    x = np.arange(1, 7).reshape(2, 3)
    a, mask = pt.asarray(x), np.array([True, False, True])
    for how in ("sum", "prod", "min", "max"):
        for axis in (None, 0, (0, 1)):
            for options in ({"initial": 3}, {"initial": 3.7, "where": mask}):
                wanted = getattr(np, how)(x, axis=axis, **options)
                same(getattr(pt, how)(a, axis=axis, **options), wanted)
                same(getattr(a, how)(axis, **options), wanted)
                same(getattr(np, how)(a, axis=axis, **options), wanted)
    for how in ("sum", "prod", "any", "all", "mean"):
        wanted = getattr(np, how)(x, axis=1, where=mask, keepdims=True)
        same(getattr(pt, how)(a, axis=1, where=mask, keepdims=True), wanted)
        same(getattr(a, how)(axis=1, where=pt.asarray(mask), keepdims=True), wanted)
    same(pt.max(pt.zeros((0, 2)), axis=0, initial=5), np.max(np.zeros((0, 2)), axis=0, initial=5))
    same(pt.zeros(0).min(initial=5), np.min(np.zeros(0), initial=5))


def test_a_loop_without_a_read_has_bounded_pending_work() -> None:
    a = pt.ones((8, 8))
    for _ in range(20_000):
        a = a * 0.5 + 1.0
        assert a._rank.n_pending < 400
    same(a, np.full((8, 8), 2.0))


def test_text_of_a_large_array_is_numpys() -> None:
    x = np.arange(4000.0).reshape(40, 100)
    assert str(pt.asarray(x)) == str(x)
    assert str(pt.asarray(x[0])) == str(x[0])


def test_squares_have_the_type_that_numpy_gives_them() -> None:
    for dtype in ("bool", "int8", "uint8", "int64", "float32", "float64", "complex128"):
        x = sample(dtype)
        for exponent in (2, 2.0, 3):
            found: Any = pt.asarray(x) ** exponent
            wanted = x**exponent
            assert found.dtype == wanted.dtype, (dtype, exponent)
            np.testing.assert_allclose(found.gather(), wanted, rtol=1e-6)
    assert (pt.asarray([True]) ** True).dtype == np.int8


def test_more_dimensions_than_kernels_have_are_refused_in_words() -> None:
    most: Any = pt.ones((1,) * 14 + (2, 3))
    assert float((most + 1).sum()) == 12.0
    makers: list[Callable[[], Any]] = [
        lambda: pt.zeros((1,) * 17),
        lambda: most[None] + 1,
        lambda: pt.stack([most, most]),
        lambda: pt.asarray(np.ones((1,) * 20)) + 1,
    ]
    for make in makers:
        with pytest.raises(ValueError, match=r"(17|20) dimensions, where 16 are the most") as told:
            make()
        assert told.value.reason == "dimensions"  # type: ignore[attr-defined]
    assert (most[None].reshape(2, 3) + 1).shape == (2, 3)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_functions_need_no_more_dimensions_than_their_results(n_ranks: int) -> None:
    shape = (2,) + (1,) * 14 + (3,)
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "tile": lambda xp, x: xp.tile(x, (2,) * 2 + (1,) * 12 + (3, 2)),
        "tile to nothing": lambda xp, x: xp.tile(x, (2,) + (1,) * 14 + (0,)),
        "tile many": lambda xp, x: xp.tile(x.reshape(2, 1, 3, *(1,) * 6), (2,) * 9),
        "repeat": lambda xp, x: xp.repeat(x, 2, axis=15),
        "repeat by counts": lambda xp, x: xp.repeat(x, [1, 2], axis=0),
        "kron": lambda xp, x: xp.kron(x.reshape((2, 3, *(1,) * 8)), x.reshape((1,) * 8 + (3, 2))),
    }

    def job(team: pt.Team) -> None:
        x = np.arange(6.0).reshape(shape)
        a = pt.empty(shape)
        a[...] = x
        for name, call in calls.items():
            np.testing.assert_array_equal(call(pt, a).gather(), call(np, x), name)
        square = pt.ones((2,) * 9)
        with pytest.raises(ValueError, match="18 dimensions, where 16 are the most") as told:
            pt.kron(square, square)
        assert told.value.reason == "dimensions"  # type: ignore[attr-defined]

    pt.spmd(job, n_ranks)


def test_ufuncs_are_called_with_operands_options_and_positions() -> None:
    a, x = pt.arange(3.0), np.arange(3.0)
    out = pt.zeros(3)
    assert pt.add(a, x, out) is out
    assert pt.add(a, 1, out=out) is out
    assert out.tolist() == [1, 2, 3]
    assert pt.add(1, 2).tolist() == 3
    assert pt.add(a, a, dtype="float32").dtype == np.float32
    assert pt.sin.nin == 1
    assert pickle.loads(pickle.dumps(pt.add)) is pt.add
    for operands in ((a,), (), (a, a, a, a)):
        with pytest.raises(TypeError, match="operands"):
            pt.add(*operands)
    with pytest.raises(TypeError, match="no operand"):
        pt.add(a, {})
