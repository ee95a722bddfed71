"""Sparse tensors element by element, on ranks, beside SciPy's arrays and NumPy's."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as theirs

import partita as pt
from partita.sparse import DistTensor
from partita.sparse import linalg as ours

# Its types do not know all of its arguments.
numpy: Any = np
RANKS = [1, 2, 3, 4, 5]
FORMATS = ["csr", "csc", "coo"]
SHAPES = [(7, 5), (1, 6), (6, 1), (0, 4), (4, 0), (1, 1), (13, 11)]
LAYOUTS = ["block(last), *", "*, block", "block, block", "cyclic, *", "block, cyclic(2)", "*, *"]
DTYPES = ["bool", "int8", "int32", "uint16", "int64", "float32", "float64", "complex128"]


def a_matrix(shape: tuple[int, ...], dtype: str, seed: int = 0, *, format: str = "csr") -> Any:
    """A matrix of small whole numbers with empty rows and columns, zeros and full lines."""
    rng = np.random.default_rng(seed)
    low = 0 if dtype.startswith(("u", "b")) else -4
    made = rng.integers(low, 5, shape) * (rng.random(shape) < 0.4)
    if made.ndim == 2 and min(shape) > 2:
        made[1], made[:, 2] = 0, 3
    if dtype.startswith("c"):
        made = made + 1j * rng.integers(-2, 3, shape) * (made != 0)
    return sp.coo_array(made.astype(dtype)).asformat(format)


def put(matrix: Any, layout: str, format: str = "csr") -> Any:
    made: Any = DistTensor.from_scipy(matrix, format=format)
    return made.redistribute(layout=layout)


def equal(found: Any, wanted: Any) -> None:
    """The same elements of the same type, of a tensor, an array or a number."""
    if isinstance(found, DistTensor):
        found = found.gather()
    if sp.issparse(wanted):
        assert sp.issparse(found)
        wanted = wanted.toarray()
    found = found.toarray() if sp.issparse(found) else found
    found = found.gather() if isinstance(found, pt.Array) else np.asarray(found)
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def cases(n_ranks: int, n: int = 12) -> list[Any]:
    """Shape, layout, format, type and seed: each at least once, others beside it on other ranks."""
    rng = np.random.default_rng(n_ranks)
    lists: list[Any] = [SHAPES, LAYOUTS, FORMATS, DTYPES]
    orders = [rng.permutation(len(one)) for one in lists]
    return [
        (*(one[by[at % len(one)]] for one, by in zip(lists, orders, strict=True)), at)
        for at in range(n)
    ]


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=30.0)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_two_tensors(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            a, b = a_matrix(shape, dtype, seed), a_matrix(shape, DTYPES[seed * 5 % 8], seed + 1)
            t = put(a, layout, format)
            u = put(b, LAYOUTS[seed * 5 % 6], FORMATS[seed % 3])
            equal(t + u, a + b)
            equal(t * u, a * b)
            equal(t.multiply(t), a.multiply(a))
            if "bool" not in (a.dtype.name, b.dtype.name):
                equal(t - u, a - b)
            if "c" not in (a.dtype.kind, b.dtype.kind):
                equal(t.maximum(u), a.maximum(b))
                equal(t.minimum(u), a.minimum(b))

    on_ranks(n_ranks, body)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("n_ranks", [1, 3, 4])
def test_comparisons(n_ranks: int) -> None:
    signs = ["eq", "ne", "lt", "gt", "le", "ge"]

    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            if dtype.startswith("c") or dtype == "bool":
                continue
            a, b = a_matrix(shape, dtype, seed), a_matrix(shape, dtype, seed + 1)
            t, u = put(a, layout, format), put(b, layout)
            dense, other = a.toarray(), b.toarray()
            for name in signs:
                compare = getattr(operator, name)
                equal(compare(t, u), sp.csr_array(compare(dense, other)))
                for number in (0, 2, -1) if dtype[0] != "u" else (0, 2):
                    equal(compare(t, number), sp.csr_array(compare(dense, number)))
                if n_ranks == 3:
                    equal(compare(t, other), compare(dense, other))
            assert (t == put(a_matrix((2, 3), dtype), "block, *")) is False
            assert (t != put(a_matrix((2, 3), dtype), "block, *")) is True
            assert t.allclose(u) == np.allclose(dense, other)
            assert t.allclose(put(a, "*, block")) is True
            assert t.allclose(dense) is True

    on_ranks(n_ranks, body)


def test_comparisons_that_fill_say_so() -> None:
    def body(team: pt.Team) -> None:
        t = put(a_matrix((4, 5), "float64"), "block, *")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (t != t).count_nonzero() == 0
            assert (t > 100).count_nonzero() == 0

    # Warnings are a process's, not a thread's: only one rank can look at them.
    on_ranks(1, body)
    t = put(a_matrix((4, 5), "float64"), "block, *")
    with pytest.warns(sp.SparseEfficiencyWarning, match="try != instead"):
        _ = t == t
    with pytest.warns(sp.SparseEfficiencyWarning, match="try >= instead"):
        _ = t < 1


@pytest.mark.parametrize("n_ranks", [1, 2, 5])
def test_numbers(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            a = a_matrix(shape, dtype, seed)
            t = put(a, layout, format)
            for number in (2, 1.5, 2j, np.float32(3)):
                equal(t * number, a * number)
                equal(number * t, number * a)
            equal(t / 2, sp.csr_array(a / 2))
            equal(t * pt.asarray(2.0).sum(), a * 2.0)
            equal(t + 0, a)
            equal(0 + t, a)
            equal(t - 0, a)
            equal(abs(t), abs(a))
            equal(t.conj(), a.conj())
            equal(t.real, sp.csr_array(a.toarray().real))
            equal(t.imag, sp.csr_array(a.toarray().imag))
            if dtype != "bool":
                equal(-t, -a)
                equal(0 - t, -a)
                equal(t**2, a.power(2))
                equal(t.power(3, "complex128"), a.power(3, dtype=np.complex128))
            if a.dtype.kind in "if":
                equal(t.maximum(0), a.maximum(0))
                equal(t.minimum(0), a.minimum(0))
                with pytest.raises(NotImplementedError, match="to_dense"):
                    t.maximum(1)
            with pytest.raises(NotImplementedError, match="to_dense"):
                t + 1
            with pytest.raises(NotImplementedError, match="to_dense"):
                1 - t
            with pytest.raises(NotImplementedError, match="to_dense"):
                1 / t
            with pytest.raises(NotImplementedError, match="power 0"):
                t**0

    on_ranks(n_ranks, body)


def test_functions() -> None:
    names = ["sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "rint", "sign"]
    names += ["expm1", "log1p", "deg2rad", "rad2deg", "floor", "ceil", "trunc", "sqrt"]

    def body(team: pt.Team) -> None:
        rng = np.random.default_rng(0)
        coords = (rng.integers(0, 6, 30), rng.integers(0, 4, 30))
        # Places that come several times are added before.
        a = sp.coo_array((rng.random(30) / 8, coords), shape=(6, 4))
        share = slice(team.rank, None, team.size)
        t = DistTensor.from_coo((6, 4), [one[share] for one in coords], a.data[share], format="coo")
        for name in names:
            found = getattr(t, name)().gather().toarray()
            np.testing.assert_allclose(found, getattr(np, name)(a.toarray()), rtol=1e-12)
        zeros = t * 0
        assert zeros.eliminate_zeros().gather().nnz == 0

    on_ranks(3, body)


@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_dense_operands(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            a = a_matrix(shape, dtype, seed)
            t = put(a, layout, format)
            rng = np.random.default_rng(seed)
            whole = rng.integers(1, 5, shape)
            for x in (whole, whole[:1], whole[:, :1], whole[0] if len(whole) else whole[:1]):
                if np.broadcast_shapes(x.shape, shape) != shape:
                    continue
                wanted = a.toarray() * x
                for given in (x, pt.asarray(x), pt.asarray(x).redistribute("cyclic")):
                    equal(t * given, sp.csr_array(wanted))
                equal(t / x, sp.csr_array(a.toarray() / x))
                if dtype != "bool":
                    equal(t + x, a.toarray() + x)
                    equal(pt.asarray(x) - t, x - a.toarray())
                    equal(pt.asarray(x) * t, sp.csr_array(wanted))
                    equal(x - t, x - a.toarray())
                # Rows and columns that are sparse themselves.
                if x.ndim == 2:
                    row = sp.csr_array(x * (x > 2))
                    equal(t * put(row, "block, *"), sp.csr_array(a.toarray() * row.toarray()))
                    equal(put(row, "block, *") * t, sp.csr_array(a.toarray() * row.toarray()))
        row, column = a_matrix((1, 5), "int64"), a_matrix((4, 1), "int64", 3)
        equal(put(row, "*, block") * put(column, "block, *"), row.toarray() * column.toarray())
        equal(put(row, "*, block") * np.ones((3, 5), int), np.ones((3, 1), int) * row.toarray())
        with pytest.raises(ValueError, match="broadcast"):
            put(row, "*, block") * np.ones((3, 4))
        for odd in ("a", None, object()):
            with pytest.raises(TypeError):
                put(row, "*, block") * odd
            with pytest.raises(TypeError):
                put(row, "*, block") + odd
            assert (put(row, "*, block") == odd) is False
        with pytest.raises(ValueError, match="inconsistent shapes"):
            put(row, "*, block") + put(column, "block, *")

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_sums(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            a = a_matrix(shape, dtype, seed)
            t = put(a, layout, format)
            dense = a.toarray()
            for axis in (None, 0, 1, -1):
                equal(t.sum(axis=axis), dense.sum(axis=axis))
                equal(t.count_nonzero(axis=axis), np.count_nonzero(dense, axis=axis))
                if 0 not in shape:
                    equal(t.mean(axis=axis), dense.mean(axis=axis))
            equal(t.sum(axis=(0, 1), dtype="complex64"), dense.sum(dtype="complex64"))
            if layout.endswith(", *") and "block" in layout and format == "csr":
                # Sums of rows stay where the rows are.
                held = t.layout.local_shape(team.rank)[0]
                assert t.sum(axis=1).local.shape == (held,)
            *coords, values = t.find()
            assert len(coords) == len(t.nonzero()) == 2
            again = sp.coo_array(
                (values.gather(), tuple(one.gather() for one in coords)), shape=shape
            )
            equal(again.astype(dtype), a)
            assert (values.gather() != 0).all()

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_extremes(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            if dtype.startswith("c"):
                continue
            a = a_matrix(shape, dtype, seed)
            t, dense = put(a, layout, format), a.toarray()
            for axis in (None, 0, 1):
                if 0 in (shape if axis is None else shape[axis : axis + 1]):
                    with pytest.raises(ValueError, match=r"element|zero-size"):
                        t.max(axis=axis)
                    with pytest.raises(ValueError, match="element"):
                        t.argmax(axis=axis)
                    continue
                equal(t.max(axis=axis), dense.max(axis=axis))
                equal(t.min(axis=axis), dense.min(axis=axis))
                equal(t.argmax(axis=axis), dense.argmax(axis=axis))
                equal(t.argmin(axis=axis), dense.argmin(axis=axis))
                equal(t.max(axis=axis, explicit=True), _explicit(a, axis))
        full = np.arange(12.0).reshape(3, 4) - 20
        full[1, 2] = np.nan
        t = DistTensor.from_scipy(sp.csr_array(full))
        for axis in (None, 0, 1):
            equal(t.max(axis=axis), full.max(axis=axis))
            equal(t.argmin(axis=axis), full.argmin(axis=axis))

    on_ranks(n_ranks, body)


def _explicit(a: Any, axis: int | None) -> Any:
    found = a.max(axis=axis, explicit=True)
    return found.toarray().reshape(-1) if sp.issparse(found) else found


@pytest.mark.parametrize("n_ranks", [1, 3, 4])
def test_diagonals_and_norms(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout, format, dtype, seed in cases(n_ranks):
            a = a_matrix(shape, dtype, seed)
            t, dense = put(a, layout, format), a.toarray()
            for k in (0, 1, -2, 4):
                wanted = dense.diagonal(k) if -shape[0] < k < shape[1] else np.zeros(0, dtype)
                equal(t.diagonal(k), wanted)
                equal(t.trace(k), wanted.sum())
                equal(t.tril(k), sp.csr_array(np.tril(dense, k)))
                equal(t.triu(k), sp.csr_array(np.triu(dense, k)))
                if len(wanted) == 0:
                    continue
                new = np.arange(len(wanted)).astype(dtype)
                changed = a.copy().tolil()
                changed.setdiag(new, k)
                for given in (new, pt.asarray(new)):
                    equal(t.with_diagonal(given, k), changed.tocsr())
            small = np.array([[1, 0, 2], [0, 3, 1]])
            equal(t.kron(small), sp.csr_array(np.kron(dense, small)))
            if dtype == "bool":
                continue
            order: Any
            for order in (None, "fro"):
                np.testing.assert_allclose(ours.norm(t, order), theirs.norm(a, order), rtol=1e-6)
            if 0 not in shape:
                for order in (1, -1, np.inf, -np.inf):
                    wanted = theirs.norm(a, order)
                    np.testing.assert_allclose(ours.norm(t, order), wanted, rtol=1e-6)
            for axis in (0, 1):
                if shape[axis] == 0:
                    continue
                for order in (None, 2, 1, 0, 3, np.inf, -np.inf):
                    found = ours.norm(t, order, axis).gather()
                    wanted = np.linalg.norm(dense, order, axis)
                    np.testing.assert_allclose(found, wanted, rtol=1e-6)
        with pytest.raises(TypeError, match="with_diagonal"):
            t.setdiag(1)
        for order, cure in ((2, r"linalg\.norm"), (-2, "'fro'")):
            with pytest.raises(NotImplementedError, match=cure):
                t.norm(order)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_tensors_of_other_dimensions(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape, layout in [
            ((4, 3, 5), "block, *, *"),
            ((4, 3, 5), "*, *, block"),
            ((3, 4, 2), "cyclic, block, *"),
            ((9,), "block"),
            ((2, 0, 3), "block, *, *"),
        ]:
            rng = np.random.default_rng(0)
            x, y = (rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5) for _ in range(2))
            t, u = (
                DistTensor.from_coo(
                    shape,
                    np.nonzero(one) if team.rank == 0 else [[]] * len(shape),
                    one[np.nonzero(one)] if team.rank == 0 else np.zeros(0, int),
                    format="coo",
                    layout=layout,
                )
                for one in (x, y)
            )
            for found, wanted in [(t + u, x + y), (t - u, x - y), (t * u, x * y), (t * y, x * y)]:
                equal(found.to_dense(), wanted)
            equal((t != u).to_dense(), x != y)
            axes = [None, 0, -1, (0, len(shape) - 1)] if len(shape) > 1 else [None, 0]
            for axis in axes:
                equal(t.sum(axis=axis), x.sum(axis=axis))
                if x.size:
                    equal(t.max(axis=axis), x.max(axis=axis))
            if x.size and len(shape) > 1:
                equal(t.argmax(axis=1), x.argmax(axis=1))
            np.testing.assert_allclose(t.norm(), np.linalg.norm(x.reshape(-1)))

    on_ranks(n_ranks, body)


def test_index_types_stay() -> None:
    def body(team: pt.Team) -> None:
        a = a_matrix((6, 5), "float64")
        for index in (np.int32, np.int64):
            t: Any = DistTensor.from_coo((6, 5), a.tocoo().coords, a.data, index_dtype=index)
            for made in (t + t, t * t, t * 2, t.tril(), t != 0, t.eliminate_zeros(), abs(t)):
                assert made.index_dtype == index

    on_ranks(2, body)
