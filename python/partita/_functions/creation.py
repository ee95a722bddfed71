"""Arrays from nothing, from numbers, from shapes."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.exceptions import AxisError

from partita._array import enter
from partita._array.array import Array
from partita._array.notation import layout_for
from partita._array.parts import in_order
from partita._errors import LayoutError
from partita._functions.inspection import check_device, in_c_order
from partita._functions.placing import placed
from partita._functions.serving import served
from partita._partita import Elementwise, lazy_empty, lazy_full, lazy_index
from partita._protocol.asarray import taken_over
from partita._team.spmd import own_team

if TYPE_CHECKING:
    from partita._partita import Layout, Rank
    from partita._team.team import Team


_floor = Elementwise("floor")
# Positions have 64 bits, one of them the sign.
_MOST_ELEMENTS = 2**63 - 1


def _rank(team: Team | None, device: Any) -> Rank:
    check_device(device)
    return enter.own_rank(team)


def an_array(x: Any, team: Team | None = None) -> Array:
    """An array of what is given; a copy, since its producer may change it before it is computed."""
    if isinstance(x, Array):
        return x
    if _has_arrays(x):
        return _of_arrays(x)
    made = enter.operand(x, enter.own_rank(team))
    return made if isinstance(made, Array) else asarray(x, team=team)


def _has_arrays(given: Any) -> bool:
    """Whether lists hold arrays of ours that have dimensions; of inner lists the first says it."""
    if not isinstance(given, list | tuple) or not given:
        return False
    return any(isinstance(one, Array) and one.ndim for one in given) or _has_arrays(given[0])


def _of_arrays(rows: Any) -> Array:
    """An array of lists that hold arrays."""
    parts = [an_array(one) for one in rows]
    if len({one.shape for one in parts}) > 1:
        shapes = sorted({one.shape for one in parts})
        raise ValueError(f"rows of shapes {shapes} are no array; use one shape")
    dtype = np.result_type(*(one.dtype for one in parts))
    made = empty((len(parts), *parts[0].shape), dtype, team=parts[0].team)
    for at, one in enumerate(parts):
        made[at] = one
    return made


def sizes_of(shape: Any) -> tuple[int, ...]:
    """The numbers of a shape; one alone is a shape of one dimension."""
    return tuple(operator.index(n) for n in (shape if np.iterable(shape) else (shape,)))


def _shape(shape: Any) -> tuple[int, ...]:
    given = sizes_of(shape)
    if any(n < 0 for n in given):
        message = f"shape {given} has a negative size; use sizes from 0 on"
        raise LayoutError(message, "shape-negative")
    if any(n > _MOST_ELEMENTS for n in given):
        message = f"shape {given} has more elements than can be counted; use fewer"
        raise LayoutError(message, "array-too-large")
    return given


def empty(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array whose elements nobody has set."""
    in_c_order(order)
    rank = _rank(team, device)
    return placed(lazy_empty(rank, _shape(shape), dtype or np.float64), layout)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array with the same number everywhere, or with numbers that are repeated to it.

    >>> import partita as pt
    >>> pt.full((2, 2), [1, 2]).tolist()
    [[1, 2], [1, 2]]
    """
    in_c_order(order)
    if has_dims(fill_value):
        values = an_array(fill_value)
        made = empty(shape, dtype or values.dtype, device=device, layout=layout, team=team)
        made[...] = values
        return made
    fill_value, dtype = _number(fill_value, dtype)
    made = lazy_full(_rank(team, device), _shape(shape), fill_value, dtype)
    return placed(made, layout)


def has_dims(value: Any) -> bool:
    """Whether a value to fill an array with is not one number."""
    return bool(value.ndim if isinstance(value, Array) else np.ndim(value))


def _number(value: Any, dtype: Any) -> tuple[Any, Any]:
    """A number of Python, and the type that it is to have, its own if none is given."""
    is_numpys = isinstance(value, np.ndarray | np.generic) and value.ndim == 0
    if is_numpys or isinstance(value, Array):
        return value.item(), dtype or value.dtype
    return value, np.asarray(value).dtype if dtype is None else dtype


def zeros(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array of zeros."""
    return full(shape, 0, dtype or np.float64, order, device=device, layout=layout, team=team)


def ones(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array of ones."""
    return full(shape, 1, dtype or np.float64, order, device=device, layout=layout, team=team)


def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return numbers from `start` on, before `stop`, `step` apart."""
    start, stop, step = _python(start), _python(stop), _python(step)
    if start is None and stop is None:
        raise TypeError("arange without numbers; give at least where it stops")
    if start is None or stop is None:
        start, stop = 0, start if stop is None else stop
    for one in (start, stop, step):
        if isinstance(one, complex | np.complexfloating):
            raise TypeError(f"arange with {one!r}, a complex number; use real ones")
    if step == 0:
        raise ZeroDivisionError("arange with step 0; use another step")
    if dtype is None:
        whole = all(isinstance(n, int | np.integer) for n in (start, stop, step))
        dtype = np.dtype(np.int64 if whole else np.float64)
    dtype = np.dtype(dtype)
    distance = (stop - start) / step
    if not distance < _MOST_ELEMENTS:
        message = f"arange from {start} to {stop} by {step} has {distance} numbers; use fewer"
        raise LayoutError(message, "array-too-large")
    length = max(0, math.ceil(distance))
    if dtype.kind in "iu":
        # As in NumPy, the first two numbers must be ones that the type has.
        np.asarray([int(n) for n in (start, start + step)[:length]], dtype)
    index = lazy_index(_rank(team, device), (length,), 0)
    # Numbers are computed in a type that has them all, then become what is asked for.
    if dtype.kind in "iub" and all(isinstance(n, int | np.integer) for n in (start, step)):
        numbers = index * int(step) + int(start)
    else:
        numbers = index._cast(np.float64) * float(step) + float(start)
    return placed(numbers if numbers.dtype == dtype else numbers._cast(dtype), layout)


def _python(number: Any) -> Any:
    """The number that an array without dimensions is; others as they are."""
    if isinstance(number, str | bytes | np.flexible | np.datetime64 | np.timedelta64):
        raise TypeError(f"{number!r} is no number; use numbers")
    return number.item() if isinstance(number, Array | np.ndarray) else number


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Any:
    """Return `num` numbers from `start` to `stop`, evenly apart; with their distance if asked.

    Between arrays they lie along a new axis.
    """
    if ndim(start) or ndim(stop):
        check_device(device)
        made, step = _between(start, stop, num, endpoint, dtype)
        order = list(range(1, made.ndim))
        order.insert(axis_of(axis, made.ndim), 0)
        made = placed(made._permute(order), layout)
        return (made, step) if retstep else made
    kind = _inexact(start, stop)
    start, stop = _python(start), _python(stop)
    number = _how_many(num)
    dtype = np.dtype(kind if dtype is None else dtype)
    n_steps = number - 1 if endpoint else number
    index = lazy_index(_rank(team, device), (number,), 0)._cast(kind)
    with np.errstate(all="ignore"):
        # In the type of the numbers, as NumPy has it.
        step = _python((kind.type(stop) - kind.type(start)) / n_steps) if n_steps > 0 else 0.0
    if step == 0 and n_steps > 0:
        # A step too small for its type: the distance is divided last.
        numbers = index / n_steps * (stop - start) + start
    else:
        numbers = index * step + start
    if endpoint and number > 1:
        numbers[-1] = stop
    if dtype.kind in "iu":
        numbers = _floor(numbers)
    made = placed(numbers if numbers.dtype == dtype else numbers._cast(dtype), layout)
    return (made, step if n_steps > 0 else math.nan) if retstep else made


def _how_many(num: Any) -> int:
    """How many numbers an array is to have."""
    number = operator.index(num)
    if number < 0:
        raise LayoutError(f"{number} numbers; use 0 or more", "shape-negative")
    if number > _MOST_ELEMENTS:
        raise LayoutError(f"{number} numbers; use fewer", "array-too-large")
    return number


def _inexact(*given: Any) -> np.dtype[Any]:
    """The type of numbers between others; numbers of Python take the type of arrays."""
    is_bare = [type(one) in (bool, int, float, complex) for one in given]
    kinds = [
        one if bare else one.dtype if isinstance(one, Array) else np.asarray(one).dtype
        for one, bare in zip(given, is_bare, strict=True)
    ]
    return np.result_type(*kinds, 1.0)


def _between(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any) -> Any:
    """Numbers from arrays to arrays along a new first axis, and how far they are apart."""
    number, kind = _how_many(num), _inexact(start, stop)
    start, stop = an_array(start), an_array(stop)
    first, last = start.astype(kind, copy=False), stop.astype(kind, copy=False)
    n_steps = number - 1 if endpoint else number
    step = (last - first) / n_steps if n_steps > 0 else (last - first) * math.nan
    places = lazy_index(start._rank, (number,), 0)._cast(kind)
    places = places.reshape((number,) + (1,) * step.ndim)
    made = places * step + first if n_steps > 0 else places * (last - first) + first
    if endpoint and number > 1:
        made[-1] = last
    wanted = np.dtype(kind if dtype is None else dtype)
    if wanted.kind in "iu":
        made = _floor(made)
    return made if made.dtype == wanted else made._cast(wanted), step


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return ones on the `k`-th diagonal, zeros elsewhere."""
    in_c_order(order)
    shape = _shape((N, N if M is None else M))
    rank = _rank(team, device)
    rows, columns = lazy_index(rank, shape, 0), lazy_index(rank, shape, 1)
    return placed((columns - rows == k)._cast(dtype or np.float64), layout)


def meshgrid(
    *arrays: Any,
    indexing: str = "xy",
    sparse: bool = False,
    copy: bool = True,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> tuple[Array, ...]:
    """Return coordinates of a grid, one array for each vector; with size 1 elsewhere if sparse."""
    if indexing not in ("xy", "ij"):
        raise LayoutError(f"indexing {indexing!r}; use 'xy' or 'ij'", "indexing-unknown")
    check_device(device)
    given = [an_array(one, team) for one in arrays]
    vectors = [one if one.ndim == 1 else one.reshape(-1) for one in given]
    ndim = len(vectors)
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = [1, 0]
    shape = [0] * ndim
    for vector, dim in zip(vectors, order, strict=True):
        shape[dim] = vector.shape[0]
    grids = []
    for vector, dim in zip(vectors, order, strict=True):
        wide = vector[tuple(slice(None) if n == dim else None for n in range(ndim))]
        wide = wide if sparse else wide._broadcast(shape)
        made = +wide if copy or layout is not None else wide
        grids.append(made if layout is None else placed(made, layout))
    return tuple(grids)


def asarray(
    obj: Any,
    layout: Any = None,
    team: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    order: str | None = None,
) -> Array:
    """Return an array from any supported object, without a copy if possible.

    Objects with `__partitioned__` or `__distarray__` keep their distribution. Any other object is
    a whole array that every rank has; each rank keeps its part of `layout`, or all of it.
    Collective: all ranks must pass the same kind of object, and get an error if they do not.
    """
    if layout is not None and _is_a_type(layout):
        # As NumPy has it: the type comes second, and the order third.
        layout, dtype = None, layout
        team, order = (None, team) if isinstance(team, str) else (team, order)
    check_device(device)
    in_c_order(order)
    if _has_arrays(obj):
        obj = _of_arrays(obj)
    if isinstance(layout, str):
        layout = layout_for(shape(obj), layout, own_team(team).size)
    if copy is None and layout is None and _is_seen_by_others(obj, team):
        copy = True
    wanted = None if dtype is None else np.dtype(dtype)
    made = wanted if enter.is_of_numbers(wanted) else None
    array = taken_over(obj, layout, team, copy=copy, dtype=made)
    if wanted is None or array.dtype == wanted:
        return array
    if copy is False:
        message = f"elements of {array.dtype} become {wanted}; use copy=None"
        raise ValueError(message)
    return array._cast(dtype)


def _is_a_type(given: Any) -> bool:
    """Whether what is given where a layout may stand is an element type."""
    if isinstance(given, str):
        return given in np.sctypeDict
    return isinstance(given, type | np.dtype)


def _is_seen_by_others(obj: Any, team: Team | None) -> bool:
    """Whether other ranks of this process may have the same memory, and each would write it."""
    if not isinstance(obj, np.ndarray) or not obj.flags.writeable:
        return False
    own = own_team(team)
    return own.size > 1 and own.engine == "threads"


def shape(a: Any) -> tuple[int, ...]:
    """Return the sizes of an array's dimensions."""
    found = getattr(a, "shape", None)
    return np.shape(a) if found is None else tuple(found)


def ndim(a: Any) -> int:
    """Return how many dimensions an array has."""
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """Return how many elements an array has, or how many entries along an axis."""
    sizes = shape(a)
    axes = range(len(sizes)) if axis is None else axes_of(axis, len(sizes))
    return math.prod(sizes[at] for at in axes)


def axis_of(axis: Any, ndim: int) -> int:
    """An axis counted from the front."""
    try:
        at = operator.index(axis)
    except TypeError:
        raise TypeError(f"{axis!r} is no axis; use an integer") from None
    if not -ndim <= at < ndim:
        inside = f"use -{ndim} to {ndim - 1}" if ndim else "give no axis"
        raise AxisError(f"axis {at} of an array of {ndim} dimensions; {inside}")
    return at % ndim


def is_axis_of_number(axis: Any, ndim: int) -> bool:
    """Whether it is the one axis that a single number has, as NumPy sees it in reductions."""
    return ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1)


def refuse_truth(axis: Any) -> None:
    """Refuse a truth value for an axis, as reductions in NumPy do."""
    for one in axis if isinstance(axis, tuple | list) else (axis,):
        if isinstance(one, bool | np.bool):
            raise TypeError(f"{one!r} is no axis; use an integer, several, or None")


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Axes counted from the front, each once."""
    given = axis if isinstance(axis, tuple | list) else (axis,)
    axes = [axis_of(one, ndim) for one in given]
    if len(set(axes)) < len(axes):
        raise ValueError(f"axes {tuple(given)} name one twice; name each once")
    return axes


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    **where: Any,
) -> Array:
    """Return a new array of what is given, as NumPy's function of this name does."""
    in_c_order(order)
    made = asarray(object, dtype=dtype, copy=copy, **where)
    missing = ndmin - made.ndim
    return made.reshape((1,) * missing + made.shape) if missing > 0 else made


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return an array of what another library holds, which every rank has whole; its memory.

    An array of partita stays as it is, with its parts where they are.
    """
    check_device(device)
    if isinstance(x, Array):
        return x.copy() if copy else x
    if not hasattr(type(x), "__dlpack__"):
        kind = type(x).__name__
        raise AttributeError(f"a {kind} has no __dlpack__; use asarray")
    # NumPy 2.0 does not know the option.
    options: Any = {} if copy is None else {"copy": copy}
    return asarray(np.from_dlpack(x, **options), copy=False if copy is False else None)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, **where: Any) -> Array:
    """Return an array from any supported object; there is one kind of array here."""
    in_c_order(order)
    return asarray(a, dtype=dtype, **where)


def ascontiguousarray(a: Any, dtype: Any = None, **where: Any) -> Array:
    """Return an array of one dimension at least, in C order: other shapes of it are views."""
    made = in_order(asarray(a, dtype=dtype, **where))
    return made.reshape(1) if made.ndim == 0 else made


def asfortranarray(a: Any, dtype: Any = None, **where: Any) -> Array:
    """Return an array; which order memory has is not for programs to see."""
    return asarray(a, dtype=dtype, **where)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Array:
    """Return an array, refused on every rank if an element is infinite or no number."""
    made = asanyarray(a, dtype, order)
    if made.dtype.kind in "fc" and not bool((made - made == 0)._reduce("all")):
        raise ValueError("an element is infinite or NaN; leave it out, or use asarray")
    return made


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Array:
    """Return an array of a type; what may be required of its memory, every array has."""
    return asarray(a, dtype=dtype)


@served
def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """Return the same elements in memory of their own."""
    in_c_order(order)
    return a.copy() if isinstance(a, Array) else array(a)


__all__ = [
    "arange",
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "empty",
    "eye",
    "from_dlpack",
    "full",
    "linspace",
    "meshgrid",
    "ndim",
    "ones",
    "require",
    "shape",
    "size",
    "zeros",
]
