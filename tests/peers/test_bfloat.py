"""bfloat16 of torch and JAX: moved as bits, added as numbers."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import torch
from divided import cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import AllSumReduce, HaloExchange, Partition
from partita.jax import function

BF = torch.bfloat16


def test_primitives_of_torch_add_numbers_not_bits() -> None:
    def job(team: pt.Team) -> None:
        P = Partition(team)
        x = torch.tensor([1.5, -2.0, 3.0], dtype=BF).mul(team.rank + 1).requires_grad_()
        y = ptt.AllSumReduce(P, [0])(x)
        assert y.dtype == BF
        assert y.tolist() == [9.0, -12.0, 18.0]
        y.backward(torch.ones(3, dtype=BF))
        assert x.grad is not None
        assert x.grad.tolist() == [3.0] * 3
        first = P.create_partition_inclusive([1])
        given = torch.tensor([0.5], dtype=BF) if first.active else torch.zeros(0)
        assert ptt.Broadcast(first, P)(given).dtype == BF

    pt.spmd(job, ranks=3)


def test_halos_and_their_adjoint() -> None:
    def job(team: pt.Team) -> list[float]:
        P = Partition(team)
        x = torch.full((3,), 1.0 + team.rank, dtype=BF).requires_grad_()
        y = ptt.HaloExchange(P, [1])(x)
        y.backward(torch.tensor([1.0, 2.0, 4.0], dtype=BF))
        again = torch.full((3,), 1.0 + team.rank, dtype=BF).requires_grad_()
        z = ptt.HaloExchange(P, [1], in_place=True)(again.clone())
        assert z.tolist() == y.tolist()
        z.backward(torch.tensor([1.0, 2.0, 4.0], dtype=BF))
        assert x.grad is not None
        assert again.grad is not None
        assert again.grad.tolist() == x.grad.tolist()
        return [*y.tolist(), *x.grad.tolist()]

    # Rank 0 has two elements and a halo on the right, rank 1 the reverse.
    assert pt.spmd(job, ranks=2) == [[1, 1, 2, 1, 3, 0], [1, 2, 2, 0, 6, 4]]


def test_a_convolution_is_that_of_torch() -> None:
    torch.manual_seed(3)
    serial = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3, padding=1), torch.nn.MaxPool2d(2)).to(BF)
    whole = torch.randn(2, 2, 8, 8).to(BF)
    wanted = serial(whole)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2, 2))
        conv = ptt.DistributedConv2d(P, 2, 3, 3, padding=1, dtype=BF)
        conv.load_state_dict(serial[0].state_dict())
        x = cut(whole, (1, 1, 2, 2), P.index).clone().requires_grad_()
        y = ptt.DistributedMaxPool2d(P, 2)(conv(x))
        part = cut(wanted, (1, 1, 2, 2), P.index)
        torch.testing.assert_close(y, part, rtol=0.02, atol=0.02)
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.dtype == BF

    pt.spmd(job, ranks=4)


def test_arrays_of_jax_and_numpy() -> None:
    layout, other = (pt.Layout((6,), n) for n in ("block @ 2", "cyclic @ 2"))
    whole = np.arange(6).astype(ml_dtypes.bfloat16)

    def job(team: pt.Team) -> None:
        total = function(AllSumReduce(Partition(team), [0]))
        assert total(jnp.ones(2, jnp.bfloat16)).tolist() == [2.0, 2.0]
        a = pt.asarray(whole, layout, team).redistribute(other)
        assert a.local.dtype == whole.dtype
        assert a.local.tolist() == whole[team.rank :: 2].tolist()
        halo = HaloExchange(Partition(team), [1])
        buffer = np.full(3, team.rank, ml_dtypes.bfloat16)
        assert halo.fill(buffer).astype(float).tolist() == [[0, 0, 1], [0, 1, 1]][team.rank]
        back = halo.adjoint_in_place(np.ones(3, ml_dtypes.bfloat16)).astype(float).tolist()
        assert back == [[1, 2, 0], [0, 2, 1]][team.rank]

    pt.spmd(job, ranks=2)


def test_pieces_of_a_dictionary() -> None:
    halves = [torch.full((2,), value, dtype=BF) for value in (1.0, 2.0)]
    parts = {
        (k,): {"start": (2 * k,), "shape": (2,), "data": one, "location": [0]}
        for k, one in enumerate(halves)
    }
    given = {"shape": (4,), "partition_tiling": (2,), "partitions": parts, "get": list}
    a = pt.from_partitioned(given)
    assert a.dtype == ml_dtypes.bfloat16
    whole: Any = a.gather()
    assert whole.tolist() == [1, 1, 2, 2]


def test_a_tensor_is_taken_over_without_a_copy() -> None:
    tensor = torch.ones(4, dtype=BF)
    a: Any = pt.asarray(tensor)
    a.local[0] = 3
    assert tensor[0].item() == 3
    assert a.dtype == ml_dtypes.bfloat16
