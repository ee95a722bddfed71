"""NumPy's functions, and partita's own by the same names, on sparse tensors: 1 to 3 ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import FORMATS, LAYOUTS, dense

import partita as pt
from partita.sparse import DistTensor

# Its types do not know sparse tensors.
numpy: Any = np
RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])

A = np.array([[1.5, 0, -2, 0], [0, 3, 0, np.nan], [0, 0, 0, 0], [-8, 0, np.inf, 1]])
B = np.array([[0.0, 0, 4, 1], [2, -4, 0, 0], [0, 0, 0, 0], [6, 0, 1, 0]])


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=60.0)


def same(found: Any, wanted: Any) -> None:
    """Whether what is found, of whatever kind, has the elements and the type that are wanted."""
    whole = found.gather() if hasattr(found, "gather") else found
    made = dense(whole) if sp.issparse(whole) else np.asarray(whole)
    assert (made.shape, made.dtype) == (np.shape(wanted), np.asarray(wanted).dtype)
    np.testing.assert_array_equal(made, wanted)


ELEMENTWISE = ["square", "cbrt", "fabs", "isnan", "isinf", "radians", "degrees", "sqrt", "abs"]


@RANKS
def test_functions_that_leave_zeros_zero(n_ranks: int) -> None:
    kinds = ["int32", "int64", "uint16", "float32", "float64"]

    def body(team: pt.Team) -> None:
        for at, kind in enumerate(kinds):
            whole = np.nan_to_num(A, posinf=7).astype(kind) if at < 3 else A.astype(kind)
            t = DistTensor.from_scipy(sp.csr_array(whole), layout=LAYOUTS[at])
            for name in ELEMENTWISE:
                function = getattr(np, name)
                with np.errstate(invalid="ignore"):
                    found = function(t)
                    assert isinstance(found, DistTensor)
                    same(found, function(whole))

    on_ranks(n_ranks, body)


@RANKS
def test_functions_of_two_operands(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for at, layout in enumerate(LAYOUTS):
            format = FORMATS[at % 3]
            t = DistTensor.from_scipy(sp.csr_array(A), layout=layout, format=format)
            u = DistTensor.from_scipy(sp.csr_array(B).astype("float32"))
            for other in (u, sp.csr_array(B)):
                same(numpy.hypot(t, other), np.hypot(A, B))
            assert numpy.hypot(t, u).nnz == np.count_nonzero(np.hypot(A, B))
            same(numpy.hypot(t, 0), np.hypot(A, 0))
            same(numpy.hypot(t, B), np.hypot(A, B))
            same(numpy.hypot(B, t), np.hypot(A, B))
            same(numpy.maximum(0, t), np.maximum(0, A))
            same(numpy.minimum(0, t), np.minimum(0, A))
            same(numpy.maximum(B, t), np.maximum(A, B))
        with pytest.raises(NotImplementedError, match="would fill it"):
            numpy.hypot(t, 3)
        with pytest.raises(ValueError, match="inconsistent shapes"):
            numpy.hypot(t, u[:2])

    on_ranks(n_ranks, body)


C = np.nan_to_num(A, posinf=7)
V = np.array([2.0, -1, 0, 3])

# What a function gives of a sparse tensor, and NumPy's of the array.
FUNCTIONS: list[tuple[str, Any]] = [
    ("dot", lambda np, t, u: np.dot(t, u)),
    ("dot with vectors", lambda np, t, u: np.dot(t, V) + np.dot(V, t)),
    ("dot with numbers", lambda np, t, u: np.dot(t, 3.0)),
    ("inner", lambda np, t, u: np.inner(t, u)),
    ("inner with a vector", lambda np, t, u: np.inner(t, V)),
    ("matmul", lambda np, t, u: np.matmul(t, u)),
    ("kron", lambda np, t, u: np.kron(t, u)),
    ("norm", lambda np, t, u: np.linalg.norm(t)),
    ("norm 1", lambda np, t, u: np.linalg.norm(t, 1)),
    ("norm of lines", lambda np, t, u: np.linalg.norm(t, axis=1)),
    ("sum", lambda np, t, u: np.sum(t)),
    ("sum of rows", lambda np, t, u: np.sum(t, axis=1)),
    ("sum by name", lambda np, t, u: np.sum(a=t, axis=0)),
    ("mean", lambda np, t, u: np.mean(t, 0)),
    ("max", lambda np, t, u: np.max(t, axis=0)),
    ("amin", lambda np, t, u: np.amin(t)),
    ("argmax", lambda np, t, u: np.argmax(t, axis=1)),
    ("count_nonzero", lambda np, t, u: np.count_nonzero(t)),
    ("transpose", lambda np, t, u: np.transpose(t)),
    ("diagonal", lambda np, t, u: np.diagonal(t, offset=1)),
    ("trace", lambda np, t, u: np.trace(t, -1)),
    ("tril", lambda np, t, u: np.tril(t)),
    ("triu", lambda np, t, u: np.triu(t, k=1)),
    ("reshape", lambda np, t, u: np.reshape(t, (2, 8), order="F")),
    ("round", lambda np, t, u: np.round(t, 0)),
    ("real", lambda np, t, u: np.real(t)),
    ("imag", lambda np, t, u: np.imag(t)),
    ("copy", lambda np, t, u: np.copy(t)),
    ("shape", lambda np, t, u: np.shape(t)),
    ("ndim", lambda np, t, u: np.ndim(t)),
    ("extent", lambda np, t, u: np.size(t, 1)),
    ("iscomplexobj", lambda np, t, u: np.iscomplexobj(t)),
    ("allclose", lambda np, t, u: np.allclose(t, u)),
]


@RANKS
def test_functions_that_are_none_of_each_element(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for at in (0, 1, 4):
            t = DistTensor.from_scipy(sp.csr_array(C), layout=LAYOUTS[at], format=FORMATS[at % 3])
            u = DistTensor.from_scipy(sp.csr_array(B))
            for _, work in FUNCTIONS:
                same(work(np, t, u), work(np, C, B))
            same(numpy.kron(B, t), np.kron(B, C))
            assert numpy.result_type(t, np.complex64) == np.complex128
            assert numpy.size(t) == t.nnz
            vector = t[:, 0]
            same(numpy.linalg.norm(vector), np.linalg.norm(C[:, 0]))

    on_ranks(n_ranks, body)


# Those whose functions of partita do not look at sparse tensors.
ONLY_NUMPYS = {"iscomplexobj", "extent"}


@RANKS
def test_partitas_functions_are_numpys(n_ranks: int) -> None:
    ours: Any = pt

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(C), layout=LAYOUTS[1])
        u = DistTensor.from_scipy(sp.csr_array(B))
        for name, work in FUNCTIONS:
            if name not in ONLY_NUMPYS:
                same(work(ours, t, u), work(np, C, B))
        x = pt.asarray(V)
        same(ours.dot(x, t), V @ C)
        same(ours.matmul(t, x), C @ V)
        same(numpy.dot(x, t), V @ C)
        same(ours.maximum(t, u), np.maximum(C, B))
        same(ours.minimum(pt.asarray(B), t), np.minimum(C, B))
        same(ours.nanmax(t, axis=0), np.nanmax(C, axis=0))
        for refused, words in (
            (lambda: pt.asarray(t), r"t\.sum\(\), t\.to_dense\(\)"),
            (lambda: ours.concatenate([t, t]), r"t\.to_dense\(\)"),
            (lambda: ours.vdot(x, t), r"t\.to_dense\(\)"),
            (lambda: ours.sum(t, keepdims=True), r"partita\.sum .*'keepdims'; it takes axis"),
            (lambda: ours.linalg.norm(t, 2), r"partita\.sparse\.linalg\.norm"),
        ):
            with pytest.raises((pt.ProtocolError, TypeError, NotImplementedError), match=words):
                refused()
            team.barrier()

    on_ranks(n_ranks, body)


REFUSED: list[tuple[Any, str]] = [
    (lambda t: numpy.asarray(t), r"t\.to_dense\(\).*t\.gather\(\)"),
    (lambda t: numpy.array([t, t]), r"t\.gather\(\)"),
    (lambda t: numpy.cumsum(t), r"numpy\.cumsum .*t\.to_dense\(\)"),
    (lambda t: numpy.vstack([t, t]), r"partita\.sparse\.vstack"),
    (lambda t: numpy.array_equal(t, t), r"nnz == 0"),
    (lambda t: numpy.linalg.solve(t, V), r"numpy\.linalg\.solve .*cg"),
    (lambda t: numpy.linalg.norm(t, 2), r"partita\.sparse\.linalg\.norm\(t, 2\)"),
    (lambda t: numpy.sum(t, axis=0, keepdims=True), r"'keepdims'; it takes axis, dtype, out"),
    (lambda t: sp.csr_array(C).multiply(t), r"t\.multiply"),
    (lambda t: sp.csr_array(C).maximum(t), r"t\.to_dense"),
    (lambda t: sp.find(t), r"t\.gather\(\)"),
    (lambda t: sp.vstack([t, t]), r"t\.gather\(\)"),
    (lambda t: sp.coo_array(t), r"t\.gather\(\)"),
]


@RANKS
def test_what_has_no_counterpart_names_a_cure(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(C))
        for work, words in REFUSED:
            with pytest.raises((TypeError, NotImplementedError), match=words):
                work(t)
            team.barrier()
        with pytest.raises(ValueError, match="unrecognized csr_array"):
            sp.csr_array(t)

    on_ranks(n_ranks, body)


@RANKS
def test_scipys_operators_leave_ours_the_work(n_ranks: int) -> None:
    operators: list[Any] = [
        lambda m, t: m @ t,
        lambda m, t: m.T @ t,
        lambda m, t: m + t,
        lambda m, t: m - t,
        lambda m, t: m > t,
        lambda m, t: m != t,
    ]

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(B))
        for make in (sp.csr_array, sp.csc_matrix, sp.coo_array, sp.dia_array):
            for work in operators:
                same(work(make(C), t), work(sp.csr_array(C), sp.csr_array(B)).toarray())
            if make is not sp.csc_matrix:
                same(make(C) * t, C * B)
        same(sp.csr_array(C).dot(t), C @ B)
        for array in (pt.asarray(C), C):
            same(array * t, C * B)
            same(array @ t, C @ B)
            same(array + t, C + B)

    on_ranks(n_ranks, body)


def test_what_is_set_is_refused() -> None:
    t = DistTensor.from_scipy(sp.csr_array(np.eye(3)))
    cures = {
        **dict.fromkeys(("data", "indices", "indptr", "coords", "row", "col"), "with_values"),
        "values": "with_values",
        "shape": "reshape",
        "dtype": "astype",
        "format": "asformat",
        "layout": "redistribute",
        "index_dtype": "where the tensor is made",
        **dict.fromkeys(("nnz", "T", "size", "ndim"), "no setter"),
        **dict.fromkeys(("maxprint", "name"), "no attribute"),
    }
    for name, cure in cures.items():
        with pytest.raises(AttributeError, match=cure):
            setattr(t, name, getattr(t, name, None))
    with pytest.raises(TypeError, match="with_diagonal"):
        t[0, 0] = 1
    assert not hasattr(t, "data")
    assert (t != sp.csr_array(np.eye(3))).nnz == 0
    t.set_slice((0, 0), sp.csr_array(2 * np.eye(3)))
    assert t.sum() == 6
