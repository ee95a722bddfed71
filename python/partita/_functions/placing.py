"""Where new arrays go: `layout=`, `default_layout`, `PARTITA_DEFAULT_LAYOUT`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from partita._array import held
from partita._array.notation import checked, layout_for
from partita._errors import LayoutError
from partita._partita import Array as NativeArray
from partita._team.spmd import world

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

_chosen: ContextVar[str | None] = ContextVar("partita_default_layout", default=None)


@contextmanager
def default_layout(notation: str | Layout) -> Iterator[None]:
    """Put new arrays where a notation says, for as many of its maps as they have dimensions.

    Of a layout, the notation is taken.

    >>> import partita as pt
    >>> def job(team):
    ...     with pt.default_layout("*, block"):
    ...         return pt.zeros((4, 6)).local.shape
    >>> pt.spmd(job, 2)
    [(4, 3), (4, 3)]
    """
    token = _chosen.set(checked(notation, world().size))
    try:
        yield
    finally:
        _chosen.reset(token)


def placed(array: Array, layout: Layout | str | None) -> Array:
    """A new array where it shall be: as asked for, or as arrays are by default."""
    team: Team = array._rank.team
    wanted = _asked_for(array.shape, layout, team)
    if wanted is None:
        return array
    if team.size > 1 and not wanted.partial and array._put(wanted):
        return array
    return array if team.size == 1 and layout is None else array.redistribute(wanted)


def layout_of_new(shape: Sequence[int], layout: Layout | str | None, team: Team) -> Layout:
    """The layout of an array that is made at once, not recorded."""
    return _asked_for(shape, layout, team) or held.default_layout(shape, team)


def _asked_for(shape: Sequence[int], layout: Layout | str | None, team: Team) -> Layout | None:
    """The layout that a call or a default asks for, if one does."""
    if layout is None:
        usual = _chosen.get() or os.environ.get("PARTITA_DEFAULT_LAYOUT")
        if usual is None or len(shape) == 0:
            return None
        return layout_for(shape, usual, team.size)
    wanted = layout_for(shape, layout, team.size)
    if tuple(wanted.shape) != tuple(shape):
        message = f"a layout of {wanted.shape} for an array of {shape}; use one of its shape"
        raise LayoutError(message, "layout-shape")
    return wanted


def compute(*arrays: Any) -> None:
    """Compute arrays now, together. Collective, also where nothing is pending."""
    for one in arrays:
        # Sparse arrays are no native ones.
        if not hasattr(one, "sync"):
            kind = type(one).__name__
            raise TypeError(f"a {kind} is no array of partita; use compute(a) or compute(a, b)")
    met: list[Team | None] = []
    for array in arrays:
        # The ranks of a team meet once for all that is pending.
        team = array._team if isinstance(array, NativeArray) else None  # type: ignore[attr-defined]
        if team is not None and team in met:
            array._settle()
        else:
            array.sync()
        met.append(team)


__all__ = ["compute", "default_layout"]
