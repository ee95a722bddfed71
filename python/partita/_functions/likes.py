"""Arrays like others: of their shape and type, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._functions.creation import _number, _shape, an_array, full, has_dims
from partita._functions.inspection import check_device, in_c_order
from partita._functions.placing import placed

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array like another with the same number everywhere; where that is, unless told.

    Numbers in a row or more are repeated to its shape.
    """
    if has_dims(fill_value):
        made = full_like(a, 0, dtype, order, subok, shape, device=device, layout=layout, team=team)
        made[...] = an_array(fill_value)
        return made
    check_device(device)
    in_c_order(order)
    prototype = an_array(a)
    wanted = prototype.shape if shape is None else _shape(shape)
    value, dtype = _number(fill_value, dtype or prototype.dtype)
    own = prototype.team if team is None else team
    if wanted != prototype.shape or layout is not None or team is not None:
        return full(wanted, value, dtype, layout=layout, team=own)
    found = prototype.layout if prototype._is_held else prototype._asked
    if found is None or found.partial:
        return prototype._filled_like(value, dtype)
    return placed(full(wanted, value, dtype, team=own), found)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array of a shape and type like another's, whose elements nobody has set."""
    return full_like(
        prototype, 0, dtype, order, shape=shape, device=device, layout=layout, team=team
    )


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return zeros of a shape and type like another's."""
    return full_like(a, 0, dtype, order, shape=shape, device=device, layout=layout, team=team)


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return ones of a shape and type like another's."""
    return full_like(a, 1, dtype, order, shape=shape, device=device, layout=layout, team=team)


__all__ = ["empty_like", "full_like", "ones_like", "zeros_like"]
