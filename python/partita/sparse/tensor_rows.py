"""Rows of a tensor of one dimension, or of three and more: all that has an index in the first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._errors import LayoutError
from partita.sparse.optional import scipy_sparse

# As many positions as integers of 64 bits can count.
_MOST = 2**63 - 1


def tensor_rows(tensor: Any, indices: Any) -> Any:
    """Return what this rank asks for, as a SciPy array in COO. Collective.

    The tensor becomes a matrix for it, whose columns are the places in all other dimensions.
    """
    sides = tensor.shape[1:]
    n_places = math.prod(sides)
    if n_places > _MOST:
        message = f"rows of shape {sides} have {n_places} places, more than 64 bits can count"
        raise LayoutError(f"{message}; use slices, such as t[i:i + 1]", "sparse-shape")
    coords, values = tensor._own_entries()
    places = np.zeros(len(values), np.int64)
    if len(values) and sides:
        places = np.ravel_multi_index([one.astype(np.int64) for one in coords[1:]], sides)
    shape = (tensor.shape[0], n_places)
    # In COO, so that rows without entries cost nothing.
    matrix = type(tensor).from_coo(
        shape, (coords[0], places), values, team=tensor.team, format="coo"
    )
    found = matrix.get_rows(indices).tocoo()
    inner = np.unravel_index(found.col, sides) if found.nnz and sides else [found.col] * len(sides)
    sp = scipy_sparse("a SciPy array")
    return sp.coo_array((found.data, (found.row, *inner)), shape=(found.shape[0], *sides))
