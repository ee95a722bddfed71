"""Windows that slide over arrays; strides themselves say nothing where an array is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from partita._functions.creation import an_array, axis_of, empty, sizes_of
from partita._functions.manipulation import broadcast_arrays, broadcast_shapes, broadcast_to, stack
from partita._missing import no_attribute

if TYPE_CHECKING:
    from partita._array.array import Array


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """Return all windows of a shape, each in dimensions behind the others.

    The elements are copied, one time for each place in a window: they cannot be written through.

    >>> import partita as pt
    >>> print(pt.lib.stride_tricks.sliding_window_view(pt.arange(4), 3))
    [[0 1 2]
     [1 2 3]]
    """
    made = an_array(x)
    if writeable:
        raise ValueError("windows are copies and cannot be written through; use writeable=False")
    sizes = sizes_of(window_shape)
    given = range(made.ndim) if axis is None else axis if isinstance(axis, tuple | list) else [axis]
    axes = [axis_of(one, made.ndim) for one in given]
    if len(sizes) != len(axes):
        message = f"a window of shape {sizes} along {len(axes)} axes; use one size for each axis"
        raise ValueError(message)
    for size, at in zip(sizes, axes, strict=True):
        made = _with_windows(made, size, at)
    return made


def _with_windows(array: Array, size: int, axis: int) -> Array:
    """The windows along one axis, in a new last dimension."""
    n_windows = array.shape[axis] - size + 1
    if size < 0 or n_windows < 1:
        message = f"a window of {size} along axis {axis} with {array.shape[axis]} entries"
        raise ValueError(f"{message}; use 0 to {array.shape[axis]}")
    before = (slice(None),) * axis
    if size == 0:
        shape = [*array.shape, 0]
        shape[axis] = n_windows
        return empty(shape, array.dtype, team=array.team)
    parts = [array[(*before, slice(at, at + n_windows))] for at in range(size)]
    return stack(parts, axis=-1)


def __getattr__(name: str) -> NoReturn:
    raise no_attribute("partita.lib.stride_tricks", name, __all__)


__all__ = ["broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]
