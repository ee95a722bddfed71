"""What the layers of torch and JAX refuse: typed, and the same on every worker."""

from __future__ import annotations

import copy
from typing import Any

import jax
import pytest
import torch
from divided import check, cut, on_grid

import partita as pt
import partita.torch as ptt
from partita import distdl
from partita.distdl import Partition
from partita.jax import function

X = torch.zeros(1, 2, 3)


def linear(P: Any, *numbers: Any, **options: Any) -> Any:
    row = P.create_cartesian_topology_partition((1, 2))
    single = P.create_partition_inclusive([0]).create_cartesian_topology_partition((1, 1))
    return ptt.DistributedLinear(row, single, row, *numbers, **options)


def loss(name: str, *tensors: Any, **options: Any) -> Any:
    return lambda P: getattr(ptt, f"Distributed{name}Loss")(P, **options)(*tensors)


def without_rank_one(P: Any, length: int) -> torch.Tensor:
    return torch.zeros(1, 2, length if P.rank == 0 else 0)


# Called with a partition of two workers, (1, 1, 2).
REFUSED: dict[str, tuple[Any, str]] = {
    "a convolution on None": (lambda P: ptt.DistributedConv1d(None, 1, 1, 1), "partition-type"),
    "a pool on text": (lambda P: ptt.DistributedMaxPool1d("a", 1), "partition-type"),
    "a norm on text": (lambda P: ptt.DistributedBatchNorm("a", 1), "partition-type"),
    "a linear layer on text": (
        lambda P: ptt.DistributedLinear("a", "a", "a", 1, 1),
        "partition-type",
    ),
    "a loss on None": (lambda P: ptt.DistributedMSELoss(None), "partition-type"),
    "a type as text": (
        lambda P: ptt.DistributedConv1d(P, 1, 1, 1, dtype="float64"),
        "dtype-unknown",
    ),
    "a linear type as text": (lambda P: linear(P, 1, 1, dtype="float64"), "dtype-unknown"),
    "weights of integers": (
        lambda P: ptt.DistributedConv1d(P, 1, 1, 1, dtype=torch.int64),
        "dtype-unknown",
    ),
    "a kernel of True": (lambda P: ptt.DistributedConv1d(P, 1, 1, True), "window-kernel"),
    "a kernel of text": (lambda P: ptt.DistributedMaxPool1d(P, "3"), "window-kernel"),
    "half a stride": (lambda P: ptt.DistributedMaxPool1d(P, 3, 1.5), "window-stride"),
    "negative channels": (lambda P: ptt.DistributedConv1d(P, -1, 1, 1), "layer-arguments"),
    "groups that do not divide": (
        lambda P: ptt.DistributedConv1d(P, 3, 3, 1, groups=2),
        "layer-arguments",
    ),
    "half a channel": (lambda P: ptt.DistributedConv1d(P, 1.5, 1, 1), "channels-not-integer"),
    "negative features": (lambda P: linear(P, -3, 2), "features-negative"),
    "a negative norm": (lambda P: ptt.DistributedBatchNorm(P, -1), "num_features-negative"),
    "a halo of a number": (lambda P: ptt.HaloExchange(P, 1), "halo-widths"),
    "sizes of None": (lambda P: ptt.Repartition(P, P, sizes=[None] * 3), "sizes-not-integer"),
    "a partition of text": (lambda P: Partition("x"), "not-a-communicator"),
    # Only the first worker has outputs, yet both refuse.
    "a double tensor": (
        lambda P: ptt.DistributedConv1d(P, 2, 1, 3)(without_rank_one(P, 3).double()),
        "dtypes-differ",
    ),
    "an integer tensor": (
        lambda P: ptt.DistributedConv1d(P, 2, 1, 3)(without_rank_one(P, 3).long()),
        "dtypes-differ",
    ),
    "too few channels": (
        lambda P: ptt.DistributedConv1d(P, 3, 1, 3)(without_rank_one(P, 3)),
        "features-count",
    ),
    "a kernel beyond the padded input": (
        lambda P: ptt.DistributedConv1d(P, 2, 1, 6, padding=1)(without_rank_one(P, 3)),
        "window-outputs",
    ),
    "a pool beyond the padded input": (
        lambda P: ptt.DistributedAvgPool1d(P, 4)(without_rank_one(P, 3)),
        "window-outputs",
    ),
    "a padded pool of integers": (
        lambda P: ptt.DistributedMaxPool1d(P, 3, 1, 1)(without_rank_one(P, 3).long()),
        "dtype-unknown",
    ),
    "a convolution of None": (lambda P: ptt.DistributedConv1d(P, 2, 1, 3)(None), "local-type"),
    "a sum of None": (lambda P: ptt.AllSumReduce(P, [0])(None), "local-type"),
    "a linear layer of None": (lambda P: linear(P, 4, 2)(None), "local-type"),
    "a linear layer of doubles": (
        lambda P: linear(P, 4, 2)(torch.zeros(3, 2, dtype=torch.float64)),
        "dtypes-differ",
    ),
    "a linear layer of other features": (
        lambda P: linear(P, 4, 2)(torch.zeros(3, 3)),
        "features-count",
    ),
    "a norm with text": (lambda P: ptt.DistributedBatchNorm(P, 2, eps="a"), "eps-not-number"),
    "a momentum of text": (
        lambda P: ptt.DistributedBatchNorm(P, 2, momentum="a"),
        "momentum-not-number",
    ),
    "a halo of None in place": (
        torch.no_grad()(lambda P: ptt.HaloExchange(P, [0, 0, 1], in_place=True)(None)),
        "local-type",
    ),
    "a norm of None": (lambda P: ptt.DistributedBatchNorm(P, 2)(None), "local-type"),
    "a norm of integers": (lambda P: ptt.DistributedBatchNorm(P, 2)(X.long()), "dtype-unknown"),
    "a norm of doubles": (lambda P: ptt.DistributedBatchNorm(P, 2)(X.double()), "dtypes-differ"),
    "a norm of other channels": (lambda P: ptt.DistributedBatchNorm(P, 3)(X), "features-count"),
    "other channels in evaluation": (
        lambda P: ptt.DistributedBatchNorm(P, 3).eval()(X),
        "features-count",
    ),
    "a norm of one value": (
        lambda P: ptt.DistributedBatchNorm(P, 2)(without_rank_one(P, 1)),
        "batch-too-small",
    ),
    "a norm of no value": (
        lambda P: ptt.DistributedBatchNorm(P, 2)(without_rank_one(P, 0)),
        "batch-too-small",
    ),
    "a loss of None": (loss("MSE", None, X), "local-type"),
    "no targets": (loss("MSE", X, None), "local-type"),
    "no targets without reduction": (loss("L1", X, None, reduction="none"), "local-type"),
    "targets of another shape": (loss("MSE", X, X[..., :1]), "shapes-differ"),
    "classes as floats": (loss("CrossEntropy", X, torch.zeros(1, 3)), "loss-arguments"),
    "a class that is not there": (
        loss("CrossEntropy", X, torch.full((1, 3), 7)),
        "loss-arguments",
    ),
    "a single tensor of classes": (loss("CrossEntropy", X[0, :, 0], torch.zeros(())), "array-ndim"),
    "weights of squares": (loss("MSE", X, X, weight=X), "loss-option"),
    "weights of distances": (loss("L1", X, X, weight=X), "loss-option"),
    "an option of old": (loss("BCE", X, X, size_average=True), "loss-option"),
    "an option of others": (loss("KLDiv", X, X, log_input=True), "loss-option"),
    "JAX of None": (lambda P: function(None), "primitive-type"),
    "a JAX sum of None": (lambda P: function(distdl.AllSumReduce(P, [0]))(None), "local-type"),
    "a JAX sum of a list": (lambda P: function(distdl.AllSumReduce(P, [0]))([1.0]), "local-type"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_on_every_worker(name: str) -> None:
    call, reason = REFUSED[name]

    def job(team: pt.Team) -> str:
        with pytest.raises(pt.LayoutError) as refusal:
            call(on_grid(team, (1, 1, 2)))
        return refusal.value.reason

    assert pt.spmd(job, ranks=2) == [reason] * 2


def test_classes_divided_over_workers_are_refused() -> None:
    def job(team: pt.Team) -> None:
        with pytest.raises(pt.LayoutError, match="Repartition") as refusal:
            ptt.DistributedCrossEntropyLoss(on_grid(team, (1, 2)))
        assert refusal.value.reason == "channels-divided"

    pt.spmd(job, ranks=2)


@pytest.mark.parametrize("wrong", [None, "a", 3.5])
def test_one_worker_with_a_wrong_tensor_tells_the_others(wrong: Any) -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        given = wrong if team.rank == 1 else X
        with pytest.raises(pt.PartitaError, match="as local tensor"):
            ptt.DistributedMSELoss(P)(given, X)
        with pytest.raises(pt.PartitaError, match="as local array"):
            function(distdl.AllSumReduce(P, [2]))(jax.numpy.ones(2) if team.rank == 0 else wrong)

    pt.spmd(job, ranks=2)


def test_running_statistics_stay_when_a_batch_is_refused() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        norm = ptt.DistributedBatchNorm(P, 2)
        with pytest.raises(pt.LayoutError):
            norm(without_rank_one(P, 1))
        assert int(norm.num_batches_tracked) == 0
        assert norm.running_var.tolist() == [1.0, 1.0]

    pt.spmd(job, ranks=2)


def test_norms_in_different_modes_are_refused() -> None:
    def job(team: pt.Team) -> None:
        norm = ptt.DistributedBatchNorm(on_grid(team, (1, 1, 2)), 2).train(team.rank == 0)
        with pytest.raises(pt.MismatchError, match="training") as refusal:
            norm(X)
        assert "evaluation" in str(refusal.value)

    pt.spmd(job, ranks=2)


def test_layers_on_the_null_partition_give_tensors_back() -> None:
    nobody = Partition()
    for layer in (ptt.DistributedConv1d(nobody, 2, 1, 3), ptt.DistributedBatchNorm(nobody, 2)):
        assert torch.equal(layer(X), X)
    with pytest.raises(pt.LayoutError):
        ptt.DistributedConv1d(nobody, 2, 1, 3)(None)


def test_pools_of_integers_where_torch_has_them() -> None:
    whole = torch.arange(-30, -6).reshape(1, 1, 4, 6)
    wanted = torch.nn.functional.max_pool2d(whole, 3, 2, 1)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2, 2))
        found = ptt.DistributedMaxPool2d(P, 3, 2, 1)(cut(whole, P.shape, P.index))
        assert torch.equal(found, cut(wanted, P.shape, P.index))

    pt.spmd(job, ranks=4)


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("PoissonNLL", {"log_input": False, "full": True, "eps": 1e-3}),
    ("BCE", {"weight": torch.tensor([[1.0], [2.0], [0.5]], dtype=torch.float64)}),
    ("BCEWithLogits", {"pos_weight": torch.tensor([[1.0], [2.0], [0.5]], dtype=torch.float64)}),
    ("KLDiv", {"log_target": True}),
]


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_options_that_losses_honour(number: int) -> None:
    name, options = OPTIONS[number]
    torch.manual_seed(4)
    whole = torch.rand(4, 3, 5, dtype=torch.float64).requires_grad_()
    target = torch.rand(4, 3, 5, dtype=torch.float64)
    serial = getattr(torch.nn, f"{name}Loss")(**options)(whole, target)
    serial.backward()

    def job(team: pt.Team) -> None:
        P = on_grid(team, (2, 1, 2))
        x = cut(whole.detach(), P.shape, P.index).clone().requires_grad_()
        found = getattr(ptt, f"Distributed{name}Loss")(P, **options)(
            x, cut(target, P.shape, P.index)
        )
        found.backward()
        assert team.rank or abs(found.item() - serial.item()) < 1e-12
        check(x.grad, cut(whole.grad, P.shape, P.index))

    pt.spmd(job, ranks=4)


def test_a_copied_layer_works_like_the_first() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        network = torch.nn.Sequential(
            ptt.DistributedConv1d(P, 2, 3, 3, padding=1),
            ptt.DistributedBatchNorm(P, 3),
            ptt.DistributedStack(P, ptt.DistributedMaxPool1d(P, 2), torch.nn.ReLU()),
        )
        x = torch.arange(12.0).reshape(1, 2, 6)
        for other in (copy.deepcopy(network), copy.deepcopy(copy.deepcopy(network))):
            check(other(x), network(x))
            other(x).sum().backward()
            if other[0].weight.numel():
                assert other[0].weight.grad is not None
                assert network[0].weight.grad is None

    pt.spmd(job, ranks=2)


def test_layers_show_their_sizes() -> None:
    def job(team: pt.Team) -> str:
        P = on_grid(team, (1, 1, 2))
        network = torch.nn.Sequential(
            ptt.DistributedConv1d(P, 2, 3, 3, padding=1, bias=False),
            ptt.DistributedBatchNorm(P, 3),
            ptt.DistributedMaxPool1d(P, 2),
        )
        return repr(network)

    shown = pt.spmd(job, ranks=2)[1]
    assert "2, 3, kernel_size=(3,), stride=(1,), padding=(1,), bias=False" in shown
    assert "3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True" in shown
    assert "(kernel_size=(2,), stride=(2,), padding=(0,))" in shown
