"""Arrays of partita as entries, values and diagonals: the same on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor, diags

RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])
COUNTED = (6, 5), (4, 3, 5), (7,)


def numbers(shape: tuple[int, ...]) -> Any:
    """A dense array whose elements differ, half of them zeros."""
    places = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    return places * (np.random.default_rng(len(shape)).random(shape) < 0.5)


def whole(t: Any) -> Any:
    return t.to_dense().gather()


@RANKS
@pytest.mark.parametrize("first", ["block", "cyclic(2)", "*"])
def test_what_find_gives_makes_the_tensor_again(n_ranks: int, first: str) -> None:
    def body(team: pt.Team) -> None:
        for shape in COUNTED:
            layout = ", ".join([first, *["*"] * (len(shape) - 1)])
            t = DistTensor.from_dense(numbers(shape), layout=layout)
            *coords, values = t.find()
            np.testing.assert_array_equal(
                whole(DistTensor.from_coo(shape, coords, values)), whole(t)
            )
            gathered = [one.gather() for one in (*coords, values)]
            spread = [pt.asarray(one) for one in gathered]
            made = DistTensor.from_coo(shape, spread[:-1], spread[-1], layout=layout)
            np.testing.assert_array_equal(whole(made), whole(t))

    pt.spmd(body, n_ranks)


@RANKS
def test_entries_count_once_wherever_they_lie(n_ranks: int) -> None:
    layouts = ["block", "cyclic", "*", "block(last)"]
    wanted = np.diag(np.arange(5.0))

    def body(team: pt.Team) -> None:
        at, values = pt.arange(5), pt.arange(5.0)
        for one in layouts:
            for other in layouts:
                coords = [at.redistribute(one), at.redistribute(other)]
                for given in (values, values.redistribute(one), np.arange(5.0)):
                    made = DistTensor.from_coo((5, 5), coords, given)
                    np.testing.assert_array_equal(whole(made), wanted)
        beside = DistTensor.from_coo((5, 5), [np.arange(5), list(range(5))], values)
        np.testing.assert_array_equal(whole(beside), wanted)
        table = pt.asarray(np.array([np.arange(5), np.arange(5)]))
        np.testing.assert_array_equal(whole(DistTensor.from_coo((5, 5), table, values)), wanted)
        twice = DistTensor.from_coo((5, 5), [at[::2], at[::2] * 0], pt.ones(3))
        assert (twice.sum(), twice.nnz) == (3, 3)

    pt.spmd(body, n_ranks)


@RANKS
def test_entries_that_do_not_fit_are_refused(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        at = pt.arange(5)
        for coords, values in (([at, at], np.ones(3)), ([at, np.arange(2)], pt.ones(5))):
            with pytest.raises(pt.LayoutError, match="whole where they are NumPy's"):
                DistTensor.from_coo((5, 5), coords, values)
        with pytest.raises(pt.LayoutError, match="one row"):
            DistTensor.from_coo((5, 5), [at, at], pt.ones((5, 1)))
        with pytest.raises(pt.LayoutError, match="use 0 to 2"):
            DistTensor.from_coo((5, 3), [at, at], pt.ones(5))
        if n_ranks > 1:
            own = ([[1], [2]], [1.0]) if team.rank else ([at, at], pt.ones(5))
            with pytest.raises(pt.MismatchError, match="each rank's own entries"):
                DistTensor.from_coo((5, 5), *own)

    pt.spmd(body, n_ranks, deadline=30.0)


@RANKS
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("layout", ["block, *", "*, block", "*, *", "cyclic, *"])
def test_values_lie_as_find_gives_them(n_ranks: int, format: str, layout: str) -> None:
    dense = numbers((6, 5))

    def body(team: pt.Team) -> None:
        t = DistTensor.from_dense(dense, layout=layout, format=format)
        *_, values = t.find()
        for given in (values, values.redistribute("*"), values.redistribute("cyclic")):
            doubled = t.with_values(2 * given)
            assert doubled.pattern_is(t)
            np.testing.assert_array_equal(whole(doubled), 2 * dense)
        with pytest.raises(pt.LayoutError, match="stored zeros too"):
            t.with_values(pt.ones(3))

    pt.spmd(body, n_ranks, deadline=30.0)


@RANKS
def test_values_of_entries_in_any_order(n_ranks: int) -> None:
    dense = numbers((6, 5))
    rows, columns = np.nonzero(dense)
    order = np.random.default_rng(4).permutation(len(rows))
    entries = (dense[rows, columns][order], (rows[order], columns[order]))

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.coo_array(entries, shape=dense.shape))
        np.testing.assert_array_equal(whole(t.with_values(t.find()[2])), dense)

    pt.spmd(body, n_ranks)


@RANKS
def test_lists_of_diagonals_on_many_ranks(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        long, short = pt.arange(1.0, 6.0), pt.arange(4.0)
        for given in ([long], (long,), long, [pt.asarray(np.arange(1.0, 6.0))]):
            np.testing.assert_array_equal(whole(diags(given)), np.diag(np.arange(1.0, 6.0)))
        both = np.diag(np.arange(1.0, 6.0)) + np.diag(np.arange(4.0), 1)
        np.testing.assert_array_equal(whole(diags([long, short], offsets=[0, 1])), both)
        np.testing.assert_array_equal(
            whole(diags([long, 2.0], offsets=[0, -1], shape=(5, 5))),
            np.diag(np.arange(1.0, 6.0)) + 2 * np.eye(5, k=-1),
        )

    pt.spmd(body, n_ranks)
