"""Arrays of coordinates and positions: grids, index tuples, ranges of other kinds."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.creation import (
    an_array,
    arange,
    asarray,
    eye,
    linspace,
    ndim,
    ones,
    sizes_of,
)
from partita._functions.inspection import check_device
from partita._functions.manipulation import broadcast_to, concat, expand_dims, moveaxis, reshape
from partita._functions.placing import placed
from partita._functions.searching import nonzero

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from partita._partita import Layout
    from partita._team.team import Team


def _range(span: slice, dtype: Any = None) -> Array:
    """The numbers of a slice; an imaginary step says how many, with the end among them."""
    start = 0 if span.start is None else span.start
    step = 1 if span.step is None else span.step
    if isinstance(step, complex):
        made: Array = linspace(start, span.stop, int(builtins.abs(step)))
        return made
    return arange(start, span.stop, step, dtype=dtype)


class Grid:
    """Coordinates of a grid by slices: `mgrid[0:3, 0:1:5j]`."""

    def __init__(self, *, is_open: bool) -> None:
        self._is_open = is_open

    def __getitem__(self, spans: Any) -> Any:
        """Return the coordinates along each slice."""
        if isinstance(spans, slice):
            return _range(spans)
        vectors = [_range(one) for one in spans]
        kind = np.result_type(*(one.dtype for one in vectors)) if vectors else np.dtype(int)
        vectors = [one.astype(kind, copy=False) for one in vectors]
        opened = _opened(vectors)
        if self._is_open:
            return tuple(opened)
        shape = [len(one) for one in vectors]
        wide = [expand_dims(broadcast_to(one, shape)) for one in opened]
        return concat(wide) if wide else asarray(np.mgrid[()])


def _opened(vectors: list[Array]) -> list[Array]:
    """Vectors, each along a dimension of its own."""
    n_dims = len(vectors)
    return [
        reshape(one, [len(one) if at == dim else 1 for dim in range(n_dims)])
        for at, one in enumerate(vectors)
    ]


mgrid = Grid(is_open=False)
ogrid = Grid(is_open=True)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the indices of a grid along each dimension."""
    shape = sizes_of(dimensions)
    opened = _opened([arange(n, dtype=dtype) for n in shape])
    if sparse:
        return tuple(opened)
    if not shape:
        return asarray(np.indices((), dtype))
    return concat([expand_dims(broadcast_to(one, shape)) for one in opened])


def ix_(*args: Any) -> tuple[Array, ...]:
    """Return indices that take every combination of several vectors of positions."""
    vectors = []
    for given in args:
        one = an_array(given)
        if one.ndim != 1:
            raise ValueError(f"positions of shape {one.shape}; use vectors")
        if one.size == 0 and not isinstance(given, Array | np.ndarray):
            one = one.astype(np.intp)
        vectors.append(nonzero(one)[0] if one.dtype.kind == "b" else one)
    return tuple(_opened(vectors))


class Joined:
    """Arrays, numbers and slices one behind the other: `r_[1:4, 0, a]`, `c_[a, b]`."""

    def __init__(self, axis: int, n_dims: int, at: int) -> None:
        self._axis, self._n_dims, self._at = axis, n_dims, at

    def __getitem__(self, parts: Any) -> Array:
        """Return the parts together; a text such as '0,2' first says along which axis."""
        given = list(parts) if isinstance(parts, tuple) else [parts]
        axis, n_dims, at = self._axis, self._n_dims, self._at
        if given and isinstance(given[0], str):
            words = given.pop(0)
            try:
                numbers = [int(one) for one in words.split(",")]
                axis, n_dims, at = numbers + [axis, n_dims, at][len(numbers) :]
            except ValueError:
                raise ValueError(f"{words!r} names no axis; use '0', '0,2' or '0,2,1'") from None
        shown = [_range(one) if isinstance(one, slice) else one for one in given]
        # Numbers of Python take the type of the others; lists have one of their own.
        bare = (bool, int, float, complex)
        shown = [one if type(one) in bare else an_array(one) for one in shown]
        dtype = np.result_type(*(one.dtype if isinstance(one, Array) else one for one in shown))
        arrays = [_raised(asarray(one, dtype), n_dims, at) for one in shown]
        return concat(arrays, axis=axis)


def _raised(array: Array, n_dims: int, at: int) -> Array:
    """An array with dimensions of size 1 added, until it has so many."""
    missing = max(n_dims, 1) - array.ndim
    if missing <= 0:
        return array
    wide = reshape(array, (1,) * missing + array.shape)
    if at == -1 or array.ndim == 0:
        return wide
    own = range(missing, missing + array.ndim)
    return moveaxis(wide, tuple(own), tuple(range(at, at + array.ndim)))


r_ = Joined(0, 1, -1)
c_ = Joined(-1, 2, 0)


def identity(n: int, dtype: Any = None, **where: Any) -> Array:
    """Return ones on the diagonal of a square, zeros elsewhere."""
    return eye(n, dtype=dtype, **where)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return ones on and below the `k`-th diagonal, zeros above."""
    check_device(device)
    sides = (N, N if M is None else M)
    rows, columns = _opened([arange(n, team=team) for n in sides])
    return placed((columns - rows <= k).astype(dtype), layout)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Return the positions on and below the `k`-th diagonal."""
    return nonzero(tri(n, m, k, bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Return the positions on and above the `k`-th diagonal."""
    return nonzero(~tri(n, m, k - 1, bool))


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Array, ...]:
    """Return the positions that a function such as `triu` keeps of a square matrix."""
    return nonzero(mask_func(ones((n, n), int), k) != 0)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the positions on and below the `k`-th diagonal of a matrix."""
    return tril_indices(*_matrix(arr, k))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the positions on and above the `k`-th diagonal of a matrix."""
    return triu_indices(*_matrix(arr, k))


def _matrix(arr: Any, k: int) -> tuple[int, int, int]:
    array = an_array(arr)
    if array.ndim != 2:
        raise ValueError(f"an array of shape {array.shape}; use two dimensions")
    return array.shape[0], k, array.shape[1]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the positions of the diagonal of a cube."""
    return (arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the positions of an array's diagonal."""
    array = an_array(arr)
    if array.ndim < 2 or len(set(array.shape)) != 1:
        raise ValueError(f"an array of shape {array.shape}; use two or more equal dimensions")
    return diag_indices(array.shape[0], array.ndim)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Return the positions along each dimension of positions in a row."""
    if not isinstance(indices, Array):
        return tuple(
            one if np.ndim(one) == 0 else asarray(one)
            for one in np.unravel_index(indices, shape, order)  # type: ignore[call-overload]
        )
    sizes = sizes_of(shape)
    n_elements = math.prod(sizes)
    if indices.size and bool(((indices < 0) | (indices >= n_elements)).any()):
        raise ValueError(f"positions outside {n_elements} elements of shape {sizes}; use smaller")
    found, rest = [], indices.astype(np.intp, copy=False)
    for size in reversed(sizes) if order == "C" else sizes:
        found.append(rest % max(size, 1))
        rest = rest // max(size, 1)
    return tuple(found[::-1] if order == "C" else found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Return the positions in a row of positions along each dimension."""
    sizes = sizes_of(dims)
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    given = [an_array(one).astype(np.intp, copy=False) for one in multi_index]
    if len(given) != len(sizes):
        raise ValueError(f"positions along {len(given)} dimensions of {len(sizes)}; give as many")
    placed = [inside(*one) for one in zip(given, sizes, modes, strict=True)]
    found: Any = 0
    steps = list(zip(placed, sizes, strict=True))
    for one, size in steps if order == "C" else steps[::-1]:
        found = found * size + one
    return found


def inside(positions: Array, size: int, mode: str) -> Array:
    """Positions of a dimension by one of NumPy's ways: refused outside, wrapped, or clipped."""
    if mode == "wrap":
        return positions % max(size, 1)
    if mode == "clip":
        return elementwise.clip(positions, 0, max(size - 1, 0))
    if mode != "raise":
        raise ValueError(f"mode {mode!r}; use 'raise', 'wrap' or 'clip'")
    if positions.size and bool(((positions < 0) | (positions >= size)).any()):
        raise ValueError(f"a position outside 0 to {size} - 1; use mode='wrap' or 'clip'")
    return positions


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Return numbers evenly apart in their logarithm, from `base**start` to `base**stop`."""
    if ndim(base):
        # One base for each of the rows, which all three have together.
        given = [an_array(one) for one in (start, stop, base)]
        most = max(one.ndim for one in given)
        start, stop, base = (reshape(one, (1,) * (most - one.ndim) + one.shape) for one in given)
        base = expand_dims(base, axis)
    powers = linspace(start, stop, num, endpoint, axis=axis)
    made: Array = elementwise.pow(base, powers)
    return made if dtype is None else made.astype(dtype)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Return numbers of which each is the same multiple of the one before."""
    if np.ndim(start) or np.ndim(stop):
        return _multiples(an_array(start), an_array(stop), num, endpoint, dtype, axis)
    if start == 0 or stop == 0:
        raise ValueError("a row of equal multiples cannot have 0; use other ends")
    kind = np.result_type(np.asarray(start), np.asarray(stop), np.dtype(dtype))
    first, last = kind.type(start), kind.type(stop)
    # From 1 on, with the direction of the first number, as NumPy has it.
    turn = np.sign(first)
    first, last = first / turn, last / turn
    powers = linspace(np.log10(first).item(), np.log10(last).item(), num, endpoint)
    made: Array = elementwise.pow(10.0, powers)
    if num > 0:
        made[0] = first.item()
        if num > 1 and endpoint:
            made[-1] = last.item()
    made = made * turn.item()
    return made.astype(kind if dtype is None else dtype, copy=False)


def _multiples(start: Array, stop: Array, num: int, endpoint: bool, dtype: Any, axis: int) -> Array:
    """`geomspace` between arrays."""
    if bool(statistics.any((start == 0) | (stop == 0))):
        raise ValueError("a row of equal multiples cannot have 0; use other ends")
    kind = np.result_type(start.dtype, stop.dtype, np.dtype(dtype))
    first, last = (one.astype(kind, copy=False) for one in (start, stop))
    turn = elementwise.sign(first)
    powers = [elementwise.log10(one / turn) for one in (first, last)]
    made: Array = elementwise.pow(10.0, linspace(powers[0], powers[1], num, endpoint)) * turn
    if num > 0:
        made[0] = first
        if num > 1 and endpoint:
            made[-1] = last
    made = made.astype(kind if dtype is None else dtype, copy=False)
    return moveaxis(made, 0, axis)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Return the powers of each number of a vector, one power in each column."""
    array = an_array(x)
    if array.ndim != 1:
        raise ValueError(f"an array of shape {array.shape}; use a vector")
    n_columns = len(array) if N is None else N
    made = np.result_type(array.dtype, int)
    powers = arange(n_columns) if increasing else arange(n_columns)[::-1]
    result: Array = elementwise.pow(array.astype(made)[:, None], powers[None, :])
    return result.astype(made, copy=False)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **options: Any
) -> Any:
    """Return what a function makes of the indices of a grid."""
    return function(*indices(shape, dtype=dtype), **options)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Array:
    """Return the numbers that an iterator gives, which all ranks read alike."""
    return asarray(np.fromiter(iter, dtype, count))


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """Return the numbers in a buffer, which all ranks have alike, as a copy."""
    return asarray(np.frombuffer(buffer, dtype, count, offset), copy=True)


__all__ = [
    "c_",
    "diag_indices",
    "diag_indices_from",
    "frombuffer",
    "fromfunction",
    "fromiter",
    "geomspace",
    "identity",
    "indices",
    "ix_",
    "logspace",
    "mask_indices",
    "mgrid",
    "ogrid",
    "r_",
    "ravel_multi_index",
    "tri",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
    "vander",
]
