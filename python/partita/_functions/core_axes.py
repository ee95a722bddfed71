"""Which axes of operands and result a product is of, as `axes=` of NumPy's products says.

A product of stacks is of the last axes. Others are brought to the end, and those of the result to
where they are wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.exceptions import AxisError

from partita._functions.creation import axes_of
from partita._functions.manipulation import moveaxis

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Array


def brought_last(
    operands: Sequence[Array], n_axes: Sequence[int], axes: Any
) -> tuple[list[Array], Callable[[Array], Array]]:
    """Operands whose last axes the product is of, and what turns its result.

    `n_axes` says of how many axes of each operand and of the result it is.
    """
    if axes is None:
        return list(operands), lambda made: made
    if not isinstance(axes, list):
        raise TypeError(f"axes={axes!r}; use a list with axes for each operand and the result")
    entries = [one if isinstance(one, tuple) else (one,) for one in axes]
    if len(entries) == len(operands) and n_axes[-1] == 0:
        entries.append(())
    if len(entries) != len(n_axes):
        message = f"axes={axes!r} has {len(entries)} entries"
        raise ValueError(f"{message}; use {len(n_axes)}, for each operand and the result")
    for entry, n in zip(entries, n_axes, strict=True):
        if len(entry) != n:
            raise AxisError(f"axes {entry} where the product is of {n}; name {n}")
    *given, result = entries
    moved = [_from(one, entry) for one, entry in zip(operands, given, strict=True)]
    return moved, lambda made: _to(made, result)


def _from(array: Array, axes: tuple[Any, ...]) -> Array:
    return moveaxis(array, axes_of(axes, array.ndim), _last(axes)) if axes else array


def _to(array: Array, axes: tuple[Any, ...]) -> Array:
    return moveaxis(array, _last(axes), axes_of(axes, array.ndim)) if axes else array


def _last(axes: tuple[Any, ...]) -> list[int]:
    return list(range(-len(axes), 0))
