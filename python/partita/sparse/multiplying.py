"""A sparse matrix, or its transposed one, times dense vectors and matrices.

The operand lies along one dimension of the matrix, the result along the other one. Where the lines
of the matrix lie along the result, each rank fetches what its lines need (`_by_lines`). Where they
lie along the operand, each rank has what it needs, and adds what it finds to the owners' results
(`_across_lines`), the adjoint. Where slices hold parts of sums only, these are added likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.parts import array_of
from partita._local import sparse
from partita._memory.warm import empty
from partita.sparse.agreement import OfOneTensor, agreed
from partita.sparse.axes import globals_along, is_first, result_along, rows_along, rows_here
from partita.sparse.exchange import Fetch
from partita.sparse.lines import lines_of, reach_of
from partita.sparse.room import dense_room
from partita.sparse.teams import on_team

if TYPE_CHECKING:
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


def multiplied(tensor: Base, operand: Any, over: int, *, conjugate: bool = False) -> Array:
    """Return the sum over a dimension of the matrix: 1 is `t @ x`, 0 is `t.T @ x`. Collective."""
    is_met = isinstance(operand, Array) or (tensor.ndim == 2 and tensor._slices.counts[over] > 1)
    x = checked_operand(tensor, operand, over, is_met=is_met)
    row = tuple(x.shape[1:])
    about = f"product over {over} of rows of {row} {x.dtype} with {tensor._words}"
    layout = tensor._plans.kept(
        ("result", over, row), lambda: result_along(tensor._slices, 1 - over, row)
    )
    dtype = product_type(tensor.dtype, x.dtype)
    room = dense_room(tensor.team, layout.shape, dtype, "use t @ s with a sparse operand")
    with OfOneTensor("a product with", tensor), room:
        is_by_lines = lines_of(tensor).dim != over
        work = _by_lines if is_by_lines else _across_lines
        out = work(tensor, x, over, dtype, about, conjugate=conjugate)
    return array_of(out, layout, tensor.team)


def _by_lines(
    tensor: Base, x: Any, over: int, dtype: np.dtype[Any], about: str, *, conjugate: bool
) -> Local:
    local, layout = rows_here(x, tensor.team)
    own = local.astype(dtype, copy=False)
    reach = reach_of(tensor, layout)
    ghosts = reach.fetch.rows(own, about)
    own, ghosts = reach.fetch.in_one_place(own, ghosts, len(reach.indices))
    data = _values(tensor, dtype, conjugate=conjugate)
    n = len(reach.indptr) - 1
    out = empty((n, *own.shape[1:]), dtype)
    sparse.times(reach.indptr, reach.indices, data, own, ghosts, out, threads=reach.n_threads)
    return out if tensor._slices.counts[over] == 1 else _summed(tensor, out, 1 - over, about)


def _across_lines(
    tensor: Base, x: Any, over: int, dtype: np.dtype[Any], about: str, *, conjugate: bool
) -> Local:
    slices, team = tensor._slices, tensor.team
    right = rows_along(x, slices, over, team).astype(dtype, copy=False)
    data, row = _values(tensor, dtype), right.shape[1:]
    if slices.counts[over] == 1:
        # The whole sums are here, and lie as the slice does.
        lines = lines_of(tensor)
        own = _zeros((tensor._block.shape[1 - over], *row), dtype)
        sparse.times_transposed(
            lines.indptr, lines.indices, data, right, own, own[:0], conjugate=conjugate
        )
        if team.size > 1:
            team.native.allgather("DistTensor product", about, b"")
        return own
    layout = tensor._plans.kept(("result", over), lambda: result_along(slices, 1 - over))
    reach = reach_of(tensor, layout)
    own = _zeros((reach.fetch.n_own, *row), dtype)
    ghosts = reach.fetch.room(row, dtype)
    if is_first(slices, team.rank):
        sparse.times_transposed(
            reach.indptr, reach.indices, data, right, own, ghosts, conjugate=conjugate
        )
    reach.fetch.add_back(ghosts, own, about)
    return own


def _summed(tensor: Base, parts: Local, dim: int, about: str) -> Local:
    """Add up what ranks have found for the rows of their slices along a dimension. Collective."""
    rows, fetch = tensor._plans.kept(("sum", dim), lambda: _sum_plan(tensor, dim))
    own = _zeros((fetch.n_own, *parts.shape[1:]), parts.dtype)
    ghosts = fetch.room(parts.shape[1:], parts.dtype)
    is_own = fetch.positions < fetch.n_own
    own[fetch.positions[is_own]] = parts[rows[is_own]]
    ghosts[fetch.positions[~is_own] - fetch.n_own] = parts[rows[~is_own]]
    fetch.add_back(ghosts, own, about)
    return own


def _sum_plan(tensor: Base, dim: int) -> tuple[Local, Fetch]:
    slices, rank = tensor._slices, tensor.team.rank
    # Of ranks that hold the same slice, the first one gives its share.
    rows = lines_of(tensor).filled() if is_first(slices, rank) else np.empty(0, np.int64)
    wanted = globals_along(slices, dim, rank, rows)
    words = f"sums along {dim} of {tensor._words}"
    return rows, Fetch(tensor.team, result_along(slices, dim), wanted, words)


def _values(tensor: Base, dtype: np.dtype[Any], *, conjugate: bool = False) -> Local:
    data = lines_of(tensor).values(tensor._block.data).astype(dtype, copy=False)
    return data.conj() if conjugate else data


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Local:
    made = empty(shape, dtype)
    made[...] = 0
    return made


def checked_operand(tensor: Base, operand: Any, over: int, *, is_met: bool) -> Any:
    """Return a dense operand as an array, if it fits.

    What is wrong may be wrong on this rank only: those that meet it in the product are told.
    Where none do, ranks meet here.
    """
    x = operand if isinstance(operand, Array | np.ndarray) else np.asarray(operand)
    x = on_team(x, tensor.team) if isinstance(x, Array) else x
    problem = operand_problem(tensor, x, over)
    if is_met and problem is not None:
        raise tensor.team.told(ValueError(problem))
    if is_met or tensor.team.size == 1:
        return without(problem, x)
    facts = {"the operand's type": x.dtype.name, "the operand's shape": x.shape}
    return agreed(tensor.team, "@", lambda: (without(problem, x), facts, None))[0]


def operand_problem(tensor: Base, x: Any, over: int) -> str | None:
    """Return what is wrong with a dense operand beside a dimension of a matrix, if anything is."""
    n = tensor.shape[over] if tensor.ndim == 2 else None
    problem = None
    if n is None:
        problem = f"a product with a tensor of shape {tensor.shape}; use one of 2 dimensions"
    elif x.ndim not in (1, 2):
        problem = f"an operand of {x.ndim} dimensions beside a matrix; use 1 or 2, * for numbers"
    elif x.shape[0] != n:
        lines = "columns" if over else "rows"
        problem = f"an operand of shape {x.shape} for the {n} {lines} of a matrix of {tensor.shape}"
        problem += f"; give it {n} rows"
    elif np.dtype(x.dtype).kind not in "biufc":
        problem = f"an operand of {x.dtype}; use numbers"
    return problem


def without(problem: str | None, found: Any) -> Any:
    """Return what is given, unless there is a problem."""
    if problem is not None:
        raise ValueError(problem)
    return found


def product_type(first: Any, second: Any) -> np.dtype[Any]:
    """Return the element type of a product, as SciPy has it: no halves."""
    found = np.result_type(first, second)
    return np.dtype(np.float32) if found == np.float16 else found
