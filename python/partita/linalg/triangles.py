"""Cholesky's triangles of positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from partita._array.array import Array
from partita._functions import elementwise
from partita._functions.manipulation import matrix_transpose
from partita._local import matrices
from partita.linalg.given import square
from partita.linalg.panels import WIDTH, Panels, subtract_product
from partita.linalg.stacks import is_few, is_local, of_stacks, one_by_one

Local = np.ndarray[Any, Any]


def cholesky(x: Any, /, *, upper: bool = False) -> Array:
    """Return the triangles whose products with their adjoints are the matrices. Collective.

    Only the lower halves of the matrices are read, or the upper ones.
    """
    array = square(x)
    array.team.say(f"linalg.cholesky(upper={bool(upper)})")
    if is_few(array):
        found: Array = one_by_one(lambda one: cholesky(one, upper=upper), array)
        return found
    if is_local(array):
        return of_stacks(lambda one: (matrices.cholesky(one, upper=upper),), array)[0]
    made = _lower(adjoint(array) if upper else array)
    return adjoint(made) if upper else made


def adjoint(array: Array) -> Array:
    """The conjugates of the transposes."""
    turned = matrix_transpose(array)
    made: Array = elementwise.conj(turned) if array.dtype.kind == "c" else turned
    return made


def _lower(array: Array) -> Array:
    panels = Panels(array)
    n, n_ranks, rank = array.shape[0], array.team.size, array.team.rank
    for panel in panels:
        own = panels.own[:, panel.columns]
        mine = None
        if panels.is_mine(panel):
            mine = _triangle(own[panel.first :], panel.last - panel.first)
            own[: panel.first], own[panel.first :] = 0, mine
        seen = panels.shown(panel, mine, (n - panel.first, panel.last - panel.first))
        if seen[0, 0].real < 0:
            at = f"in columns {panel.first} to {panel.last - 1}"
            raise LinAlgError(f"the matrix is not positive definite: a pivot {at} is not")
        for number in range(panel.number + 1, -(-n // WIDTH)):
            if number % n_ranks == rank:
                first = number * WIDTH
                turn = number // n_ranks * WIDTH
                target = panels.own[first:, turn : turn + WIDTH]
                below = seen[first - panel.first :]
                subtract_product(target, below, below[: target.shape[1]].conj().T)
    return panels.array()


def _triangle(panel: Local, width: int) -> Local:
    """A panel's columns of the triangle; a negative pivot where it is not positive definite."""
    made = np.zeros(panel.shape, panel.dtype)
    try:
        made[:width] = matrices.cholesky(panel[:width])
    except LinAlgError:
        # All ranks see it in what they are shown next.
        made[...] = -1
        return made
    below = matrices.solve_triangular(made[:width], panel[width:].conj().T)
    made[width:] = below.conj().T
    return made
