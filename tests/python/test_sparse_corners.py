"""Corners of sparse tensors beside SciPy: repeated places, odd indices, errors of one rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.io as scipy_io
import scipy.sparse as sp

import partita as pt
from partita._local.threads import n_threads
from partita.sparse import DistTensor, load_npz, mmread, sddmm
from partita.sparse.balance import threads_for
from partita.sparse.linalg import gmres

# Its types do not know all of its arguments.
numpy: Any = np
RANKS = [1, 2, 3]


def on_ranks(n_ranks: int, body: Any) -> None:
    pt.spmd(body, n_ranks, deadline=60.0)


def repeated(dtype: str) -> Any:
    """A matrix in COO with places that come up to three times, in no order."""
    rows, columns = [3, 0, 3, 1, 3, 0], [2, 1, 2, 0, 2, 1]
    return sp.coo_array((np.array([100, 1, 100, 1, 1, 1]).astype(dtype), (rows, columns)), (5, 4))


def summed(m: Any) -> Any:
    found = m.copy()
    found.sum_duplicates()
    return found


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float64"])
def test_places_that_come_twice_are_added_when_tensors_are_made(n_ranks: int, dtype: str) -> None:
    m = repeated(dtype)
    wanted = summed(m)
    x = np.arange(5.0)[:, None]
    y = np.arange(1.0, 5.0)[:, None]

    def body(team: pt.Team) -> None:
        whole = DistTensor.from_scipy(m, team=team)
        everywhere = DistTensor.from_scipy(m, ("replicated", "replicated"), team=team)
        given = DistTensor.from_blocks(m, (5, 4), ("replicated", "replicated"), team=team)
        rooted = DistTensor.from_scipy(m if team.rank == 0 else None, team=team, root=0)
        for t in (whole, everywhere, given, rooted):
            assert t.format == "coo"
            assert t.nnz == 3
            assert t.sum() == wanted.sum()
            np.testing.assert_array_equal(t.gather().toarray(), wanted.toarray())
            sampled = sddmm(t, x, y).gather().toarray()
            np.testing.assert_array_equal(sampled, (x @ y.T) * (wanted.toarray() != 0))

    on_ranks(n_ranks, body)


def test_repeated_places_of_many_dimensions_are_added() -> None:
    coords = ([1, 0, 1], [0, 0, 0], [2, 1, 2])
    m = sp.coo_array((np.array([1.0, 2.0, 3.0]), coords), (2, 1, 3))

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, team=team)
        assert t.nnz == 2
        assert np.asarray(t.to_dense().gather())[1, 0, 2] == 4

    on_ranks(2, body)


def test_coordinates_in_any_order_are_not_copied() -> None:
    m = sp.coo_array((np.array([1.0, 2.0]), ([1, 0], [0, 1])), (2, 2))
    t = DistTensor.from_scipy(m)
    assert np.shares_memory(t.values, m.data)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_blocks_at_rows_and_columns(n_ranks: int) -> None:
    m = sp.csr_array(np.arange(12.0).reshape(3, 4) % 5)
    mask = np.array([True, False, True])

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, team=team)
        keys: list[Any] = [
            numpy.ix_([2, 0, 2], [3, 1]),
            ([[0], [1]], [[0, 1]]),
            ([[0], [1]], [0, 3]),
        ]
        keys += [numpy.ix_(mask, [1]), ([[2]], [[1]]), numpy.ix_([], [1]), numpy.ix_([1], [])]
        square = [[0, 1], [1, 2]]
        keys += [([[0, 1]], [[0], [1]]), (square, square), ([[0]], 1)]
        for key in keys:
            found = t[key].gather()
            assert found.shape == m.toarray()[key].shape
            np.testing.assert_array_equal(found.toarray(), m.toarray()[key])
        for key in [([[0], [1]],), (slice(None), [[0, 1]])]:
            with pytest.raises(IndexError, match=r"np\.ix_"):
                t[key]

    on_ranks(n_ranks, body)


# Each is more than a number of its type; sums and products with others would change them.
ODD: list[tuple[str, list[Any]]] = [
    ("complex128", [complex(np.inf, 0), complex(1, np.nan), complex(0, -np.inf), 0]),
    ("complex64", [complex(-np.inf, np.nan), 1j, complex(np.nan, np.inf), -0.0]),
    ("float64", [np.inf, np.nan, -np.inf, -0.0]),
    ("float32", [-0.0, 0.0, np.nan, 1]),
    ("int8", [-128, 127, 0, 1]),
    ("bool", [True, False, True, True]),
]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize(("dtype", "values"), ODD, ids=[kind for kind, _ in ODD])
def test_columns_that_come_repeatedly_are_copied(
    dtype: str, values: list[Any], format: str, n_ranks: int
) -> None:
    made = sp.coo_array((np.array(values, dtype), ([0, 1, 1, 3], [1, 1, 0, 2])), (4, 3))
    m = made.asformat(format)
    keys: list[Any] = [[1, 1], [0, 0], [2, 0, 1, 0, 2, 2], [-1, 2], [1, 0, 1], [0, 0, 0, 0]]

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, team=team)
        for key in keys:
            for rows in (slice(None), [1, 1, 3], slice(3, 0, -2), 1, 3):
                found = t[numpy.ix_(rows, key)] if isinstance(rows, list) else t[rows, key]
                by_rows = m.tocsr()[rows, :]
                wanted = by_rows[:, key] if by_rows.ndim == 2 else by_rows[key]
                assert found.nnz == wanted.nnz
                assert found.dtype == dtype
                whole, exact = found.gather().toarray(), wanted.toarray()
                np.testing.assert_array_equal(whole.view("u1"), exact.view("u1"))

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_indices_that_do_not_fit_into_signed_ones(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(np.eye(4)), team=team)
        for wrong in (2**64 - 1, 2**63, 4):
            with pytest.raises(IndexError, match=str(wrong)):
                t.get_rows(np.array([1, wrong], "u8"))
        assert t.get_rows(np.array([3], "u8")).shape == (1, 4)
        # One rank wants nothing.
        wanted = [0, 3] if team.rank == 0 else []
        assert t.get_rows(wanted).shape == (len(wanted), 4)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_what_one_rank_cannot_compute_is_raised_on_all(n_ranks: int) -> None:
    whole = np.zeros((4, 4), int)
    whole[0, 0] = 3

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(sp.csr_array(whole), team=team)
        large = t.astype(float) * 1e307
        with pytest.raises(ValueError, match="negative integer powers"):
            t**-1
        with np.errstate(all="raise"):
            works: list[Any] = [
                lambda: t / 0,
                lambda: large * 10,
                lambda: large * np.full(4, 10.0),
                lambda: large**2,
                lambda: large.expm1(),
                lambda: large.norm(),
                lambda: (t * 1e40).astype("int32"),
            ]
            for work in works:
                with pytest.raises(FloatingPointError):
                    work()
            assert (t / 2).sum() == 1.5
        n = 7 if team.rank == 0 else 4
        works = [
            lambda: t @ np.ones(n),
            lambda: t.T @ np.ones(n),
            lambda: np.ones(n) @ t,
            lambda: sddmm(t, np.ones((n, 2)), np.ones((4, 2))),
            lambda: t * np.ones(n),
        ]
        for work in works:
            with pytest.raises((ValueError, pt.RemoteError), match="7"):
                work()
        if team.size > 1:
            with pytest.raises(pt.MismatchError, match="the same on every rank"):
                t * np.ones((4, 1) if team.rank == 0 else (1, 4))
        assert (t @ np.ones(4)).sum() == 3

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_huge_extents_cost_what_their_entries_cost(n_ranks: int) -> None:
    n = 10**9

    def body(team: pt.Team) -> None:
        # Every rank names the same places, which are added.
        t = DistTensor.from_coo((n, n), ([n - 1, 0], [n - 1, 0]), [2.0, 1.0], format="coo")
        assert t.nnz == 2
        assert t.sum() == 3 * team.size
        assert t.argmax() == n * n - 1
        assert t.argmin() == 1

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_positions_of_extremes_beside_numpys(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        rng = np.random.default_rng(5)
        for at in range(60):
            shape = [(1, 1), (4, 3), (7, 2), (1, 5), (2, 6)][at % 5]
            whole = rng.integers(-2 if at % 2 else 0, 3 if at % 3 else 1, shape).astype(float)
            # The first rows are full, by zeros that are stored, too.
            stored = (rng.random(shape) < 0.7) | (np.arange(shape[0]) < at % 4)[:, None]
            whole[~stored] = 0
            if at % 11 == 0:
                whole[-1, -1], stored[-1, -1] = np.nan, True
            coords = np.nonzero(stored)
            m = sp.coo_array((whole[coords], coords), shape)
            layout = ["block, *", "*, cyclic", "cyclic, *", "*, *"][at % 4]
            t = DistTensor.from_scipy(m, layout=layout, format=["csr", "coo"][at % 2], team=team)
            assert t.argmax() == whole.argmax(), (whole, stored)
            assert t.argmin() == whole.argmin(), (whole, stored)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_solvers_of_what_is_no_number_end(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        a = DistTensor.from_scipy(sp.csr_array(np.diag([1.0, 2.0, 3.0])), team=team)
        x, info = gmres(a, np.array([1.0, np.nan, 2.0]), maxiter=3)
        assert np.isnan(np.asarray(x.gather())).all()
        assert info == 3
        x, info = gmres(a * np.nan, np.ones(3), maxiter=3)
        assert info == 3

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("name", ["npz", "mtx"])
def test_files_that_differ_between_ranks_are_refused(name: str, tmp_path: Any) -> None:
    m = sp.coo_array(np.eye(3))
    for at in range(2):
        if name == "npz":
            sp.save_npz(tmp_path / f"{at}.npz", m, compressed=False)
        else:
            scipy_io.mmwrite(tmp_path / f"{at}.mtx", m)
    read = load_npz if name == "npz" else mmread

    def body(team: pt.Team) -> None:
        with pytest.raises(pt.MismatchError, match="the file"):
            read(tmp_path / f"{team.rank}.{name}", team=team)
        assert read(tmp_path / f"0.{name}", team=team).nnz == 3

    on_ranks(2, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_products_with_what_is_no_number(n_ranks: int) -> None:
    a = sp.csr_array(np.array([[np.nan, 1, np.inf, 0], [2, 0, 0, 3]]))
    b = sp.csr_array(np.array([[0, np.inf, 0, 0], [np.nan, 0, 1, 2]]))

    def body(team: pt.Team) -> None:
        for format in ("csr", "csc", "coo"):
            t = DistTensor.from_scipy(a, team=team, format=format)
            for right in (b, sp.csr_array(np.array([[0, 1, 0, 2], [3, 0, 0, 0]]))):
                u = DistTensor.from_scipy(right, team=team)
                np.testing.assert_array_equal((t * u).gather().toarray(), (a * right).toarray())
                np.testing.assert_array_equal((u * t).gather().toarray(), (a * right).toarray())

    on_ranks(n_ranks, body)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_diagonals_of_matrices_without_rows_and_kron(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for shape in [(0, 4), (4, 0), (0, 0)]:
            t = DistTensor.from_scipy(sp.csr_array(shape), team=team)
            assert t.with_diagonal(1.0).shape == shape
            assert t.with_diagonal([]).nnz == 0
            with pytest.raises(ValueError, match="exceeds"):
                t.with_diagonal(1.0, 4)
        t = DistTensor.from_scipy(sp.csr_array(np.eye(2)), team=team)
        assert t.kron(t).nnz == t.kron(t.gather()).nnz == 4

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_slices_are_counted(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        eye = sp.csr_array(np.eye(4))
        assert DistTensor.from_scipy(eye, team=team).slice_counts == (team.size, 1)
        whole = DistTensor.from_scipy(eye, ("replicated", "replicated"), team=team)
        assert whole.slice_counts == (1, 1)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_parts_of_tensors_of_any_dimensions(n_ranks: int) -> None:
    whole = np.random.default_rng(3).integers(0, 3, (6, 3, 4)).astype("int16")
    keys: list[Any] = [5, -1, slice(1, 3), slice(None, None, -2), (2, 1), (slice(4, 1, -1), 2)]
    keys += [(..., 3), (1, ..., 0), (0, 2, 3), slice(3, 3), (slice(None), slice(1, 9), 1)]

    def body(team: pt.Team) -> None:
        for dist in ("distributed", "replicated"):
            t = DistTensor.from_dense(whole, (dist, "replicated", "distributed"), team=team)
            for key in keys:
                found, wanted = t[key], whole[key]
                if np.ndim(wanted):
                    assert isinstance(found, DistTensor)
                    found = np.asarray(found.to_dense().gather())
                assert np.shape(found) == np.shape(wanted)
                assert found.dtype == wanted.dtype
                np.testing.assert_array_equal(found, wanted)
            for wrong in (6, -7, (0, 0, 0, 0), [1, 9], ([1], [2]), True, 0.5):
                with pytest.raises(IndexError, match="use"):
                    t[wrong]
        line = t[:, 1, 2]
        assert line[4] == whole[4, 1, 2]
        np.testing.assert_array_equal(line[1:4].to_dense().gather(), whole[1:4, 1, 2])

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_tensors_of_more_places_than_integers_count(n_ranks: int) -> None:
    shape = (2**32, 2**31 + 5)

    def body(team: pt.Team) -> None:
        rows, columns = np.array([3, 2**32 - 1, 3]), np.array([2**31, 7, 2**31])
        t = DistTensor.from_coo(shape, (rows, columns), np.array([1.0, 2.0, 3.0]), format="coo")
        n = team.size
        assert t.nnz == 2
        assert (t + t).sum() == 12 * n
        assert (t * t).sum() == (4 * n) ** 2 + (2 * n) ** 2
        assert (t - 2 * t).sum() == -6 * n
        assert (t > t * 0.5).nnz == 2
        assert (t * (t * np.inf)).sum() == np.inf
        assert t.allclose(t)
        other = DistTensor.from_coo(shape, ([0], [0]), [1.0], format="coo")
        assert (t + other).nnz == 3
        assert (t * other).nnz == 0
        with pytest.raises(pt.LayoutError, match="at most 2\\^64 - 1"):
            DistTensor.from_coo((2**40, 2**40), ([0], [0]), [1.0], format="coo")

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_a_rank_with_most_entries_has_more_threads(
    n_ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sp.csr_array(np.where(np.arange(60)[:, None] < 60 // n_ranks, 2.0, 0.0) + np.eye(60))

    def found(team: pt.Team) -> list[int | None]:
        t = DistTensor.from_scipy(whole, team=team)
        np.testing.assert_allclose((t @ np.arange(60.0)).gather(), whole @ np.arange(60.0))
        even = DistTensor.from_scipy(sp.eye_array(60, format="csr"), team=team)
        return [threads_for(t), threads_for(even)]

    usual = pt.spmd(lambda team: n_threads(), n_ranks)
    monkeypatch.delenv("PARTITA_THREADS", raising=False)
    (most, even), *others = pt.spmd(found, n_ranks)
    assert most is not None
    assert usual[0] <= most <= sum(usual)
    assert even is None
    assert others == [[None, None]] * (n_ranks - 1)
    # Whoever says how many there shall be has the last word.
    monkeypatch.setenv("PARTITA_THREADS", "1")
    assert pt.spmd(found, n_ranks) == [[None, None]] * n_ranks


@pytest.mark.parametrize("layout", ["block, * @ 2", "*, block @ 2", "*, cyclic @ 1x1x2 on 1,0"])
def test_grids_of_other_axes_serve_generators_and_files(layout: str, tmp_path: Any) -> None:
    file = str(tmp_path / "m.mtx")
    scipy_io.mmwrite(file, sp.eye_array(6, format="coo"))

    def body(team: pt.Team) -> None:
        for t in (
            pt.sparse.eye(6, layout=layout),
            mmread(file, layout=layout),
            pt.sparse.diags([np.ones(6)], offsets=[0], layout=layout),
        ):
            np.testing.assert_array_equal(t.gather().toarray(), np.eye(6))
        t = pt.sparse.laplacian((2, 3), layout=layout)
        np.testing.assert_array_equal(t.gather().toarray(), t.T.gather().toarray())
        a = DistTensor.from_dense(pt.ones((8, 6)))
        assert a.nnz == 48
        assert a.layout.notation == "block(last), * @ 2x1"

    on_ranks(2, body)


def test_what_was_made_of_a_tensor_keeps_its_content() -> None:
    m = sp.csr_array(np.arange(12.0).reshape(4, 3))

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(m)
        made = [+t, t.conj(), t.real, t + 0, 0 + t, t - 0, t.astype("float64"), t.T.T]
        assert all(np.shares_memory(one.values, t.values) for one in made)
        t.set_slice(t.slice_id, sp.csr_array(t.get_slice(t.slice_id).shape))
        assert t.nnz == 0
        for one in made:
            np.testing.assert_array_equal(one.gather().toarray(), m.toarray())

    on_ranks(2, body)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_what_cancels_is_not_stored(format: str) -> None:
    m: Any = sp.csr_array(np.array([[1.0, 2, 0], [0, 3, -1]])).asformat(format)
    square = np.array([[1.0, 1], [1, 1]])
    turned = np.array([[1.0, 0], [-1, 1]])

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(m)
        zeros = t.with_values(0 * t.values)
        assert (t - t).nnz == (t + -t).nnz == (zeros + zeros).nnz == 0
        assert t.maximum(-t * 0).nnz == 3
        assert t.multiply(zeros).nnz == 0
        product = DistTensor.from_dense(square) @ DistTensor.from_dense(turned)
        assert product.nnz == 2
        np.testing.assert_array_equal(product.gather().toarray(), square @ turned)

    on_ranks(2, body)


@pytest.mark.filterwarnings("ignore:.*holds for most zeros", "ignore:Comparing a sparse matrix")
@pytest.mark.parametrize("number", [5, -5, 0, np.nan, np.inf])
def test_nan_beside_numbers_is_compared_as_scipy_does(number: float) -> None:
    m = sp.csr_array(np.array([[np.nan, 1.0, 0], [2, 0, 7]]))
    t = DistTensor.from_scipy(m)
    for name in ("lt", "gt", "le", "ge", "eq", "ne"):
        ours, theirs = (getattr(one, f"__{name}__")(number) for one in (t, m))
        np.testing.assert_array_equal(ours.gather().toarray(), theirs.toarray(), name)


def test_warnings_name_the_users_line() -> None:
    t: Any = pt.sparse.eye(4)
    works: list[Any] = [lambda: t == t, lambda: t > -1, lambda: t <= sp.eye_array(4)]
    for work in works:
        with pytest.warns(sp.SparseEfficiencyWarning) as caught:
            work()
        assert caught[0].filename == __file__


def test_lines_without_elements_have_no_mean_and_no_extreme() -> None:
    def body(team: pt.Team) -> None:
        for dtype in ("int64", "float64"):
            t: Any = DistTensor.from_scipy(sp.csr_array((0, 2), dtype=dtype))
            for ord in (np.inf, -np.inf):
                with pytest.raises(ValueError, match="without elements"):
                    t.norm(ord, axis=0)
                assert t.norm(ord, axis=1).shape == (0,)
            with pytest.raises(ZeroDivisionError, match="no elements"):
                t.mean(axis=0)
            with pytest.raises(ZeroDivisionError, match="no elements"):
                t.mean()
            assert t.mean(axis=1).shape == (0,)
            assert t.norm(0, axis=0).dtype == np.int64

    on_ranks(2, body)


@pytest.mark.parametrize("layout", ["block, *", "*, block"])
def test_operands_of_different_types_are_told_by_their_types(layout: str) -> None:
    def body(team: pt.Team) -> None:
        t: Any = pt.sparse.eye(6, layout=layout, dtype="float32")
        x = np.ones(6, "float32" if team.rank == 0 else "float64")
        with pytest.raises(pt.MismatchError, match=r"float32.*float64|float64.*float32"):
            (t @ x).gather()

    on_ranks(2, body)


def test_sums_of_coo_tensors_can_be_shared() -> None:
    def body(team: pt.Team) -> None:
        t: Any = pt.sparse.eye(6, format="coo")
        both = (t + t.T).share()
        np.testing.assert_array_equal(both.get_slice((0, 0)).toarray(), 2 * np.eye(6)[:3])
        team.barrier()

    on_ranks(2, body)


def test_functions_of_numpy_take_sparse_tensors() -> None:
    m = sp.csr_array(np.array([[1.0, 0, -2], [0, 3, 0]]))
    t: Any = DistTensor.from_scipy(m)
    for function in (np.sin, np.sign, np.abs, np.negative, np.positive, np.conjugate, np.expm1):
        found: Any = function(t)
        assert isinstance(found, DistTensor)
        np.testing.assert_array_equal(found.gather().toarray(), function(m.toarray()))
    np.testing.assert_array_equal(numpy.power(t, 2).gather().toarray(), m.toarray() ** 2)
    np.testing.assert_array_equal(numpy.maximum(t, -t).gather().toarray(), abs(m).toarray())
    for work, words in (
        (lambda: numpy.cos(t), "numpy.cos .*to_dense"),
        (lambda: numpy.logaddexp(t, t), "numpy.logaddexp .*to_dense"),
        (lambda: numpy.sin(t, dtype="float32"), "dtype=; use it without"),
        (lambda: numpy.add.reduce(t), r"numpy.add.reduce .*t\.sum"),
        (lambda: t.toarray(), r"to_dense.*gather\(\)\.toarray"),
        (lambda: t.todense(), "to_dense"),
        (lambda: len(t), r"shape\[0\]"),
    ):
        with pytest.raises(TypeError, match=words):
            work()
    assert t.size == m.size == 3


@pytest.mark.parametrize("n_ranks", RANKS)
def test_masks_choose_elements_row_by_row(n_ranks: int) -> None:
    m = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]]))
    mask = np.array([[True, False, True], [False, True, True], [False, False, True]])

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(m, layout="*, block")
        sparse_mask = sp.csc_array(mask)
        for given in (mask, pt.asarray(mask), sparse_mask, DistTensor.from_scipy(sparse_mask)):
            found = t[given]
            assert found.shape == (5,)
            np.testing.assert_array_equal(found.to_dense().gather(), m.toarray()[mask])
        np.testing.assert_array_equal(t[t > 1].to_dense().gather(), [2, 3, 4, 5])
        with pytest.raises(IndexError, match="a mask of shape"):
            t[mask[:2]]

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_shapes_products_and_extremes_beside_scipys(n_ranks: int) -> None:
    m = sp.csr_array(np.array([[1.0, 0, np.nan, 0], [0, 3, 0, -2], [np.nan] * 4]))

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(m)
        for shape in ((4, 3), (-1,), (2, -1), (12, 1), (2, 3, 2)):
            for order in ("C", "F"):
                found = t.reshape(shape, order=order)
                whole = m.toarray().reshape(shape, order=order)
                assert found.shape == whole.shape
                np.testing.assert_array_equal(found.to_dense().gather(), whole)
        assert t.reshape(6, 2).shape == (6, 2)
        with pytest.raises(ValueError, match="whose product is 12"):
            t.reshape(5, 3)
        small = sp.csr_array(np.array([[1.0, 0], [2, -1]]))
        own = DistTensor.from_scipy(m[:2, :2])
        wanted = sp.kron(m[:2, :2], small).toarray()
        for other in (DistTensor.from_scipy(small), small, small.toarray()):
            np.testing.assert_array_equal(own.kron(other).gather().toarray(), wanted)
        for name in ("nanmax", "nanmin"):
            assert getattr(t, name)() == getattr(m, name)()
            for axis in (0, 1):
                found = getattr(t, name)(axis=axis).gather()
                np.testing.assert_array_equal(found, getattr(m, name)(axis=axis).toarray())

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_steps_of_slices_are_as_long_as_they_like(n_ranks: int) -> None:
    whole = np.arange(12.0).reshape(4, 3)
    high = 2**65

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_scipy(sp.csr_array(whole))
        for one in (slice(0, 2**70, high), slice(None, None, -high), slice(9, None, high)):
            for key in (one, (slice(None), one), (one, one), (1, one)):
                np.testing.assert_array_equal(t[key].gather().toarray(), whole[key])
        deep: Any = DistTensor.from_coo((2, 3, 2), ([], [], []), [])
        assert deep[0 : 2**70 : high, ::-high].shape == (1, 1, 2)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_extents_that_coordinates_cannot_count_are_refused(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        works: list[Any] = [
            lambda: DistTensor.from_coo((2**63, 1), ([], []), [], format="coo"),
            lambda: DistTensor.from_coo((2**63,), ([],), [], layout="block"),
            lambda: pt.sparse.hstack([edge.T] * 3),
            lambda: pt.sparse.block_diag([edge[:1], edge]),
        ]
        edge: Any = DistTensor.from_coo((2**63 - 1, 1), ([], []), [], format="coo")
        for work in works:
            with pytest.raises(pt.LayoutError, match="2\\^63 - 1") as caught:
                work()
            assert caught.value.reason == "shape-overflow"
        assert edge.gather().shape == edge.shape
        assert edge.get_rows([-1]).shape == edge[[0]].shape == (1, 1)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_sides_below_0_are_no_grid(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for grid in ((-1, -n_ranks), (-n_ranks, -1)):
            with pytest.raises(pt.LayoutError, match="all ranks") as caught:
                DistTensor.from_scipy(sp.eye_array(4), grid=grid)
            assert caught.value.reason == "sparse-grid"
        with pytest.raises(ValueError, match=r"scale=99.* from 0 to 31"):
            pt.sparse.rmat(99)

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_element_types_of_other_byte_orders_are_taken(n_ranks: int) -> None:
    whole = np.arange(6.0).reshape(2, 3)

    def body(team: pt.Team) -> None:
        t: Any = DistTensor.from_dense(whole.astype(">f8"))
        found = [t, t.astype(">f8"), t.power(1, dtype=">f8")]
        for one in found:
            assert one.dtype == np.float64
            np.testing.assert_array_equal(one.gather().toarray(), whole)
        assert t.astype(">i4").dtype == np.int32
        assert pt.sparse.eye(3, dtype=">f4").dtype == np.float32
        assert t.sum(dtype=">f8") == 15
        np.testing.assert_array_equal(t.sum(axis=0, dtype=">f8").gather(), whole.sum(axis=0))
        adjoint = t.plan_rows([0]).adjoint(np.ones(2, ">f8"))
        assert adjoint.sum() == 2 * team.size

    on_ranks(n_ranks, body)


FORMATS = ["csr", "csc", "coo", "bsr", "dia"]
# Where a format has its coordinates.
COORDINATES = {"coo": ["coords"], "dia": ["offsets"]}


def _uses(m: Any, team: pt.Team) -> list[Any]:
    """Everything that takes a matrix of SciPy of shape (4, 4)."""
    t = DistTensor.from_scipy(sp.csr_array(np.eye(4)), team=team)
    everywhere = ("replicated", "replicated")
    return [
        lambda: DistTensor.from_scipy(m, team=team),
        lambda: DistTensor.from_scipy(m if team.rank == 0 else None, team=team, root=0),
        lambda: DistTensor.from_blocks(m, (4, 4), everywhere, team=team),
        lambda: DistTensor.from_blocks(t.gather(), (4, 4), everywhere).set_slice((0, 0), m),
        lambda: t + m,
        lambda: t * m,
        lambda: t @ m,
        lambda: m @ t,
        lambda: t.maximum(m),
        lambda: t.kron(m),
    ]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("format", FORMATS)
def test_coordinates_that_are_no_integers_are_refused(format: str, n_ranks: int) -> None:
    names = COORDINATES.get(format, ["indptr", "indices"])

    def body(team: pt.Team) -> None:
        for name in names:
            m: Any = sp.coo_matrix(np.arange(16.0).reshape(4, 4) % 5).asformat(format)
            old = getattr(m, name)
            new = tuple(one + 0.7 for one in old) if name == "coords" else old + 0.7
            setattr(m, name, new)
            for work in _uses(m, team):
                with pytest.raises(pt.LayoutError, match="convert them to integers") as caught:
                    work()
                assert caught.value.reason == "sparse-coordinates"

    on_ranks(n_ranks, body)


def at_odd_addresses(given: Any) -> Any:
    """The same elements, one byte behind where they could be read at once."""
    return np.frombuffer(b"\0" + given.tobytes(), np.uint8)[1:].view(given.dtype)


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_memory_at_odd_addresses_is_copied(format: str, n_ranks: int) -> None:
    whole = np.arange(16.0).reshape(4, 4) % 5

    def body(team: pt.Team) -> None:
        names = ["data", *(["indptr", "indices"] if format != "coo" else ["coords"])]
        for name in names:
            m: Any = sp.coo_array(whole).asformat(format)
            old = getattr(m, name)
            is_one = name != "coords"
            new = at_odd_addresses(old) if is_one else tuple(map(at_odd_addresses, old))
            setattr(m, name, new)
            t = DistTensor.from_scipy(m, team=team)
            np.testing.assert_array_equal((t @ np.eye(4)).gather(), whole)
            np.testing.assert_array_equal((t @ t).gather().toarray(), whole @ whole)
            np.testing.assert_array_equal(t.T.get_rows([1, 3]).toarray(), whole.T[[1, 3]])
            for work in _uses(m, team):
                work()
        values = at_odd_addresses(np.ones(4))
        at = at_odd_addresses(np.arange(4))
        t = DistTensor.from_coo((4, 4), (at, at), values, team=team)
        assert t.with_values(at_odd_addresses(t.values)).sum() == 4 * team.size

    on_ranks(n_ranks, body)
