"""Gaussian elimination with row exchanges: solutions, inverses, determinants."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from partita._array.parts import array_of, spread
from partita._functions.creation import eye, full
from partita._functions.serving import served_as
from partita._local import matrices
from partita.linalg.given import pair, real_type, square
from partita.linalg.panels import Panels, columns_of, in_rows, subtract_product
from partita.linalg.stacks import is_few, is_local, of_stacks, one_by_one

if TYPE_CHECKING:
    from partita._array.array import Array

Local = np.ndarray[Any, Any]


class SlogdetResult(NamedTuple):
    """Signs and logarithms of the sizes of determinants."""

    sign: Array
    logabsdet: Array


@served_as("linalg.solve")
def solve(a: Any, b: Any) -> Array:
    """Return the solutions of `a @ x = b`; one vector is a single right side. Collective.

    A matrix that is spread is eliminated in panels of columns, with exchanges of rows.
    """
    matrix, right = pair(a, b)
    matrix = square(matrix)
    is_vector = right.ndim == 1
    if right.ndim == 0 or right.shape[0 if is_vector else -2] != matrix.shape[-1]:
        message = f"right sides of shape {right.shape} for matrices of shape {matrix.shape}"
        raise ValueError(f"{message}; use as many rows as the matrices have")
    made = _solved(matrix, right[:, None] if is_vector else right)
    return made[..., 0] if is_vector else made


def _solved(a: Array, b: Array) -> Array:
    if is_few(a):
        made: Array = one_by_one(_solved, a, b)
        return made
    if is_local(a) or b.ndim > 2:
        return of_stacks(lambda x, y: (matrices.solve(x, y),), a, b)[0]
    panels = Panels(a)
    own, layout = columns_of(b)
    for _ in eliminated(panels, own, refuse_singular=True):
        pass
    _substitute(panels, own)
    return in_rows(array_of(own, layout, a.team))


def solve_upper(a: Array, b: Array) -> Array:
    """Return the solutions for an upper triangle that is spread. Collective.

    A pivot of zero makes infinities of them.
    """
    panels = Panels(a)
    own, layout = columns_of(b)
    _substitute(panels, own)
    return in_rows(array_of(own, layout, a.team))


def _substitute(panels: Panels, own: Local) -> None:
    """Solve the upper triangle, from the last panel to the first, for columns of one's own."""
    for panel in reversed(list(panels)):
        mine = panels.own[: panel.last, panel.columns] if panels.is_mine(panel) else None
        upper = panels.shown(panel, mine, (panel.last, panel.last - panel.first))
        if own.size:
            rows = slice(panel.first, panel.last)
            own[rows] = matrices.solve_triangular(upper[rows], own[rows], lower=False)
            subtract_product(own[: panel.first], upper[: panel.first], own[rows])


def eliminated(panels: Panels, right: Local, *, refuse_singular: bool) -> Any:
    """Eliminate panel by panel, right sides with it; yield pivots and the order of the rows.

    Later rows and columns alone change, since nobody needs the lower triangle again.
    """
    n = panels.shape[0]
    for panel in panels:
        width = panel.last - panel.first
        packed = order = None
        if panels.is_mine(panel):
            packed, order = matrices.lu(panels.own[panel.first :, panel.columns])
            panels.own[panel.first :, panel.columns] = packed
            # The order goes with the numbers: a place is exact in every type of a matrix.
            places = np.asarray(order, panels.dtype)[:, None]
            packed = np.concatenate([packed, places], axis=1)
        seen = panels.shown(panel, packed, (n - panel.first, width + 1))
        packed, order = seen[:, :width], seen[:, width].real.astype(np.int64)
        pivots = np.diagonal(packed)
        if refuse_singular and not np.all(pivots):
            at = panel.first + int(np.argmin(pivots != 0))
            raise LinAlgError(f"the matrix is singular: pivot {at} is zero")
        for own in (panels.own[:, panel.behind], right):
            _eliminate(own[panel.first :], packed, order, width)
        yield pivots, order


def _eliminate(own: Local, packed: Local, order: Local, width: int) -> None:
    """Exchange rows of other columns, and take from them what a panel takes."""
    if own.shape[1] == 0:
        return
    moved = np.flatnonzero(order != np.arange(len(order)))
    own[moved] = own[order[moved]]
    own[:width] = matrices.solve_triangular(packed[:width], own[:width], unit=True)
    subtract_product(own[width:], packed[width:], own[:width])


@served_as("linalg.inv")
def inv(a: Any) -> Array:
    """Return the inverses. Collective."""
    array = square(a)
    array.team.say("linalg.inv")
    if is_local(array) and not is_few(array):
        return of_stacks(lambda one: (matrices.inv(one),), array)[0]
    unit = eye(array.shape[-1], dtype=array.dtype, team=array.team)
    return _solved(array, unit)


def inverses(array: Array) -> Array:
    """The inverses; of singular matrices, what is no number. Collective."""
    try:
        return inv(array)
    except LinAlgError:
        # All ranks have it alike.
        if array.ndim == 2:
            return full(array.shape, np.nan, array.dtype, team=array.team)
    if is_few(array):
        made: Array = one_by_one(inverses, array)
        return made
    return of_stacks(lambda one: (_inverses_here(one),), array)[0]


def _inverses_here(stack: Local) -> Local:
    made = np.full(stack.shape, np.nan, stack.dtype)
    for at in np.ndindex(stack.shape[:-2]):
        with contextlib.suppress(LinAlgError):
            made[at] = matrices.inv(stack[at])
    return made


def slogdet(a: Any) -> SlogdetResult:
    """Return signs and logarithms of the sizes of determinants. Collective."""
    array = square(a)
    array.team.say("linalg.slogdet")
    if is_few(array):
        made: SlogdetResult = one_by_one(slogdet, array)
        return made
    if is_local(array):
        return SlogdetResult(*of_stacks(lambda one: matrices.slogdet(one), array))
    sign, pivots = _sign_and_pivots(array)
    kind = real_type(array.dtype)
    sizes = abs(pivots)
    if np.any(sizes == 0):
        found = np.zeros((), array.dtype), np.full((), -np.inf, kind)
    else:
        found = np.asarray(sign * np.prod(pivots / sizes)), np.asarray(np.log(sizes).sum())
    types = array.dtype, kind
    both = [spread(np.asarray(one, to), array.team) for one, to in zip(found, types, strict=True)]
    return SlogdetResult(*both)


@served_as("linalg.det")
def det(a: Any) -> Array:
    """Return the determinants. Collective."""
    array = square(a)
    array.team.say("linalg.det")
    if is_few(array):
        made: Array = one_by_one(det, array)
        return made
    if is_local(array):
        return of_stacks(lambda one: (_det(one),), array)[0]
    sign, pivots = _sign_and_pivots(array)
    with np.errstate(over="ignore", under="ignore"):
        return spread(np.asarray(sign * _product(pivots), array.dtype), array.team)


def _product(pivots: Local) -> Any:
    """The product, of fractions and of powers of two apart: parts of it may leave the range."""
    wide = pivots.astype(np.result_type(pivots, np.float64))
    parts = wide.view(np.float64).reshape(len(wide), -1)
    powers = np.frexp(abs(parts).max(axis=1))[1]
    np.ldexp(parts, -powers[:, None], out=parts)
    total, power = wide.dtype.type(1), int(powers.sum())
    # So many fractions stay in range, and are brought back to it.
    for at in range(0, len(wide), 256):
        made = np.asarray(total * np.prod(wide[at : at + 256])).reshape(1)
        again = made.view(np.float64)
        further = int(np.frexp(abs(again).max())[1])
        np.ldexp(again, -further, out=again)
        total, power = made[0], power + further
    again = np.asarray(total).reshape(1)
    # A power beyond these is beyond the range of every type, and must not wrap round.
    np.ldexp(again.view(np.float64), max(-4000, min(power, 4000)), out=again.view(np.float64))
    return again[0]


def _det(local: Local) -> Local:
    sign, size = matrices.slogdet(local)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(sign * np.exp(size), local.dtype)


def _sign_and_pivots(array: Array) -> tuple[int, Local]:
    """The sign of all exchanges of rows, and the pivots of the matrix."""
    sign, pivots = 1, [np.empty(0, array.dtype)]
    nothing = np.empty((array.shape[0], 0), array.dtype)
    for found, order in eliminated(Panels(array), nothing, refuse_singular=False):
        sign *= _sign(order)
        pivots.append(found)
    return sign, np.concatenate(pivots)


def _sign(order: Local) -> int:
    """Whether a permutation is an even number of exchanges, as 1 or -1."""
    left = {at: int(to) for at, to in enumerate(order) if at != to}
    sign = 1
    while left:
        at, to = left.popitem()
        while to != at:
            sign, to = -sign, left.pop(to)
    return sign
