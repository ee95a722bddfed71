"""Element types of quotients and norms, and truth, beside SciPy's; on threads: 1 to 3 ranks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import norm
from sparse_cases import KINDS, dense, same, tensor

import partita as pt
from partita.sparse import DistTensor

# Its types do not know sparse tensors.
numpy: Any = np
RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])
NUMBERS: list[Any] = [2, 2.0, 2j, True, np.float32(2), np.float64(2), np.int8(2), np.complex64(2)]


@RANKS
@pytest.mark.parametrize("kind", KINDS)
def test_quotients_have_scipys_types(kind: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = tensor((4, 3), kind, 3)
        t = DistTensor.from_scipy(a)
        for number in NUMBERS:
            wanted, found = a / number, (t / number).gather()
            assert found.dtype == wanted.dtype, number
            np.testing.assert_allclose(dense(found), dense(wanted))
        for other in (np.full((4, 3), 2, "float32"), np.full((4, 3), 2, "complex64")):
            assert (t / other).dtype == (a / other).dtype
        with np.errstate(invalid="ignore"):
            # SciPy's quotients by wider types lose digits or imaginary parts.
            for second in ("int16", "float32"):
                b = tensor((4, 3), second, 3)
                assert (t / DistTensor.from_scipy(b)).dtype == (a / b).dtype, second

    pt.spmd(body, n_ranks)


@RANKS
@pytest.mark.parametrize("kind", KINDS)
def test_quotients_by_dense_arrays_have_scipys_types(kind: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = tensor((4, 3), kind, 3)
        t = DistTensor.from_scipy(a)
        for other in KINDS:
            for shape in ((4, 3), (1, 3), (4, 1), (3,)):
                by = np.full(shape, 3).astype(other)
                wanted = (a / by).tocsr()
                for given in (by, pt.asarray(by)):
                    found = (t / given).gather()
                    assert found.dtype == wanted.dtype, (other, shape)
                    np.testing.assert_allclose(dense(found), dense(wanted), rtol=1e-6)
                    # As precise as the type: a quotient by one number is.
                    exact = dense(a).astype(wanted.dtype) / by.flat[0]
                    np.testing.assert_array_equal(dense(found), exact.astype(wanted.dtype))

    pt.spmd(body, n_ranks)


@RANKS
@pytest.mark.parametrize("kind", KINDS)
def test_norms_have_scipys_types(kind: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = tensor((4, 3), kind, 3)
        t = DistTensor.from_scipy(a)
        for order in (None, "fro", 1, -1, np.inf, -np.inf):
            found, wanted = t.norm(order), norm(a, order)
            assert type(found) is type(wanted), order
            np.testing.assert_allclose(found, wanted)
        for order in (None, 2, 1, 3, np.inf, -np.inf):
            lines: Any = t.norm(order, axis=0)
            exact = norm(a.astype(np.result_type(kind, "int64")), order, axis=0)
            np.testing.assert_allclose(lines.gather(), exact, rtol=1e-6)

    pt.spmd(body, n_ranks)


@RANKS
def test_norms_of_small_integers_do_not_overflow(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(np.array([[100, -128]], "int8")))
        found = [t.norm(), t.norm(axis=1).item(), t.norm(1), t.norm(np.inf)]
        np.testing.assert_allclose(found, [np.hypot(100, 128)] * 2 + [128, 228])

    pt.spmd(body, n_ranks)


@RANKS
def test_powers_that_a_type_has_not_name_the_cure(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for kind in ("bool", "int8", "uint8", "int64", "uint64"):
            a = tensor((4, 3), kind, 3)
            a.eliminate_zeros()
            t = DistTensor.from_scipy(a)
            for power in (-1, 300, np.int8(-2)):
                try:
                    wanted = a**power
                except (ValueError, OverflowError) as error:
                    cure = re.escape(f"use t.power({power}, dtype=float)")
                    with pytest.raises(type(error), match=f"{kind} to the power.*{cure}"):
                        t**power
                else:
                    same((t**power).gather(), wanted)
                powered = dense(t.power(power, dtype=float).gather())
                np.testing.assert_allclose(powered, dense(a.power(power, dtype=float)))

    pt.spmd(body, n_ranks)


@RANKS
def test_counts_are_wide(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = tensor((4, 3), "float32", 3)
        t = DistTensor.from_scipy(a)
        for axis in (0, 1):
            assert t.count_nonzero(axis=axis).dtype == np.int64
            np.testing.assert_array_equal(
                t.count_nonzero(axis=axis).gather(), a.count_nonzero(axis)
            )

    pt.spmd(body, n_ranks)


@RANKS
def test_truth_is_scipys(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for value in (0.0, 2.0):
            one = sp.csr_array([[value]])
            assert bool(DistTensor.from_scipy(one)) == bool(one) == (value != 0)
        with pytest.raises(ValueError, match="no single truth"):
            bool(DistTensor.from_scipy(tensor((4, 3), "float64", 3)))

    pt.spmd(body, n_ranks)


def test_conversions_take_the_arguments_of_scipy() -> None:
    m = tensor((6, 5), "float64", 1)

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m)
        for found, wanted in [
            (t.tocsr(copy=True), m),
            (t.tocsc(copy=False), m),
            (t.tocoo(copy=True), m),
            (t.asformat("csc", copy=True), m),
            (t.transpose(copy=True), m.T),
            (t.astype("float32", copy=False), m.astype("float32")),
            (t.astype("complex128", "safe"), m.astype("complex128")),
        ]:
            same(found.gather(), wanted)
        for found in (t.tocsr(copy=True), t.transpose(copy=True), t.tocoo(copy=True)):
            assert not np.shares_memory(found.values, t.values)
        with pytest.raises(TypeError, match="safe"):
            t.astype("int8", casting="safe")

    pt.spmd(body, 2)


def test_what_is_no_dense_array_is_refused_with_a_cure() -> None:
    m = tensor((6, 5), "float64", 1)

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m)
        with pytest.raises(pt.LayoutError, match="use from_scipy"):
            DistTensor.from_dense(m)
        with pytest.raises(pt.LayoutError, match=r"t\.redistribute"):
            DistTensor.from_dense(t)
        with pytest.raises(pt.ProtocolError, match=r"to_dense\(\)"):
            pt.asarray(t)

    pt.spmd(body, 2)


def test_rounding_and_products_with_numbers() -> None:
    m = sp.random_array((6, 5), density=0.5, rng=1, format="csr") * 10

    def body(team: pt.Team) -> None:
        for format in ("csr", "csc", "coo"):
            t = DistTensor.from_scipy(m.asformat(format))
            same(round(t).gather().tocsr(), round(m))
            same(round(t, 1).gather().tocsr(), round(m, 1))
            assert round(t, 1).pattern_is(t)
            same(t.dot(3).gather().tocsr(), m.dot(3))
            same(t.reshape((5, 6), copy=True).gather().tocsr(), m.reshape((5, 6)).tocsr())

    pt.spmd(body, 2)


@RANKS
# Imaginary parts that are dropped, and signs.
@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:invalid value")
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_added_before_they_are_converted(kind: str, n_ranks: int) -> None:
    part = np.array([[0.6, 0.6, -1.5], [0.6, 100.7, 2.5], [1.4, 0, -0.6]])
    part = abs(part) if kind.startswith("u") else part
    whole = (part + 1j * part if kind.startswith("c") else part).astype(kind)

    def body(team: pt.Team) -> None:
        for layout in ("block, *", "*, block"):
            t: Any = DistTensor.from_scipy(sp.csr_array(whole), layout=layout)
            m = sp.csr_array(whole)
            for wanted in (*KINDS, "float16"):
                for axis in (0, 1):
                    found, sums = t.sum(axis=axis, dtype=wanted), m.sum(axis=axis, dtype=wanted)
                    assert found.dtype == sums.dtype
                    np.testing.assert_allclose(found.gather(), sums, rtol=1e-3)
                found, sums = t.sum(dtype=wanted), m.sum(dtype=wanted)
                assert found.dtype == sums.dtype
                np.testing.assert_allclose(found, sums, rtol=1e-3)
            with pytest.raises(pt.LayoutError, match=r"float128|complex256"):
                t.sum(axis=0, dtype=np.longdouble)

    pt.spmd(body, n_ranks)


# What NumPy computes as halves or as long doubles, of int8 and of float64.
HALVES: list[Any] = [
    lambda t, u: t.sqrt(),
    lambda t, u: t.astype(bool).sin(),
    lambda t, u: t.astype("uint8").expm1(),
    lambda t, u: numpy.sqrt(t),
    lambda t, u: round(t.astype(bool)),
    lambda t, u: t.hypot(t),
    lambda t, u: t * np.float16(2),
    lambda t, u: np.float16(2) * t,
    lambda t, u: t * np.ones(3, "f2"),
    lambda t, u: t * pt.asarray(np.ones(3, "f2")),
    lambda t, u: t.maximum(np.float16(0)),
    lambda t, u: u.power(2, dtype="f2"),
    lambda t, u: t.plan_rows([0]).adjoint(t.get_rows([0]).data.astype("f2")),
]
LONG: list[Any] = [
    lambda t, u: u * np.longdouble(2),
    lambda t, u: u.multiply(np.longdouble(3)),
    lambda t, u: u * np.ones(3, np.longdouble),
    lambda t, u: u / np.longdouble(2),
    lambda t, u: u / np.ones(3, np.longdouble),
    lambda t, u: u ** np.longdouble(2),
    lambda t, u: u.astype(complex) * np.longdouble(2),
    lambda t, u: u.minimum(np.longdouble(0)),
]


@RANKS
def test_types_that_sparse_tensors_have_not_are_refused_at_once(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(tensor((4, 3), "int8", 3))
        for works, words in ((HALVES, "float16.*float32"), (LONG, r"(float|complex)\d.* use")):
            for work in works:
                with pytest.raises(pt.LayoutError, match=words) as caught:
                    work(t, t.astype(float))
                assert caught.value.reason == "sparse-dtype"
                team.barrier()
        assert t.astype("float32").sqrt().dtype == (t.astype("float32") * np.float16(2)).dtype
        assert (t > np.longdouble(2)).dtype == bool

    pt.spmd(body, n_ranks)
