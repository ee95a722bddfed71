"""Products of sparse matrices on the ranks of a team beside SciPy's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_matrices import (
    DTYPES,
    FORMATS,
    LAYOUTS,
    cases,
    dense,
    matrix,
    numbers,
    same,
    spread,
)

import partita as pt
from partita._array.held import everywhere
from partita._array.parts import cut_along
from partita._partita import Block, Layout
from partita.sparse import DistTensor, sddmm
from partita.sparse.exchange import Fetch

# None: of NumPy, whole on every rank.
OPERANDS = [None, "*", "block", "cyclic", "cyclic(2)"]


def put(x: Any, layout: str | None) -> Any:
    """An operand in a layout of its rows."""
    if layout is None:
        return x
    return pt.asarray(x.copy()).redistribute(layout + ", *" * (x.ndim - 1))


def products_with_dense(team: pt.Team) -> None:
    for number, (shape, layout, format, dtype) in enumerate(cases()):
        whole = matrix(shape, dtype, number)
        t = spread(team, whole, layout, format)
        x, y = numbers((shape[1], 3), dtype, 1), numbers((shape[0], 3), dtype, 2)
        how = OPERANDS[number % len(OPERANDS)]
        same(t @ put(x, how), whole @ x)
        same(t @ put(x[:, 0], how), whole @ x[:, 0])
        same(t.rmatvec(put(y[:, 1], how)), whole.conj().T @ y[:, 1])
        same(put(y[:, 0], how) @ t, y[:, 0] @ whole)
        same(put(y.T, how) @ t, y.T @ whole)


def products_of_all_layouts(team: pt.Team) -> None:
    """Every layout of the matrix beside every layout of the operand, twice by one plan."""
    whole = matrix((13, 10))
    x = numbers((10, 2), "float64", 1)
    for number, layout in enumerate(LAYOUTS):
        format = FORMATS[(number + team.size) % 3]
        t = spread(team, whole, layout, format)
        for how in [*OPERANDS, "block, block", "*, block", "sizes"]:
            if how in ("block, block", "*, block"):
                operand = pt.asarray(x).redistribute(how)
            elif how == "sizes":
                sizes = [10 if rank == team.size - 1 else 0 for rank in range(team.size)]
                operand = pt.asarray(x).redistribute(cut_along(x.shape, 0, team.size, sizes))
            else:
                operand = put(x, how)
            same(t @ operand, whole @ x)
            same(t @ (operand * 2), whole @ (2 * x))


def products_of_types(team: pt.Team) -> None:
    pairs = list(itertools.product(DTYPES, DTYPES))
    for first, second in pairs[team.size % 3 :: 3]:
        whole, x = matrix((7, 6), first), numbers((6, 2), second, 1)
        same(spread(team, whole) @ put(x, "block"), whole @ x)
        same(spread(team, whole, "*, block") @ put(x, "block"), whole @ x)


def products_of_transposed(team: pt.Team) -> None:
    """Nothing is transposed, and what was planned for a transposed matrix is kept."""
    for number, layout in enumerate(LAYOUTS):
        whole = matrix((10, 7), "complex128", number)
        t = spread(team, whole, layout, FORMATS[(number + team.size) % 3])
        x, y = numbers((10, 2), "complex128", 1), numbers((7,), "complex128", 2)
        for _ in range(2):
            same(t.T @ put(x, "block"), whole.T @ x)
            same(t.H @ put(x, "cyclic"), whole.conj().T @ x)
            same(put(y, "block") @ t.T, y @ whole.T)
        assert t.T._plans is t.T._plans
        assert t.H._plans is t.T._plans
        product = t.T @ t
        np.testing.assert_array_equal(dense(product), (whole.T @ whole).toarray())


def results_lie_as_the_rows(team: pt.Team) -> None:
    whole = matrix((12, 12))
    for layout in ("block, *", "cyclic, *", "block(last), *"):
        t = spread(team, whole, layout)
        rows = Layout((12,), f"{layout.partition(',')[0]} @ {team.size}")
        x = pt.ones(12)
        for _ in range(3):
            x = t @ x
            assert team.size == 1 or x.layout == rows
        same(x, whole @ (whole @ (whole @ np.ones(12))))


def products_on_other_grids(team: pt.Team) -> None:
    """Slices that several ranks hold, on an axis of the grid in front, in the middle, behind."""
    whole, x = matrix((9, 8)), numbers((8, 2), "float64", 1)
    y = numbers((9, 2), "float64", 2)
    p = team.size
    grids = [(p, 1), (1, p), (1, 1, p), (p, 1, 1)]
    grids += [(2, 2), (2, 1, 2), (1, 2, 2), (4, 1)] if p == 4 else []
    kinds = list(itertools.product(["distributed", "replicated"], repeat=2))
    for number, (grid, dist) in enumerate(itertools.product(grids, kinds)):
        format = FORMATS[(number + number // 4) % 3]
        t = DistTensor.from_scipy(whole, dist, team, format, grid=grid)
        same(t @ put(x, "block"), whole @ x)
        same(t @ x, whole @ x)
        same(t.rmatvec(put(y, "cyclic")), whole.T @ y)
        np.testing.assert_array_equal(dense(sddmm(t, y, put(x, "block"))), _sampled(whole, y, x))
        np.testing.assert_array_equal(dense(t @ spread(team, whole.T)), (whole @ whole.T).toarray())


def products_of_sparse(team: pt.Team) -> None:
    sizes = [(7, 5, 6), (1, 9, 1), (3, 0, 2), (0, 3, 2), (2, 3, 0), (20, 3, 5), (3, 20, 5)]
    for number, (m, k, n) in enumerate(sizes):
        for at, layout in enumerate(LAYOUTS):
            dtype, other = DTYPES[(number + at) % 13], DTYPES[(number * 3 + at) % 13]
            a, b = matrix((m, k), dtype, number), matrix((k, n), other, number + 1)
            left = spread(team, a, layout, FORMATS[at % 3])
            right = spread(team, b, LAYOUTS[at - number], FORMATS[number % 3])
            found, wanted = left @ right, (a @ b).toarray()
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_array_equal(dense(found), wanted)


def sampled_products(team: pt.Team) -> None:
    for number, (shape, layout, format, dtype) in enumerate(cases()):
        whole = matrix(shape, "float64", number)
        t = spread(team, whole, layout, format)
        x, y = numbers((shape[0], 4), dtype, 1), numbers((shape[1], 4), dtype, 2)
        how, other = OPERANDS[number % 5], OPERANDS[number % 4]
        found = sddmm(t, put(x, how), put(y, other))
        np.testing.assert_array_equal(dense(found), _sampled(whole, x, y))
        assert found.format == format


def _sampled(whole: Any, x: Any, y: Any) -> Any:
    """The dense product, and zeros where the pattern has no entries."""
    entries = whole.copy()
    entries.data[:] = 1
    return np.where(entries.toarray() != 0, x @ y.T, 0)


def adjoints(team: pt.Team) -> None:
    """<A x, y> = <x, A' y>, exactly, for numbers whose sums are exact."""
    for number, (shape, layout, format, _) in enumerate(cases()):
        whole = matrix(shape, "complex128", number)
        t = spread(team, whole, layout, format)
        x, y = numbers((shape[1],), "complex128", 3), numbers((shape[0],), "complex128", 4)
        forth, back = (t @ put(x, "block")).gather(), t.rmatvec(put(y, "cyclic")).gather()
        assert np.vdot(y, forth) == np.vdot(back, x)


def fetches(team: pt.Team) -> None:
    """Rows that are fetched, and added back, in every layout of rows."""
    n, p = 13, team.size
    layouts = [cut_along((n,), 0, p), cut_along((n,), 0, p, [n, *[0] * (p - 1)])]
    layouts += [Layout((n,), f"cyclic @ {p}"), Layout((n,), f"cyclic(3) @ {p}")]
    layouts += [everywhere((n,), p)]
    layouts += [Layout((n,), [Block(rule="last")], grid=(2, 2))] if p == 4 else []
    for number, layout in enumerate(layouts):
        rng = np.random.default_rng(10 * number + team.rank)
        wanted = np.flatnonzero(rng.random(n) < 0.4)
        fetch = Fetch(team, layout, wanted, "the test")
        held = layout.globalize(team.rank, np.arange(fetch.n_own)[:, None]).reshape(-1)
        for dtype, row in itertools.product(["int8", "float32", "complex128"], [(), (3,), (0,)]):
            whole = numbers((n, *row), dtype, 5)
            own = np.ascontiguousarray(whole[held])
            both = np.concatenate([own, fetch.rows(own, "a test")])
            np.testing.assert_array_equal(both[fetch.positions], whole[wanted])
            ghosts = fetch.room(row, own.dtype)
            ghosts += 1
            before = own.copy()
            fetch.add_back(ghosts, own, "a test")
            if fetch.is_local:
                np.testing.assert_array_equal(own, before)
        is_away = fetch.positions >= fetch.n_own
        asked = np.bincount(np.concatenate(team.allgather_data(wanted[is_away])), minlength=n)
        if len(set(layout.locate(np.arange(n)[:, None])[0])) > 1 and layout.n_ranks == len(
            {layout.owner((int(one),)) for one in range(n)}
        ):
            total = np.zeros(fetch.n_own)
            fetch.add_back(fetch.room((), total.dtype) + 1, total, "a test")
            np.testing.assert_array_equal(total, asked[held])


def products_of_vectors(team: pt.Team) -> None:
    """Tensors of one dimension with dense and sparse vectors and matrices, on either side."""
    rng = np.random.default_rng(4)
    for layout, kind, n in itertools.product(
        ("block", "*", "cyclic"), ("int8", "complex64"), (7, 2)
    ):
        v, w = (rng.integers(-2, 3, n).astype(kind) for _ in range(2))
        m = rng.integers(-2, 3, (n, 4)).astype(kind)
        t, u = DistTensor.from_dense(v, layout=layout), DistTensor.from_dense(w)
        s, scipys = DistTensor.from_dense(m), sp.csr_array(m)
        for found, wanted in [
            (t @ w, v @ w),
            (t @ pt.asarray(w), v @ w),
            (w @ t, w @ v),
            (t @ u, v @ w),
            (t @ sp.coo_array(w), v @ w),
            (t @ m, v @ m),
            (t @ pt.asarray(m), v @ m),
            (m.T @ t, m.T @ v),
            (t @ s, v @ m),
            (s.T @ t, m.T @ v),
            (t @ scipys, v @ m),
            (s.T @ sp.coo_array(w), m.T @ w),
        ]:
            whole = found.gather() if hasattr(found, "gather") else found
            whole = whole.toarray() if sp.issparse(whole) else whole
            assert whole.dtype == wanted.dtype
            np.testing.assert_array_equal(whole, wanted)
    for wrong in (np.ones(3), np.ones((3, 2)), np.ones((2, 2, 2)), u @ s):
        with pytest.raises(ValueError, match="rows"):
            t @ wrong


def refusals(team: pt.Team) -> None:
    t = spread(team, matrix((5, 4)))
    with pytest.raises(ValueError, match=r"shape \(5,\) for the 4 .*; give it 4 rows"):
        t @ np.ones(5)
    with pytest.raises(ValueError, match="3 dimensions"):
        t @ np.ones((4, 1, 1))
    with pytest.raises(ValueError, match="as many rows"):
        t @ t
    with pytest.raises(ValueError, match="rows of one length"):
        sddmm(t, np.ones((5, 2)), np.ones((4, 3)))
    with pytest.raises(TypeError):
        t @ "words"
    # One rank's mistake is all ranks', also where none needs anything of another.
    last = team.size - 1
    for layout, others in (("*, block", pt.RemoteError), ("block, *", ValueError)):
        given = np.ones(3 if team.rank == last else 4)
        s = spread(team, matrix((5, 4)), layout)
        kind = ValueError if team.rank == last else others
        with pytest.raises(kind, match="give it 4 rows"):
            s @ given
    # The team goes on.
    same(t @ np.ones(4), matrix((5, 4)) @ np.ones(4))


BODIES = [
    products_with_dense,
    products_of_all_layouts,
    products_of_types,
    products_of_transposed,
    results_lie_as_the_rows,
    products_on_other_grids,
    products_of_sparse,
    products_of_vectors,
    sampled_products,
    adjoints,
    fetches,
    refusals,
]
