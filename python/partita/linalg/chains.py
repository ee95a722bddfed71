"""Products of several matrices, and powers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

from partita._functions.creation import an_array, eye
from partita._functions.elementwise import fitted_to
from partita._functions.manipulation import broadcast_to
from partita._functions.products import matmul, together
from partita.linalg.elimination import inv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array


def multi_dot(arrays: Sequence[Any], out: Any = None) -> Array:
    """Return the product of several matrices, in the order that takes the fewest operations.

    The first and the last may be vectors. Collective.
    """
    given = together(*arrays)
    if len(given) < 2:
        raise ValueError(f"{len(given)} arrays to multiply; give two at least")
    first, last = given[0].ndim == 1, given[-1].ndim == 1
    if first:
        given[0] = given[0][None, :]
    if last:
        given[-1] = given[-1][:, None]
    for one in given:
        if one.ndim != 2:
            raise LinAlgError(f"an array of {one.ndim} dimensions in a product; use matrices")
    made = _multiplied(given, _cuts([one.shape[0] for one in given] + [given[-1].shape[1]]))
    if first:
        made = made[0]
    if last:
        made = made[..., 0]
    result: Array = fitted_to(made, out)
    return result


def _cuts(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where each range of matrices is multiplied last, for the fewest operations in all."""
    n = len(sizes) - 1
    cost = {(at, at): 0 for at in range(n)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for first in range(n - length):
            last = first + length

            def through(cut: int, first: int = first, last: int = last) -> int:
                ends = sizes[first] * sizes[cut + 1] * sizes[last + 1]
                return cost[first, cut] + cost[cut + 1, last] + ends

            cuts[first, last] = min(range(first, last), key=through)
            cost[first, last] = through(cuts[first, last])
    return cuts


def _multiplied(
    given: list[Array], cuts: dict[tuple[int, int], int], first: int = 0, last: int = -1
) -> Array:
    last = len(given) - 1 if last < 0 else last
    if first == last:
        return given[first]
    cut = cuts[first, last]
    left, right = _multiplied(given, cuts, first, cut), _multiplied(given, cuts, cut + 1, last)
    return matmul(left, right)


def matrix_power(a: Any, n: int) -> Array:
    """Return matrices multiplied by themselves; their inverses if `n` is negative. Collective."""
    array = an_array(a)
    power = operator.index(n)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise LinAlgError(f"a power of an array of shape {array.shape}; use square matrices")
    if power == 0:
        unit = eye(array.shape[-1], dtype=array.dtype, team=array.team)
        return +broadcast_to(unit, array.shape)
    if power < 0:
        array, power = inv(array), -power
    made: Array | None = None
    while power:
        if power & 1:
            made = array if made is None else matmul(made, array)
        power >>= 1
        if power:
            array = matmul(array, array)
    assert made is not None
    return +made
