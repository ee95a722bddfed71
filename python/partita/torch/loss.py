"""Losses of divided tensors.

The first worker gets the value, the others an exact zero: the loss is the sum of what all workers
hold, so `loss.backward()` on every worker gives the gradient of the value itself, not a multiple.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from partita._errors import LayoutError, PartitaError
from partita.distdl import Partition
from partita.distdl.agree import Terms, brief, described
from partita.distdl.partition import a_partition
from partita.torch.functions import move
from partita.torch.memory import as_array, structure, widened
from partita.torch.primitives import SumReduce


class _Loss(torch.nn.Module):
    function: Callable[..., torch.Tensor]
    reductions: tuple[str, ...] = ("mean", "sum", "none")
    # Options of torch's function that mean the same when each worker has its own part.
    allowed: tuple[str, ...] = ()
    # Options that are for this worker's own elements.
    own_options: tuple[str, ...] = ()

    def __init__(self, P_x: Partition, reduction: str = "mean", **options: Any) -> None:
        super().__init__()
        a_partition(P_x)
        for name in options:
            if name not in self.allowed:
                known = ", ".join(self.allowed) or "none"
                message = f"option {name!r} of {type(self).__name__}; it has {known}"
                raise LayoutError(message, "loss-option")
        if reduction not in self.reductions:
            message = f"reduction {reduction!r}; use one of {', '.join(self.reductions)}"
            raise LayoutError(message, "reduction-unknown")
        self.P_x, self.reduction, self.options = P_x, reduction, options
        self._workers = brief(described(P_x))
        if P_x.active:
            first = P_x.create_partition_inclusive([0])
            flat = P_x.create_partition_inclusive(range(P_x.size))
            self.to_first = SumReduce(flat, first, preserve_batch=False)

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss on the first worker, zero on the others. Collective."""
        if not self.P_x.active:
            structure(input)
            return input.sum() * 0
        primitive = self.to_first.primitive
        assert primitive.agreement is not None
        team = primitive.agreement.team
        # A worker that stumbles over its own tensors tells the others.
        with team:
            own, n_terms = self._own(input, target)
            terms = self.terms()
        if self.reduction == "none":
            team.gather_alike(terms.call, terms.settings, "")
            return own
        total = move(own, primitive, terms)
        count = (
            sum(team.gather_alike(terms.call, "terms", n_terms)) if self.reduction != "sum" else 1
        )
        if total.numel() == 0:
            # A worker without a value has a tensor without elements, whose sum is zero.
            return total.sum().to(input.dtype)
        return (total / count if self.reduction != "sum" else total).to(input.dtype)

    def terms(self) -> Terms:
        """What workers compare when a call begins."""
        names = sorted(set(self.options) - set(self.own_options))
        options = [f", {name}={self._word(name)}" for name in names]
        settings = f"reduction={self.reduction}{''.join(options)} on {self._workers}"
        return Terms(type(self).__name__, settings)

    def _word(self, name: str) -> str:
        """An option in words; tensors by a number that stands for all elements."""
        value = self.options[name]
        if not isinstance(value, torch.Tensor):
            return repr(value)
        structure(value)
        number = zlib.crc32(as_array(value.contiguous()).tobytes())
        return f"{value.dtype}{tuple(value.shape)} ({number:08x})"

    def _own(self, input: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, float]:
        """This worker's terms, or their sum, and their number."""
        structure(input)
        structure(target)
        self.check(input, target)
        reduction = "none" if self.reduction == "none" else "sum"
        if reduction == "sum":
            input, target = widened(input), widened(target)
        try:
            own = type(self).function(input, target, reduction=reduction, **self.options)
            return own, self.n_terms(input, target)
        except PartitaError:
            raise
        except Exception as error:
            shapes = f"{tuple(input.shape)} {input.dtype}, {tuple(target.shape)} {target.dtype}"
            message = f"{type(self).__name__} of {shapes}: {error}; use what torch's own takes"
            raise LayoutError(message, "loss-arguments") from error

    def check(self, input: torch.Tensor, target: torch.Tensor) -> None:
        """Whether a worker's two tensors belong together: one shape."""
        if input.shape != target.shape:
            shapes = f"{tuple(input.shape)} and {tuple(target.shape)}"
            raise LayoutError(f"a loss of tensors of shapes {shapes}; use one", "shapes-differ")

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

    allowed = ("log_input", "full", "eps")
    function = F.poisson_nll_loss


class DistributedBCELoss(_Loss):
    """Binary cross entropy; `weight` is for this worker's elements."""

    allowed = own_options = ("weight",)
    function = F.binary_cross_entropy


class DistributedBCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits; weights are for this worker's elements."""

    allowed = own_options = ("weight", "pos_weight")
    function = F.binary_cross_entropy_with_logits


class DistributedKLDivLoss(_Loss):
    """Kullback-Leibler divergence; `batchmean` divides by the batch size."""

    function = F.kl_div
    reductions = ("mean", "batchmean", "sum", "none")
    allowed = ("log_target",)

    def n_terms(self, input: torch.Tensor, target: torch.Tensor) -> float:
        """Elements, or for `batchmean` batch entries, counted by the first in all other axes."""
        if self.reduction == "mean":
            return input.numel()
        index = self.P_x.index
        others = index[1:] if isinstance(index, tuple) else ()
        return input.shape[0] if not any(others) else 0


class DistributedCrossEntropyLoss(_Loss):
    """Cross entropy of logits whose channels are not divided.

    Targets are class indices or probabilities; `weight`, `ignore_index` and `label_smoothing` are
    as in torch.
    """

    function = F.cross_entropy
    allowed = ("weight", "ignore_index", "label_smoothing")

    def __init__(self, P_x: Partition, reduction: str = "mean", **options: Any) -> None:
        super().__init__(P_x, reduction, **options)
        if P_x.grid_shape[1:2] > (1,):
            message = f"classes divided over {P_x.grid_shape[1]} workers; bring them together"
            raise LayoutError(f"{message} first: use Repartition", "channels-divided")

    def check(self, input: torch.Tensor, target: torch.Tensor) -> None:
        """Whether classes are together in tensors without a batch as well."""
        if input.dim() < 2 and self.P_x.size > 1:
            message = f"a tensor of shape {tuple(input.shape)} on {self.P_x.size} workers; give it"
            raise LayoutError(f"{message} a batch: (batch, class, ...)", "array-ndim")

    def n_terms(self, input: torch.Tensor, target: torch.Tensor) -> float:
        """The weights of the targets that count; one per target without weights."""
        if target.is_floating_point():
            return target.numel() / max(1, input.shape[1 if input.dim() > 1 else 0])
        counted = target[target != self.options.get("ignore_index", -100)]
        weight = self.options.get("weight")
        return counted.numel() if weight is None else float(weight[counted].sum())
