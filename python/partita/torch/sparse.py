"""Products with sparse matrices that autograd knows, on each worker's own rows.

>>> import torch, partita as pt
>>> from partita.sparse import DistTensor
>>> def job(team):
...     rows = torch.arange(2 * team.rank, 2 * team.rank + 2)
...     links = DistTensor.from_coo((4, 4), [rows, (rows + 1) % 4], [1.0, 1.0], team=team)
...     x = torch.arange(2.0, dtype=torch.float64) + 2 * team.rank
...     return spmm(links, x.requires_grad_()).tolist()
>>> pt.spmd(job, ranks=2)
[[1.0, 2.0], [3.0, 0.0]]

The pattern is a `DistTensor` of which each rank holds a slice of its own. Operands are the rows of
this worker, in a layout that the pattern has for each of its dimensions, one for both if it is
square: `operand_indices` says which, `operand_rows` how many. Gradients go to the dense operands
and to the values, and can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from partita._errors import LayoutError
from partita._team.together import together_telling
from partita.sparse import DistTensor
from partita.sparse.operands import Operands, check_alike, misfit, operands_of
from partita.torch.memory import as_array, structure

KINDS = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def operand_rows(pattern: DistTensor, dim: int) -> int:
    """Return how many rows of an operand along a dimension of a pattern are this worker's."""
    return operands_of(pattern).n_rows(dim)


def operand_indices(pattern: DistTensor, dim: int) -> np.ndarray[Any, Any]:
    """Return which rows of an operand along a dimension are this worker's, in their order."""
    return operands_of(pattern).indices(dim)


def spmm(pattern: DistTensor, x: torch.Tensor, values: torch.Tensor | None = None) -> torch.Tensor:
    """Return this worker's rows of `t @ x`, for a vector or a matrix. Collective.

    `values` are those of this worker's slice, in the order of its memory; without any, the
    pattern's own are taken, as they are.
    """
    operands = operands_of(pattern)
    given = torch.from_numpy(pattern._block.data) if values is None else values
    return _run(_Product, operands, (given, x), (operands.n_values, operands.n_rows(1)), 1)


def sddmm(pattern: DistTensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return this worker's values of `x @ y.T` where the pattern has entries. Collective.

    `x` are this worker's rows along the first dimension, `y` those along the second one.
    """
    operands = operands_of(pattern)
    return _run(_Sampled, operands, (x, y), (operands.n_rows(0), operands.n_rows(1)))


spmv = spmm


def _run(
    work: Any, operands: Operands, given: tuple[Any, Any], n_rows: tuple[int, int], *more: Any
) -> torch.Tensor:
    """Apply a function on tensors that fit, recorded on all workers if any needs a gradient."""

    def look() -> tuple[list[bool], tuple[list[bool], list[int]]]:
        flags = [structure(one).flag for one in given]
        _check(work.names, given, n_rows)
        return flags, (flags, list(given[-1].shape[1:]))

    # A worker that stumbles over its own tensor is all workers' error.
    flags, told = together_telling(operands.pattern.team, look, f"sparse {work.__name__}")
    check_alike([row for _, row in told])
    needs = tuple(any(one) for one in zip(*(flags for flags, _ in told), strict=True))
    token = None
    if any(needs) and not any(flags):
        token = torch.empty(0, requires_grad=True)
    found: torch.Tensor = work.apply(*given, token, operands, needs, *more)
    return found


def _check(names: tuple[str, str], given: tuple[Any, Any], n_rows: tuple[int, int]) -> None:
    for name, one, n in zip(names, given, n_rows, strict=True):
        if one.dtype not in KINDS or one.dtype != given[0].dtype:
            types = " and ".join(str(other.dtype) for other in given)
            message = f"tensors of {types} in a sparse product; use one type of float32 or float64"
            raise ValueError(f"{message}, real or complex")
        if (problem := misfit(name, tuple(one.shape), n)) is not None:
            raise LayoutError(problem, "operand-rows")


class _Product(torch.autograd.Function):
    """`t @ x` over dimension 1, `t.T @ x` over 0, by values and operand."""

    names = ("values", "x")

    @staticmethod
    def forward(
        ctx: Any,
        values: torch.Tensor,
        x: torch.Tensor,
        token: torch.Tensor | None,
        operands: Operands,
        needs: tuple[bool, bool],
        over: int,
    ) -> torch.Tensor:
        ctx.save_for_backward(values, x)
        ctx.operands, ctx.needs, ctx.over = operands, needs, over
        return torch.from_numpy(operands.product(as_array(values), as_array(x), over))

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        values, x = ctx.saved_tensors
        operands, over = ctx.operands, ctx.over
        found: list[Any] = [None, None]
        if ctx.needs[0]:
            pair = (grads[0], x.conj()) if over == 1 else (x.conj(), grads[0])
            found[0] = _again(_Sampled, operands, pair)
        if ctx.needs[1]:
            found[1] = _again(_Product, operands, (values.conj(), grads[0]), 1 - over)
        return (*found, None, None, None, None)


class _Sampled(torch.autograd.Function):
    """`x @ y.T` where the pattern has entries."""

    names = ("x", "y")

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        y: torch.Tensor,
        token: torch.Tensor | None,
        operands: Operands,
        needs: tuple[bool, bool],
    ) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        ctx.operands, ctx.needs = operands, needs
        return torch.from_numpy(np.asarray(operands.sampled(as_array(x), as_array(y))))

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        x, y = ctx.saved_tensors
        found: list[Any] = [None, None]
        if ctx.needs[0]:
            found[0] = _again(_Product, ctx.operands, (grads[0], y.conj()), 1)
        if ctx.needs[1]:
            found[1] = _again(_Product, ctx.operands, (grads[0], x.conj()), 0)
        return (*found, None, None, None)


def _again(work: Any, operands: Operands, given: tuple[Any, Any], *more: Any) -> torch.Tensor:
    """Apply a function in backward, where all workers have tensors that fit."""
    n_rows = tuple(len(one) for one in given)
    return _run(work, operands, given, n_rows, *more)  # type: ignore[arg-type]
