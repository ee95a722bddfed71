"""Linear layers, batch norms, losses and whole networks on workers against serial torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from divided import check, compare, cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import Partition


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("n_ranks", "x_ranks", "y_ranks", "w_ranks", "w_grid"),
    [
        (4, [0, 1, 2, 3], [0], [0, 1, 2, 3], (1, 4)),
        (8, [4, 5, 6], [0, 1], [0, 1, 2, 3, 4, 5], (2, 3)),
        (12, [0, 1, 2, 3], [4, 5, 6], list(range(12)), (3, 4)),
        (4, [3], [0, 1, 2], [1, 2, 3], (3, 1)),
    ],
)
def test_linear(
    n_ranks: int,
    x_ranks: list[int],
    y_ranks: list[int],
    w_ranks: list[int],
    w_grid: tuple[int, int],
    bias: bool,
) -> None:
    torch.manual_seed(3)
    serial = torch.nn.Linear(13, 7, bias=bias).double()
    whole = torch.randn(5, 13, dtype=torch.float64, requires_grad=True)
    out = serial(whole)
    cotangent = torch.randn_like(out)
    out.backward(cotangent)

    def job(team: pt.Team) -> None:
        world = Partition(team)

        def grid(ranks: list[int], shape: tuple[int, ...]) -> Any:
            few = world.create_partition_inclusive(ranks)
            return few.create_cartesian_topology_partition(shape)

        P_x, P_y = grid(x_ranks, (1, len(x_ranks))), grid(y_ranks, (1, len(y_ranks)))
        P_w = grid(w_ranks, w_grid)
        layer = ptt.DistributedLinear(P_x, P_y, P_w, 13, 7, bias=bias).double()
        rows, columns = slice(*layer.out_range), slice(*layer.in_range)
        keeps_bias = bias and P_w.active and P_w.index[1] == 0
        with torch.no_grad():
            if P_w.active:
                layer.weight.copy_(serial.weight[rows, columns])
            if keeps_bias:
                layer.bias.copy_(serial.bias[rows])
        nothing = torch.zeros(5, 0, dtype=torch.float64)
        x = cut(whole.detach(), P_x.shape, P_x.index).clone() if P_x.active else nothing.clone()
        x.requires_grad_()
        y = layer(x)
        check(y.detach(), cut(out.detach(), P_y.shape, P_y.index) if P_y.active else nothing)
        y.backward(cut(cotangent, P_y.shape, P_y.index) if P_y.active else torch.zeros_like(y))
        if P_x.active:
            check(x.grad, cut(whole.grad, P_x.shape, P_x.index))
        if P_w.active:
            check(layer.weight.grad, serial.weight.grad[rows, columns])
        if keeps_bias:
            check(layer.bias.grad, serial.bias.grad[rows])

    pt.spmd(job, ranks=n_ranks)


def test_linear_refuses_grids_and_features_that_do_not_fit() -> None:
    def job(team: pt.Team) -> list[str]:
        found = []
        row, square = on_grid(team, (1, 4)), on_grid(team, (2, 2))
        for grids in ((row, row, square), (row, Partition(team), row)):
            with pytest.raises(pt.LayoutError) as error:
                ptt.DistributedLinear(*grids, 4, 4)
            found.append(error.value.reason)
        one = Partition(team).create_partition_inclusive([0])
        layer = ptt.DistributedLinear(
            row, one.create_cartesian_topology_partition((1, 1)), row, 9, 2
        )
        with pytest.raises(pt.PartitaError):
            layer(torch.ones(2, 5 - team.rank % 2))
        return found

    assert pt.spmd(job, ranks=4) == [["partition-shape", "partition-ndim"]] * 4


NORMS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 1, 2), (5, 3, 7)),
    ((1, 4, 1), (3, 6, 4)),
    ((1, 2, 2), (3, 5, 7)),
    ((2, 2), (9, 5)),
    ((1, 2, 2, 2), (2, 4, 6, 5)),
    ((1, 3, 2, 2), (2, 7, 5, 5)),
]


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("grid", "shape"), NORMS)
def test_batch_norm(
    grid: tuple[int, ...], shape: tuple[int, ...], affine: bool, even: bool
) -> None:
    kind = [torch.nn.BatchNorm1d, torch.nn.BatchNorm1d, torch.nn.BatchNorm2d][len(shape) - 2]
    torch.manual_seed(5)
    serial = kind(shape[1], affine=affine).double()
    whole = (torch.randn(*shape, dtype=torch.float64) * 3 + 2).requires_grad_()
    if affine:
        with torch.no_grad():
            serial.weight.uniform_()
            serial.bias.uniform_()
    out = serial(whole)
    cotangent = torch.randn_like(out)
    out.backward(cotangent)
    after = serial.eval()(whole.detach())
    # Channels stay even; batch and space need not be.
    uneven = [length if axis != 1 else 1 for axis, length in enumerate(grid)]

    def mine(tensor: Any, index: Any) -> Any:
        even_part = cut(
            tensor, [1, grid[1], *[1] * (len(grid) - 2)], [0, index[1], *[0] * 9][: len(grid)]
        )
        place = [at if axis != 1 else 0 for axis, at in enumerate(index)]
        return cut(even_part, uneven, place, even)

    def job(team: pt.Team) -> None:
        P = on_grid(team, grid)
        layer = ptt.DistributedBatchNorm(P, shape[1], affine=affine).double()
        channels = cut(torch.arange(shape[1]), (grid[1],), (P.index[1],))
        with torch.no_grad():
            if affine and layer.weight.numel():
                layer.weight.copy_(serial.weight[channels])
                layer.bias.copy_(serial.bias[channels])
        x = mine(whole.detach(), P.index).clone().requires_grad_()
        y = layer(x)
        check(y, mine(out, P.index), 1e-9)
        y.backward(mine(cotangent, P.index))
        check(x.grad, mine(whole.grad, P.index), 1e-9)
        check(layer.running_mean, serial.running_mean[channels], 1e-9)
        check(layer.running_var, serial.running_var[channels], 1e-9)
        if affine and layer.weight.numel():
            check(layer.weight.grad, serial.weight.grad[channels], 1e-9)
            check(layer.bias.grad, serial.bias.grad[channels], 1e-9)
        check(layer.eval()(x.detach()), mine(after, P.index), 1e-9)

    n_ranks = 1
    for length in grid:
        n_ranks *= length
    pt.spmd(job, ranks=n_ranks)


LOSSES: list[tuple[str, Any]] = [
    ("L1Loss", torch.nn.L1Loss),
    ("MSELoss", torch.nn.MSELoss),
    ("PoissonNLLLoss", torch.nn.PoissonNLLLoss),
    ("BCELoss", torch.nn.BCELoss),
    ("BCEWithLogitsLoss", torch.nn.BCEWithLogitsLoss),
    ("KLDivLoss", torch.nn.KLDivLoss),
]


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none", "batchmean"])
@pytest.mark.parametrize(("name", "serial"), LOSSES)
def test_losses(name: str, serial: Any, reduction: str) -> None:
    if reduction == "batchmean" and name != "KLDivLoss":
        with pytest.raises(pt.LayoutError, match="reduction"):
            getattr(ptt, "Distributed" + name)(Partition(), reduction)
        return
    torch.manual_seed(2)
    whole = torch.rand(5, 3, 7, dtype=torch.float64).requires_grad_()
    target = torch.rand(5, 3, 7, dtype=torch.float64)
    wanted = serial(reduction=reduction)(whole, target)
    wanted.sum().backward()
    grid = (2, 1, 3)

    def job(team: pt.Team) -> None:
        P = on_grid(team, grid)
        x = cut(whole.detach(), grid, P.index, False).clone().requires_grad_()
        y = cut(target, grid, P.index, False)
        loss = getattr(ptt, "Distributed" + name)(P, reduction)(x, y)
        if reduction == "none":
            check(loss, cut(wanted, grid, P.index, False))
        else:
            check(loss, wanted if team.rank == 0 else torch.zeros((), dtype=torch.float64))
        loss.sum().backward()
        check(x.grad, cut(whole.grad, grid, P.index, False))

    pt.spmd(job, ranks=6)


CROSS_ENTROPIES: list[dict[str, Any]] = [
    {},
    {"reduction": "sum"},
    {"ignore_index": 2},
    {"weight": torch.tensor([1.0, 0.5, 2.0, 3.0], dtype=torch.float64)},
    {"weight": torch.tensor([1.0, 0.5, 2.0, 3.0], dtype=torch.float64), "ignore_index": 0},
    {"label_smoothing": 0.1},
    {"label_smoothing": 0.1, "ignore_index": 1},
    {
        "weight": torch.tensor([1.0, 0.5, 2.0, 3.0], dtype=torch.float64),
        "label_smoothing": 0.2,
        "ignore_index": 3,
    },
]


@pytest.mark.parametrize("options", CROSS_ENTROPIES, ids=lambda one: "-".join(one) or "plain")
def test_cross_entropy_of_pixels(options: dict[str, Any]) -> None:
    torch.manual_seed(2)
    whole = torch.randn(2, 4, 6, 5, dtype=torch.float64).requires_grad_()
    labels = torch.randint(0, 4, (2, 6, 5))
    wanted = torch.nn.functional.cross_entropy(whole, labels, **options)
    wanted.backward()
    grid = (1, 1, 2, 2)

    def job(team: pt.Team) -> None:
        P = on_grid(team, grid)
        x = cut(whole.detach(), grid, P.index).clone().requires_grad_()
        y = cut(labels, (1, 2, 2), (0, *P.index[2:]))
        loss = ptt.DistributedCrossEntropyLoss(P, **options)(x, y)
        assert team.rank or abs(loss.item() - wanted.item()) < 1e-12
        loss.backward()
        check(x.grad, cut(whole.grad, grid, P.index))

    pt.spmd(job, ranks=4)


@pytest.mark.parametrize("weight", [None, [1.0, 0.5, 2.0, 3.0]])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_probabilities(weight: Any, smoothing: float) -> None:
    options: dict[str, Any] = {"label_smoothing": smoothing}
    if weight is not None:
        options["weight"] = torch.tensor(weight, dtype=torch.float64)
    torch.manual_seed(2)
    whole = torch.randn(6, 4, dtype=torch.float64)
    shares = torch.rand(6, 4, dtype=torch.float64)
    wanted = torch.nn.functional.cross_entropy(whole, shares, **options)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (3, 1))
        x, y = (cut(one, (3, 1), P.index) for one in (whole, shares))
        loss = ptt.DistributedCrossEntropyLoss(P, **options)(x, y)
        assert team.rank or abs(loss.item() - wanted.item()) < 1e-12

    pt.spmd(job, ranks=3)


class Network(torch.nn.Module):
    """Two convolutions, a norm, a pool, a linear layer: the layers decide whether it is divided."""

    def __init__(self, parts: dict[str, torch.nn.Module]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleDict(parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name, part in self.parts.items():
            x = part(x)
            if name in ("norm", "second"):
                x = torch.relu(x)
        return x


def serial_network() -> Network:
    return Network(
        {
            "first": torch.nn.Conv2d(2, 4, 3, padding=1),
            "norm": torch.nn.BatchNorm2d(4),
            "pool": torch.nn.MaxPool2d(2),
            "second": torch.nn.Conv2d(4, 4, 3, stride=2, padding=1),
            "flat": torch.nn.Flatten(),
            "head": torch.nn.Linear(4 * 3 * 3, 5),
        }
    ).double()


def divided_network(P: Any) -> Network:
    together = P.create_cartesian_topology_partition((1, 4, 1, 1))
    features = P.create_cartesian_topology_partition((1, 4))
    single = P.create_partition_inclusive([0]).create_cartesian_topology_partition((1, 1))
    return Network(
        {
            "first": ptt.DistributedConv2d(P, 2, 4, 3, padding=1),
            "norm": ptt.DistributedBatchNorm(P, 4),
            "pool": ptt.DistributedMaxPool2d(P, 2),
            "second": ptt.DistributedConv2d(P, 4, 4, 3, stride=2, padding=1),
            "channels": ptt.Repartition(P, together),
            "flat": torch.nn.Flatten(),
            "head": ptt.DistributedLinear(features, single, features, 4 * 3 * 3, 5),
        }
    ).double()


def copy_parameters(divided: Network, serial: Network) -> None:
    with torch.no_grad():
        for name, parameter in divided.named_parameters():
            if parameter.numel():
                whole = serial.get_parameter(name)
                if name == "parts.head.weight":
                    whole = whole[:, slice(*divided.parts["head"].in_range)]
                parameter.copy_(whole)


def test_a_network_trains_like_the_serial_one() -> None:
    torch.manual_seed(11)
    serial = serial_network()
    images = torch.randn(3, 2, 11, 11, dtype=torch.float64)
    wanted = torch.randn(3, 5, dtype=torch.float64)
    start = serial_network()
    start.load_state_dict(serial.state_dict())
    optimizer = torch.optim.Adam(serial.parameters(), lr=0.02)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(serial(images), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    def job(team: pt.Team) -> list[float]:
        P = on_grid(team, (1, 1, 2, 2))
        network = divided_network(P)
        copy_parameters(network, start)
        single = P.create_partition_inclusive([0]).create_cartesian_topology_partition((1, 1))
        criterion = ptt.DistributedMSELoss(single)
        mine = torch.optim.Adam(network.parameters(), lr=0.02)
        x = cut(images, (1, 1, 2, 2), P.index)
        found = []
        for _ in range(5):
            mine.zero_grad()
            loss = criterion(network(x), wanted)
            loss.backward()
            mine.step()
            found.append(loss.item())
        return found

    found = pt.spmd(job, ranks=4)
    assert found[0] == pytest.approx(losses, rel=1e-9)
    assert found[1:] == [[0.0] * 5] * 3
    assert losses[-1] < 0.9 * losses[0]


def test_the_comparison_sees_a_wrong_layer() -> None:
    """A convolution without its halo must fail the test that the right one passes."""
    serial = torch.nn.Conv1d(1, 1, 3, padding=1)

    class Lonely(ptt.DistributedConv1d):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            weight, bias = self.copies()
            return torch.nn.functional.conv1d(input, weight, bias, padding=1)

    with pytest.raises(AssertionError):
        compare((1, 1, 2), (1, 1, 8), serial, lambda P: Lonely(P, 1, 1, 3, padding=1))
