"""Losses of divided tensors.

The first worker gets the value, the others an exact zero: the loss is the sum of what all workers
hold, so `loss.backward()` on every worker gives the gradient of the value itself, not a multiple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition
from partita.torch.primitives import SumReduce


class _Loss(torch.nn.Module):
    function: Callable[..., torch.Tensor]
    reductions: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(self, P_x: Partition, reduction: str = "mean", **options: Any) -> None:
        super().__init__()
        if reduction not in self.reductions:
            message = f"reduction {reduction!r}; use one of {', '.join(self.reductions)}"
            raise LayoutError(message, "reduction-unknown")
        self.P_x, self.reduction, self.options = P_x, reduction, options
        if P_x.active:
            first = P_x.create_partition_inclusive([0])
            flat = P_x.create_partition_inclusive(range(P_x.size))
            self.to_first = SumReduce(flat, first, preserve_batch=False)

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss on the first worker, zero on the others. Collective."""
        if not self.P_x.active:
            return input.sum() * 0
        loss = type(self).function
        if self.reduction == "none":
            return loss(input, target, reduction="none", **self.options)
        assert self.P_x.team is not None
        with self.P_x.team:
            own = loss(input, target, reduction="sum", **self.options)
        total = self.to_first(own)
        # A worker without a value has a tensor without elements, whose sum is zero.
        value = total.sum() if total.numel() == 0 else total
        return value if self.reduction == "sum" else value / self._count(input, target)

    def _count(self, input: torch.Tensor, target: torch.Tensor) -> float:
        assert self.P_x.team is not None
        count: float = sum(self.P_x.team.allgather_data(self.n_terms(input, target)))
        return count

    def n_terms(self, input: torch.Tensor, target: torch.Tensor) -> float:
        """Number of terms that this worker adds, by which the mean is divided."""
        return input.numel()


class DistributedL1Loss(_Loss):
    """Mean absolute error."""

    function = F.l1_loss


class DistributedMSELoss(_Loss):
    """Mean squared error."""

    function = F.mse_loss


class DistributedPoissonNLLLoss(_Loss):
    """Negative log likelihood of a Poisson distribution."""

    function = F.poisson_nll_loss


class DistributedBCELoss(_Loss):
    """Binary cross entropy."""

    function = F.binary_cross_entropy


class DistributedBCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits."""

    function = F.binary_cross_entropy_with_logits


class DistributedKLDivLoss(_Loss):
    """Kullback-Leibler divergence; `batchmean` divides by the size of the batch."""

    function = F.kl_div
    reductions = ("mean", "batchmean", "sum", "none")

    def n_terms(self, input: torch.Tensor, target: torch.Tensor) -> float:
        """Elements, or for `batchmean` batch entries, counted by the first in all other axes."""
        if self.reduction == "mean":
            return input.numel()
        index = self.P_x.index
        others = index[1:] if isinstance(index, tuple) else ()
        return input.shape[0] if not any(others) else 0


class DistributedCrossEntropyLoss(_Loss):
    """Cross entropy of logits whose channels are together.

    Targets are class indices or probabilities; `weight`, `ignore_index` and `label_smoothing` are
    as in torch.
    """

    function = F.cross_entropy

    def n_terms(self, input: torch.Tensor, target: torch.Tensor) -> float:
        """The weights of the targets that count; one per target without weights."""
        if target.is_floating_point():
            return target.numel() / max(1, input.shape[1 if input.dim() > 1 else 0])
        counted = target[target != self.options.get("ignore_index", -100)]
        weight = self.options.get("weight")
        return counted.numel() if weight is None else float(weight[counted].sum())
