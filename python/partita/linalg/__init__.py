"""Linear algebra on arrays spread over a team, by the names of the Array API and NumPy.

>>> import partita as pt
>>> a = pt.asarray([[2.0, 1.0], [1.0, 3.0]])
>>> print(pt.linalg.solve(a, [3.0, 4.0]))
[1. 1.]

Functions of stacks of matrices work where the stacks are. One matrix that is spread is factorised
in parts; what has no such algorithm says so, and brings the matrix to every rank.

- `given`: what is given, and what is refused.
- `stacks`: every rank its own matrices.
- `panels`: one matrix by columns, in panels dealt out to the ranks.
- `elimination`: solutions, inverses, determinants.
- `triangles`: Cholesky's triangles.
- `reflections`, `orthogonal`: orthonormal columns, of any matrix and of tall ones.
- `spectral`: singular values and eigenvalues.
- `full_rank`: inverses of matrices whose rank is clearly full.
- `least_squares`: least squares and generalised inverses.
- `fitting`: polynomials through points.
- `norms`: norms, ranks, condition numbers.
- `chains`: products of several matrices, and powers.
- `arranged`: products and diagonals in the forms of this module.
"""

from typing import NoReturn as _NoReturn

from numpy.linalg import LinAlgError

from partita._functions.manipulation import matrix_transpose
from partita._functions.products import matmul, tensordot, vecdot
from partita._missing import no_attribute as _no_attribute
from partita.linalg.arranged import cross, diagonal, outer, tensorinv, tensorsolve, trace
from partita.linalg.chains import matrix_power, multi_dot
from partita.linalg.elimination import det, inv, slogdet, solve
from partita.linalg.least_squares import lstsq, pinv
from partita.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from partita.linalg.orthogonal import qr
from partita.linalg.spectral import eig, eigh, eigvals, eigvalsh, svd, svdvals
from partita.linalg.triangles import cholesky

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str) -> _NoReturn:
    raise _no_attribute("partita.linalg", name, __all__)
