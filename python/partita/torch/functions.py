"""Movements as differentiable functions.

The backward of a movement is its adjoint, run by the same workers. So that all of them come to it,
a movement is recorded on every worker as soon as the tensor of any of them needs a gradient.
Autograd runs recorded functions in the reverse order of their calls, which is the same everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from partita._memory.warm import empty
from partita.distdl.agree import Terms
from partita.distdl.halo import WindowExchange, WindowMovement
from partita.distdl.movement import Movement
from partita.distdl.primitive import Primitive
from partita.distdl.windows import Need
from partita.torch.memory import as_array, as_tensor, structure


def token(input: torch.Tensor, movement: Movement) -> torch.Tensor | None:
    """What makes autograd record a call that only other workers' tensors ask for."""
    if movement.is_tracked and torch.is_grad_enabled() and not input.requires_grad:
        return torch.empty(0, requires_grad=True)
    return None


class MovementFunction(torch.autograd.Function):
    """A movement; its backward is the movement's adjoint."""

    @staticmethod
    def forward(
        ctx: Any, input: torch.Tensor, recorded: torch.Tensor | None, movement: Movement
    ) -> torch.Tensor:
        """This worker's result, in memory of its own."""
        ctx.movement, ctx.shape = movement, input.shape
        return as_tensor(movement.forward(as_array(input)), movement.plans[0].dtype)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        """The adjoint; where this worker gave nothing, zeros of its input's shape."""
        back = ctx.movement.reversed()
        found = MovementFunction.apply(grads[0], token(grads[0], back), back)
        if found.numel() == ctx.shape.numel():
            return found.reshape(ctx.shape), None, None
        # This worker's input did not count: no gradient, but still a part of the graph.
        return found.new_zeros(ctx.shape) + found.sum(), None, None


def outside(input: torch.Tensor) -> torch.Tensor:
    """What a worker without a part in a movement gets: its own tensor, cloned."""
    structure(input)
    return input.clone()


def move(input: torch.Tensor, primitive: Primitive, terms: Terms | None = None) -> torch.Tensor:
    """The result of a primitive on this worker's tensor. Collective."""
    if primitive.agreement is None:
        return outside(input)
    # A worker that stumbles over its own tensor tells the others.
    with primitive.agreement.team:
        own = structure(input)
    movement = primitive.bind(own, terms)
    assert movement is not None
    found: torch.Tensor = MovementFunction.apply(input, token(input, movement), movement)
    return found


def _inside(needs: tuple[Need, ...]) -> tuple[slice, ...]:
    return tuple(slice(one.before, one.before + one.stop - one.start) for one in needs)


def _padded(needs: tuple[Need, ...], dtype: str, fill: float) -> torch.Tensor:
    """Room for the inputs of a kernel, its rims filled."""
    shape = [one.before + one.stop - one.start + one.after for one in needs]
    room = as_tensor(empty(shape, dtype), dtype)
    for axis, one in enumerate(needs):
        rest = (slice(None),) * axis
        room[(*rest, slice(0, one.before))] = fill
        room[(*rest, slice(shape[axis] - one.after, None))] = fill
    return room


class WindowFunction(torch.autograd.Function):
    """Inputs of a kernel from their owners, with padding around them, in one pass."""

    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        recorded: torch.Tensor | None,
        movement: WindowMovement,
        needs: tuple[Need, ...],
        fill: float,
    ) -> torch.Tensor:
        """The padded inputs, in memory of their own."""
        ctx.movement, ctx.needs = movement, needs
        room = _padded(needs, movement.plans[0].dtype, fill)
        movement.forward(as_array(input), as_array(room[_inside(needs)]))
        return room

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        """Cotangents added where the inputs came from; those of the padding are dropped."""
        inner = grads[0][_inside(ctx.needs)]
        back = ctx.movement.reversed()
        return MovementFunction.apply(inner, token(inner, back), back), None, None, None, None


def window_movement(input: torch.Tensor, exchange: WindowExchange, terms: Terms) -> WindowMovement:
    """What brings the inputs of this worker's outputs; all know of all tensors. Collective."""
    assert exchange.team is not None
    with exchange.team:
        own = structure(input)
    return exchange.windowed(own, terms)


def padded_inputs(input: torch.Tensor, movement: WindowMovement, fill: float) -> torch.Tensor:
    """The inputs for this worker's outputs with the first kernel's padding. Collective."""
    needs = movement.stages[0]
    return WindowFunction.apply(input, token(input, movement), movement, needs, fill)


def bare_inputs(input: torch.Tensor, movement: WindowMovement) -> torch.Tensor:
    """The inputs for this worker's outputs without padding. Collective."""
    needs = tuple(replace(one, before=0, after=0) for one in movement.stages[0])
    return WindowFunction.apply(input, token(input, movement), movement, needs, 0.0)
