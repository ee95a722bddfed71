"""Clipping gradients of a divided network: their norm is that of all workers' parts together."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from partita._args import real
from partita.distdl import Partition
from partita.distdl.agree import in_world_order
from partita.distdl.partition import a_partition


def clip_grad_norm_(
    parameters: Iterable[torch.nn.Parameter], max_norm: float, P_x: Partition
) -> float:
    """Scale all workers' gradients so that their norm is at most `max_norm`. Collective.

    Works like `torch.nn.utils.clip_grad_norm_` on the serial network; every parameter must be kept
    by one worker. Returns the norm before scaling.
    """
    team = in_world_order(a_partition(P_x).members("clip_grad_norm_"))
    with team:
        most = real(max_norm, "max_norm")
        grads = [one.grad for one in parameters if one.grad is not None]
        own = sum(float(grad.detach().abs().double().square().sum()) for grad in grads)
    norm = float(sum(team.gather_alike("clip_grad_norm_", f"max_norm={most}", own)) ** 0.5)
    # The small number is torch's own.
    scale = min(1.0, most / (norm + 1e-6))
    for grad in grads:
        grad.detach().mul_(scale)
    return norm
