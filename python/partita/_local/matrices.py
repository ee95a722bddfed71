"""Products and factorisations in this rank's memory.

Where nothing else is said, arrays are stacks of matrices: all axes but the last two count them.
Factorisations take float32, float64, complex64 and complex128, and compute with the longer ones;
matrices without a result raise `numpy.linalg.LinAlgError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from partita._local.even import even
from partita._local.threads import n_threads
from partita._partita import (
    local_cholesky,
    local_eig,
    local_eigh,
    local_inv,
    local_lu,
    local_matmul,
    local_qr,
    local_slogdet,
    local_solve,
    local_solve_triangular,
    local_svd,
)

Block = np.ndarray[Any, Any]


def matmul(a: Block, b: Block, out: Block | None = None, *, add: bool = False) -> Block:
    """Return the product of two matrices or stacks of one dtype; into `out`, or added to it."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(even(one), (*stack, *one.shape[-2:])) for one in (a, b))
    if out is None:
        out, add = np.empty((*stack, a.shape[-2], b.shape[-1]), a.dtype), False
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        # Short floating numbers are multiplied as longer ones.
        wide = matmul(a.astype(np.float32), b.astype(np.float32))
        np.add(out, wide, out=out, casting="unsafe") if add else np.copyto(out, wide, "unsafe")
    else:
        local_matmul(a, b, out, add, n_threads())
    return out


def _wide(a: Block) -> Block:
    """A matrix as factorisations take it: in numbers of 64 bits."""
    return even(a).astype(np.result_type(a.dtype, np.float64), copy=False)


def _like(kind: np.dtype[Any], *results: Block) -> tuple[Block, ...]:
    """Results in the precision of what was given."""
    if kind.itemsize == _wide(np.empty(0, kind)).dtype.itemsize:
        return results
    short = {"f": np.float32, "c": np.complex64}
    return tuple(one.astype(short[one.dtype.kind]) for one in results)


def cholesky(a: Block, *, upper: bool = False) -> Block:
    """Return the triangle whose product with its adjoint is `a`; reads that half of `a` alone."""
    given = _wide(a)
    out = np.empty(a.shape, given.dtype)
    try:
        local_cholesky(given, out, upper, n_threads())
    except LinAlgError:
        lower = np.tril(given.conj().swapaxes(-1, -2) if upper else given)
        if np.isfinite(lower).all():
            raise
        for at in np.ndindex(*a.shape[:-2]):
            lower[at] = _cholesky_by_columns(lower[at])
        out = lower.conj().swapaxes(-1, -2) if upper else lower
    return _like(a.dtype, out)[0]


def _cholesky_by_columns(a: Block) -> Block:
    """The lower triangle, column by column: what is no number is carried on, and not refused."""
    made = np.zeros_like(a)
    with np.errstate(invalid="ignore", over="ignore"):
        for at in range(len(a)):
            row = made[at, :at]
            pivot = a[at, at].real - (row * row.conj()).real.sum()
            if pivot <= 0:
                raise LinAlgError(f"the matrix is not positive definite: pivot {at} is {pivot}")
            made[at, at] = np.sqrt(pivot)
            below = a[at + 1 :, at] - made[at + 1 :, :at] @ row.conj()
            made[at + 1 :, at] = below / made[at, at]
    return made


def lu(a: Block) -> tuple[Block, Block]:
    """Return one matrix's packed triangles and its permutation: `a[permutation] = L @ U`."""
    given = _wide(a)
    packed, order = np.empty(a.shape, given.dtype), np.empty(a.shape[0], np.int64)
    local_lu(given, packed, order, n_threads())
    return _like(a.dtype, packed)[0], order


def solve(a: Block, b: Block) -> Block:
    """Return the solutions of `a @ x = b`, both matrices or stacks of them."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    given = _wide(np.broadcast_to(a, (*stack, *a.shape[-2:])))
    out = np.array(np.broadcast_to(b, (*stack, *b.shape[-2:])), given.dtype)
    local_solve(given, out, n_threads())
    return _like(a.dtype, out)[0]


def solve_triangular(
    a: Block, b: Block, *, lower: bool = True, unit: bool = False, adjoint: bool = False
) -> Block:
    """Return the solution for one triangle; with `adjoint` for its conjugate transpose."""
    given = _wide(a)
    out = np.array(b, given.dtype)
    if adjoint:
        given, lower = np.conj(given).swapaxes(-1, -2), not lower
    local_solve_triangular(given, out, lower, unit, n_threads())
    return _like(a.dtype, out)[0]


def inv(a: Block) -> Block:
    """Return the inverses."""
    given = _wide(a)
    out = np.empty(a.shape, given.dtype)
    local_inv(given, out, n_threads())
    return _like(a.dtype, out)[0]


def slogdet(a: Block) -> tuple[Block, Block]:
    """Return signs and logarithms of the determinants' sizes."""
    given, stack = _wide(a), a.shape[:-2]
    sign, log = np.empty((*stack, 1, 1), given.dtype), np.empty((*stack, 1, 1))
    local_slogdet(given, sign, log, n_threads())
    sign, log = _like(a.dtype, sign, log)
    return sign.reshape(stack), log.reshape(stack)


def qr(a: Block, *, full: bool = False) -> tuple[Block, Block]:
    """Return orthonormal columns and upper triangles, as many as the smaller extent, or all."""
    given = _wide(a)
    *stack, m, n = a.shape
    size = m if full else min(m, n)
    q, r = np.empty((*stack, m, size), given.dtype), np.empty((*stack, size, n), given.dtype)
    local_qr(given, q, r, n_threads())
    is_lost: Block = np.asarray(~np.isfinite(r).all(axis=-2))
    if is_lost.any():
        # Its reflection makes no numbers of what comes after: rows of r, and columns of q.
        places = np.minimum(np.arange(size), n - 1)
        is_after: Block = np.asarray(np.logical_or.accumulate(is_lost, axis=-1))[..., places]
        r[np.triu(is_lost[..., None, :] | is_after[..., :, None])] = np.nan
        q[np.broadcast_to(is_after[..., None, :], q.shape)] = np.nan
    q, r = _like(a.dtype, q, r)
    return q, r


def svd(a: Block, *, full: bool = True, vectors: bool = True) -> tuple[Block, ...]:
    """Return (u, s, vh), or (s,) without vectors."""
    given = _wide(a)
    *stack, m, n = a.shape
    size = min(m, n)
    values = np.empty((*stack, size, 1))
    if not vectors:
        local_svd(given, values, None, n_threads())
        return _like(a.dtype, values[..., 0])
    u = np.empty((*stack, m, m if full else size), given.dtype)
    vh = np.empty((*stack, n if full else size, n), given.dtype)
    local_svd(given, values, (u, vh), n_threads())
    return _like(a.dtype, u, values[..., 0], vh)


def eigh(a: Block, *, lower: bool = True, vectors: bool = True) -> tuple[Block, ...]:
    """Return (values, vectors) of self-adjoint matrices, or (values,)."""
    given = _wide(a)
    values = np.empty((*a.shape[:-1], 1))
    columns = np.empty(a.shape, given.dtype) if vectors else None
    local_eigh(given, values, columns, lower, n_threads())
    found = (values[..., 0],) if columns is None else (values[..., 0], columns)
    return _like(a.dtype, *found)


def eig(a: Block, *, vectors: bool = True) -> tuple[Block, ...]:
    """Return complex (values, vectors), or (values,)."""
    given = _wide(a)
    values = np.empty((*a.shape[:-1], 1), np.complex128)
    columns = np.empty(a.shape, np.complex128) if vectors else None
    local_eig(given, values, columns, n_threads())
    found = (values[..., 0],) if columns is None else (values[..., 0], columns)
    return _like(a.dtype, *found)
