"""Matrices that are certainly of full rank: known, and inverted, without singular values.

The product of the norms of a matrix and of its generalised inverse bounds how far its singular
values are apart. Where that bound says that all of them are above a tolerance, the inverse by
elimination, or by an orthogonal factorisation, is the one that singular values would give, and it
is made in panels, with no rank holding the matrix.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError

from partita.linalg.elimination import inv, solve_upper
from partita.linalg.orthogonal import is_tall, is_wide
from partita.linalg.reflections import factorised
from partita.linalg.stacks import is_local
from partita.linalg.triangles import adjoint

if TYPE_CHECKING:
    from partita._array.array import Array

# Nearer than this to a tolerance, rounding of the norms might decide.
_MARGIN = 1 / 64


def is_in_panels(array: Array) -> bool:
    """Whether a matrix is spread, and neither tall nor wide: what is done to it goes by panels."""
    return not (is_local(array) or is_tall(array) or is_wide(array))


def inverse_above(array: Array, relative: float, absolute: float = 0.0) -> Array | None:
    """The generalised inverse, if all singular values are above a bound. Collective.

    They have to be above `absolute`, and `relative` times the largest; None if that is not certain.
    """
    if array.shape[0] < array.shape[1]:
        found = inverse_above(adjoint(array), relative, absolute)
        return None if found is None else adjoint(found)
    bound = max(relative * _size(array), absolute)
    try:
        made = inv(array) if array.shape[0] == array.shape[1] else _by_reflections(array)
    except LinAlgError:
        return None
    return made if bound * _size(made) < _MARGIN else None


def _by_reflections(array: Array) -> Array:
    q, r = factorised(array, array.shape[1])
    assert q is not None
    return solve_upper(r, adjoint(q))


def _size(array: Array) -> float:
    """The root of the sum of all squared sizes, which no single one makes overflow."""
    sizes = abs(array)
    largest = float(sizes._reduce("max"))
    if not 0 < largest < math.inf:
        return largest
    scaled = sizes / largest
    return largest * math.sqrt(float((scaled * scaled)._reduce("sum")))


__all__ = ["inverse_above", "is_in_panels"]
