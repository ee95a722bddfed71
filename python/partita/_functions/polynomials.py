"""Polynomials by their coefficients, highest power first.

Coefficients are few: they come to every rank, which computes with NumPy's functions. Values at the
elements of an array are `polyval`'s, and polynomials through points `polyfit`'s.

>>> import partita as pt
>>> pt.polymul([1, 2], [1, 3]).tolist()
[1, 5, 6]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.rows import from_here
from partita._array.array import Array
from partita._functions.gathered import few
from partita._functions.poly1d import poly1d
from partita._team.spmd import own_team

if TYPE_CHECKING:
    from partita._team.team import Team


def _known(name: str, *given: Any) -> tuple[Team, list[Any]]:
    """What every rank knows of coefficients, and whose they are."""
    arrays = [one for one in given if isinstance(one, Array)]
    team = arrays[0].team if arrays else own_team(None)
    return team, [few(one, name) if isinstance(one, Array) else one for one in given]


def _result(made: Any, team: Team) -> Any:
    """Coefficients as an array; a polynomial as an object stays one."""
    return poly1d(made) if isinstance(made, np.poly1d) else from_here(np.asarray(made), team)


def roots(p: Any) -> Array:
    """Return where a polynomial is zero."""
    team, (known,) = _known("roots", p)
    return from_here(np.roots(known), team)


def poly(seq_of_zeros: Any) -> Array:
    """Return the polynomial that is zero at some places, or a matrix's own."""
    team, (known,) = _known("poly", seq_of_zeros)
    return from_here(np.asarray(np.poly(known)), team)


def polyadd(a1: Any, a2: Any) -> Any:
    """Return the sum of two polynomials."""
    team, (one, other) = _known("polyadd", a1, a2)
    return _result(np.polyadd(one, other), team)


def polysub(a1: Any, a2: Any) -> Any:
    """Return the difference of two polynomials."""
    team, (one, other) = _known("polysub", a1, a2)
    return _result(np.polysub(one, other), team)


def polymul(a1: Any, a2: Any) -> Any:
    """Return the product of two polynomials."""
    team, (one, other) = _known("polymul", a1, a2)
    return _result(np.polymul(one, other), team)


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Return the quotient of two polynomials, and what is left."""
    team, (one, other) = _known("polydiv", u, v)
    quotient, rest = np.polydiv(one, other)
    return _result(quotient, team), _result(rest, team)


def polyder(p: Any, m: int = 1) -> Any:
    """Return the derivative of a polynomial, `m` times."""
    team, (known,) = _known("polyder", p)
    return _result(np.polyder(known, m), team)


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the integral of a polynomial, `m` times, with these constants."""
    team, (known, constants) = _known("polyint", p, k)
    return _result(np.polyint(known, m, constants), team)


__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "roots"]
