"""Bodies of tests of slices: read by one rank alone, brought to many, replaced, added to."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from engines import Case
from sparse_cases import FORMATS, LAYOUTS, dense, part_of, raised, same, tensor

import partita as pt
from partita.sparse import DistTensor

SHAPES = [(7, 5), (1, 9), (3, 0), (23, 17)]


def all_ids(t: Any) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, t._slices.counts)))


def tensors(shape: tuple[int, int]) -> Any:
    """A tensor in every layout, with the matrix it is made of."""
    for number, layout in enumerate(LAYOUTS):
        m = tensor(shape, "float64", number, FORMATS[(number + sum(shape)) % 3])
        yield DistTensor.from_scipy(m, layout=layout), m


def read_alone(team: pt.Team, shape: tuple[int, int]) -> None:
    """One rank after the other reads every slice while no other does anything."""
    for t, m in tensors(shape):
        for reader in range(team.size):
            if team.rank == reader:
                for name in all_ids(t):
                    found = t.get_slice(name)
                    assert (found.format, found.dtype) == (t.format, t.dtype)
                    np.testing.assert_array_equal(dense(found), part_of(dense(m), t, name))
            team.barrier()
        here = t.get_slice(t.slice_id)
        assert t.nnz_local == 0 or np.shares_memory(here.data, t.values)


def brought(team: pt.Team, shape: tuple[int, int]) -> None:
    """Each rank has its own list: nothing, all twice, or the slices of the ranks behind it."""
    for number, (t, m) in enumerate(tensors(shape)):
        names = all_ids(t)
        mine = [[], names + names[::-1], names[team.rank % len(names) :]][(team.rank + number) % 3]
        found = t.get_slices(mine)
        assert len(found) == len(mine)
        for name, one in zip(mine, found, strict=True):
            assert one.format == t.format
            np.testing.assert_array_equal(dense(one), part_of(dense(m), t, name))
        # Whoever asks for nothing but its own moves nothing.
        (own,) = t.get_slices([t.slice_id])
        assert t.nnz_local == 0 or np.shares_memory(own.data, t.values)


def replaced(team: pt.Team, shape: tuple[int, int]) -> None:
    """A new slice is seen by all who ask later, whoever gives it; what was planned is gone."""
    for number, (t, m) in enumerate(tensors(shape)):
        twin = t.with_values(t.values)
        plans = t._plans
        assert t.nnz >= 0
        names = all_ids(t)
        name = names[(team.rank + number) % len(names)]
        gives = number % 2 == 0 or team.rank == team.size - 1
        content = tensor(
            t._slices.slice_shape(name), "float32", sum(name) + 50, FORMATS[number % 3]
        )
        t.set_slice(name if gives else None, content if gives else None)
        assert t._plans is not plans
        assert not t.pattern_is(twin)
        wanted = dense(m)
        changed = {names[(r + number) % len(names)] for r in range(team.size)}
        if number % 2:
            changed = {names[(team.size - 1 + number) % len(names)]}
        for one in changed:
            new = dense(tensor(t._slices.slice_shape(one), "float32", sum(one) + 50, "coo"))
            rows, columns = (
                side.astype(int)
                for side in t._slices.globalized(one, [np.arange(n) for n in new.shape])
            )
            wanted[np.ix_(rows, columns)] = new
        for one, found in zip(names, t.get_slices(names), strict=True):
            np.testing.assert_array_equal(dense(found), part_of(wanted, t, one))
            np.testing.assert_array_equal(dense(t.get_slice(one)), part_of(wanted, t, one))
        team.barrier()
        np.testing.assert_array_equal(t.to_dense().gather(), wanted)
        assert t.tocsr().nnz == t.redistribute(("replicated",) * 2).nnz_local
        # Who gave the content may go on with it; other tensors of the old pattern stay.
        if gives and content.nnz:
            content.data[:] = 7
        np.testing.assert_array_equal(t.to_dense().gather(), wanted)
        same(twin.gather(), m)
        t.set_slice(None, None)
        np.testing.assert_array_equal(t.to_dense().gather(), wanted)


def results(team: pt.Team) -> None:
    """A result of one rank's own work is read by others once it is shared."""
    m = tensor((9, 8), "float64", 1)
    t = DistTensor.from_scipy(m).tocsc()
    other = ((team.rank + 1) % team.size, 0)
    if team.size > 1:
        words = raised(lambda: t.get_slice(other), pt.TeamError)
        assert "share()" in words
        assert "get_slices" in words
    assert t.share() is t
    np.testing.assert_array_equal(dense(t.get_slice(other)), part_of(dense(m), t, other))
    team.barrier()


def refused(team: pt.Team) -> None:
    """Wrong numbers and contents: on this rank alone, or on all where all take part."""
    m = tensor((8, 6), "float32", 1)
    t: Any = DistTensor.from_scipy(m, ("distributed", "replicated"))
    own = t.slice_id
    wrong: list[tuple[Any, str]] = [
        ((team.size, 0), "use numbers from 0"),
        ((-1, 0), "use numbers from 0"),
        ((0, 1), "use numbers from 0"),
        ((0,), "a number for each"),
        (0, "a number for each"),
        ((0, 0, 0), "a number for each"),
        ((0.5, 0), "no integer"),
        ("ab", "no integer"),
        (None, "no integer"),
    ]
    for name, words in wrong:
        assert words in raised(partial(t.get_slice, name), pt.LayoutError)
    last = team.rank == team.size - 1
    for name, words in wrong[:6]:
        names = [own, name] if last else [own]
        assert words in raised(partial(t.get_slices, names), ValueError)
    assert "give a list" in raised(partial(t.get_slices, 3 if last else []), ValueError)
    good = sp.csr_array(t._slices.slice_shape(own), dtype="float32")
    contents: list[tuple[Any, Any, str]] = [
        ((-1, 0), good, "use numbers from 0"),
        (own, sp.csr_array((1, 2), dtype="float32"), "give that shape"),
        (own, good.astype("float64"), "convert it with astype"),
        (own, None, "give both"),
        (None, good, "give both"),
        (own, np.zeros(good.shape), "no sparse matrix"),
    ]
    for name, content, words in contents:
        args = (name, content) if last else (None, None)
        assert words in raised(partial(t.set_slice, *args), ValueError)
        given = {name: content} if last else {}
        assert words in raised(partial(t.add_slices, given), ValueError)
    assert "a dictionary" in raised(partial(t.add_slices, [own] if last else {}), ValueError)
    if team.size > 1:
        content = tensor(t._slices.slice_shape((0, 0)), "float32", 3)
        words = raised(lambda: t.set_slice((0, 0), content * (1 + last)), pt.MismatchError)
        assert "give the same" in words
        assert f"ranks 0 and {team.size - 1}" in words
    # Nothing was changed by any of it.
    same(t.gather(), m)


def added(team: pt.Team, shape: tuple[int, int]) -> None:
    """<slices of A, B> over all ranks = <A, B added to nothing>; what is there is added to."""
    for number, (t, m) in enumerate(tensors(shape)):
        ids = all_ids(t)
        # Each rank wants some, so that several want the same.
        wanted = [one for at, one in enumerate(ids) if (at + team.rank) % 2 == 0 or at == 0]
        brought = dict(zip(wanted, t.get_slices(wanted), strict=True))
        back = {
            one: tensor(m.shape, "float64", number + 7 * team.rank + at)
            for at, (one, m) in enumerate(brought.items())
        }
        none: Any = ([], [])
        total = DistTensor.from_coo(shape, none, [], layout=t.layout, format=t.format)
        total.add_slices(back)
        here = sum(float((dense(brought[one]) * dense(back[one])).sum()) for one in wanted)
        assert sum(team.allgather_data(here)) == float((dense(m) * dense(total.gather())).sum())
        t.add_slices(back)
        np.testing.assert_array_equal(dense(t.gather()), dense(m) + dense(total.gather()))
        np.testing.assert_array_equal(dense(t.to_scipy()), dense(t.get_slices([t.slice_id])[0]))
        before = dense(t.gather())
        t.add_slices({})
        np.testing.assert_array_equal(dense(t.gather()), before)
        assert t._block.is_tidy


CASES = [
    Case(f"{body.__name__} {shape}", body, (shape,))
    for body in (read_alone, brought, replaced, added)
    for shape in SHAPES
] + [Case("results", results), Case("refused", refused)]
