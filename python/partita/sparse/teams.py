"""Operands that lie on another team: the same ranks, counted in another order.

Nothing moves. A rank has what it had, and its layout names ranks as the other team counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from partita._array.array import Array
from partita._array.enter import adopt
from partita._array.parts import part
from partita._errors import MismatchError
from partita._partita import Layout
from partita.sparse.slices import Slices

if TYPE_CHECKING:
    import numpy as np

    from partita._team.team import Team

T = TypeVar("T")


def on_team(given: T, team: Team) -> T:
    """Return an array or a sparse tensor as one of a team; itself if it is. Collective.

    Teams of other ranks are refused: those that are no members of both would not be asked.
    """
    one: Any = given
    own: Team = one.team
    if own is team:
        return given
    is_one_world = team.native.same_world(own.native)
    if is_one_world and own.ranks == team.ranks:
        return given
    if not is_one_world or sorted(own.ranks) != sorted(team.ranks):
        message = f"an operand on ranks {list(own.ranks)} beside one on ranks {list(team.ranks)}"
        problem = MismatchError(f"{message}; make both on the same team", "operand-team")
        raise team.told(problem)
    places = [team.ranks.index(rank) for rank in own.ranks]
    moved: T = (_array if isinstance(given, Array) else _tensor)(one, team, places)
    return moved


def part_on(array: Array, layout: Layout, team: Team) -> np.ndarray[Any, Any]:
    """Return this rank's part of an array in a layout of a team. Collective."""
    return part(on_team(array, team), layout)


def _array(array: Array, team: Team, places: list[int]) -> Any:
    if array.layout.maps is None or array.layout.partial:
        return adopt(array, team.arrays)
    layout = _renumbered(array.layout, places)
    return Array(list(array._buffers), layout, team, array.dtype, reasons=["another team's"])


def _tensor(tensor: Any, team: Team, places: list[int]) -> Any:
    slices = Slices(_renumbered(tensor.layout, places), tensor._slices.sides)
    found = type(tensor)(tensor._block, slices, team)
    found._number, found._steps = tensor._number, tensor._steps
    return found


def _renumbered(layout: Layout, places: list[int]) -> Layout:
    """A layout whose ranks have other numbers."""
    ranks = [places[rank] for rank in layout.ranks]
    return Layout(layout.shape, list(layout.maps or ()), grid=layout.grid_shape, ranks=ranks)
