"""Matrices beside and below each other, beside SciPy's: 1 to 3 ranks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import FORMATS, KINDS, LAYOUTS, same, tensor

import partita as pt
from partita import sparse
from partita.sparse import DistTensor

RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=60.0)


def spread(given: Any, number: int) -> Any:
    """A matrix of SciPy as a tensor, in one layout or another; anything else as it is."""
    if isinstance(given, list):
        return [spread(one, number + at) for at, one in enumerate(given)]
    layout = LAYOUTS[number % len(LAYOUTS)]
    return DistTensor.from_scipy(given, layout=layout) if sp.issparse(given) else given


A, B = tensor((4, 5), "float64", 1), tensor((4, 2), "float32", 2)
C = tensor((3, 5), "int16", 3, "csc")
NONE = sp.csr_array((0, 5))
ROW = sp.coo_array(np.array([0.0, 3, 0, 1, 2]))

# A function, what it is given, and its options.
CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("block_array", [[A, B], [C, None]], {}),
    ("block_array", [[None, A], [C, None]], {"format": "csc"}),
    ("block_array", [[A, B]], {"dtype": "complex64"}),
    ("block_array", [[None, None], [None, A]], {"format": "csr"}),
    ("hstack", [A, B], {}),
    ("hstack", [C, C, C], {}),
    ("hstack", [C, tensor((3, 1), "uint8", 2), np.ones((3, 2))], {"format": "coo"}),
    ("vstack", [A, NONE, A], {}),
    ("vstack", [A, C], {"format": "csr", "dtype": "int64"}),
    ("vstack", [ROW, A], {}),
    ("block_diag", [A, B, C], {}),
    ("block_diag", [A, 2.0, np.ones((2, 3))], {"format": "csr"}),
]


@RANKS
@pytest.mark.parametrize("case", CASES, ids=lambda one: one[0])
def test_stacks_are_scipys(n_ranks: int, case: tuple[str, Any, dict[str, Any]]) -> None:
    name, given, options = case
    ours, theirs = getattr(sparse, name), getattr(sp, name)
    wanted = theirs(given, **options)

    def body(team: pt.Team) -> None:
        for number in range(3):
            found = ours(spread(given, number), **options)
            same(found.gather(), wanted)
            assert found.format == wanted.format
        # Those of SciPy alone, beside tensors or not, are whole on every rank.
        same(ours(given, **options).gather(), wanted)
        same(ours(given, layout="*, cyclic", **options).gather(), wanted)

    on_ranks(n_ranks, body)


@RANKS
def test_types_are_scipys(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for at, kind in enumerate(KINDS):
            a, b = tensor((3, 4), kind, 1), tensor((2, 4), KINDS[at - 3], 2)
            t = DistTensor.from_scipy(a)
            for other in (b, b.tocoo()):
                wanted = sp.vstack([a, other], format=FORMATS[at % 3])
                same(sparse.vstack([t, other], format=FORMATS[at % 3]).gather(), wanted)

    on_ranks(n_ranks, body)


@RANKS
def test_parts_that_do_not_fit(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t, u = DistTensor.from_scipy(A), DistTensor.from_scipy(B)
        refused: list[tuple[Any, str]] = [
            (partial(sparse.hstack, [t, C]), r"blocks\[0,1\] has 3 rows .*use as many rows"),
            (partial(sparse.vstack, [t, u]), r"blocks\[1,0\] has 2 columns .*as many columns"),
            (partial(sparse.block_array, [[t, u], [t]]), r"blocks; give as many in each"),
            (partial(sparse.hstack, []), "one at least"),
            (partial(sparse.hstack, [t, "text"]), r"blocks\[0,1\] is 'text'; use"),
            (partial(sparse.block_diag, [t, np.ones((2, 2, 2))]), r"mats\[1\] of shape"),
        ]
        for work, words in refused:
            with pytest.raises(pt.LayoutError, match=words) as met:
                work()
            assert met.value.reason == "sparse-blocks"
        with pytest.raises(pt.LayoutError, match="format 'dia'"):
            sparse.hstack([t, u], format="dia")
        # What one rank has wrong is so on all.
        last = team.rank == team.size - 1
        with pytest.raises(pt.LayoutError, match="3 rows"):
            sparse.hstack([t, C if last else B])
        if team.size > 1:
            with pytest.raises(pt.MismatchError, match="the blocks"):
                sparse.hstack([t, u] if last else [t, B])
            with pytest.raises(pt.MismatchError, match="the blocks"):
                sparse.block_diag([t, float(last)])

    on_ranks(n_ranks, body)


@RANKS
def test_saddle_points_are_solved(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = sparse.laplacian((4, 4))
        b = sparse.diags([1.0], offsets=3, shape=(5, 16))
        whole = sparse.block_array([[a, b.T], [b, None]], format="csr")
        x, info = sparse.linalg.minres(whole, np.ones(21), rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose((whole @ x).gather(), np.ones(21), rtol=1e-6)

    on_ranks(n_ranks, body)


@RANKS
def test_functions_by_scipys_names(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for layout in LAYOUTS:
            t = DistTensor.from_scipy(A, layout=layout)
            for given in (t, A, A.toarray()):
                same(sparse.tril(given, 1).gather(), sp.tril(A, 1))
                same(sparse.triu(given, -1, format="csc").gather(), sp.triu(A, -1))
                same(sparse.kron(given, t[:2]).gather(), sp.kron(A, A[:2]))
                assert sorted(one.item() for one in sparse.find(given)[2]) == sorted(sp.find(A)[2])
            same(t.getrow(-1).gather(), A[[-1], :])
            same(t.getcol(2).gather(), A[:, [2]])
            assert t.getnnz() == t.nnz
            for axis in (0, 1):
                wanted = np.bincount(A.tocoo().coords[1 - axis], minlength=A.shape[1 - axis])
                np.testing.assert_array_equal(t.getnnz(axis=axis).gather(), wanted)

    on_ranks(n_ranks, body)


def test_what_scipys_arrays_have_names_a_cure() -> None:
    t = DistTensor.from_scipy(A)
    for name, cure in (
        ("data", r"t\.values"),
        ("indices", r"t\.to_scipy\(\)\.indices"),
        ("indptr", r"t\.to_scipy\(\)\.indptr"),
        ("coords", r"t\.find\(\)"),
        ("tolil", "from_coo"),
        ("todia", r"t\.tocsr\(\)"),
        ("getH", r"t\.H"),
    ):
        assert not hasattr(t, name)
        with pytest.raises(AttributeError, match=f"DistTensor has no '{name}' here; use .*{cure}"):
            getattr(t, name)
