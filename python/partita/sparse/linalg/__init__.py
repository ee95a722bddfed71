"""Solvers for what is known by its products, with the signatures of `scipy.sparse.linalg`.

>>> import numpy as np
>>> import partita as pt
>>> from partita.sparse.linalg import cg
>>> matrix = pt.asarray([[4.0, 1.0], [1.0, 3.0]])
>>> x, info = cg(matrix, np.array([1.0, 2.0]), rtol=1e-10)
>>> info, [round(one, 6) for one in x.tolist()]
(0, [0.090909, 0.636364])

A matrix is whatever `A @ x` takes: a sparse tensor, a dense array, a `LinearOperator`. Vectors are
arrays of partita, or NumPy's, which every rank has whole. Every function is collective.

- `operators`: `LinearOperator`, `aslinearoperator`.
- `system`: what solvers are given, and what they refuse.
- `conjugate`: `cg`.
- `stabilized`: `bicgstab`, `cgs`.
- `basis`: orthonormal vectors, of which each rank has its rows.
- `generalized`: `gmres`.
- `symmetric`: `minres`.
- `tall`: matrices of few columns, of which each rank has its rows.
- `blocks`: `lobpcg`.
- `lanczos`: `eigsh`, and `NoConvergence` if it finds too few. `restarts`: how it searches.
- `preconditioners`: `jacobi`, `block_jacobi`.
- `norms`: `norm`.

Factorisations of sparse matrices are not here: block_jacobi takes those of one rank's block.
"""

from typing import NoReturn as _NoReturn

from partita.sparse.elsewhere import no_counterpart as _no_counterpart
from partita.sparse.linalg.blocks import lobpcg
from partita.sparse.linalg.conjugate import cg
from partita.sparse.linalg.generalized import gmres
from partita.sparse.linalg.lanczos import NoConvergence, eigsh
from partita.sparse.linalg.norms import norm
from partita.sparse.linalg.operators import LinearOperator, aslinearoperator
from partita.sparse.linalg.preconditioners import block_jacobi, jacobi
from partita.sparse.linalg.stabilized import bicgstab, cgs
from partita.sparse.linalg.symmetric import minres

__all__ = [
    "LinearOperator",
    "NoConvergence",
    "aslinearoperator",
    "bicgstab",
    "block_jacobi",
    "cg",
    "cgs",
    "eigsh",
    "gmres",
    "jacobi",
    "lobpcg",
    "minres",
    "norm",
]


def __getattr__(name: str) -> _NoReturn:
    raise _no_counterpart("partita.sparse.linalg", name)
