"""Matrices with very many rows of which few have entries: cost is that of entries."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita import sparse
from partita.sparse import DistTensor
from partita.sparse.room import dense_room

MANY = 2**36 + 7
ROWS = np.array([0, 5, 2**31, 2**32 + 3, MANY - 1])


def made(team: pt.Team, order: Any = slice(None)) -> DistTensor:
    """A tensor with one entry in each of five rows, from 1 on; the first rank gives them."""
    here = slice(None) if team.rank == 0 else slice(0)
    coords = (ROWS[order][here], np.arange(5)[order][here])
    values = np.arange(1.0, 6.0)[order][here]
    return DistTensor.from_coo((MANY, 6), coords, values, team=team, format="coo")


def dense(places: list[int]) -> Any:
    """Rows with the entries of these places, none for -1."""
    found = np.zeros((len(places), 6))
    for row, place in enumerate(places):
        if place >= 0:
            found[row, place] = place + 1
    return found


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_rows_are_found_by_entries(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = made(team)
        mine = [-1, 7, int(ROWS[2]), -1][team.rank :]
        wanted = dense([4, -1, 2, 4][team.rank :])
        found = t.get_rows(mine)
        assert found.format == "csr"
        np.testing.assert_array_equal(found.toarray(), wanted)
        np.testing.assert_array_equal(t.get_rows([]).toarray(), np.zeros((0, 6)))
        several = t[[5, 2**32 + 3, 5, 6]]
        np.testing.assert_array_equal(several.gather().toarray(), dense([1, 3, 1, -1]))
        points = t[[-1, 0, 1], [4, 0, 0]]
        np.testing.assert_array_equal(points.gather().toarray(), [5, 1, 0])
        with pytest.raises(IndexError, match=str(MANY)):
            t.get_rows([MANY] if team.rank == team.size - 1 else [0])

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_coordinates_grow_where_slices_do(n_ranks: int) -> None:
    far = 2**31 + 5

    def body(team: pt.Team) -> None:
        here = slice(None) if team.rank == 0 else slice(0)
        coords, values = ([far - 1, 2**31, 7], [0, 1, 1]), [1.0, 2.0, 4.0]
        mine = [one[here] for one in coords]
        t = DistTensor.from_coo((far, 3), mine, values[here], team=team, format="coo")
        assert t.index_dtype == (np.int64 if team.size == 1 else np.int32)
        columns = t.redistribute(layout=f"*, block @ {team.size}")
        assert columns.index_dtype == np.int64
        for found in (columns, t.T.redistribute(layout=f"block, * @ {team.size}").T):
            whole = found.gather()
            came = sorted(zip(*(one.tolist() for one in (*whole.coords, whole.data)), strict=True))
            assert came == sorted(zip(*coords, values, strict=True))
        assert t.T.get_rows([1]).indices.tolist() == [7, 2**31]

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_rows_of_columns_are_found_by_entries(n_ranks: int) -> None:
    """A pointer for each of few columns costs little; one for each row would not."""

    def body(team: pt.Team) -> None:
        t: Any = made(team, [3, 1, 4, 0, 2]).tocsc()
        np.testing.assert_array_equal(t.get_rows([5, 7, 0]).toarray(), dense([1, -1, 0]))
        np.testing.assert_array_equal(t[4:7].gather().toarray(), dense([-1, 1, -1]))
        np.testing.assert_array_equal(t[[-1, 5]].gather().toarray(), dense([4, 1]))
        np.testing.assert_array_equal(t[[-1, 0], [4, 1]].gather().toarray(), [5, 0])
        np.testing.assert_array_equal(t[-1].gather().toarray(), dense([4])[0])
        assert t[t > 3].sum() == 9
        half = t[: 2**33]
        assert (half.format, half.shape, half.nnz) == ("coo", (2**33, 6), 4)
        assert t[:, 1].nnz == 1
        works: list[Any] = [lambda: t.plan_rows([0]), lambda: t.T @ t]
        for work in works:
            with pytest.raises(pt.LayoutError, match="5 entries; use") as caught:
                work()
            assert caught.value.reason == "sparse-hollow"

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_rows_are_balanced_by_entries(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = made(team, [3, 0, 4, 1, 2]).balanced()
        counts = team.allgather_data(t.nnz_local)
        assert sum(counts) == 5
        assert max(counts) - min(counts) <= 1
        assert [t[int(row), at] for at, row in enumerate(ROWS)] == [1, 2, 3, 4, 5]

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_pointers_that_would_fill_memory_are_refused(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = made(team)
        for work in (lambda: t.plan_rows([0]), lambda: t.T @ t):
            with pytest.raises(ValueError, match=f"pointers to {MANY} rows .* 5 entries; use"):
                work()
        assert t.sum() == 15

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_pointers_to_far_more_rows_than_entries_are_refused_with_a_cure(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t: Any = made(team)
        works: list[Any] = [
            lambda: DistTensor.from_coo((2**40, 3), ([0], [0]), [1.0]),
            lambda: t.tocsr(),
            lambda: t.T.tocsc(),
            lambda: t.redistribute(format="csr"),
            lambda: DistTensor.from_scipy(t.gather(), format="csr"),
        ]
        for work in works:
            with pytest.raises(ValueError, match=r"GiB on a rank.*format=\"coo\""):
                work()
        assert t.tocsc().format == "csc"

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_files_of_many_empty_rows_are_written_by_entries(n_ranks: int, tmp_path: Any) -> None:
    file = str(tmp_path / "m.mtx")

    def body(team: pt.Team) -> None:
        t: Any = made(team, [3, 1, 4, 0, 2])
        pt.sparse.mmwrite(file, t)
        again = pt.sparse.mmread(file, format="coo")
        assert again.shape == t.shape
        assert (again - t).nnz == 0
        pt.sparse.mmwrite(file, t, symmetry=None)

    pt.spmd(body, n_ranks, deadline=60.0)
    lines = (tmp_path / "m.mtx").read_text().splitlines()
    assert [int(line.split()[0]) for line in lines[-5:]] == (ROWS + 1).tolist()


TOO_LITTLE = """
import resource
import numpy as np
from partita.sparse import DistTensor
n = 2**29 - 1
t = DistTensor.from_coo((n, n), ([0, n - 1], [n - 1, 0]), [1.0, 2.0], format="coo")
wide = DistTensor.from_coo((2, n), ([0, 1], [n - 1, 0]), [1.0, 2.0])
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
for work in (t.tocsr, t.tocsc, wide.tocsc, lambda: t @ t):
    try:
        work()
        print("no error")
    except MemoryError as error:
        print("refused")
"""


def test_memory_that_does_not_suffice_is_an_error() -> None:
    """What loops need for a while is asked for as results are: nothing ends the process."""
    found = subprocess.run([sys.executable, "-c", TOO_LITTLE], capture_output=True, timeout=60)
    assert found.stdout.decode().split("\n")[:-1] == ["refused"] * 4, found.stderr.decode()


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_sums_of_diagonals_and_products_with_rows_cost_what_is_stored(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        n = 2**32 - 5
        square = DistTensor.from_coo((n, n), ([], []), [], format="coo")
        assert square.trace() == 0
        if team.rank == 0:
            places, values = np.array([5, n - 1]), np.array([3.0, 4.0])
        else:
            places, values = np.zeros(0, np.int64), np.zeros(0)
        square = DistTensor.from_coo((n, n), (places, places), values, format="coo")
        assert square.trace() == 7
        assert square.trace(1) == 0
        high = 2**62 - 1
        coords = (places % 2 * (high - 1), places % 3)
        tall = DistTensor.from_coo((high, 3), coords, values, format="coo")
        assert (tall * np.array([1.0, 10.0, 100.0])).sum() == 300 + 4 * 10 ** ((n - 1) % 3)

    pt.spmd(body, n_ranks, deadline=30.0)


# What would be dense, and what the error names beside the shape.
TOO_LARGE: list[tuple[Any, tuple[int, ...], str]] = [
    (lambda t, u: t.to_dense(), (2**60, 3), "keep it sparse"),
    (lambda t, u: t + np.ones(3), (2**60, 3), "keep it sparse"),
    (lambda t, u: t.sum(axis=1), (2**60,), "find"),
    (lambda t, u: t.max(axis=1), (2**60,), "find"),
    (lambda t, u: t.mean(axis=1), (2**60,), "find"),
    (lambda t, u: t.norm(axis=1), (2**60,), "find"),
    (lambda t, u: t.argmax(axis=1), (2**60,), "find"),
    (lambda t, u: t.count_nonzero(axis=1), (2**60,), "find"),
    (lambda t, u: u.sum(axis=0), (2**60,), "find"),
    (lambda t, u: t @ np.ones(3), (2**60,), "sparse operand"),
    (lambda t, u: t @ np.ones((3, 5)), (2**60, 5), "sparse operand"),
    (lambda t, u: np.ones(3) @ u, (2**60,), "sparse operand"),
    (lambda t, u: sparse.eye(2**61), (2**61, 2**61), "fewer entries"),
    (lambda t, u: sparse.eye(2**61, format="coo"), (2**61, 2**61), "fewer entries"),
    (lambda t, u: sparse.diags([1.0], shape=(2**61, 2**61)), (2**61, 2**61), "fewer entries"),
    (lambda t, u: sparse.random_array((2**62, 3), density=1), (2**62, 3), "fewer entries"),
    (lambda t, u: sparse.laplacian((2**30, 2**31)), (2**61, 2**61), "fewer entries"),
    (lambda t, u: sparse.rmat(60), (2**60, 2**60), "fewer entries"),
]


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_what_no_memory_holds_is_refused_by_its_shape(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        coords: Any = ([0], [1]) if team.rank == 0 else ([], [])
        values = np.ones(len(coords[0]))
        t = DistTensor.from_coo((2**60, 3), coords, values, team=team, format="coo")
        for work, shape, cure in TOO_LARGE:
            with pytest.raises(pt.LayoutError, match=cure) as caught:
                work(t, t.T)
            assert caught.value.reason == "shape-overflow"
            assert str(shape) in str(caught.value)
            team.barrier()

    pt.spmd(body, n_ranks, deadline=60.0)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_memory_that_one_rank_has_not_is_told_to_all(n_ranks: int) -> None:
    def work(team: pt.Team) -> None:
        with dense_room(team, (7, 2), "float64", "go on"):
            if team.rank == team.size - 1:
                raise MemoryError("too few")
            team.barrier()

    def body(team: pt.Team) -> None:
        kind = MemoryError if team.rank == team.size - 1 else pt.RemoteError
        with pytest.raises(kind, match=r"shape \(7, 2\).*too few\); go on"):
            work(team)

    pt.spmd(body, n_ranks, deadline=60.0)


# What is no share, shape, offset or seed, and what the error says of it.
random_array: Any = sparse.random_array
laplacian: Any = sparse.laplacian
NO_NUMBERS: list[tuple[Any, str]] = [
    (lambda: random_array((4, 4), density=np.array(["a"])), "density-not-number"),
    (lambda: random_array((4, 4), density=np.array([0.1, 0.2])), "density-not-number"),
    (lambda: random_array((4, 4), density=1.5), "density-outside"),
    (lambda: random_array((4, 4), rng=MASKED), "seed-not-integer"),
    (lambda: random_array((4, 4), rng=np.array(["a"])), "seed-not-integer"),
    (lambda: random_array(MASKED), "shape-masked"),
    (lambda: sparse.diags([[1.0], [1.0]], offsets=MASKED, shape=(3, 3)), "offsets-masked"),
    (lambda: sparse.diags([[1.0]], offsets=[0.5], shape=(3, 3)), "offsets-not-integer"),
    (lambda: laplacian(MASKED), "shape-masked"),
    (lambda: laplacian("ab"), "shape-not-integer"),
]
MASKED: Any = np.ma.masked_array([1, 2], [False, True])


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_what_is_no_number_is_refused_by_its_name(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for work, reason in NO_NUMBERS:
            with pytest.raises(pt.LayoutError) as caught:
                work()
            assert caught.value.reason == reason
        # NumPy's own matrices are seeds as other arrays are.
        seed = np.array([[1, 2]])
        one, other = (
            random_array((9, 9), density=0.5, rng=rng).gather().toarray()
            for rng in (seed, seed.view(np.matrix))
        )
        np.testing.assert_array_equal(one, other)
        assert random_array((4, 4), density=np.array(0.5)).nnz == 8

    pt.spmd(body, n_ranks, deadline=60.0)


WIDE = 2**33
COLUMNS = np.array([0, 5, 7, 2**31, 2**32 + 3, 2**32 + 4, WIDE - 1])


def beside(places: list[int]) -> Any:
    """The columns at these places of `COLUMNS` of a matrix of four rows; none for -1."""
    found = np.zeros((4, len(places)))
    for column, place in enumerate(places):
        if place >= 0:
            found[place % 4, column] = place + 1
    return found


# An index of columns, and the places of what it names.
CHOICES: list[tuple[Any, list[int]]] = [
    (slice(5, 9), [1, -1, 2, -1]),
    (slice(9, 4, -2), [-1, 2, 1]),
    (slice(WIDE - 2, None), [-1, 6]),
    (slice(9, 5), []),
    ([5], [1]),
    ([7, 0, 5], [2, 0, 1]),
    ([7, 6, 7, 2**32 + 3], [2, -1, 2, 4]),
    ([], []),
    (slice(2**32 + 3, 2**32 + 5), [4, 5]),
]


@pytest.mark.parametrize("n_ranks", [1, 3])
@pytest.mark.parametrize("format", ["coo", "csr"])
@pytest.mark.parametrize("layout", ["block, *", "*, block", "*, cyclic"])
def test_columns_are_found_by_entries(n_ranks: int, format: str, layout: str) -> None:
    entries = (np.arange(1.0, 8.0), (np.arange(7) % 4, COLUMNS))

    def body(team: pt.Team) -> None:
        whole = sp.coo_array(entries, shape=(4, WIDE)).asformat(format)
        t: Any = DistTensor.from_scipy(whole, layout=layout)
        assert t.nnz == 7
        for index, places in CHOICES:
            wanted = beside(places)
            np.testing.assert_array_equal(t[:, index].gather().toarray(), wanted)
            np.testing.assert_array_equal(t[1:3, index].gather().toarray(), wanted[1:3])
        for at, column in enumerate(COLUMNS):
            np.testing.assert_array_equal(t[:, int(column)].gather().toarray(), beside([at])[:, 0])
        assert t[:, 1:].shape == (4, WIDE - 1)
        assert t[:, 1:].sum() == t[:, :0:-1].sum() == 27

    pt.spmd(body, n_ranks, deadline=60.0)
