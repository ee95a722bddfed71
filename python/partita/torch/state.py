"""Serial state for divided layers: whole tensors in, each worker takes its part; and back.

>>> import torch, partita as pt
>>> from partita.distdl import Partition
>>> from partita.torch import DistributedConv1d
>>> serial = torch.nn.Conv1d(2, 4, 3)
>>> def job(team):
...     P = Partition(team).create_cartesian_topology_partition((1, 2, 1))
...     layer = DistributedConv1d(P, 2, 4, 3)
...     layer.load_state_dict(serial.state_dict())
...     back = serial_state_dict(layer)
...     return tuple(layer.weight.shape), torch.equal(back["weight"], serial.weight)
>>> pt.spmd(job, ranks=2)
[((2, 2, 3), True), ((2, 2, 3), True)]
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from partita._errors import LayoutError
from partita._team.team import Team
from partita.torch.memory import DTYPE_NAMES, as_array, as_tensor, structure


@dataclass(frozen=True)
class SerialRegion:
    """Where a worker's tensor lies in the serial layer's; others than holders have no elements."""

    shape: tuple[int, ...]
    region: tuple[slice, ...]
    is_held: bool

    def part(self, whole: torch.Tensor) -> torch.Tensor:
        """This worker's share of a whole tensor."""
        if not self.is_held:
            return whole.new_empty(0)
        return whole.detach()[self.region].clone()


class Divided(torch.nn.Module):
    """A layer whose parameters are parts of a serial layer's, under the same names."""

    def places(self) -> dict[str, SerialRegion]:
        """Where each parameter and buffer of this worker lies."""
        raise NotImplementedError

    def home(self) -> Team | None:
        """The team that the layer's partitions were made from."""
        raise NotImplementedError

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Take parts of whole tensors; a worker's own parts are taken as they are."""
        parts = dict(state_dict)
        for name, place in self.places().items():
            given, own = parts.get(prefix + name), getattr(self, name, None)
            if not isinstance(given, torch.Tensor) or own is None or own.shape == given.shape:
                continue
            if tuple(given.shape) == place.shape:
                parts[prefix + name] = place.part(given)
        super()._load_from_state_dict(parts, prefix, *rest)


def serial_state_dict(module: torch.nn.Module) -> OrderedDict[str, torch.Tensor]:
    """Return the `state_dict` of the serial network, whole tensors on every worker. Collective.

    All workers of the team that the partitions were made from take part.
    """
    if not isinstance(module, torch.nn.Module):
        message = f"the state of a {type(module).__name__}; use a module of torch"
        raise LayoutError(message, "module-type")
    layers = {
        name: layer
        for name, layer in module.named_modules(remove_duplicate=False)
        if isinstance(layer, Divided)
    }
    state = module.state_dict()
    parts = {}
    for name in state:
        prefix, _, last = name.rpartition(".")
        layer = layers.get(prefix)
        place = None if layer is None else layer.places().get(last)
        if layer is not None and place is not None:
            parts[name] = (place, _home(layer))
    _compare(state, parts)
    found: OrderedDict[str, torch.Tensor] = OrderedDict()
    for name, value in state.items():
        found[name] = _whole(name, value, *parts[name]) if name in parts else value.clone()
    return found


def _compare(state: Mapping[str, Any], parts: Mapping[str, tuple[SerialRegion, Team]]) -> None:
    """Whether all workers ask for the same tensors: one that has fewer would leave early."""
    words = [f"{name} {place.shape} {state[name].dtype}" for name, (place, _) in parts.items()]
    teams = list(dict.fromkeys(team for _, team in parts.values()))
    for team in teams:
        team.gather_alike("serial_state_dict", ", ".join(words), "")


def _home(layer: Divided) -> Team:
    team = layer.home()
    if team is None or not team.active:
        message = "the state of a layer on a partition without members; use one made from a team"
        raise LayoutError(message, "partition-null")
    return team


def _whole(name: str, value: torch.Tensor, place: SerialRegion, team: Team) -> torch.Tensor:
    with team:
        structure(value)
        starts = [one.start for one in place.region]
        offer = [starts, as_array(value)] if place.is_held else []
    what = f"{name} {place.shape} {value.dtype}"
    pieces = [one for one in team.gather_alike("serial_state_dict", what, offer) if one]
    whole = torch.empty(place.shape, dtype=value.dtype)
    is_there = torch.zeros(place.shape, dtype=torch.bool)
    for begins, array in pieces:
        ends = [start + length for start, length in zip(begins, array.shape, strict=True)]
        region = tuple(slice(*pair) for pair in zip(begins, ends, strict=True))
        # What was received belongs to the message and is read-only.
        whole[region] = as_tensor(array.copy(), DTYPE_NAMES[value.dtype])
        is_there[region] = True
    if not bool(is_there.all()):
        message = f"the workers' parts of {name} are not all of {place.shape}; leave shapes alone"
        raise LayoutError(message, "state-parts")
    return whole
