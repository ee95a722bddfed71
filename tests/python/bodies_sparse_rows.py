"""Rows and columns of sparse matrices on the ranks of a team beside SciPy's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import raised, tensor
from sparse_matrices import LAYOUTS, cases, dense, matrix, numbers, spread

import partita as pt
from partita.sparse import DistTensor
from partita.sparse.access import access_of


def wishes(team: pt.Team, n: int, seed: int = 0) -> Any:
    """What a rank asks for: any order, some repeatedly, some from the end; one rank nothing."""
    rng = np.random.default_rng(100 * seed + team.rank)
    n_wanted = 0 if n == 0 or team.rank == 1 else int(rng.integers(1, 2 * n + 1))
    return rng.integers(-n, max(n, 1), n_wanted)


def equal(found: Any, wanted: Any) -> None:
    """A SciPy array of this rank is what SciPy gives, with stored zeros."""
    assert found.format == "csr"
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)


def rows_asked_for(team: pt.Team) -> None:
    for number, (shape, layout, format, dtype) in enumerate(cases()):
        whole = matrix(shape, dtype, number)
        t = spread(team, whole, layout, format)
        wanted = wishes(team, shape[0], number)
        equal(t.get_rows(wanted), whole[wanted])
    equal(t.get_rows([]), whole[np.empty(0, int)])


def rows_by_a_kept_plan(team: pt.Team) -> None:
    for number, layout in enumerate(LAYOUTS):
        for format in ("csr", "csc"):
            whole = matrix((14, 9), seed=number)
            t = spread(team, whole, layout, format)
            wanted = wishes(team, 14, number)
            rows = t.plan_rows(wanted)
            assert rows.shape == (len(wanted), 9)
            equal(rows(t), whole[wanted])
            # Other values of one pattern, also of another type.
            for scale in (2.0, 3j):
                twice = t._revalued(t._block.data * scale, "times")
                equal(rows(twice), (whole * scale)[wanted])
            equal(rows(t), whole[wanted])


def rows_added_back(team: pt.Team) -> None:
    """<rows(A), B> over all ranks = <A, adjoint(B)>, and row by row what serial code gives."""
    grids: list[Any] = [None, (1, 1, team.size)]
    for number, (grid, layout) in enumerate((grid, one) for grid in grids for one in LAYOUTS[:5]):
        whole = matrix((12, 7), seed=number)
        if grid is None:
            t = spread(team, whole, layout)
        else:
            t = DistTensor.from_scipy(whole, ("distributed", "replicated"), team, grid=grid)
        rows = t.plan_rows(wishes(team, 12, number))
        here = rows(t)
        back = here.copy()
        back.data = numbers((here.nnz,), "float64", 7 + team.rank)
        total = rows.adjoint(back)
        np.testing.assert_array_equal(dense(rows.adjoint(back.data)), dense(total))
        told = team.allgather_data([wishes(team, 12, number), here.toarray(), back.toarray()])
        wanted = np.zeros((12, 7))
        for which, _, given in told:
            np.add.at(wanted, which, given)
        np.testing.assert_array_equal(dense(total), wanted)
        left = sum(float((forth * given).sum()) for _, forth, given in told)
        assert left == float((whole.toarray() * wanted).sum())


def rows_of_other_dimensions_added_back(team: pt.Team) -> None:
    """The same for tensors of one dimension, and of three, whatever dimensions are cut."""
    layouts = {1: ["block", "cyclic", "*"], 3: ["block, *, *", "*, block, cyclic", "cyclic, *, *"]}
    for shape in ((9,), (7, 3, 4), (7, 0, 4)):
        for number, layout in enumerate(layouts[len(shape)]):
            whole = np.zeros(shape)
            some = numbers((whole.size,), "float64", number).reshape(shape)
            whole[::2] = some[::2]
            t: Any = DistTensor.from_dense(whole, team=team, layout=layout)
            wanted = wishes(team, shape[0], number)
            rows: Any = t.plan_rows(wanted)
            here = rows(t)
            assert rows.shape == here.shape == (len(wanted), *shape[1:])
            np.testing.assert_array_equal(here.toarray(), whole[wanted])
            twice = rows(t.with_values(2 * t.values))
            np.testing.assert_array_equal(twice.toarray(), 2 * whole[wanted])
            back = here.copy()
            back.data = numbers((here.nnz,), "float64", 7 + team.rank)
            total = rows.adjoint(back)
            assert total.shape == shape
            np.testing.assert_array_equal(dense(rows.adjoint(back.data)), dense(total))
            told = team.allgather_data([wanted, here.toarray(), back.toarray()])
            sums = np.zeros(shape)
            for which, _, given in told:
                np.add.at(sums, which, given)
            np.testing.assert_array_equal(dense(total), sums)
            left = sum(float((forth * given).sum()) for _, forth, given in told)
            assert left == float((whole * sums).sum())
            last = team.rank == team.size - 1
            with pytest.raises(ValueError, match="one for each"):
                rows.adjoint(np.ones(99 if last else here.nnz))
            with pytest.raises(ValueError, match="another pattern"):
                rows(DistTensor.from_dense(whole, team=team, layout=layout))


INDICES: list[Any] = [
    (slice(None), slice(None)),
    (slice(2, 7), slice(None)),
    (slice(None, None, -1), slice(None)),
    (slice(-3, None), slice(1, 5)),
    (slice(5, 2), slice(None)),
    ([3, 3, 0, -1, 7], slice(None)),
    (np.arange(11) % 2 == 0, slice(None)),
    (slice(None), [4, 0, 2]),
    (slice(None), [4, 4, 0, -1, 4]),
    (slice(1, 9, 2), slice(None, None, 3)),
    (slice(None), slice(8, None, -2)),
    ([], slice(None)),
    (slice(None), []),
]


def indices_that_choose(team: pt.Team) -> None:
    for number, layout in enumerate(LAYOUTS):
        format = ("csr", "csc", "coo")[(number + team.size) % 3]
        whole = matrix((11, 9), seed=number)
        t, full = spread(team, whole, layout, format), whole.toarray()
        for key in INDICES:
            found, wanted = t[key], full[key]
            assert found.shape == wanted.shape, key
            np.testing.assert_array_equal(dense(found), wanted, err_msg=str(key))
        np.testing.assert_array_equal(
            dense(t[[5, 1, 5], :][:, [0, 8, 3]]), full[[5, 1, 5]][:, [0, 8, 3]]
        )
        np.testing.assert_array_equal(dense(t[4:]), full[4:])
        np.testing.assert_array_equal(dense(t[..., 2:4]), full[:, 2:4])
        np.testing.assert_array_equal(dense(t[3]), full[3])
        np.testing.assert_array_equal(dense(t[-2, 1:6]), full[-2, 1:6])
        np.testing.assert_array_equal(dense(t[:, 4]), full[:, 4])
        rows, columns = [1, 0, 5, 5, 10, -1], [3, 3, 0, 8, 8, -4]
        np.testing.assert_array_equal(dense(t[rows, columns]), full[rows, columns])
        for i, j in zip(rows, columns, strict=True):
            assert t[i, j] == full[i, j]
            assert isinstance(t[i, j], np.float64)
    # What comes out is a matrix like any other.
    np.testing.assert_array_equal((t[2:9] @ np.ones(9)).gather(), full[2:9] @ np.ones(9))


def indices_that_lie_on_many_ranks(team: pt.Team) -> None:
    """Arrays of partita mean the same on any number of ranks: NumPy's with all their elements."""
    m = tensor((9, 6), "float64", 4)
    full, vector = m.toarray(), np.array([0.0, 3, 0, 1, 2])
    a: Any = full.sum(axis=1), full.sum(axis=0)
    for layout in ("block(last), *", "*, cyclic", "block, block"):
        t = DistTensor.from_scipy(m, layout=layout, team=team)
        rows, columns = t.sum(axis=1), t.sum(axis=0)
        order = np.argsort(a[0], stable=True)
        keys: list[tuple[Any, Any]] = [
            (rows > 3, a[0] > 3),
            ((slice(None), columns > 6), (slice(None), a[1] > 6)),
            (pt.argsort(rows, stable=True), order),
            (rows.nonzero()[0], a[0].nonzero()[0]),
            ((pt.arange(5), slice(1, 3)), (np.arange(5), slice(1, 3))),
            (pt.arange(0), np.arange(0)),
            (rows > 1e9, a[0] > 1e9),
            (-1 - pt.arange(8, layout="cyclic"), -1 - np.arange(8)),
            ((pt.reshape(pt.arange(4), (4, 1)), pt.asarray([[0, 2]])), np.ix_(range(4), [0, 2])),
            (pt.ix_(pt.arange(4), pt.arange(3)), np.ix_(range(4), range(3))),
        ]
        for key, wanted in keys:
            np.testing.assert_array_equal(t[key].to_dense().gather(), full[wanted])
        # They come in the order of ranks.
        found = np.sort(t[t.nonzero()].to_dense().gather())
        np.testing.assert_array_equal(found, np.sort(full[np.nonzero(full)]))
        by = pt.argsort(rows, stable=True)
        equal(t.get_rows(by), m[order])
        equal(t.plan_rows(rows > 3)(t), m[a[0] > 3])
        with pytest.raises(IndexError, match="a mask of 6 for 9"):
            t[columns > 0]
        with pytest.raises(IndexError, match="float64"):
            t[rows]
        with pytest.raises(IndexError, match="index 9 where"):
            t[1 + pt.arange(9)]
    v = DistTensor.from_scipy(sp.coo_array(vector), team=team)
    for mask in (v > 1, v.to_dense() > 1):
        np.testing.assert_array_equal(v[mask].to_dense().gather(), [3, 2])
    np.testing.assert_array_equal(v[pt.asarray([4, 1, 1])].to_dense().gather(), [2, 3, 3])
    if team.size > 1:
        with pytest.raises(pt.MismatchError):
            t[pt.arange(4) if team.rank else [0, 1, 2, 3]]


def refusals(team: pt.Team) -> None:
    whole = matrix((6, 5))
    t = spread(team, whole)
    last = team.size - 1
    # One rank's mistake is an error on all.
    with pytest.raises(IndexError, match=r"index 6 where there are 6; use numbers from -6 to 5"):
        t.get_rows([6] if team.rank == last else [0])
    with pytest.raises(IndexError, match="index -7"):
        t.plan_rows([-7] if team.rank == 0 else [0])
    with pytest.raises(IndexError, match="float64"):
        t.get_rows([0.5])
    for wrong in (slice(3, 5), None):
        for work in (t.get_rows, t.plan_rows):
            with pytest.raises(IndexError, match=r"slices as in t\[3:9\]"):
                work(wrong)
            with pytest.raises(IndexError, match=r"slices as in t\[3:9\]"):
                work(wrong if team.rank == last else [0])
    for key in (None, (None, 1), (slice(3, 5), None)):
        with pytest.raises(IndexError, match=r"None as an index; .* t\[3:9\]"):
            t[key]
    with pytest.raises(IndexError, match="a mask of 3 for 6"):
        t.get_rows(np.ones(3, bool))
    with pytest.raises(IndexError):
        t[0, 5]
    with pytest.raises(IndexError, match="at most 2"):
        t[0, 0, 0]
    ways: list[Any] = [lambda one: t[one], lambda one: t[one, 0], lambda one: t[0, one]]
    for way in [*ways, lambda one: t[[0, one]], lambda one: t.get_rows([one])]:
        for far in (2**70, -(2**70), 2**63):
            with pytest.raises(IndexError, match=f"index {far} where .* use numbers from -"):
                way(far)
    with pytest.raises(IndexError, match="2 ellipses"):
        t[..., ...]
    for way in [*ways, t.get_rows, t.plan_rows]:
        for odd in (iter([0, 1]), {0, 1}, "a"):
            with pytest.raises(IndexError, match=f"a {type(odd).__name__} as an index; use"):
                way(odd)
    none = spread(team, whole[:0])
    for work in (lambda: none[0], lambda: none[[-1]], lambda: none.get_rows([0])):
        with pytest.raises(IndexError, match="where there are none"):
            work()
    with pytest.raises(IndexError, match="give pairs"):
        t[[0, 1], [0, 1, 2]]
    rows = t.plan_rows([0, 2])
    n_entries = rows(t).nnz
    with pytest.raises(ValueError, match="give one for each"):
        rows.adjoint(np.ones(99 if team.rank == last else n_entries))
    with pytest.raises(ValueError, match="another pattern"):
        rows(spread(team, whole))
    with pytest.raises(ValueError, match="another pattern"):
        rows.adjoint(whole)
    equal(t.get_rows([1, 0]), whole[[1, 0]])


def rows_read_where_they_are(team: pt.Team) -> None:
    """Memory of SciPy's matrix is moved once rows of it have travelled; results stay the same."""
    whole = matrix((40, 9))
    t = spread(team, whole)
    plans = []
    for number in range(6):
        wanted = np.random.default_rng(10 * number + team.rank).integers(-40, 40, 30)
        plans.append((t.plan_rows(wanted), wanted))
        for rows, which in plans:
            equal(rows(t), whole[which])
        equal(t.get_rows(wanted), whole[wanted])
    reached = all(team.shares_memory_with(rank) for rank in range(team.size))
    assert access_of(t).is_read == reached
    np.testing.assert_array_equal(dense(t), whole.toarray())
    # Others of the pattern are read too, and other slices later.
    for rows, which in plans:
        equal(rows(t.with_values(3 * t.values)), (3 * whole)[which])
        equal(rows(t), whole[which])
    with pytest.raises(IndexError, match="index 40"):
        t.get_rows([40] if team.rank == 0 else [0])
    t.set_slice(t.slice_id, 2 * t.get_slice(t.slice_id))
    for _, which in plans:
        equal(t.get_rows(which), (2 * whole)[which])
        equal(t.plan_rows(which)(t), (2 * whole)[which])


def rows_of_other_dimensions(team: pt.Team) -> None:
    rng = np.random.default_rng(3)
    for shape in ((7,), (6, 3, 4), (5, 2, 3, 2), (4, 0, 3)):
        full = rng.integers(-2, 3, shape).astype("float64")
        for layout in (
            ", ".join(["block", *["*"] * (len(shape) - 1)]),
            "*" + ", block" * (len(shape) - 1),
        ):
            t = DistTensor.from_dense(full, layout=layout, team=team)
            wanted = wishes(team, shape[0])
            found = t.get_rows(wanted)
            assert found.shape == (len(wanted), *shape[1:])
            np.testing.assert_array_equal(found.toarray(), full[wanted])


def lists_beside_other_than_two_dimensions(team: pt.Team) -> None:
    """NumPy's results, also where numbers and a list have a slice between them."""
    rng = np.random.default_rng(5)
    mask = np.array([True, False, True, True])
    keys: dict[tuple[int, ...], list[Any]] = {
        (4,): [[2, 0, 2, -1], np.zeros(0, np.int64), mask, np.array([1, 1])],
        (4, 3, 5): [
            [3, 0, 3],
            (slice(None), [2, 2, 0]),
            (slice(None, None, -1), 1, [4, 0]),
            (0, slice(None), [4, 0, 4]),
            ([3, 0], slice(1, None), -1),
            (mask, 2),
            (..., [1]),
            (1, 2, [0, 3]),
        ],
    }
    for shape, all_keys in keys.items():
        full = rng.integers(-2, 3, shape).astype("float64")
        for by in ("block", "cyclic"):
            t = DistTensor.from_dense(full, layout=", ".join([by] * len(shape)), team=team)
            for key in all_keys:
                wanted = full[key]
                np.testing.assert_array_equal(t[key].gather().toarray(), wanted)
            if len(shape) > 1:
                assert "use one" in raised(partial(t.__getitem__, ([0], [1])), IndexError)


def parts_of_many_empty_rows(team: pt.Team) -> None:
    """What a part of a matrix in COO costs depends on its entries, not on how many rows it has."""
    shape = (2**31 - 1, 6)
    last = shape[0] - 1
    rows, columns = np.array([1, 2, 2, 5, last, last]), np.array([0, 3, 3, 1, 2, 4])
    values = np.arange(1.0, 7.0)
    own = slice(team.rank, None, team.size)
    named = (rows[own], columns[own]), values[own]
    t = DistTensor.from_coo(shape, *named, team=team, format="coo")
    found = t[1:3]
    assert (found.shape, found.format) == ((2, 6), "csr")
    np.testing.assert_array_equal(
        found.gather().toarray(), [[1, 0, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0]]
    )
    np.testing.assert_array_equal(t[-1].gather().toarray(), [0, 0, 5, 0, 6, 0])
    found = t[::-1, 1:3]
    assert (found.shape, found.format) == ((shape[0], 2), "coo")
    whole = found.gather()
    places = sorted(zip(*(one.tolist() for one in (whole.row, whole.col, whole.data)), strict=True))
    assert places == [(0, 1, 5.0), (last - 5, 0, 4.0)]


def pairs_in_two_dimensions(team: pt.Team) -> None:
    """Lists of rows and columns that are broadcast to a matrix give one."""
    m = tensor((7, 6), "float64", 4)
    full = m.toarray()
    keys: list[Any] = [
        ([[1, 2], [3, -4]], [[0, 1], [2, 3]]),
        ([[1, 2], [3, 4]], 5),
        (-1, [[1, 2, 0]]),
        ([[1], [3]], [[0, 1], [2, 3]]),
        ([[0, 2, 5]], [1, 1, 3]),
        (np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64)),
    ]
    for layout in ("block(last), *", "*, cyclic", "block, block"):
        t = DistTensor.from_scipy(m, layout=layout, team=team)
        for key in keys:
            np.testing.assert_array_equal(t[key].gather().toarray(), full[key])
        raised(partial(t.__getitem__, ([[0, 1], [1, 2]], [[0, 1, 2]])), IndexError)


BODIES = [
    lists_beside_other_than_two_dimensions,
    pairs_in_two_dimensions,
    parts_of_many_empty_rows,
    rows_read_where_they_are,
    rows_of_other_dimensions,
    rows_asked_for,
    rows_by_a_kept_plan,
    rows_added_back,
    rows_of_other_dimensions_added_back,
    indices_that_choose,
    indices_that_lie_on_many_ranks,
    refusals,
]
