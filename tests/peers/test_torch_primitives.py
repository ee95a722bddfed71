"""The primitives as modules: the adjoint through autograd, and what is shared, copied, refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from divided import check, cut, on_grid

import partita as pt
import partita.torch as ptt
from partita import distdl
from partita.distdl import Partition


def pairs(team: pt.Team) -> dict[str, tuple[Any, Any, Any]]:
    """Modules beside their NumPy primitives, with this worker's shape of the input."""
    world = Partition(team)
    line = on_grid(team, (4, 1))
    square = on_grid(team, (2, 2))
    few = world.create_partition_inclusive([1, 2]).create_cartesian_topology_partition([1, 2])
    return {
        "broadcast": (
            ptt.Broadcast(few, square, preserve_batch=False),
            distdl.Broadcast(few, square),
            (2, 3) if few.active else (0,),
        ),
        "sum-reduce": (
            ptt.SumReduce(square, few, preserve_batch=False),
            distdl.SumReduce(square, few),
            (2, 3),
        ),
        "all-sum-reduce": (
            ptt.AllSumReduce(square, [0]),
            distdl.AllSumReduce(square, [0]),
            (40, 3),
        ),
        "repartition": (
            ptt.Repartition(line, square, preserve_batch=False),
            distdl.Repartition(line, square),
            (1 + team.rank, 5),
        ),
        "halo": (
            ptt.HaloExchange(square, [1, (2, 1)]),
            distdl.HaloExchange(square, [1, (2, 1)]),
            (4, 5 if team.rank % 2 else 4),
        ),
        "all-gather": (
            ptt.AllGather(square, -1),
            distdl.AllGather(square, 1),
            (2, 1 + team.rank % 2),
        ),
        "reduce-scatter": (ptt.ReduceScatter(line, 0), distdl.ReduceScatter(line, 0), (7, 2)),
    }


NAMES = ["broadcast", "sum-reduce", "all-sum-reduce", "repartition", "halo", "all-gather"]
NAMES += ["reduce-scatter"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("name", NAMES)
def test_modules_equal_the_primitives_and_autograd_their_adjoints(
    name: str, dtype: torch.dtype
) -> None:
    def job(team: pt.Team) -> None:
        module, primitive, shape = pairs(team)[name]
        torch.manual_seed(team.rank)
        x = torch.randn(*shape, dtype=dtype, requires_grad=True)
        y = module(x)
        wanted = primitive(x.detach().numpy())
        check(y.detach(), torch.from_numpy(wanted), 0.0)
        assert y.requires_grad
        cotangent = torch.randn(*y.shape, dtype=y.dtype)
        y.backward(cotangent)
        assert x.grad is not None
        back = primitive.adjoint(cotangent.numpy())
        check(x.grad, torch.from_numpy(back).reshape(x.shape), 0.0)
        # A second round through the same modules, with a cotangent that has no strides.
        x.grad = None
        module(x).real.sum().backward()
        back = primitive.adjoint(np.ones(tuple(y.shape), wanted.dtype))
        check(x.grad, torch.from_numpy(back).reshape(x.shape), 0.0)

    pt.spmd(job, ranks=4)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_gradients(name: str) -> None:
    """Movements are linear: the gradient of <F*y, v> by y is F v."""

    def job(team: pt.Team) -> None:
        module, primitive, shape = pairs(team)[name]
        torch.manual_seed(team.rank)
        x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
        y = module(x)
        cotangent = torch.randn(*y.shape, dtype=torch.float64, requires_grad=True)
        (back,) = torch.autograd.grad(y, x, cotangent, create_graph=True)
        v = torch.randn(*shape, dtype=torch.float64)
        (twice,) = torch.autograd.grad(back, cotangent, v)
        check(twice, torch.from_numpy(primitive(v.numpy())), 1e-12)

    pt.spmd(job, ranks=4)


def test_a_gradient_needed_by_one_worker_is_recorded_by_all() -> None:
    def job(team: pt.Team) -> None:
        total = ptt.AllSumReduce(Partition(team), [0])
        x = torch.ones(2, requires_grad=team.rank == 1)
        y = total(x)
        assert y.requires_grad
        y.backward(torch.full((2,), team.rank + 1.0))
        assert (x.grad is None) == (team.rank != 1)
        if x.grad is not None:
            check(x.grad, torch.full((2,), 6.0))
        with torch.no_grad():
            assert not total(x).requires_grad
        assert not total(torch.ones(2, dtype=torch.int64)).requires_grad

    pt.spmd(job, ranks=3)


def test_results_are_new_and_inputs_unchanged() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        x = torch.arange(6.0).reshape(2, 3).t()
        for module in (ptt.Broadcast(P, P), ptt.AllSumReduce(P, []), ptt.HaloExchange(P, [0])):
            y = module(x[:, 0] if isinstance(module, ptt.HaloExchange) else x)
            y += 1
        check(x, torch.arange(6.0).reshape(2, 3).t(), 0.0)
        leaf = torch.ones(3, requires_grad=True)
        ptt.HaloExchange(P, [0])(leaf).sum().backward()
        check(leaf.grad, torch.ones(3))

    pt.spmd(job, ranks=2)


@pytest.mark.parametrize("known", [True, False])
def test_halos_in_place(known: bool) -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        options = {"shape": (4,)} if known else {}
        apart = ptt.HaloExchange(P, [1])
        within = ptt.HaloExchange(P, [1], in_place=True, **options)
        leaf = torch.arange(3.0).add(10.0 * team.rank).requires_grad_()
        x = leaf * 1
        y = within(x)
        assert y.data_ptr() == x.data_ptr()
        check(y.detach(), apart(leaf).detach(), 0.0)
        cotangent = torch.ones(3)
        y.backward(cotangent)
        check(leaf.grad, torch.tensor([[1.0, 2.0, 0.0], [0.0, 2.0, 1.0]][team.rank]))
        check(cotangent, leaf.grad, 0.0)
        leaf.grad = None
        within(leaf * 1).sum().backward()
        check(leaf.grad, cotangent, 0.0)
        with torch.no_grad():
            buffer = leaf.detach().clone()
            assert within(buffer) is buffer
            check(buffer, y.detach(), 0.0)

    pt.spmd(job, ranks=2)


def test_tensors_are_shared_without_a_copy() -> None:
    """What the engine reads and writes is the tensors' own memory."""
    from partita.torch import memory

    x = torch.randn(4, 6).t()[::2]
    array = memory.as_array(x)
    assert array.ctypes.data == x.data_ptr()
    assert array.strides == tuple(4 * step for step in x.stride())
    assert memory.as_tensor(array, "float32").data_ptr() == x.data_ptr()


def test_other_devices_and_types_are_refused_everywhere() -> None:
    def job(team: pt.Team) -> list[str]:
        total = ptt.AllSumReduce(Partition(team), [0])
        found = []
        for bad in (
            torch.empty(2, device="meta"),
            torch.ones(2).to(torch.float8_e5m2),
            torch.eye(2).to_sparse(),
        ):
            with pytest.raises(pt.PartitaError) as error:
                total(bad if team.rank == 1 else torch.ones(2))
            found.append(error.value.reason)
        check(total(torch.ones(2)), torch.full((2,), 3.0))
        return found

    found = pt.spmd(job, ranks=3)
    assert found[1] == ["device", "dtype-unknown", "tensor-layout"]
    assert found[0] == found[2] == ["rank-raised"] * 3


def test_batches_survive_on_workers_without_output() -> None:
    def job(team: pt.Team) -> None:
        whole = torch.randn(3, 8)
        columns = on_grid(team, (1, 2))
        single = Partition(team).create_partition_inclusive([1])
        one = single.create_cartesian_topology_partition([1, 1])
        x = cut(whole, (1, 2), columns.index).clone().requires_grad_()
        y = ptt.Repartition(columns, one)(x)
        assert tuple(y.shape) == ((3, 8) if team.rank == 1 else (3, 0))
        y.backward(torch.ones_like(y))
        check(x.grad, torch.ones(3, 4))

    pt.spmd(job, ranks=2)
