"""The back-end as DistDL calls it, without DistDL: modules, functions, structures, buffers."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from divided import check, cut
from launch import launch

import partita as pt
from partita.torch import backend


def cartesian(team: pt.Team, ranks: Any, shape: Any) -> Any:
    few = backend.Partition(team).create_partition_inclusive(np.asarray(ranks))
    return few.create_cartesian_topology_partition(np.asarray(shape))


def test_shapes_and_indices_are_arrays() -> None:
    def job(team: pt.Team) -> None:
        P = cartesian(team, [2, 0, 1], [1, 3])
        assert type(P) is backend.CartesianPartition
        assert isinstance(P.shape, np.ndarray)
        np.testing.assert_array_equal(P.shape, [1, 3])
        np.testing.assert_array_equal(P.index, [0, P.rank])
        np.testing.assert_array_equal(P.cartesian_index(2), [0, 2])
        assert np.all(P.shape[:1] == 1)
        plain = P.create_partition_inclusive([0])
        assert type(plain) is backend.Partition
        np.testing.assert_array_equal(plain.shape, [1 if plain.active else -1])
        sub = P.create_cartesian_subtopology_partition([False, True])
        assert type(sub) is backend.CartesianPartition
        P.deactivate()
        assert not P.active
        assert P.index is None
        np.testing.assert_array_equal(P.shape, [1, 3])
        assert not backend.Partition().active

    pt.spmd(job, ranks=3)


def test_broadcast_and_sum_reduction_through_their_teams() -> None:
    def job(team: pt.Team) -> None:
        single = cartesian(team, [1, 2, 3], [1, 3, 1])
        many = cartesian(team, range(12), [2, 3, 2])
        function = backend.functional.broadcast.BroadcastFunction
        send, receive = single.create_broadcast_partition_to(many)
        colour = team.rank // 2 % 3
        x = torch.full((2,), 100.0 + team.rank) if single.active else torch.zeros(0)
        x.requires_grad_()
        known = backend.broadcast_tensor_structure(x, send, receive)
        assert known.shape == (2,)
        assert known.dtype is torch.float32
        assert known.requires_grad
        y = function.apply(x, send, receive, False, known, known)
        check(y.detach(), torch.full((2,), 101.0 + colour))
        y.backward(torch.full((2,), float(team.rank)))
        if single.active:
            check(x.grad, torch.full((2,), (14.0, 22.0, 30.0)[single.rank]))
        function = backend.functional.sum_reduce.SumReduceFunction
        send, receive = many.create_reduction_partition_to(single)
        x = torch.full((2,), float(team.rank), requires_grad=True)
        known = backend.broadcast_tensor_structure(x, send, receive)
        assert known.shape == ((2,) if single.active else None)
        y = function.apply(x, send, receive, False, known, known)
        wanted = [(14.0, 22.0, 30.0)[single.rank]] * 2 if single.active else []
        assert y.tolist() == wanted
        y.backward(torch.full((2,), 100.0 + team.rank) if single.active else torch.zeros(0))
        check(x.grad, torch.full((2,), 101.0 + colour))

    pt.spmd(job, ranks=12)


def test_all_sum_and_repartition() -> None:
    def job(team: pt.Team) -> None:
        rows, square = cartesian(team, range(4), [4, 1]), cartesian(team, range(4), [2, 2])
        sub = square.create_allreduction_partition([1])
        x = torch.ones(3, requires_grad=True)
        y = backend.functional.all_sum_reduce.AllSumReduceFunction.apply(x, sub, None, None)
        y.backward(torch.ones(3))
        check(y.detach(), torch.full((3,), 2.0))
        check(x.grad, torch.full((3,), 2.0))
        whole = torch.arange(77.0 * 55).reshape(77, 55)
        x = cut(whole, (4, 1), rows.index).clone().requires_grad_()
        union = rows.create_partition_union(square)
        known = backend.assemble_global_tensor_structure(x, rows, union)
        np.testing.assert_array_equal(known.shape, [77, 55])
        function = backend.functional.repartition.RepartitionFunction
        none = (None, None, None)
        y = function.apply(x, union, *none, rows, None, None, square, None, None, False)
        check(y.detach(), cut(whole, (2, 2), square.index))
        y.backward(y.detach())
        check(x.grad, x.detach())
        shapes = backend.compute_subtensor_shapes_unbalanced(x, rows, union)
        np.testing.assert_array_equal(shapes[:, 0], [[20, 55], [19, 55], [19, 55], [19, 55]])

    pt.spmd(job, ranks=4)


def test_sums_of_many_are_added_in_a_tree() -> None:
    def job(team: pt.Team) -> None:
        line = cartesian(team, range(12), [12])
        x = torch.full((3,), 0.1, requires_grad=True)
        sub = line.create_allreduction_partition([0])
        y = backend.functional.AllSumReduceFunction.apply(x, sub, None, None)
        # One after the other would give 1.2000002.
        assert torch.all(y == 0.1 * 12)
        y.backward(torch.full((3,), 0.1))
        assert torch.all(x.grad == 0.1 * 12)

    pt.spmd(job, ranks=12)


@pytest.mark.parametrize(
    "wrong", [torch.ones(3), torch.ones(2, dtype=torch.float64), torch.ones(2, device="meta"), None]
)
def test_unequal_summands_are_refused_on_every_worker(wrong: Any) -> None:
    def job(team: pt.Team) -> str:
        P = cartesian(team, range(4), [4]).create_allreduction_partition([0])
        apply = backend.functional.all_sum_reduce.AllSumReduceFunction.apply
        with pytest.raises(pt.PartitaError) as refusal:
            apply(wrong if team.rank == 1 else torch.ones(2), P)
        np.testing.assert_array_equal(apply(torch.ones(2), P), [4, 4])
        return refusal.value.reason

    reasons = pt.spmd(job, ranks=4, deadline=10)
    assert set(reasons) <= {"shapes-differ", "dtypes-differ", "device", "local-type", "rank-raised"}


def test_halos_as_slices_wider_than_a_neighbour() -> None:
    def job(team: pt.Team) -> None:
        P = cartesian(team, range(4), [1, 4])
        whole = torch.arange(24.0).reshape(2, 12)
        start, stop = 3 * team.rank, 3 * team.rank + 3
        low, high = max(0, start - 4), min(12, stop + 4)
        x = torch.full((2, high - low), -9.0)
        x[:, start - low : stop - low] = whole[:, start:stop]
        x.requires_grad_()
        left, right = start - low, high - stop

        def ends(axis: int, n_left: int, n_right: int) -> list[tuple[slice, ...]]:
            length = x.shape[axis]
            ghosts = [slice(0, n_left), slice(length - n_right, length)]
            other = slice(0, 2)
            pairs = [(one, other) if axis == 0 else (other, one) for one in ghosts]
            return [pairs[0], pairs[0], pairs[1], pairs[1]]

        slices = [ends(0, 0, 0), ends(1, left, right)]
        function = backend.functional.halo_exchange.HaloExchangeFunction
        y = function.apply(x, P, slices, None, None)
        check(y.detach(), whole[:, low:high])
        y.sum().backward()
        n_copies = torch.tensor(
            [sum(max(0, 3 * r - 4) <= j < 3 * r + 7 for r in range(4)) for j in range(12)]
        )
        assert x.grad is not None
        check(x.grad[:, left : left + 3], n_copies[start:stop].expand(2, 3).float())
        assert not x.grad[:, :left].any()

    pt.spmd(job, ranks=4)


def test_halos_in_place() -> None:
    def job(team: pt.Team) -> None:
        P = cartesian(team, range(2), [2])
        ends = [(slice(0, team.rank),)] * 2 + [(slice(2 + team.rank, 3),)] * 2
        leaf = torch.full((3,), 1.0 + team.rank, requires_grad=True)
        x = leaf.clone()
        function = backend.functional.halo_exchange.HaloExchangeFunction
        y = function.apply(x, P, [ends])
        assert y.data_ptr() == x.data_ptr()
        assert y.tolist() == [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]][team.rank]
        cotangent = torch.ones(3)
        y.backward(cotangent)
        assert cotangent.tolist() == [[1.0, 2.0, 0.0], [0.0, 2.0, 1.0]][team.rank]
        assert function.apply(leaf, P, [ends]).data_ptr() != leaf.data_ptr()
        # A leaf on one worker, and none writes into its tensor.
        given = leaf if team.rank == 0 else leaf.detach().clone()
        y = function.apply(given, P, [ends])
        assert y.data_ptr() != given.data_ptr()
        assert y.tolist() == [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]][team.rank]

    pt.spmd(job, ranks=2, deadline=30)


def test_halos_in_new_tensors_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(team: pt.Team) -> None:
        P = cartesian(team, range(2), [2])
        ends = [(slice(0, team.rank),)] * 2 + [(slice(2 + team.rank, 3),)] * 2
        x = torch.full((3,), 1.0 + team.rank)
        y = backend.functional.HaloExchangeFunction.apply(x, P, [ends])
        assert x.tolist() == [1.0 + team.rank] * 3
        assert y.tolist() == [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]][team.rank]

    monkeypatch.setattr(backend.functional.HaloExchangeFunction, "in_place", False)
    pt.spmd(job, ranks=2, deadline=30)


def test_a_broadcast_and_a_sum_through_the_same_teams() -> None:
    def job(team: pt.Team) -> None:
        first, everyone = cartesian(team, [0], [1]), cartesian(team, range(3), [3])
        teams = first.create_broadcast_partition_to(everyone)
        x = torch.full((1,), 5.0)
        for _ in range(2):
            y = backend.functional.BroadcastFunction.apply(x, *teams, False)
            assert y.tolist() == [5.0]
            total = backend.functional.SumReduceFunction.apply(y, *teams, False)
            assert total.tolist() == ([15.0] if team.rank == 0 else [])

    pt.spmd(job, ranks=3, deadline=30)


def test_repartitions_within_the_same_union() -> None:
    def job(team: pt.Team) -> None:
        rows, columns = cartesian(team, range(2), [2, 1]), cartesian(team, range(2), [1, 2])
        single = cartesian(team, [1], [1, 1])
        union = rows.create_partition_union(columns)
        whole = torch.arange(12.0).reshape(2, 6)

        def moved(P_x: Any, P_y: Any, x: torch.Tensor) -> torch.Tensor:
            none = (None, None, None)
            apply = backend.functional.RepartitionFunction.apply
            return apply(x, union, *none, P_x, None, None, P_y, None, None, False)

        for _ in range(2):
            x = cut(whole, (2, 1), rows.index)
            check(moved(rows, columns, x), cut(whole, (1, 2), columns.index))
            found = moved(rows, single, x)
            check(found, whole if team.rank == 1 else torch.zeros(0))

    pt.spmd(job, ranks=2, deadline=30)


def sums_over(axis: int) -> Any:
    return lambda team: cartesian(team, range(4), [2, 2]).create_allreduction_partition([axis])


def copies_to(shape: Any, flag: bool = False) -> Any:
    def make(team: pt.Team) -> Any:
        square, other = cartesian(team, range(4), [2, 2]), cartesian(team, range(4), shape)
        return square.create_broadcast_partition_to(other, transpose_src=flag)

    return make


def copies_from(root: int) -> Any:
    return lambda team: cartesian(team, [root], [1]).create_broadcast_partition_to(
        cartesian(team, range(4), [4])
    )


def moves_to(shape: Any) -> Any:
    def make(team: pt.Team) -> Any:
        rows, other = cartesian(team, range(4), [4, 1]), cartesian(team, range(4), shape)
        union = rows.create_partition_union(other)
        apply = backend.functional.RepartitionFunction.apply
        none = (None, None, None)
        return apply(torch.ones(1, 4), union, *none, rows, None, None, other, None, None, False)

    return make


# Rank 2 makes the second call, the others the first.
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "axes of a sum": (sums_over(0), sums_over(1)),
    "flags of a broadcast": (copies_to([2, 2]), copies_to([2, 2], flag=True)),
    "targets of a broadcast": (copies_to([2, 2]), copies_to([1, 2, 2])),
    "roots of a broadcast": (copies_from(0), copies_from(1)),
    "targets of a repartition": (moves_to([2, 2]), moves_to([1, 4])),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_all_workers_hear_that_arguments_differ(name: str) -> None:
    def job(team: pt.Team) -> str:
        with pytest.raises(pt.MismatchError, match="rank 2 has") as refusal:
            DIFFERENT[name][team.rank == 2](team)
        assert team.allgather_data(team.rank) == [0, 1, 2, 3]
        return str(refusal.value)

    begun = time.monotonic()
    assert len(set(pt.spmd(job, ranks=4, deadline=30))) == 1
    assert time.monotonic() - begun < 10


COMMUNICATORS = """
from mpi4py import MPI

import partita as pt
from partita.torch import backend

P = backend.Partition(MPI.COMM_WORLD)
part = P.create_partition_inclusive([2, 0])
if P.rank == 0:
    # Alone: nobody else asks.
    assert part._comm.Get_rank() == part._comm.rank == 1
    assert part._comm.Get_size() == 2
    assert part._comm.Get_group().Get_size() == 2
    assert part._comm is part._comm
    try:
        part._comm.send(1, dest=0)
    except pt.TeamError as error:
        assert error.reason == "communicator-late", error
    else:
        raise AssertionError
    assert not hasattr(part._comm, "no_such_thing")
P._comm.Barrier()
assert P._comm.allreduce(P.rank) == 3
if part.active:
    assert part._comm.allgather(P.rank) == [2, 0]
    if part.rank == 0:
        part._comm.send("word", dest=1)
    else:
        assert part._comm.recv(source=0) == "word"
else:
    assert part._comm == MPI.COMM_NULL
alone = P.create_partition_inclusive([1])
assert not alone.active or alone._comm.allreduce(7) == 7
part.deactivate()
assert part._comm == MPI.COMM_NULL
P._comm.Barrier()
"""


def test_communicators_need_nobody_else_when_asked_for(tmp_path: Path) -> None:
    launch(tmp_path, COMMUNICATORS, 3)


def test_a_partition_of_a_team_has_no_communicator() -> None:
    def job(team: pt.Team) -> str:
        with pytest.raises(pt.TeamError) as refusal:
            _ = backend.Partition(team)._comm
        return refusal.value.reason

    assert pt.spmd(job, ranks=2) == ["no-communicator"] * 2


def test_buffers_grow_and_are_shared() -> None:
    buffer = backend.ExpandableBuffer(np.float32)
    assert buffer.capacity == 0
    buffer.get_view((2, 3))[...] = 5
    view = buffer.get_view((4, 4))
    assert view.dtype == np.float32
    np.testing.assert_array_equal(view.ravel()[:6], [5] * 6)
    raw = buffer.raw_buffer
    buffer.allocate_view((3, 3))
    assert buffer.raw_buffer is raw
    manager = backend.BufferManager()
    three = manager.request_buffers(3, np.float32)
    assert manager.request_buffers(2, np.float32) == three[:2]
    assert len(manager.request_buffers(1, np.int32)) == 1
    allocate = backend.halo_exchange.allocate_halo_exchange_buffers
    assert allocate(manager, [1, 2], None, None, torch.float64) == [[None] * 4] * 2
    assert len(manager.buffers_map[np.float64]) == 4
    allocate = backend.repartition.allocate_repartition_buffers
    overlaps = [(slice(1), 1, "self"), (slice(1), 1, 2), (None, None, None)]
    assert allocate(manager, overlaps, overlaps[:1], torch.int64) == ([None] * 3, [None])
    assert len(manager.buffers_map[np.int64]) == 1


SWITCH = """
import sys
import partita.torch.backend as backend
if sys.argv[1] == "late":
    import distdl
backend.install()
backend.install()
import distdl.backend
assert distdl.backend.backend.Partition is backend.Partition
from distdl.backends.mpi.partition import MPIPartition
from distdl.backends.mpi.functional.broadcast import BroadcastFunction
assert MPIPartition is backend.Partition
assert BroadcastFunction is backend.functional.BroadcastFunction
print("switched")
"""


def test_install_takes_the_place_of_the_only_back_end(tmp_path: Path) -> None:
    own = tmp_path / "distdl" / "backends" / "mpi"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text("raise ImportError('the back-end that is replaced')")
    (own.parent / "__init__.py").write_text("from . import mpi")
    (tmp_path / "distdl" / "__init__.py").write_text("")
    (tmp_path / "distdl" / "backend.py").write_text(
        "import distdl.backends.mpi\nbackend = distdl.backends.mpi\n"
    )
    (tmp_path / "switch.py").write_text(SWITCH)
    here = Path(__file__).resolve().parents[2] / "python"
    for when, wanted in (("early", "switched"), ("late", "call install() before")):
        done = subprocess.run(
            [sys.executable, "switch.py", when],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path}:{here}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert wanted in done.stdout + done.stderr


def test_structures_of_nobody() -> None:
    nothing = SimpleNamespace(shape=None, dtype=None, requires_grad=None)
    found = backend.broadcast_tensor_structure(nothing, backend.Partition(), backend.Partition())
    assert found.shape is None
