"""Elements taken and set by positions, masks and choices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.parts import found_in_order
from partita._functions.creation import an_array, arange, axis_of, full, is_axis_of_number
from partita._functions.elementwise import beside, fitted_to, reduced_to, weak
from partita._functions.grids import inside
from partita._functions.joining import resize
from partita._functions.likes import zeros_like
from partita._functions.manipulation import broadcast_to, ravel, reshape, stack
from partita._functions.searching import nonzero, where
from partita._functions.types import result_type

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_write(a: Any) -> Array:
    """An array that a function may write to; others would lose what is written."""
    if isinstance(a, Array):
        return a
    raise TypeError(f"{type(a).__name__} is no array of partita; use asarray first, or numpy")


def set_in_a_row(a: Array, index: Any, values: Any) -> None:
    """Set elements by positions in a row, whether or not the array is one in memory."""
    row = reshape(a, -1)
    row[index] = values
    if a._reshape([a.size], False) is None:
        a[...] = reshape(row, a.shape)


def _values(given: Any, anchor: Array) -> Array:
    """Values to be set in an array; numbers of Python and lists of them take its type."""
    if isinstance(given, Array | np.ndarray | np.generic):
        return beside(given, anchor)
    return beside(np.asarray(given, anchor.dtype), anchor)


def _positions(indices: Any, anchor: Array) -> Array:
    """Positions as an array on the ranks of another."""
    given = beside(indices, anchor)
    if given.size == 0 and not isinstance(indices, Array | np.ndarray):
        return given.astype(np.intp)
    if given.dtype.kind not in "biu":
        raise TypeError(f"positions of {given.dtype}; use integers")
    return given.astype(np.intp, copy=False)


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    """Return the entries at some positions along an axis; of all elements without one."""
    array = an_array(a)
    if axis is None or is_axis_of_number(axis, array.ndim):
        array, axis = ravel(array), 0
    at = axis_of(axis, array.ndim)
    places = _positions(indices, array)
    if mode != "raise":
        places = inside(places, array.shape[at], mode)
    before = (slice(None),) * at
    if places.ndim:
        return reduced_to(found_in_order(array[(*before, places)]), out)
    # One entry alone would be a view.
    return reduced_to(+array[(*before, operator.index(places))], out)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set elements at positions in a row, values again from the first if they do not suffice."""
    array = to_write(a)
    if getattr(ind, "dtype", None) == np.uint64:
        raise TypeError("positions of uint64, which may be too large; use int64")
    places = ravel(_positions(ind, array))
    values = ravel(_values(v, array))
    if array.size == 0 and places.size:
        raise IndexError("an array without elements has no positions; give none")
    if places.size == 0 or values.size == 0:
        return
    if mode != "raise":
        places = inside(places, array.size, mode)
    values = values if values.size == 1 else resize(values, places.size)
    set_in_a_row(array, places, values.astype(array.dtype, copy=False))


def _beside_each(arr: Array, indices: Array, axis: int) -> tuple[Any, ...]:
    """Positions along one axis, with the element's own along the others."""
    if indices.ndim != arr.ndim:
        message = f"positions of {indices.ndim} dimensions for {arr.ndim}; use as many"
        raise ValueError(message)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"positions of {indices.dtype}; use integers")
    index: list[Any] = []
    for dim, size in enumerate(arr.shape):
        line = [1] * arr.ndim
        line[dim] = size
        index.append(indices if dim == axis else reshape(arange(size, team=arr.team), line))
    return tuple(index)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Array:
    """Return for each place the element that its own position along an axis names."""
    array = an_array(arr)
    places = beside(indices, array)
    if axis is None:
        array, places, axis = ravel(array), ravel(places), 0
    return array[_beside_each(array, places, axis_of(axis, array.ndim))]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Set for each place the element that its own position along an axis names."""
    array = to_write(arr)
    places = beside(indices, array)
    if axis is None:
        set_in_a_row(array, ravel(places), values)
    else:
        array[_beside_each(array, places, axis_of(axis, array.ndim))] = values


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write the elements of one array to another, where a mask is true."""
    array = to_write(dst)
    given = src if isinstance(src, bool | int | float | complex) else beside(src, array)
    kind = given.dtype if isinstance(given, Array) else np.min_scalar_type(given)
    if not np.can_cast(kind, array.dtype, casting):
        raise TypeError(f"elements of {kind} for an array of {array.dtype}; use another casting=")
    if where is True:
        array[...] = given
    else:
        # In the type of the array: no other may hold the numbers of both.
        own = given.astype(array.dtype, copy=False) if isinstance(given, Array) else given
        array[...] = _where(beside(where, array), own, array)


def _where(mask: Array, x1: Any, x2: Any) -> Array:
    made: Array = where(mask.astype(bool, copy=False), x1, x2)
    return made


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return for each place the element of the array whose number stands there."""
    numbers = an_array(a)
    choices = list(choices)
    if not choices:
        raise ValueError("no arrays to choose from; give one at least")
    # Numbers of Python take the type of the others, which has to hold them.
    dtype = np.result_type(*map(weak, choices))
    given = [
        full((), one, dtype, team=numbers.team) if np.isscalar(weak(one)) else beside(one, numbers)
        for one in choices
    ]
    numbers = inside(_positions(numbers, numbers), len(given), mode)
    made = given[-1].astype(dtype)
    for number in range(len(given) - 2, -1, -1):
        made = _where(numbers == number, given[number].astype(dtype, copy=False), made)
    shape = np.broadcast_shapes(numbers.shape, *(one.shape for one in given))
    return fitted_to(made if made.shape == shape else +broadcast_to(made, shape), out)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """Return the entries along an axis for which a condition holds."""
    mask = an_array(condition)
    if mask.ndim != 1:
        raise ValueError(f"a condition of shape {mask.shape}; use a vector")
    return take(a, nonzero(mask)[0], axis, out)


def extract(condition: Any, arr: Any) -> Array:
    """Return the elements for which a condition holds, in a row."""
    made: Array = take(ravel(arr), nonzero(ravel(condition))[0])
    return made


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements where a mask is true to values, one after the other and again."""
    array = to_write(arr)
    places = nonzero(ravel(beside(mask, array)))[0]
    values = ravel(_values(vals, array))
    if places.size == 0:
        return
    if values.size == 0:
        raise ValueError("no values to set; give one at least")
    set_in_a_row(array, places, resize(values, places.size).astype(array.dtype, copy=False))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set the elements where a mask is true to those of values at the same places."""
    array = to_write(a)
    given = _values(values, array)
    if given.size == 0:
        return
    if not np.can_cast(given.dtype, array.dtype, "same_kind"):
        raise TypeError(f"values of {given.dtype} for an array of {array.dtype}; convert them")
    given = given if given.shape == array.shape else resize(given, array.shape)
    array[...] = _where(beside(mask, array), given.astype(array.dtype, copy=False), array)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Return for each place the element of the first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not condlist:
        message = f"{len(condlist)} conditions for {len(choicelist)} choices; give as many, and one"
        raise ValueError(message)
    masks = [an_array(one) for one in condlist]
    if wrong := [one.dtype for one in masks if one.dtype.kind != "b"]:
        raise TypeError(f"conditions of {wrong[0]}; use truth values")
    # Numbers of Python take the type of the others.
    dtype = result_type(*choicelist, default)
    choices = [one if isinstance(one, Array) else np.asarray(one) for one in choicelist]
    shapes = [one.shape for one in [*masks, *choices]]
    made = full(np.broadcast_shapes(*shapes), default, dtype, team=masks[0].team)
    for mask, one in zip(masks[::-1], choices[::-1], strict=True):
        made = _where(mask, beside(one, mask).astype(dtype, copy=False), made)
    return made


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Return what the function of each condition makes of the elements where it holds."""
    array = an_array(x)
    is_list = isinstance(condlist, list | tuple)
    several = is_list and (array.ndim == 0 or (condlist and np.ndim(condlist[0]) > 0))
    masks = [beside(one, array).astype(bool) for one in (condlist if several else [condlist])]
    if len(funclist) == len(masks) + 1:
        masks.append(~_any_of(masks))
    if len(funclist) != len(masks):
        raise ValueError(f"{len(funclist)} functions for {len(masks)} conditions; give as many")
    made = zeros_like(array)
    for mask, function in zip(masks, funclist, strict=True):
        made[mask] = function(array[mask], *args, **kw) if callable(function) else function
    return made


def _any_of(masks: Sequence[Array]) -> Array:
    found = masks[0]
    for one in masks[1:]:
        found = found | one
    return found


def argwhere(a: Any) -> Array:
    """Return where elements are not zero, one row of positions for each."""
    array = an_array(a)
    found = nonzero(reshape(array, 1) if array.ndim == 0 else array)
    return stack(found, axis=1)[:, : array.ndim]


def flatnonzero(a: Any) -> Array:
    """Return the positions in a row where elements are not zero."""
    return nonzero(ravel(a))[0]


__all__ = [
    "argwhere",
    "choose",
    "compress",
    "copyto",
    "extract",
    "flatnonzero",
    "piecewise",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "select",
    "take",
    "take_along_axis",
]
