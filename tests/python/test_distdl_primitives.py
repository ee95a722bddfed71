"""The primitives on threads and on MPI: serial references, dot tests, and the specification."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adjoints import cartesian
from distdl_cases import CASES
from places import MPIEXEC

import partita as pt
from partita.distdl import AllGather, AllSumReduce, Broadcast, Partition, Repartition, SumReduce


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    n_ranks, case = CASES[name]
    pt.spmd(case, ranks=n_ranks)


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_cases_on_mpi(n_ranks: int) -> None:
    script = Path(__file__).parent / "distdl_cases.py"
    command = [MPIEXEC, "-n", str(n_ranks), sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wanted = sum(needed <= n_ranks for needed, _ in CASES.values())
    assert done.stdout.count(f"ran {wanted}") == n_ranks


COLOURS = {0: (0, 1, 6, 7), 1: (2, 3, 8, 9), 2: (4, 5, 10, 11)}
SUMS = (14.0, 22.0, 30.0)


def colour_of(rank: int) -> int:
    return next(colour for colour, ranks in COLOURS.items() if rank in ranks)


def test_the_example_of_the_specification_value_by_value() -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        single = cartesian(world, [1, 2, 3], [1, 3, 1])
        many = cartesian(world, range(12), [2, 3, 2])
        rank, nothing = float(team.rank), np.zeros(0)
        colour = colour_of(team.rank)
        x = np.array([100 + rank]) if single.active else nothing
        y = np.array([rank])
        copy = Broadcast(single, many)
        assert copy(x).tolist() == [101.0 + colour]
        summed = [SUMS[single.rank]] if single.active else []
        assert copy.adjoint(y).tolist() == summed
        total = SumReduce(many, single)
        assert total(y).tolist() == summed
        assert total.adjoint(x).tolist() == [101.0 + colour]
        everywhere = AllSumReduce(many, (0, 2))
        assert everywhere(y).tolist() == everywhere.adjoint(y).tolist() == [SUMS[colour]]
        product = sum(team.allgather_data(float((copy(x) * y).sum())))
        assert product == 6748.0
        assert product == sum(team.allgather_data(float((x * copy.adjoint(y)).sum())))
        # The same through the functions of the top level.
        grid = team.grid(2, 3, 2)
        few = team.subteam([1, 2, 3]).grid(1, 3, 1)
        assert pt.broadcast(x, few, grid).tolist() == [101.0 + colour]
        assert pt.broadcast.adjoint(y, few, grid).tolist() == summed
        assert pt.sum_reduce(y, grid, few).tolist() == summed
        assert pt.sum_reduce.adjoint(x, grid, few).tolist() == [101.0 + colour]
        assert pt.all_sum_reduce(y, grid, (0, 2)).tolist() == [SUMS[colour]]
        assert pt.all_sum_reduce.adjoint(y, grid, (0, -1)).tolist() == [SUMS[colour]]

    pt.spmd(job, ranks=12)


def test_one_root_and_a_team() -> None:
    def job(team: pt.Team) -> None:
        x = np.array([team.rank + 1.0])
        assert pt.broadcast(x, team, root=2).tolist() == [3.0]
        assert pt.broadcast.adjoint(x, team, root=2).tolist() == ([6.0] if team.rank == 2 else [])
        assert pt.sum_reduce(x, team, root=1).tolist() == ([6.0] if team.rank == 1 else [])
        assert pt.sum_reduce.adjoint(x, team, root=1).tolist() == [2.0]
        out = np.zeros(1)
        assert pt.all_sum_reduce(x, team, out=out) is out
        assert out.tolist() == [6.0]

    pt.spmd(job, ranks=3)


def test_blocks_move_and_return() -> None:
    def job(team: pt.Team) -> None:
        whole = np.arange(35.0).reshape(7, 5)
        rows, columns = team.grid(3, 1), team.grid(1, 3)
        sizes = [[1, 4, 2], [5]]
        start = sum(sizes[0][: team.rank])
        x = whole[start : start + sizes[0][team.rank]]
        y = pt.transpose_partition(x, rows, columns)
        np.testing.assert_array_equal(y, np.array_split(whole, 3, axis=1)[team.rank])
        np.testing.assert_array_equal(
            pt.transpose_partition.adjoint(y, rows, columns, sizes=sizes), x
        )

    pt.spmd(job, ranks=3)


def test_overlaps_of_a_line() -> None:
    source, target = pt.Layout((10,), "block @ 4"), pt.Layout((10,), "block @ 3")
    moves = [move for rank in range(4) for move in pt.plan(source, target).sends(rank)]
    found = []
    for move in moves:
        (at,) = move.source_indices()
        start = sum(source.local_shape(rank)[0] for rank in range(move.source_rank))
        lo = int(at[0]) + start
        found.append((move.source_rank, move.target_rank, lo, lo + move.n_elements))
    wanted = [(0, 0, 0, 3), (1, 0, 3, 4), (1, 1, 4, 6), (2, 1, 6, 7), (2, 2, 7, 8), (3, 2, 8, 10)]
    assert sorted(found) == wanted


def test_gathered_rows_and_their_adjoint() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        join = AllGather(P, 0)
        n_rows = (4, 3, 3)[team.rank]
        assert join(np.zeros((n_rows, 2))).shape == (10, 2)
        found = join.adjoint(np.full((10, 2), team.rank + 1.0))
        np.testing.assert_array_equal(found, np.full((n_rows, 2), 6.0))

    pt.spmd(job, ranks=3)


def test_batches_are_preserved_where_asked() -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        first = world.create_partition_inclusive([0])
        x = np.ones((4, 3)) if team.rank == 0 else np.zeros((4, 0))
        total = SumReduce(world, first, preserve_batch=True)
        found = total(np.ones((4, 3)))
        assert found.shape == ((4, 3) if team.rank == 0 else (4, 0))
        copy = Broadcast(first, world, preserve_batch=True)
        assert copy(x).shape == (4, 3)
        assert copy.adjoint(np.ones((4, 3))).shape == found.shape

    pt.spmd(job, ranks=2)


def test_shapes_may_change_on_one_worker_only() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        join = AllGather(P, 0)
        for n_rows in (2, 5, 0, 2):
            mine = n_rows if team.rank == 1 else 3
            assert join(np.full((mine,), team.rank)).tolist() == [0] * 3 + [1] * n_rows

    pt.spmd(job, ranks=2)


@pytest.mark.parametrize("layout", ["F", "strided", "reversed", "read-only"])
def test_strided_arrays_move_without_a_copy(layout: str) -> None:
    def job(team: pt.Team) -> None:
        world = Partition(team)
        rows = world.create_cartesian_topology_partition([2, 1])
        columns = world.create_cartesian_topology_partition([1, 2])
        whole = np.arange(48.0).reshape(6, 8)
        mine: Any = whole[3 * team.rank : 3 * team.rank + 3]
        if layout == "F":
            mine = np.asfortranarray(mine)
        elif layout == "strided":
            mine = np.repeat(mine, 2, axis=1)[:, ::2]
        elif layout == "reversed":
            mine = mine[::-1].copy()[::-1]
        else:
            mine = mine.copy()
            mine.flags.writeable = False
        found = Repartition(rows, columns)(mine)
        np.testing.assert_array_equal(found, whole[:, 4 * team.rank : 4 * team.rank + 4])

    pt.spmd(job, ranks=2)


def failing(team: pt.Team, kind: str) -> None:
    world = Partition(team)
    square = world.create_cartesian_topology_partition([2, 2])
    line = world.create_cartesian_topology_partition([4, 1])
    odd = team.rank == 1
    if kind == "dtype":
        AllSumReduce(square, [0, 1])(np.zeros(3, "f4" if odd else "f8"))
    elif kind == "shape":
        AllSumReduce(square, [0, 1])(np.zeros(3 + odd))
    elif kind == "no grid":
        Repartition(square, line)(np.zeros((3 + odd, 2)))
    elif kind == "ndim":
        Repartition(square, line)(np.zeros((3, 2, 1)))
    elif kind == "partition ndim":
        Repartition(square, world)(np.zeros((3, 2)))
    elif kind == "type":
        AllSumReduce(square, [0, 1])(None if odd else np.zeros(3))  # type: ignore[arg-type]
    elif kind == "object":
        AllSumReduce(square, [0, 1])(np.zeros(3, object))
    elif kind == "axes both":
        AllSumReduce(square, [0], [1])
    elif kind == "axes none":
        AllSumReduce(square)
    elif kind == "adjoint first":
        AllSumReduce(square, [0]).adjoint(np.zeros(3))
    elif kind == "adjoint of one":
        total, start = AllSumReduce(square, [0]), time.perf_counter()
        try:
            total.adjoint(np.zeros(3)) if odd else total(np.zeros(3))
        finally:
            assert time.perf_counter() - start < 10, "it waited for the deadline"
    elif kind == "cotangent":
        total = AllSumReduce(square, [0, 1])
        total(np.zeros(3))
        total.adjoint(np.zeros(4 if odd else 3))
    elif kind == "sizes":
        Repartition(square, line, sizes=[[1, 1, 1, 2], [4]])(np.zeros((2, 2)))
    elif kind == "workers":
        pt.all_sum_reduce(np.zeros(1), 3)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("dtype", "dtypes-differ"),
        ("shape", "shapes-differ"),
        ("no grid", "blocks-no-grid"),
        ("ndim", "array-ndim"),
        ("partition ndim", "partition-ndim"),
        ("type", "local-type"),
        ("object", "dtype-unknown"),
        ("axes both", "axes-both"),
        ("axes none", "axes-both"),
        ("adjoint first", "adjoint-first"),
        ("adjoint of one", "adjoint-first"),
        ("cotangent", "buffer-shape"),
        ("sizes", "sizes-sum"),
        ("workers", "workers-type"),
    ],
)
def test_a_wrong_call_fails_on_every_worker(kind: str, reason: str) -> None:
    def job(team: pt.Team) -> tuple[str, bool]:
        with pytest.raises(pt.PartitaError) as error:
            failing(team, kind)
        # The team works on.
        team.barrier()
        return error.value.reason, isinstance(error.value, ValueError | pt.RemoteError)

    found = pt.spmd(job, ranks=4, deadline=20)
    assert found[1][0] == reason
    assert {one[0] for one in found} <= {reason, "rank-raised"}
    assert all(one[1] for one in found)
