"""Names of `scipy.sparse` that are not here, with what to use instead.

>>> raise no_counterpart("partita.sparse", "identity")
Traceback (most recent call last):
AttributeError: scipy.sparse.identity has no counterpart in partita; use eye
"""

from __future__ import annotations

_TENSOR = "DistTensor.from_coo, or from_scipy of SciPy's"
_SOLVER = "cg, gmres, bicgstab or minres"
_WHOLE = "SciPy's own of t.gather(), if that fits into one memory"

# By modules of partita.
_INSTEAD: dict[str, dict[str, str]] = {
    "partita.sparse": {
        **{
            f"{format}_{kind}": f"{_TENSOR}, with format={format!r}"
            for format in ("coo", "csc", "csr")
            for kind in ("array", "matrix")
        },
        **{
            f"{format}_{kind}": _TENSOR
            for format in ("bsr", "dia", "dok", "lil")
            for kind in ("array", "matrix")
        },
        "bmat": "block_array",
        "csgraph": f"products with masks, as in examples/components.py, or {_WHOLE}",
        "expand_dims": "t.reshape(shape)",
        "identity": "eye",
        "isspmatrix": "issparse",
        "kronsum": "kron(eye(n), A) + kron(B, eye(m)) for A of m rows and B of n",
        "permute_dims": "t.transpose(axes)",
        "rand": "random_array",
        "random": "random_array",
        "sparray": "DistTensor",
        "spdiags": "diags",
        "spmatrix": "DistTensor",
        "swapaxes": "t.transpose(axes)",
    },
    "partita.sparse.linalg": {
        "ArpackError": "NoConvergence, or RuntimeError",
        "ArpackNoConvergence": "NoConvergence, with .eigenvalues and .eigenvectors",
        "LaplacianNd": "partita.sparse.laplacian(shape), which has the other sign, 0 outside",
        "bicg": "bicgstab",
        "eigs": f"eigsh for Hermitian matrices, or {_WHOLE}",
        "expm": _WHOLE,
        "expm_multiply": f"a sum of products with t, or {_WHOLE}",
        "factorized": _SOLVER,
        "funm_multiply_krylov": _WHOLE,
        "gcrotmk": "gmres",
        "inv": f"a solver for each right side: {_SOLVER}",
        "is_sptriangular": "(t - t.tril()).nnz == 0",
        "lgmres": "gmres",
        "lsmr": "cg with t.T @ t and t.T @ b",
        "lsqr": "cg with t.T @ t and t.T @ b",
        "matrix_power": "products t @ t",
        "onenormest": "norm(t, 1), which is exact",
        "qmr": "bicgstab",
        "spilu": "block_jacobi as the preconditioner M=",
        "splu": f"{_SOLVER}, with block_jacobi as M=",
        "spsolve": _SOLVER,
        "spsolve_triangular": _SOLVER,
        "svds": "eigsh(t.T @ t, k), whose eigenvalues are squares; norm(t, 2) for the largest",
        "tfqmr": "bicgstab",
    },
}


def no_counterpart(module: str, name: str) -> AttributeError:
    """The error for a name that a module of partita does not have."""
    instead = _INSTEAD[module].get(name)
    if instead is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
    theirs = "scipy" + module.removeprefix("partita")
    said = f"{theirs}.{name} has no counterpart in partita; use {instead}"
    return AttributeError(said, name=name)
