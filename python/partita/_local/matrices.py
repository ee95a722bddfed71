"""Products and factorisations in this rank's memory.

Where nothing else is said, arrays are stacks of matrices: all axes but the last two count them.
Matrices that cannot be factorised raise `numpy.linalg.LinAlgError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]


def matmul(a: Block, b: Block, out: Block | None = None, *, add: bool = False) -> Block:
    """Return the product of two matrices or stacks of one dtype; into `out`, or added to it."""
    made = np.matmul(a, b)
    if out is None:
        return made
    if add:
        out += made
    else:
        out[...] = made
    return out


def cholesky(a: Block, *, upper: bool = False) -> Block:
    """Return the triangle whose product with its adjoint is `a`."""
    return np.linalg.cholesky(a, upper=upper)


def lu(a: Block) -> tuple[Block, Block]:
    """Return one matrix's packed triangles and its permutation: `a[permutation] = L @ U`."""
    n_rows, n_columns = a.shape
    packed, order = a.copy(), np.arange(n_rows)
    for k in range(min(n_rows, n_columns)):
        at = k + int(np.argmax(abs(packed[k:, k])))
        packed[[k, at]], order[[k, at]] = packed[[at, k]], order[[at, k]]
        if packed[k, k] != 0:
            packed[k + 1 :, k] /= packed[k, k]
            packed[k + 1 :, k + 1 :] -= np.outer(packed[k + 1 :, k], packed[k, k + 1 :])
    return packed, order


def solve(a: Block, b: Block) -> Block:
    """Return the solutions of `a @ x = b`, both matrices or stacks of them."""
    return np.linalg.solve(a, b)


def solve_triangular(
    a: Block, b: Block, *, lower: bool = True, unit: bool = False, adjoint: bool = False
) -> Block:
    """Return the solution for one triangle; with `adjoint` for its conjugate transpose."""
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    return np.linalg.solve(triangle.conj().T if adjoint else triangle, b)


def inv(a: Block) -> Block:
    """Return the inverses."""
    return np.linalg.inv(a)


def slogdet(a: Block) -> tuple[Block, Block]:
    """Return signs and logarithms of the determinants' sizes."""
    return np.linalg.slogdet(a)


def qr(a: Block) -> tuple[Block, Block]:
    """Return orthonormal columns and upper triangles, as many as the smaller extent."""
    return np.linalg.qr(a)


def svd(a: Block, *, full: bool = True, vectors: bool = True) -> tuple[Block, ...]:
    """Return (u, s, vh), or (s,) without vectors."""
    return tuple(np.linalg.svd(a, full)) if vectors else (np.linalg.svd(a, compute_uv=False),)


def eigh(a: Block, *, lower: bool = True, vectors: bool = True) -> tuple[Block, ...]:
    """Return (values, vectors) of self-adjoint matrices, or (values,)."""
    side = "L" if lower else "U"
    return tuple(np.linalg.eigh(a, side)) if vectors else (np.linalg.eigvalsh(a, side),)


def eig(a: Block, *, vectors: bool = True) -> tuple[Block, ...]:
    """Return complex (values, vectors), or (values,)."""
    kind = np.result_type(a, np.complex64)
    if not vectors:
        return (np.linalg.eigvals(a).astype(kind),)
    return tuple(one.astype(kind) for one in np.linalg.eig(a))
