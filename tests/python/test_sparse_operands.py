"""Operands of sparse tensors that are easily forgotten, on threads: 1 to 3 ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import LAYOUTS, same, tensor

import partita as pt
from partita.sparse import DistTensor

RANKS = pytest.mark.parametrize("n_ranks", [1, 2, 3])


@RANKS
def test_a_map_of_rows_is_none_of_columns(n_ranks: int) -> None:
    """Blocks of given sizes, transposed, do not say how other columns are cut."""
    sizes = {1: "block(5)", 2: "block(2, 3)", 3: "block(4, 0, 1)"}[n_ranks]

    def body(team: pt.Team) -> None:
        whole = tensor((5, 4), "float64", 1)
        for layout in (f"{sizes}, *", "cyclic(2), *"):
            t = DistTensor.from_scipy(whole, layout=layout)
            same((t.T @ t).gather(), whole.T @ whole)
            same((t @ t.T).gather(), whole @ whole.T)
            same(t.T[:, [0, 1]].gather(), whole.T.tocsr()[:, [0, 1]])

    pt.spmd(body, n_ranks)


@RANKS
def test_operands_without_rows(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for layout in ("*, block", "block, *", "*, *", "*, cyclic"):
            for format in ("csr", "csc"):
                t = DistTensor.from_scipy(sp.csr_array((4, 0)).asformat(format))
                found = (t @ pt.zeros((0, 3), layout=layout)).gather()
                np.testing.assert_array_equal(found, np.zeros((4, 3)))

    pt.spmd(body, n_ranks)


@RANKS
def test_scipys_matrices_in_products(n_ranks: int) -> None:
    """On either side they are what every rank has whole."""

    def body(team: pt.Team) -> None:
        whole = tensor((5, 4), "float64", 1)
        for number, layout in enumerate(LAYOUTS):
            t = DistTensor.from_scipy(whole, layout=layout)
            for made in (sp.csr_array, sp.csc_matrix, sp.coo_array):
                other = made(tensor((4, 6), "float32", number))
                first = made(tensor((3, 5), "float64", number))
                same((t @ other).gather(), whole @ other)
                same(t.dot(other).gather(), whole @ other)
                same((first @ t).gather(), first @ whole)
            with pytest.raises(ValueError, match="as many rows"):
                t @ whole
            with pytest.raises(ValueError, match="4 elements along what is summed over"):
                t @ sp.coo_array(np.ones((4, 1, 1)))
            with pytest.raises(TypeError):
                t @ "matrix"

    pt.spmd(body, n_ranks)


@RANKS
def test_the_sign_of_scipys_old_matrices(n_ranks: int) -> None:
    """The class on the left decides: of the old one, `*` is the product."""

    def body(team: pt.Team) -> None:
        whole = tensor((5, 5), "float64", 1)
        for layout in ("block, *", "*, block"):
            t = DistTensor.from_scipy(whole, layout=layout)
            for old in (sp.csr_matrix(tensor((5, 5), "float64", 2)), sp.coo_matrix(whole)):
                same((old * t).gather(), sp.csr_array(old * whole))
                same((t * old).gather(), whole * old)
                same(t.multiply(old).gather(), whole * old)
                same((sp.csr_array(old) * t).gather(), whole * old)

    pt.spmd(body, n_ranks)


@RANKS
def test_kron_takes_distributed_matrices(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(tensor((3, 2), "float64", 1))
        for other in (t, t.gather()):
            same(t.kron(other).gather(), sp.kron(t.gather(), t.gather()))

    pt.spmd(body, n_ranks)


def test_arrays_that_do_not_fit_on_one_rank_are_told() -> None:
    """Those of NumPy are each rank's own: where ranks do not meet for a call, they are told."""
    works: list[Any] = [
        lambda t, a: t + a,
        lambda t, a: t - a,
        lambda t, a: t > a,
        lambda t, a: t.maximum(a),
    ]

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(tensor((6, 5), "float64", 1))
        is_last = team.rank == team.size - 1
        for work in works:
            with pytest.raises(ValueError if is_last else pt.RemoteError, match=r"\[6, 4\]"):
                work(t, np.ones((6, 4 if is_last else 5))).gather()
            team.barrier()

    pt.spmd(body, 3, deadline=30.0)


def test_a_root_that_is_not_there_is_so_for_all() -> None:
    def body(team: pt.Team) -> None:
        m = tensor((6, 5), "float64", 1)
        t = DistTensor.from_scipy(m)
        root = 9 if team.rank == 1 else 0
        for work in (lambda: DistTensor.from_scipy(m, root=root), lambda: t.gather(root)):
            with pytest.raises(pt.LayoutError, match="root 9") as met:
                work()
            assert met.value.reason == "root-unknown"

    pt.spmd(body, 3, deadline=30.0)


def test_operands_of_other_shapes_are_named() -> None:
    def body(team: pt.Team) -> None:
        for layout in ("block, *", "*, block"):
            t = DistTensor.from_scipy(tensor((6, 5), "float64", 1), layout=layout)
            with pytest.raises(pt.MismatchError, match=r"\(5, 2\)|\(2,\)"):
                t @ np.ones((5, 2 + team.rank))

    pt.spmd(body, 2, deadline=30.0)


@RANKS
def test_tensors_of_many_dimensions_times_dense(n_ranks: int) -> None:
    dense = np.arange(24.0).reshape(2, 3, 4) % 5

    def body(team: pt.Team) -> None:
        for layout in ("block, *, *", "*, block, *", "*, *, block", "*, *, *"):
            t: Any = DistTensor.from_dense(dense, layout=layout)
            for x in (np.arange(4.0), np.arange(8.0).reshape(4, 2)):
                for given in (
                    x,
                    pt.asarray(x),
                    pt.asarray(x).redistribute("cyclic" + ", *" * (x.ndim - 1)),
                ):
                    np.testing.assert_array_equal((t @ given).gather(), dense @ x)
            for x in (np.arange(3.0), np.arange(6.0).reshape(2, 3)):
                for given in (x, pt.asarray(x)):
                    np.testing.assert_array_equal((given @ t).gather(), x @ dense)
            with pytest.raises(ValueError, match="with 4 elements along"):
                t @ np.ones(3)
            with pytest.raises(ValueError, match="with 3 elements along"):
                np.ones(4) @ t
        empty = DistTensor.from_coo((2, 0, 4), ([], [], []), [])
        assert (empty @ np.ones((4, 5))).shape == (2, 0, 5)
        large = DistTensor.from_dense(np.ones((2, 2, 3, 4))) @ pt.ones(4)
        np.testing.assert_array_equal(large.gather(), np.full((2, 2, 3), 4.0))

    pt.spmd(body, n_ranks, deadline=30.0)
