"""What other libraries hand over: SciPy's matrices and arrays, PyData's `sparse`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from partita._args import shown
from partita._errors import LayoutError
from partita.sparse.block import Block
from partita.sparse.kinds import one_index_type, values_of
from partita.sparse.optional import pydata_sparse

Local = np.ndarray[Any, Any]

# Where SciPy's formats have coordinates.
_LINES = ("indptr", "indices")
_COORDINATES = {"csr": _LINES, "csc": _LINES, "bsr": _LINES, "dia": ("offsets",)}
_COORDINATES["coo"] = ("coords", "row", "col")


def block_of(given: Any) -> Block:
    """Return a sparse tensor of any library as a block, over its memory where that can be.

    Coordinates outside of it are refused.
    """
    if isinstance(given, Block):
        found = given
    elif _is_scipy(given):
        _check_integers(given)
        found = Block.from_scipy(given)
    elif _is_pydata(given):
        found = _of_pydata(given)
    else:
        message = f"a {type(given).__name__} is no sparse matrix; use one of scipy.sparse"
        raise LayoutError(f"{message}, or from_dense for dense arrays", "sparse-type")
    data = values_of(found.data)
    pattern = one_index_type(found.arrays[:-1])
    made = Block.from_arrays(found.shape, found.format, [*pattern, data])
    _check(made)
    return made


def is_foreign(given: Any) -> bool:
    """Whether something is a sparse tensor of another library."""
    # A class has what its objects have.
    is_object = not isinstance(given, type) and hasattr(given, "shape")
    return is_object and (hasattr(given, "tocoo") or _is_pydata(given))


def _is_scipy(given: Any) -> bool:
    # Whoever has such an object has loaded the module.
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(given))


def is_old_matrix(given: Any) -> bool:
    """Whether something is of SciPy's old class, whose `*` is the product of matrices."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.isspmatrix(given))


def _check_integers(given: Any) -> None:
    """Refuse coordinates that are no integers, which SciPy lets others put into its matrices."""
    for name in _COORDINATES.get(given.format, ()):
        found = getattr(given, name, ())
        for one in found if isinstance(found, tuple) else (found,):
            kind = np.asarray(one).dtype
            if kind.kind not in "iu":
                message = f"{name} of {kind} in a {type(given).__name__}; convert them to integers"
                raise LayoutError(f"{message}, as by astype(int)", "sparse-coordinates")


def _is_pydata(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "sparse" and hasattr(given, "fill_value")


def _of_pydata(given: Any) -> Block:
    if given.fill_value != 0:
        message = f"a sparse array whose absent entries are {shown(given.fill_value)}"
        raise LayoutError(f"{message}; use one of fill_value 0", "sparse-fill")
    found = given if hasattr(given, "coords") else given.asformat("coo")
    return Block(found.shape, "coo", found.data, coords=list(found.coords))


def to_pydata(block: Block) -> Any:
    """Return a block as an array of PyData's `sparse`."""
    sparse = pydata_sparse("an array of another library")
    found = block.in_format("coo")
    return sparse.COO(np.stack(found.coords), found.data, shape=found.shape)


def _check(block: Block) -> None:
    """Refuse what other libraries do not check: coordinates that do not exist."""
    if block.format == "coo":
        for dim, one in enumerate(block.coords):
            check_inside(one, block.shape[dim], dim)
            if len(one) != block.nnz:
                message = f"{len(one)} coordinates for {block.nnz} values; give as many"
                raise LayoutError(message, "sparse-lengths")
        return
    indptr, indices, data = block.lines
    major, minor = (0, 1) if block.format == "csr" else (1, 0)
    starts_right = len(indptr) == block.shape[major] + 1 and indptr[0] == 0
    if not starts_right or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        message = f"the starts of the {block.format}'s lines do not rise from 0 to {len(data)}"
        raise LayoutError(f"{message}; use a valid matrix", "sparse-indptr")
    if len(indices) != len(data):
        message = f"{len(indices)} coordinates for {len(data)} values; give as many"
        raise LayoutError(message, "sparse-lengths")
    check_inside(indices, block.shape[minor], minor)


def check_inside(indices: Local, n: int, dim: int) -> None:
    """Refuse coordinates outside of an extent."""
    if len(indices) and not (indices.min() >= 0 and indices.max() < n):
        outside = indices[(indices < 0) | (indices >= n)][0]
        message = f"index {outside} of dimension {dim}, which has {n}"
        raise LayoutError(f"{message}; use 0 to {n - 1}" if n else message, "sparse-index")
