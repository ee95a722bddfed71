"""Products of arrays on the ranks of a team beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from generate import fitted

import partita as pt
from partita._functions import matmul as ways

# Its types do not know all of its arguments.
numpy: Any = np
# Whole on every rank, then really split in several ways.
LAYOUTS = [None, "block, *", "*, block", "cyclic, *", "*, cyclic(2)", "block, block"]
DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128"]


def put(x: Any, layout: str | None) -> Any:
    """An array of partita with the same elements, in a layout."""
    given = pt.asarray(x.copy())
    if layout is None or x.ndim == 0:
        return given
    return given.redistribute(fitted(layout, x.ndim))


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Small whole numbers, whose sums are exact in every type and order."""
    rng = np.random.default_rng(seed)
    made = rng.integers(-4, 5, shape)
    if dtype.startswith("c"):
        made = made + 1j * rng.integers(-4, 5, shape)
    return made.astype(dtype)


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.gather(), wanted)


def products_of_matrices(team: pt.Team) -> None:
    sizes = [(7, 5, 6), (1, 9, 1), (3, 0, 2), (0, 3, 2), (2, 3, 0), (40, 3, 5), (3, 40, 5)]
    sizes += [(3, 5, 40), (1, 1, 1), (33, 30, 31)]
    for number, (m, k, n) in enumerate(sizes):
        for at, first in enumerate(LAYOUTS):
            # All pairs for the first sizes; for the others every layout, beside another.
            for second in LAYOUTS if number == 0 else [LAYOUTS[at - number % 6]]:
                dtype = DTYPES[(number + at) % len(DTYPES)]
                x, y = numbers((m, k), dtype), numbers((k, n), dtype, 1)
                same(put(x, first) @ put(y, second), x @ y)


def products_of_types(team: pt.Team) -> None:
    for first in DTYPES:
        for second in DTYPES:
            x, y = numbers((5, 4), first), numbers((4, 6), second, 1)
            same(put(x, "block, *") @ y, x @ y)


def products_of_stacks(team: pt.Team) -> None:
    pairs: list[Any] = [
        ((5, 3, 4), (5, 4, 2)),
        ((5, 3, 4), (4, 2)),
        ((3, 4), (5, 4, 2)),
        ((5, 1, 3, 4), (6, 4, 2)),
        ((5, 3, 4), (4,)),
        ((4,), (5, 4, 2)),
        ((0, 3, 4), (4, 2)),
        ((2, 3, 0), (2, 0, 3)),
        ((1, 3, 4), (2, 4, 2)),
        ((6,), (6,)),
        ((6, 7), (7,)),
        ((6,), (6, 7)),
    ]
    for first in (None, "block", "*, block", "cyclic"):
        for second in (None, "block"):
            for a, b in pairs:
                x, y = numbers(a, "int32"), numbers(b, "float64", 1)
                same(pt.matmul(put(x, first), put(y, second)), np.matmul(x, y))


def products_beside_numpy(team: pt.Team) -> None:
    x, y = numbers((6, 5), "float64"), numbers((5, 6), "float64", 1)
    a = put(x, "block, *")
    same(a @ y, x @ y)
    same(y @ a, y @ x)
    same(np.matmul(y, a), y @ x)
    same(np.dot(a, y), x @ y)
    same(a @ y.tolist(), x @ y)
    a @= numbers((5, 5), "float64", 2)
    same(a, x @ numbers((5, 5), "float64", 2))
    out = pt.zeros((6, 6))
    assert pt.matmul(a, y, out) is out
    same(out, x @ numbers((5, 5), "float64", 2) @ y)
    view = put(x, "block, *")[1:, ::-1]
    same(view @ view.T, x[1:, ::-1] @ x[1:, ::-1].T)
    same(view.T @ view, x[1:, ::-1].T @ x[1:, ::-1])


def products_with_strange_numbers(team: pt.Team) -> None:
    x = numbers((6, 5), "float64")
    x[2, 3], x[4, 0], x[5, 1] = np.nan, np.inf, -0.0
    y = numbers((5, 7), "float64", 1)
    for first in LAYOUTS:
        with np.errstate(invalid="ignore"):
            same(put(x, first) @ put(y, "block, *"), x @ y)


def panels_and_grids(team: pt.Team) -> None:
    """Every way gives the same, also where operands come in panels."""
    x, y = numbers((13, 11), "float64"), numbers((11, 9), "float64", 1)
    a, b = put(x, "block, *"), put(y, "block, *")
    n = team.size
    found = list(ways._ways(a.layout, b.layout, (13, 9), n))
    assert len(found) == (4 if n == 4 else 3)
    team.barrier()
    for way in found:
        made = ways._by_way(a, b, way, panel_bytes=64)
        same(made, x @ y)
        assert made.layout == way.result


def other_products(team: pt.Team) -> None:
    for dtype in ("int16", "float64", "complex128"):
        x, y, z = (numbers((4, 5), dtype, seed) for seed in range(3))
        t, v = numbers((4, 5, 3), dtype), numbers((5,), dtype)
        for how in (None, "block") if dtype == "int16" else ("*, block", "cyclic"):
            a, b, c, d, w = (put(one, how) for one in (x, y, z, t, v))
            same(pt.vecdot(a, b), np.vecdot(x, y))
            same(pt.vecdot(a, c, axis=0), numpy.vecdot(x, z, axis=0))
            same(pt.tensordot(a, d), np.tensordot(x, t))
            same(pt.tensordot(a, b, 0), np.tensordot(x, y, 0))
            same(pt.tensordot(d, b, ((1, 0), (1, 0))), np.tensordot(t, y, ((1, 0), (1, 0))))
            same(pt.tensordot(a, w, axes=(1, 0)), np.tensordot(x, v, axes=(1, 0)))
            same(pt.inner(a, w), np.inner(x, v))
            same(pt.inner(a, b), np.inner(x, y))
            same(pt.vdot(a, b), np.vdot(x, y))
            same(pt.outer(a, w), np.outer(x, v))
            same(pt.kron(a, b), np.kron(x, y))
            same(pt.kron(a, w), np.kron(x, v))
            same(pt.dot(a, d.transpose(2, 1, 0)), np.dot(x, t.transpose(2, 1, 0)))
            same(pt.dot(a, 3), np.dot(x, 3))
            same(pt.matvec(a, w), np.matvec(x, v))
            same(pt.vecmat(w, a.T), np.vecmat(v, x.T))
            same(pt.cross(d, d[::-1]), np.cross(t, t[::-1]))
            for offset in (-2, 0, 9):
                same(pt.diagonal(a, offset), np.diagonal(x, offset))
                same(a.trace(offset), x.trace(offset))
            same(d.diagonal(1, 2, 0), t.diagonal(1, 2, 0))
            same(pt.trace(d, 0, 1, 2), np.trace(t, 0, 1, 2))


EINSUMS: list[Any] = [
    ("ij,jk->ik", (4, 5), (5, 3)),
    ("ij,jk", (4, 5), (5, 3)),
    ("ii->i", (5, 5)),
    ("ii", (5, 5)),
    ("iii->i", (3, 3, 3)),
    ("iij->j", (3, 3, 4)),
    ("ij->ji", (3, 4)),
    ("ba", (2, 3)),
    ("ij->", (3, 4)),
    ("i,i", (6,), (6,)),
    ("i,j", (4,), (3,)),
    ("i,->i", (3,), ()),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk->bik", (3, 4, 5), (3, 5, 2)),
    ("ijk,jil->kl", (3, 4, 5), (4, 3, 2)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("abc,cd,be->ade", (2, 3, 4), (4, 2), (3, 5)),
    ("a,b,c->cab", (2,), (3,), (4,)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("i...->...", (3, 4, 2)),
    ("...,...", (3,), (2, 3)),
    ("ab...,b...->a...", (2, 3, 4), (3, 4)),
    ("ij,j->i", (3, 1), (4,)),
    ("ij,jk->k", (3, 4), (4, 5)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
]


def einsums(team: pt.Team) -> None:
    for how in ("block", "*, block"):
        for subscripts, *shapes in EINSUMS:
            given = [numbers(shape, "int64", seed) for seed, shape in enumerate(shapes)]
            found = pt.einsum(subscripts, *(put(one, how) for one in given))
            same(found, np.einsum(subscripts, *given))
    x, y = numbers((3, 4), "float64"), numbers((4, 5), "float64")
    same(pt.einsum(put(x, "block"), [0, 1], y, [1, 2], [2, 0]), np.einsum("ij,jk->ki", x, y))
    same(np.einsum("ij,jk", put(x, "block"), y, optimize=True), x @ y)
    z = numbers((3, 4), "bool") | True
    same(pt.einsum("ij,kj->ik", put(z, "block"), z), np.einsum("ij,kj->ik", z, z))


def refused_products(team: pt.Team) -> None:
    a, b = put(np.ones((4, 5)), "block, *"), put(np.ones((4, 5)), "*, block")
    for call in (
        lambda: a @ b,
        lambda: a @ 3,
        lambda: pt.matmul(pt.ones((2, 3, 4)), pt.ones((3, 4, 2))),
        lambda: pt.tensordot(a, b, 3),
        lambda: pt.tensordot(a, b, ((0,), (1,))),
        lambda: pt.vecdot(a, b[:, 1:]),
        lambda: pt.einsum("ij,jk", a, b),
        lambda: pt.einsum("ij,jk", a),
        lambda: pt.einsum("ij->iz", a),
        lambda: pt.einsum("i...->i", a),
        lambda: pt.einsum("i-", a),
        lambda: pt.einsum("ijk", a),
        lambda: pt.einsum("ii", pt.ones((1, 3))),
        lambda: pt.einsum("ii", pt.ones((3, 1))),
        lambda: pt.cross(a, b),
        lambda: pt.diagonal(a, 0, 1, 1),
        lambda: pt.diagonal(a[0]),
    ):
        with pytest.raises(ValueError, match=r"use|must|give|name|axis|of \d|subscripts"):
            call()
    with pytest.raises(TypeError):
        a @ "text"
    # The team goes on after all this.
    same(a @ b.T, np.full((4, 4), 5.0))


BODIES = [
    products_of_matrices,
    products_of_types,
    products_of_stacks,
    products_beside_numpy,
    products_with_strange_numbers,
    panels_and_grids,
    other_products,
    einsums,
    refused_products,
]
