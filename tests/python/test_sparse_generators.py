"""Tensors that ranks make in parallel: what SciPy makes, and the same on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import diags, eye, laplacian, random_array, rmat

RANKS = [1, 2, 3, 4, 5]
LAYOUTS = [None, "*, block", "block, block", "cyclic, *"]


def same(found: Any, wanted: Any) -> None:
    found = found.gather()
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


@pytest.mark.parametrize("n_ranks", RANKS)
def test_diagonals_are_scipys(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for at, (m, n, k) in enumerate(
            [(5, 5, 0), (4, 7, 2), (7, 4, -3), (1, 1, 0), (3, 3, 5), (0, 2, 0), (2, 9, -1)]
        ):
            layout = LAYOUTS[at % 4]
            found = eye(
                m, n, k=k, dtype="int16", layout=layout, format=["csr", "csc", "coo"][at % 3]
            )
            assert found.format == ["csr", "csc", "coo"][at % 3]
            same(found, sp.csr_array(np.eye(m, n, k, np.int16)))
        same(eye(6), sp.eye_array(6))
        numbers = [np.arange(1, 6), np.arange(6.0), [7]]
        wanted = sp.diags_array(numbers, offsets=[-1, 0, 1], shape=(6, 6))
        for layout in LAYOUTS:
            for given in (numbers, [pt.asarray(one) for one in numbers]):
                same(diags(given, offsets=[-1, 0, 1], shape=(6, 6), layout=layout), wanted)
        same(diags(np.arange(4), offsets=2), sp.csr_array(np.diag(np.arange(4), 2)))
        same(
            diags([2.0, -1.0], offsets=[0, 3], shape=(5, 7), dtype="float32"),
            sp.diags_array([[2.0], [-1.0]], offsets=[0, 3], shape=(5, 7), dtype=np.float32),
        )
        bad: Any
        for bad in (
            {"offsets": [0, 0], "shape": (3, 3)},
            {"offsets": [0], "shape": (3, 3)},
            {"offsets": [0, 9], "shape": (3, 3)},
        ):
            with pytest.raises(ValueError, match="use"):
                diags([np.ones(3), np.ones(3)], **bad)
        # What is wrong on one rank only is refused on all.
        wrong = team.rank == team.size - 1
        with pytest.raises(ValueError, match="scale"):
            rmat(-1 if wrong else 3)
        with pytest.raises(ValueError, match="density"):
            random_array((3, 3), density=2.0 if wrong else 0.5)
        with pytest.raises(ValueError, match="a grid"):
            laplacian((-1, 2) if wrong else (1, 2))
        with pytest.raises(ValueError, match="for a diagonal of 3"):
            eye(3).with_diagonal(np.ones(2 if wrong else 3))
        with pytest.raises(ValueError, match="kron"):
            eye(3).kron(np.ones(2) if wrong else np.ones((2, 2)))
        with pytest.raises(ValueError, match="does not fit"):
            diags(np.ones(3 if team.rank else 4), shape=(3, 3))

    pt.spmd(body, n_ranks, deadline=20.0)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_laplacians_of_grids(n_ranks: int) -> None:
    def line(n: int) -> Any:
        return 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)

    def body(team: pt.Team) -> None:
        for at, shape in enumerate(
            [(5,), (4, 3), (1, 6), (3, 4, 2), (1, 1, 1), (2, 2, 2, 2), (0, 3), (17, 11)]
        ):
            wanted: Any = np.zeros((np.prod(shape), np.prod(shape)))
            if min(shape):
                wanted = line(shape[0])
                for n in shape[1:]:
                    wanted = np.kron(wanted, np.eye(n)) + np.kron(np.eye(len(wanted)), line(n))
            found = laplacian(shape, layout=LAYOUTS[at % 4]) if at % 4 else laplacian(shape)
            same(found, sp.csr_array(wanted))
            assert laplacian(shape, dtype="float32", format="csc").dtype == np.float32

    pt.spmd(body, n_ranks, deadline=20.0)


def test_random_tensors_do_not_depend_on_ranks() -> None:
    def body(team: pt.Team) -> list[Any]:
        made: list[Any] = []
        for shape, dtype in [((30, 20), None), ((7, 6, 5), "float32"), ((40, 3), "complex128")]:
            found = random_array(shape, density=0.2, rng=5, dtype=dtype)
            made.append(found.to_dense().gather())
        made.append(random_array((9, 9), density=1.0, rng=1, dtype="int8").to_dense().gather())
        made.append(random_array((9, 9), density=0.3, rng=1, dtype=bool).to_dense().gather())
        rng = pt.random.default_rng(3)
        made += [random_array((50, 4), density=0.5, rng=rng).to_dense().gather() for _ in range(2)]
        for density in (-0.1, 1.1):
            with pytest.raises(ValueError, match="density"):
                random_array((3, 3), density=density)
        assert random_array((0, 3), density=0.5).nnz == 0
        assert random_array((5, 5), density=0.5).nnz == 12
        with pytest.raises(TypeError, match="'wrong'"):
            random_array((5, 5), wrong=1)
        return made

    (alone,) = pt.spmd(body, 1)
    first = alone[0]
    assert np.count_nonzero(first) == 120
    assert 0.4 < first[first > 0].mean() < 0.6
    assert first.max() < 1
    assert np.count_nonzero(alone[4]) == 24
    # A generator goes on: the second tensor is another.
    assert (alone[5] != alone[6]).any()
    for n_ranks in (2, 5):
        for found in pt.spmd(body, n_ranks, deadline=20.0):
            for one, other in zip(found, alone, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


def test_graphs_do_not_depend_on_ranks() -> None:
    def body(team: pt.Team) -> list[Any]:
        graphs = [
            rmat(6, 8),
            rmat(6, 8, seed=1),
            rmat(7, 4, directed=False),
            rmat(0, 3),
            rmat(3, 0),
        ]
        graphs.append(rmat(5, 8, layout="block, block", format="csc", dtype="int32"))
        return [one.gather().toarray() for one in graphs]

    (alone,) = pt.spmd(body, 1)
    for graph, n_edges in zip(alone, [512, 512, None, 3, 0, 256], strict=True):
        assert n_edges is None or graph.sum() == n_edges
    assert (alone[0] != alone[1]).any()
    np.testing.assert_array_equal(alone[2], alone[2].T)
    # Few vertices have most of the edges.
    degrees = np.sort(alone[0].sum(axis=1))[::-1]
    assert degrees[:16].sum() > 2 * degrees[-32:].sum()
    assert alone[5].dtype == np.int32
    for n_ranks in (2, 3, 5):
        for found in pt.spmd(body, n_ranks, deadline=20.0):
            for one, other in zip(found, alone, strict=True):
                np.testing.assert_array_equal(one, other)
    bad: Any
    for bad in ({"scale": -1}, {"scale": 3, "a": 0.9}, {"scale": 2, "edge_factor": -1}):
        with pytest.raises(ValueError, match="use"):
            rmat(**bad)


def test_quarters_have_their_shares() -> None:
    found = rmat(1, 1 << 14, a=0.5, b=0.1, c=0.3).gather().toarray() / (1 << 15)
    np.testing.assert_allclose(found, [[0.5, 0.1], [0.3, 0.1]], atol=0.01)
    # Two levels: a quarter of a quarter; the numbers of the vertices are others.
    found = rmat(2, 1 << 14, a=0.5, b=0.1, c=0.3).gather().toarray() / (1 << 16)
    wanted = np.kron([[0.5, 0.1], [0.3, 0.1]], [[0.5, 0.1], [0.3, 0.1]])
    np.testing.assert_allclose(np.sort(found.reshape(-1)), np.sort(wanted.reshape(-1)), atol=0.01)


def test_no_number_of_a_vertex_comes_twice() -> None:
    from partita.sparse.graphs import _mixed

    for scale in range(12):
        numbers = np.arange(1 << scale)
        assert sorted(_mixed(numbers, scale).tolist()) == numbers.tolist()
