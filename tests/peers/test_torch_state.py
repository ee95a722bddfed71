"""Serial states into divided networks and back."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from divided import cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import Partition


def serial_network(bias: bool) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Sequential(
            torch.nn.Conv1d(2, 5, 3, padding=1, bias=bias),
            torch.nn.ReLU(),
            torch.nn.Conv1d(5, 3, 3, padding=1, bias=bias),
        ),
        torch.nn.BatchNorm1d(3),
        torch.nn.PReLU(),
        torch.nn.Identity(),
        torch.nn.Flatten(),
        torch.nn.Linear(24, 5, bias=bias),
    ).double()


def divided_network(P: Any, bias: bool) -> torch.nn.Module:
    """The last worker of the team has no part in convolutions and norms."""
    few = P.create_partition_inclusive(range(P.size - 1))
    space = few.create_cartesian_topology_partition((1, 2, 2))
    features = few.create_cartesian_topology_partition((1, 4, 1))
    columns = few.create_cartesian_topology_partition((1, 4))
    last = P.create_partition_inclusive([4]).create_cartesian_topology_partition((1, 1))
    return torch.nn.Sequential(
        ptt.DistributedStack(
            space,
            ptt.DistributedConv1d(space, 2, 5, 3, padding=1, bias=bias),
            torch.nn.ReLU(),
            ptt.DistributedConv1d(space, 5, 3, 3, padding=1, bias=bias),
        ),
        ptt.DistributedBatchNorm(space, 3),
        torch.nn.PReLU(),
        ptt.Repartition(space, features),
        torch.nn.Flatten(),
        ptt.DistributedLinear(columns, last, columns, 24, 5, bias=bias),
    ).double()


@pytest.mark.parametrize("bias", [True, False])
def test_a_network_takes_and_gives_a_serial_state(bias: bool) -> None:
    torch.manual_seed(1)
    serial = serial_network(bias)
    serial(torch.randn(4, 2, 8, dtype=torch.float64))
    serial.eval()
    state = {name: value.clone() for name, value in serial.state_dict().items()}

    def job(team: pt.Team) -> None:
        network = divided_network(Partition(team), bias)
        network.load_state_dict(state)
        back = ptt.serial_state_dict(network)
        assert list(back) == list(state)
        for name, value in state.items():
            assert torch.equal(back[name], value), name
        # A worker's own state is taken as it is.
        other = divided_network(Partition(team), bias)
        other.load_state_dict(network.state_dict())
        for name, value in network.state_dict().items():
            assert torch.equal(other.state_dict()[name], value), name
        serial_network(bias).load_state_dict(back)

    pt.spmd(job, ranks=5)


def test_loaded_networks_compute_like_the_serial_one() -> None:
    torch.manual_seed(2)
    serial = torch.nn.Sequential(
        torch.nn.Conv1d(3, 4, 3, padding=1), torch.nn.BatchNorm1d(4), torch.nn.MaxPool1d(2)
    ).double()
    whole = torch.randn(3, 3, 12, dtype=torch.float64)
    serial(whole)
    wanted = serial.eval()(whole)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 2, 3))
        network = torch.nn.Sequential(
            ptt.DistributedConv1d(P, 3, 4, 3, padding=1),
            ptt.DistributedBatchNorm(P, 4),
            ptt.DistributedMaxPool1d(P, 2),
        ).double()
        network.load_state_dict(serial.state_dict(), assign=team.rank == 0)
        found = network.eval()(cut(whole, P.shape, P.index))
        torch.testing.assert_close(found, cut(wanted, P.shape, P.index))

    pt.spmd(job, ranks=6)


def test_a_state_of_other_sizes_is_refused_on_every_worker() -> None:
    def job(team: pt.Team) -> None:
        layer = ptt.DistributedConv1d(on_grid(team, (1, 1, 3)), 1, 2, 3)
        with pytest.raises(RuntimeError, match="size mismatch"):
            layer.load_state_dict(torch.nn.Conv1d(1, 3, 3).state_dict())
        with pytest.raises(pt.LayoutError, match="use a module"):
            ptt.serial_state_dict(layer.state_dict())

    pt.spmd(job, ranks=3)
