"""Bodies of tests of sparse tensors: how they are made, turned and moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from engines import Case
from generate import fitted
from sparse_cases import (
    FORMATS,
    KINDS,
    LAYOUTS,
    SHAPES,
    dense,
    entries,
    part_of,
    raised,
    same,
    tensor,
)

import partita as pt
from partita.sparse import DistTensor


def of_scipy(team: pt.Team, shape: tuple[int, int]) -> None:
    """A matrix that all have, or one, in every format and layout, is the same again."""
    for number, layout in enumerate(LAYOUTS):
        for given in (FORMATS[(number + sum(shape)) % 3], *(["lil"] if number == 3 else [])):
            m = tensor(shape, KINDS[number + 6], number, given)
            kept = given if given in FORMATS else "coo"
            t = DistTensor.from_scipy(m, layout=layout)
            assert (t.shape, t.dtype, t.format, t.ndim) == (shape, m.dtype, kept, 2)
            same(t.gather(), m)
            here = t.to_scipy()
            np.testing.assert_array_equal(dense(here), part_of(dense(m), t, t.slice_id))
            root = team.size - 1
            wanted = FORMATS[number % 3]
            own = m if team.rank == root else None
            u = DistTensor.from_scipy(own, layout=layout, root=root, format=wanted)
            assert u.format == wanted
            same(u.gather(), m)
            found = u.gather(root)
            assert (found is None) == (team.rank != root)


def of_blocks(team: pt.Team, shape: tuple[int, int]) -> None:
    for number, layout in enumerate(LAYOUTS):
        m = tensor(shape, "float64", number, FORMATS[number % 3])
        block = DistTensor.from_scipy(m, layout=layout).to_scipy()
        t = DistTensor.from_blocks(block, shape, layout=layout)
        same(t.gather(), m)
        assert t.nnz_local == 0 or np.shares_memory(t.values, block.data)


def of_triplets(team: pt.Team, shape: tuple[int, ...]) -> None:
    """Entries that ranks have anywhere are added where they belong, copies included."""
    ndim = len(shape)
    layouts = [one for one in LAYOUTS if ndim == 2] or ["block", "cyclic", "*", "block, *, cyclic"]
    for number, layout in enumerate(layouts):
        for format in [FORMATS[(number + sum(shape)) % 3] if ndim == 2 else "coo"]:
            dtype = KINDS[(number * 3 + ndim) % len(KINDS)]
            coords, data = entries(shape, dtype, number)
            # Each rank has every so many-th of them.
            own = slice(team.rank, None, team.size)
            given = [one[own].tolist() for one in coords]
            t = DistTensor.from_coo(
                shape, given, data[own], layout=fitted(layout, ndim), format=format
            )
            wanted = np.zeros(shape, dtype)
            np.add.at(wanted, tuple(coords), data)
            np.testing.assert_array_equal(dense(t.gather()), wanted)
            np.testing.assert_array_equal(dense(t.to_scipy()), part_of(wanted, t, t.slice_id))
            assert t.index_dtype == np.int32
            assert t._block.is_tidy
            # Copies of a slice are counted once.
            places = np.stack(coords).reshape(ndim, -1)
            assert t.nnz == np.unique(places, axis=1).shape[1]


def some_have_nothing(team: pt.Team) -> None:
    """Whoever has no entries need not know of which type they are."""
    here = team.rank == team.size - 1
    data: Any = np.array([1, 2], "int16") if here else []
    given = ([0, 3], [1, 1]) if here else ([], [])
    t = DistTensor.from_coo((4, 2), given, data)
    assert t.dtype == np.int16
    np.testing.assert_array_equal(t.to_dense().gather(), [[0, 1], [0, 0], [0, 0], [0, 2]])
    assert DistTensor.from_coo((4, 2), ([], []), np.zeros(0, "int8")).dtype == np.int8


def of_dense(team: pt.Team, shape: tuple[int, ...]) -> None:
    for number, layout in enumerate(LAYOUTS if len(shape) == 2 else ["block", "cyclic"]):
        whole = dense(tensor(shape, "complex64", number, "coo"))
        t = DistTensor.from_dense(whole, layout=layout)
        np.testing.assert_array_equal(dense(t.gather()), whole)
        a = t.to_dense()
        assert (a.layout, a.dtype) == (t.layout, t.dtype)
        np.testing.assert_array_equal(a.gather(), whole)
        u = DistTensor.from_dense(a)
        assert u.layout == t.layout
        assert u.nnz == np.count_nonzero(whole)
        np.testing.assert_array_equal(dense(u.gather()), whole)


def turned(team: pt.Team, shape: tuple[int, int]) -> None:
    """Transposed, converted and redistributed tensors are SciPy's."""
    for number, layout in enumerate(LAYOUTS):
        for format in [FORMATS[(number + sum(shape)) % 3]]:
            m = tensor(shape, "int64", number, format)
            t = DistTensor.from_scipy(m, layout=layout)
            same(t.T.gather(), m.T)
            assert t.T.format == {"csr": "csc", "csc": "csr", "coo": "coo"}[format]
            assert t.T.dist == t.dist[::-1]
            assert t.nnz_local == 0 or np.shares_memory(t.T.values, t.values)
            same(t.T.T.gather(), m)
            same(t.tocsr().gather(), m)
            same(t.tocsc().gather(), m)
            same(t.tocoo().gather(), m)
            same(t.astype("float32").gather(), m.astype("float32"))
            for other in [LAYOUTS[(number + 2 + shape[0] % 2) % 6]]:
                u = t.T.redistribute(layout=other, format="csr")
                assert (u.layout.notation, u.format) == (
                    pt.sparse.slices.slices_for(m.T.shape, team.size, layout=other).layout.notation,
                    "csr",
                )
                same(u.gather(), m.T)


def balanced(team: pt.Team, shape: tuple[int, ...]) -> None:
    """Whole rows, with about as many entries on each rank wherever they were before."""
    for number, layout in enumerate((*LAYOUTS, "block(last), *") if len(shape) == 2 else ["block"]):
        m = tensor(shape, "int64", number) if len(shape) == 2 else None
        if m is None:
            rows, columns = np.arange(300) // 2 % shape[0] // 3, np.arange(300) % shape[1]
            coords = (rows, columns, np.arange(300) % shape[2])
            t = DistTensor.from_coo(shape, coords, np.ones(300), layout=f"{layout}, *, *")
        else:
            t = DistTensor.from_scipy(m, layout=layout)
        u = t.balanced()
        same(u.gather(), t.gather())
        assert u.dist == ("distributed", *["replicated"] * (len(shape) - 1))
        counts = np.bincount(u.gather().tocoo().coords[0], minlength=1)
        longest = int(counts.max(initial=0))
        assert u.nnz_local <= u.nnz / team.size + longest + 1


def grids(team: pt.Team, shape: tuple[int, int]) -> None:
    """Ranks that hold the same slice, in grids with an axis for them."""
    m = tensor(shape, "float64", 3)
    sides = [(team.size, 1), (1, team.size), (1, 1, team.size)]
    if team.size == 4:
        sides += [(2, 1, 2), (1, 2, 2), (2, 2, 1)]
    for grid in sides:
        for dist in (
            ("distributed", "replicated"),
            ("replicated", "distributed"),
            ("distributed", "distributed"),
            ("replicated", "replicated"),
        ):
            t = DistTensor.from_scipy(m, dist, grid=grid)
            assert t.grid_size() == grid[:2]
            assert t.dist == dist
            assert t.nnz == m.nnz
            same(t.gather(), m)
            same(t.T.gather(), m.T)
            assert t.T.grid_size() == grid[1::-1]
            same(t.redistribute(("distributed", "replicated")).gather(), m)
            np.testing.assert_array_equal(t.to_dense().gather(), dense(m))
            np.testing.assert_array_equal((t @ pt.ones(shape[1])).gather(), dense(m).sum(axis=1))
            given = m.tocoo() if team.rank == 0 else None
            coords = ([], []) if given is None else given.coords
            data = np.zeros(0) if given is None else given.data
            u = DistTensor.from_coo(shape, coords, data, dist, grid=grid)
            same(u.to_scipy(), t.to_scipy())


def many_dimensions(team: pt.Team) -> None:
    for shape, order in [((5, 4, 6), (2, 0, 1)), ((3, 2, 2, 3), (3, 2, 1, 0)), ((8,), (0,))]:
        coords, data = entries(shape, "float64", 5)
        for layout in ("block, cyclic", "*, *, block", "*"):
            words = ", ".join(layout.split(", ")[: len(shape)])
            given = coords if team.rank == 0 else [[]] * len(shape)
            t = DistTensor.from_coo(
                shape, given, data if team.rank == 0 else data[:0], layout=words
            )
            whole = np.zeros(shape)
            np.add.at(whole, tuple(coords), data)
            np.testing.assert_array_equal(t.to_dense().gather(), whole)
            np.testing.assert_array_equal(
                dense(t.transpose(order).gather()), whole.transpose(order)
            )
            np.testing.assert_array_equal(
                t.transpose(order).to_dense().gather(), whole.transpose(order)
            )
            moved = t.redistribute(layout="cyclic(2)")
            np.testing.assert_array_equal(dense(moved.gather()), whole)


def kinds(team: pt.Team) -> None:
    """Every element type and both index types, through everything that moves."""
    for dtype in KINDS:
        for index_dtype in ("int32", "int64"):
            coords, data = entries((9, 8), dtype, 4)
            own = slice(team.rank, None, team.size)
            given = [one[own].astype(index_dtype) for one in coords]
            t = DistTensor.from_coo((9, 8), given, data[own], index_dtype=index_dtype)
            assert (t.dtype, t.index_dtype) == (np.dtype(dtype), np.dtype(index_dtype))
            whole = np.zeros((9, 8), dtype)
            np.add.at(whole, tuple(coords), data)
            for one in (t.redistribute(layout="*, cyclic"), t.tocsc(), t.tocoo()):
                assert one.index_dtype == np.dtype(index_dtype)
                np.testing.assert_array_equal(dense(one.gather()), whole)
            np.testing.assert_array_equal(t.to_dense().gather(), whole)


def shared_patterns(team: pt.Team) -> None:
    t = DistTensor.from_scipy(tensor((20, 9), "float64", 2))
    u = t.with_values(t.values * 2)
    assert t.pattern_is(u)
    assert u.pattern_is(t.astype("float32"))
    assert t.T.pattern_is(u.T)
    assert not t.pattern_is(t.copy())
    assert not t.pattern_is(t.T)
    assert u._block.indices is t._block.indices
    np.testing.assert_array_equal(u.to_dense().gather(), np.asarray(t.to_dense().gather()) * 2)
    other = t.copy()
    assert other.nnz_local == 0 or not np.shares_memory(other.values, t.values)
    text = raised(lambda: t.with_values(np.zeros(t.nnz_local + 1)), pt.LayoutError)
    assert "give one for each" in text


def adjoint(team: pt.Team) -> None:
    """Moving values there and back are each other's adjoint: <Mx, y> = <x, M'y>."""
    rng = np.random.default_rng(8)
    pattern = tensor((19, 13), "float64", 6).astype(bool).astype("float64")
    for number, there in enumerate(LAYOUTS):
        for here in (LAYOUTS[number - 1], LAYOUTS[number - 3]):
            x, y = (pattern.copy() for _ in range(2))
            x.data[:], y.data[:] = rng.standard_normal((2, pattern.nnz))
            moved = DistTensor.from_scipy(x, layout=here).redistribute(layout=there)
            back = DistTensor.from_scipy(y, layout=there).redistribute(layout=here)
            left = np.sum(dense(moved.gather()) * dense(y))
            right = np.sum(dense(x) * dense(back.gather()))
            np.testing.assert_allclose(left, right, rtol=1e-12)


def refused(team: pt.Team) -> None:
    """What one rank does wrong is an error on every rank, and the team goes on."""
    m = tensor((6, 4), "float64", 1)
    last = team.rank == team.size - 1

    def of(good: Any, bad: Any) -> Any:
        return bad if last else good

    def coo(**changed: Any) -> Any:
        made: dict[str, Any] = {"shape": (6, 4), "indices": [[1], [2]], "values": [1.0]}
        return lambda: DistTensor.from_coo(**(made | changed))

    cases: list[tuple[Any, str]] = [
        (coo(indices=of([[1], [2]], [[6], [0]])), "index 6 of dimension 0"),
        (coo(indices=of([[1], [2]], [[-1], [0]])), "index -1"),
        (coo(indices=of([[1], [2]], [[1]])), "lists of indices"),
        (coo(indices=of([[1], [2]], [[1, 2], [1, 2]])), "give 1 integers"),
        (coo(indices=of([[1], [2]], [[1.5], [2]])), "give 1 integers"),
        (coo(values=of([1.0], ["x"])), "sparse values of"),
        (coo(values=of([1.0], [[1.0]])), "one row"),
        (coo(format=of("csr", "dia")), "'csr', 'csc' or 'coo'"),
        (coo(shape=of((6, 4), (6, -4))), "at least 0"),
        (coo(dist=of(None, ("distributed",))), "for each"),
        (coo(grid=of(None, (team.size, 2))), "all ranks"),
        (coo(index_dtype=of(None, "int16")), "int32 or int64"),
        (lambda: DistTensor.from_scipy(of(m, 3)), "no sparse matrix"),
        (lambda: DistTensor.from_scipy(of(m, None), root=team.size - 1), "no sparse matrix"),
        (lambda: DistTensor.from_dense(of(m.toarray(), m.toarray().astype("float16"))), "float16"),
        (lambda: DistTensor.from_blocks(of(m[:0], m), (0, 4)), "which is"),
        (
            lambda: DistTensor.from_scipy(m, layout="block, *").redistribute(layout=of("*", "oh")),
            "",
        ),
    ]
    for work, words in cases:
        if team.size > 1 and words == "which is":
            continue
        assert words in raised(work, ValueError, RuntimeError), words
    if team.size > 1:
        different: list[Any] = [
            coo(shape=of((6, 4), (6, 5))),
            coo(values=of([1.0], [1])),
            coo(format=of("csr", "csc")),
            coo(dist=of(None, ("replicated", "distributed"))),
            lambda: DistTensor.from_scipy(of(m, m.astype("float32"))),
            lambda: DistTensor.from_scipy(of(m, m[:, ::-1][:3])),
            lambda: DistTensor.from_scipy(m, root=0, format=of("csr", "csc")),
            lambda: DistTensor.from_scipy(m).redistribute(format=of("csr", "csc")),
            lambda: DistTensor.from_blocks(
                of(m, 2 * m), m.shape, dist=("replicated", "replicated")
            ),
        ]
        for work in different:
            assert "give the same" in raised(work, pt.MismatchError)
    assert team.allgather_data(1) == [1] * team.size
    same(DistTensor.from_scipy(m).gather(), m)


def other_grids(team: pt.Team, shape: tuple[int, ...]) -> None:
    """A grid may have fewer axes than dimensions, or more, along which ranks hold the same."""
    n, ndim = team.size, len(shape)
    whole = dense(tensor(shape, "float64", 3, "coo"))
    backwards = list(reversed(range(n)))
    ones = [1] * ndim
    for cut in range(ndim):
        maps: list[Any] = [pt.Whole() for _ in shape]
        maps[cut] = pt.Block(rule="last")
        for grid in ([n], [n, *ones], [n, 1, *ones], [*ones, n]):
            for ranks in (None, backwards):
                _is_laid(team, whole, pt.Layout(shape, maps, grid=grid, ranks=ranks))
    _is_laid(team, whole, pt.Layout(shape, [pt.Whole() for _ in shape], grid=[n]))
    cyclic = [pt.Cyclic(2) for _ in shape]
    _is_laid(team, whole, pt.Layout(shape, cyclic, grid=[*ones, 1, n], ranks=backwards))


def _is_laid(team: pt.Team, whole: Any, layout: pt.Layout) -> None:
    """Whether tensors lie as a layout says, and can be computed with."""
    shape = whole.shape
    t: Any = DistTensor.from_dense(whole, layout=layout)
    held = pt.asarray(whole, layout=layout, team=team)
    np.testing.assert_array_equal(dense(t.to_scipy()), held.local)
    assert len(t.layout.grid_shape) >= len(shape)
    for made in (
        DistTensor.from_dense(held),
        DistTensor.from_scipy(t.gather(), layout=layout),
        DistTensor.from_coo(shape, *t._own_entries(), layout=layout),
        DistTensor.from_dense(whole).redistribute(layout=layout),
    ):
        assert made.layout == t.layout
        np.testing.assert_array_equal(dense(made.to_scipy()), held.local)
    np.testing.assert_array_equal(dense(t.gather()), whole)
    np.testing.assert_array_equal(dense(t.T.gather()), whole.T)
    np.testing.assert_array_equal(t.to_dense().gather(), whole)
    everywhere = t.redistribute(["replicated"] * t.ndim)
    np.testing.assert_array_equal(dense((t + everywhere).gather()), 2 * whole)
    row = pt.asarray(np.arange(1.0, shape[-1] + 1))
    np.testing.assert_array_equal(dense((t * row).gather()), whole * row.gather())
    for axis in range(t.ndim):
        found = t.sum(axis=axis)
        sums = found.gather() if t.ndim > 1 else found
        np.testing.assert_array_equal(sums, whole.sum(axis=axis))
    if t.ndim <= 2:
        x = np.arange(1.0, shape[-1] + 1)
        for operand in (x, pt.asarray(x), pt.ones(shape[-1]) * x):
            found = t @ operand
            np.testing.assert_array_equal(found.gather() if t.ndim == 2 else found, whole @ x)
    if t.ndim == 2:
        np.testing.assert_array_equal(dense(t.get_rows([-1, 0])), whole[[-1, 0]])
        np.testing.assert_array_equal(dense((t @ t.T).gather()), whole @ whole.T)


BODIES: list[tuple[Any, list[Any]]] = [
    (of_scipy, SHAPES),
    (of_blocks, [(7, 5), (0, 3), (9, 1)]),
    (of_triplets, [*SHAPES, (9,), (4, 3, 5), (0, 2, 3)]),
    (of_dense, [(7, 5), (3, 0), (1, 9), (9,), (4, 3, 5)]),
    (turned, [(7, 5), (0, 3), (1, 9), (22, 17)]),
    (balanced, [(7, 5), (0, 3), (1, 1), (5, 0), (60, 40), (9, 4, 3)]),
    (grids, [(7, 5), (1, 1), (5, 0)]),
    (other_grids, [(7, 5), (9,), (4, 3, 5)]),
]
CASES = [
    Case(f"{body.__name__} {shape}", body, (shape,)) for body, shapes in BODIES for shape in shapes
] + [
    Case(one.__name__, one)
    for one in (some_have_nothing, many_dimensions, kinds, shared_patterns, adjoint, refused)
]
