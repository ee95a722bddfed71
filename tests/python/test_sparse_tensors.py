"""Sparse tensors beside SciPy's matrices, on threads and on processes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import bodies_sparse
import engines
import numpy as np
import pytest
import scipy.sparse as sp
from places import Place, launchers
from sparse_cases import dense, raised, same, tensor

import partita as pt
from partita.sparse import DistTensor
from partita.sparse.slices import slices_for
from partita.sparse.travel import _by_owner

PLACES = [Place("threads", n) for n in (1, 2, 3, 4, 5)]
PLACES += [Place("mpi", 2, launchers()[0])]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_beside_scipy(place: Place) -> None:
    found = engines.run(place, bodies_sparse.CASES)
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_scipys_memory_is_taken_over(format: str, kind: str) -> None:
    m = getattr(sp, f"{format}_{kind}")(tensor((9, 7), "float64", 3, "csr"))
    t = DistTensor.from_scipy(m)
    again = t.to_scipy()
    for one, other in zip(t._block.arrays, pieces(m), strict=True):
        assert np.shares_memory(one, other)
    for one, other in zip(t._block.arrays, pieces(again), strict=True):
        assert np.shares_memory(one, other)
    assert not np.shares_memory(t.gather().data, m.data)
    assert not np.shares_memory(t.copy().values, m.data)


def pieces(m: Any) -> list[Any]:
    return [*m.coords, m.data] if m.format == "coo" else [m.indptr, m.indices, m.data]


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_a_stretch_of_lines_is_a_view(format: str) -> None:
    m = tensor((40, 40), "float64", 3, format)
    dist = ("distributed", "replicated") if format == "csr" else ("replicated", "distributed")

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, dist)
        assert t.nnz_local > 0
        for one, other in ((t._block.indices, m.indices), (t.values, m.data)):
            assert np.shares_memory(one, other)
        here = t.to_scipy()
        assert np.shares_memory(here.data, m.data)
        assert np.shares_memory(here.indices, m.indices)

    pt.spmd(body, 3)


def test_wide_coordinates_are_kept() -> None:
    for format in ("csr", "csc", "coo"):
        m = tensor((6, 5), "float64", 1, format)
        for name in ("indptr", "indices"):
            if format != "coo":
                setattr(m, name, getattr(m, name).astype(np.int64))
        if format == "coo":
            m.coords = tuple(one.astype(np.int64) for one in m.coords)
        t = DistTensor.from_scipy(m)
        assert t.index_dtype == np.int64
        assert t.redistribute(layout="*, cyclic").index_dtype == np.int64
        assert t.T.index_dtype == np.int64
        found = t.to_scipy()
        assert (found.coords[0] if format == "coo" else found.indices).dtype == np.int64


def test_rows_that_are_not_in_order_are_sorted_and_added() -> None:
    m = sp.csr_array(([1.0, 2, 3, 4], [2, 0, 1, 1], [0, 2, 4]), shape=(2, 3))
    t = DistTensor.from_scipy(m)
    assert t._block.lines[1].tolist() == [0, 2, 1]
    assert t.values.tolist() == [2.0, 1, 7]
    assert m.indices.tolist() == [2, 0, 1, 1]


def invalid() -> dict[str, tuple[Any, str]]:
    """Matrices that SciPy has not looked at."""
    found: dict[str, tuple[Any, str]] = {}
    for format, words in (("csr", "of dimension 1"), ("csc", "of dimension 0")):
        m = tensor((5, 5), "float64", 2, format)
        m.indices[0] = 9
        found[f"{format} index"] = (m, words)
        m = tensor((5, 5), "float64", 2, format)
        m.indptr[1] = m.indptr[-1] + 1
        found[f"{format} starts"] = (m, "do not rise")
    m = tensor((5, 5), "float64", 2, "coo")
    m.coords[1][2] = -1
    found["coo index"] = (m, "index -1 of dimension 1")
    m = tensor((5, 5), "float64", 2, "csr")
    m.data = m.data.astype("longdouble")
    found["type"] = (m, "sparse values of")
    return found


@pytest.mark.parametrize("name", invalid())
def test_matrices_that_are_none_are_refused(name: str) -> None:
    m, words = invalid()[name]
    with pytest.raises(pt.LayoutError, match=words):
        DistTensor.from_scipy(m)


def test_what_a_tensor_says_of_itself() -> None:
    t = DistTensor.from_coo((3, 4), ([0, 2], [1, 3]), [1.5, 2.0])
    assert repr(t) == "<DistTensor 3x4 float64 csr, block(last), * @ 1x1, 2 here>"
    assert str(t).splitlines()[1:] == ["  (0, 1)\t1.5", "  (2, 3)\t2.0"]
    long = DistTensor.from_scipy(sp.eye_array(50, format="csr"))
    assert str(long).splitlines()[-1] == "  ... 30 more on this rank"
    assert (t.nnz, t.nnz_local, t.slice_id, t.grid_size()) == (2, 2, (0, 0), (1, 1))
    assert t.team.size == 1


def test_a_repr_never_communicates() -> None:
    def body(team: pt.Team) -> str:
        t = DistTensor.from_scipy(sp.eye_array(5, format="csr"))
        return f"{t!r}{t!s}" if team.rank == 0 else ""

    assert "DistTensor" in pt.spmd(body, 2)[0]


def test_pickles_hold_the_whole_tensor() -> None:
    m = tensor((7, 5), "float64", 1)

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(m, layout="*, cyclic")
        again = pickle.loads(pickle.dumps(t))
        same(again.gather(), m)
        for one in (copy.copy(t), copy.deepcopy(t)):
            assert one.layout == t.layout
            same(one.gather(), m)

    for n in (1, 2):
        pt.spmd(body, n)


def test_arrays_of_pydata() -> None:
    """Told by module and names, as it is seldom installed; asking for one without it says so."""
    m = tensor((6, 5), "float64", 1, "coo")
    kind = type("COO", (SimpleNamespace,), {"__module__": "sparse.numba_backend"})
    given = kind(shape=m.shape, coords=np.stack(m.coords), data=m.data, fill_value=0.0)
    same(DistTensor.from_scipy(given).gather(), m)
    given.fill_value = 1.0
    with pytest.raises(pt.LayoutError, match="fill_value 0"):
        DistTensor.from_scipy(given)


class Foreign(np.lib.mixins.NDArrayOperatorsMixin):
    """What PyData's arrays have in common with others: operators by NumPy, no `tocoo`."""

    __module__ = "sparse.numba_backend"
    fill_value = 0.0

    def __init__(self, m: Any) -> None:
        self.shape, self.data, self.coords = m.shape, m.data, np.stack(m.coords)

    def __array_ufunc__(self, *given: Any, **options: Any) -> Any:
        return NotImplemented


class Unknown(Foreign):
    """An array of nobody."""

    __module__ = "elsewhere"


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_arrays_of_pydata_are_operands_where_scipys_are(n_ranks: int) -> None:
    whole, other = tensor((6, 6), "float64", 1), tensor((6, 6), "float64", 2)
    given: Any = Foreign(other.tocoo())

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(whole)
        same((t + given).gather(), whole + other)
        same((given - t).gather(), other - whole)
        same((t * given).gather(), whole * other)
        same((t > given).gather(), whole > other)
        same((t @ given).gather(), whole @ other)
        same(t.maximum(given).gather(), whole.maximum(other))
        assert DistTensor.from_scipy(other).allclose(given)
        # What is no operand for either is refused, and not asked for again and again.
        with pytest.raises(TypeError):
            t + Unknown(other.tocoo())

    pt.spmd(body, n_ranks)


def test_sparse_is_imported_without_scipy() -> None:
    """Tensors are made and moved without it; whoever wants its objects is told what to install."""
    program = (
        "import sys, types; sys.modules['scipy'] = sys.modules['sparse'] = None\n"
        # Kernels of matrices are not needed for what follows.
        "sys.modules['partita._local.sparse'] = types.ModuleType('sparse')\n"
        "import partita as pt\n"
        "t = pt.sparse.DistTensor.from_coo((3, 3, 2), ([0, 1], [1, 2], [0, 0]), [1.0, 2.0])\n"
        "assert t.redistribute(layout='*, cyclic').to_dense().gather().sum() == 3\n"
        "for ask in (t.to_scipy, t.gather, t.to_pydata):\n"
        "    try: ask()\n"
        "    except ImportError as error: assert 'pip install' in str(error)\n"
        "    else: raise AssertionError(ask)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(("library", "ask"), [("scipy", "to_scipy"), ("sparse", "to_pydata")])
def test_a_library_that_cannot_be_loaded_is_not_said_to_be_missing(
    tmp_path: Any, library: str, ask: str
) -> None:
    (tmp_path / library).mkdir()
    (tmp_path / library / "__init__.py").write_text("raise ImportError('no memory is left')")
    program = (
        f"import sys, types; sys.path.insert(0, {str(tmp_path)!r})\n"
        "sys.modules['partita._local.sparse'] = types.ModuleType('sparse')\n"
        "import partita as pt\n"
        "t = pt.sparse.DistTensor.from_coo((3, 3, 2), ([0], [1], [0]), [1.0])\n"
        f"try: t.{ask}()\n"
        "except ImportError as error:\n"
        "    assert 'cannot be loaded: no memory is left' in str(error)\n"
        "    assert 'pip install' not in str(error)\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_dense_parts_of_cyclic_layouts() -> None:
    whole = dense(tensor((11, 9), "int16", 2))

    def body(team: pt.Team) -> None:
        a = pt.asarray(whole, "cyclic(2), block") * 1
        t = DistTensor.from_dense(a, ("replicated", "distributed"))
        np.testing.assert_array_equal(t.to_dense().gather(), whole)

    pt.spmd(body, 4)


@pytest.mark.parametrize(
    ("n_ranks", "layout"),
    [
        (1, "block, *"),
        (6, "block(last), cyclic(2)"),
        (6, "*, *"),
        (20, "*, block"),
        (40, "cyclic, block(last)"),
        (300, "block, block"),
    ],
)
def test_owners_of_many_elements_are_those_of_each(n_ranks: int, layout: str) -> None:
    slices = slices_for((31, 23), n_ranks, layout=layout)
    for one in (slices, slices.transposed((1, 0))):
        rng = np.random.default_rng(1)
        coords = [rng.integers(0, n, 200).astype(np.int32) for n in one.shape]
        found = one.owners_of(coords)
        wanted = [one.layout.owner(place) for place in zip(*map(list, coords), strict=True)]
        assert found.tolist() == wanted
        ranks, inside = one.ranks(coords)
        assert ranks.tolist() == wanted
        for at, rank in enumerate(wanted):
            own = one.slice_of(rank)
            here = [c[at : at + 1] for c in coords]
            assert [one.inside(own, dim, c)[0] for dim, c in enumerate(here)] == [
                c[at] for c in inside
            ]
            back = one.globalized(own, [c[at : at + 1] for c in inside])
            assert [c[0] for c in back] == [c[0] for c in here]


@pytest.mark.parametrize("n_ranks", [1, 2, 16, 17, 300])
def test_entries_are_put_together_by_owner(n_ranks: int) -> None:
    owners = np.random.default_rng(2).integers(0, n_ranks, 500).astype(np.uint16)
    for given in (owners, np.sort(owners), owners[:0], owners[:1]):
        order, cuts = _by_owner(given, n_ranks)
        wanted = np.argsort(given, kind="stable")
        assert (np.arange(len(given)) if order is None else order).tolist() == wanted.tolist()
        assert np.diff(cuts).tolist() == np.bincount(given, minlength=n_ranks).tolist()


def test_other_teams_and_roots() -> None:
    m = tensor((6, 5), "float64", 1)

    def body(team: pt.Team) -> None:
        some = team.subteam([2, 0])
        if some.active:
            t = DistTensor.from_scipy(m, team=some)
            same(t.gather(), m)
            assert t.slice_id == (some.rank, 0)
        else:
            assert "members only" in raised(
                lambda: DistTensor.from_scipy(m, team=some), pt.TeamError
            )
        t = DistTensor.from_scipy(m)
        raised(lambda: t.gather(team.rank), pt.MismatchError)
        raised(lambda: DistTensor.from_scipy(m, root=7), pt.LayoutError)
        team.barrier()
        same(t.gather(), m)

    pt.spmd(body, 3)


def test_a_million_rows() -> None:
    n = 10**6
    m = sp.diags_array([1.0, 2.0, 3.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    coo = m.tocoo()

    def body(team: pt.Team) -> None:
        own = slice(team.rank, None, team.size)
        given = tuple(one[own] for one in coo.coords)
        t = DistTensor.from_coo(m.shape, given, coo.data[own])
        assert t.nnz == m.nnz
        found = t.redistribute(layout="*, block", format="csc").gather(0)
        if found is not None:
            assert abs(found - m).max() == 0

    pt.spmd(body, 2)


def test_a_layout_with_a_halo_is_refused_on_one_rank_too() -> None:
    m = sp.csr_array(np.eye(5))
    for n_ranks in (1, 2):

        def body(team: pt.Team) -> None:
            with pytest.raises(pt.LayoutError, match="without halos"):
                DistTensor.from_scipy(m, layout="block+halo(1,1), *")

        pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 3, 4])
def test_the_grid_has_all_ranks(n_ranks: int) -> None:
    m = sp.csr_array(np.eye(5))

    def body(team: pt.Team) -> None:
        layouts = ["*, *", f"*, * @ {team.size}", "block, *", "*, block"]
        for layout in layouts + (["block, * @ 2x1x2"] if team.size == 4 else []):
            t = DistTensor.from_scipy(m, layout=layout)
            assert np.prod(t.grid_size()) == team.size
            assert t.grid_size() == t.layout.grid_shape
            assert t.T.grid_size() == t.grid_size()[::-1]
        whole = DistTensor.from_scipy(m, ("replicated", "replicated"))
        assert whole.grid_size() == DistTensor.from_scipy(m, layout="*, *").grid_size()

    pt.spmd(body, n_ranks)
