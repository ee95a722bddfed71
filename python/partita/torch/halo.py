"""Halo exchange in the memory of the tensors themselves, for those who ask for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from partita import distdl
from partita.torch.functions import token
from partita.torch.memory import as_array, bits_of, check_in_place, structure


class InPlaceHaloFunction(torch.autograd.Function):
    """The exchange in the memory of the input, and back in the memory of the gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        recorded: torch.Tensor | None,
        primitive: distdl.HaloExchange,
    ) -> torch.Tensor:
        """The input itself, its halos filled."""
        ctx.primitive = primitive
        ctx.mark_dirty(input)
        primitive.fill(as_array(input), bits_of=bits_of(input))
        return input

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        """The gradient itself, its halos added to their owners' elements and set to zero."""
        (grad,) = grads
        # Numbers that are conjugated or negated when read have other ones in memory.
        grad = grad.resolve_conj().resolve_neg()
        if 0 in grad.stride():
            # One element stands for many: there is no memory to work in.
            grad = grad.contiguous()
        ctx.primitive.adjoint_in_place(as_array(grad), bits_of=bits_of(grad))
        return grad, None, None


def fill(input: torch.Tensor, primitive: distdl.HaloExchange) -> torch.Tensor:
    """The input with its halos filled in place. Collective."""
    if primitive.team is None:
        return input
    with primitive.team:
        own = structure(input)
        check_in_place(input)
    if not torch.is_grad_enabled():
        primitive.fill(as_array(input), bits_of=bits_of(input))
        return input
    movement = primitive.bind(own)
    assert movement is not None
    found: torch.Tensor = InPlaceHaloFunction.apply(input, token(input, movement), primitive)
    return found
