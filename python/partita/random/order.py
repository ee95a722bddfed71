"""Choices and permutations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import is_whole_along, slabs
from partita._functions.creation import an_array, axis_of
from partita._functions.elementwise import fitted_to
from partita._functions.gathered import few
from partita._functions.manipulation import moveaxis
from partita._local import randomness, sorting
from partita._team.alike import digest
from partita.random.discrete import Discrete
from partita.random.drawing import Local, shape_of

_SUM_TOLERANCE = 1e-8


class Order(Discrete):
    """Choices and permutations."""

    def permutation(self, x: Any, axis: int = 0, **at: Any) -> Array:
        """Return the numbers before `x`, or entries along an axis, in random order."""
        if isinstance(x, int | np.integer):
            return self._order(int(x), int(x), at)
        array = an_array(x)
        along = axis_of(axis, array.ndim)
        order = self._order(array.shape[along], array.shape[along], {"team": array.team})
        return moveaxis(moveaxis(array, along, 0)[order], 0, along)

    def _order(self, n: int, n_first: int, at: dict[str, Any]) -> Array:
        """The first places of a permutation of n positions."""
        if n < 0:
            raise ValueError(f"a permutation of {n} positions; use 0 or more")
        stream = self._seeds.take_permutation()

        def fill(position: int, row: Local) -> None:
            randomness.permutation(stream, n, position, row)

        made: Array = self._filled((n_first,), np.int64, fill, at, "permutation")
        return made

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Bring entries along an axis into random order, in place.

        Lists and arrays of NumPy must be each rank's own.
        """
        if isinstance(x, Array):
            x[...] = self.permutation(x, axis)
            return
        n = np.shape(x)[axis] if isinstance(x, np.ndarray) else len(x)
        order = np.empty(n, np.int64)
        randomness.permutation(self._seeds.take_permutation(), n, 0, order)
        if isinstance(x, np.ndarray):
            x[...] = np.take(x, order, axis)
        else:
            x[:] = [x[position] for position in order]

    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Array:
        """Return an array whose lines along an axis are shuffled, each for itself."""
        array = an_array(x)
        if axis is None:
            flat = self.permutation(array.reshape(array.size))
            made = flat.reshape(array.shape)
        elif array.ndim == 1:
            made = self.permutation(array, axis)
        else:
            made = self._lines_permuted(array, axis_of(axis, array.ndim))
        result: Array = fitted_to(made, out)
        return result

    def _lines_permuted(self, array: Array, axis: int) -> Array:
        """Lines are ordered by random numbers, where they lie whole."""
        team = array.team
        if not is_whole_along(array.layout, axis, team.size):
            array = array.redistribute(slabs(array.shape, [axis], team.size))
        keys = self.random(array.shape, layout=array.layout, team=team)
        lines = np.ascontiguousarray(np.moveaxis(keys.local, axis, -1))
        order = np.moveaxis(sorting.positions(lines), -1, axis) if lines.size else lines
        local = array.local
        own = np.take_along_axis(local, order, axis) if lines.size else local.copy()
        return Array([np.ascontiguousarray(own)], array.layout, team, array.dtype)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        **at: Any,
    ) -> Any:
        """Return entries of an array, or numbers before `a`, chosen at random.

        Chances `p` are needed on every rank: an array of them is gathered, and counted if it has
        more than 10,000. What comes without replacement is always in random order, whatever
        `shuffle` says.
        """
        is_count = not isinstance(a, Array) and np.ndim(a) == 0
        array = None if is_count else an_array(a)
        n = int(a) if array is None else array.shape[axis_of(axis, array.ndim)]
        shape = shape_of(size)
        count = 1 if shape is None else math.prod(shape)
        if n < 1 and count:
            raise ValueError(f"a choice among {n}; use 1 or more")
        if not replace and count > n:
            raise ValueError(f"{count} of {n} without replacement; use at most {n}")
        if array is not None:
            at = {"team": array.team, **at}
        chosen = self._chosen(n, shape, replace, _chances(p, n), at)
        if array is None:
            return chosen
        lines = moveaxis(array, axis, 0)
        if shape is None:
            return lines[int(chosen)].item() if lines.ndim == 1 else lines[int(chosen)]
        made = lines[chosen]
        first = tuple(range(len(shape)))
        along = axis_of(axis, array.ndim)
        return moveaxis(made, first, tuple(along + one for one in first))

    def _chosen(
        self, n: int, shape: Any, replace: bool, p: Local | None, at: dict[str, Any]
    ) -> Any:
        """Which positions are chosen: an array, or one number."""
        if n == 0:
            # No position is asked for: there would be none.
            return self.integers(1, size=shape, **at)
        if p is None and replace:
            return self.integers(n, size=shape, **at)
        if p is not None and replace:
            return self._weighted(shape, p, at)
        count = 1 if shape is None else math.prod(shape)
        order = self._order(n, count, at) if p is None else self._lottery(p, count, at)
        return int(order[0]) if shape is None else order.reshape(shape)

    def _weighted(self, shape: Any, p: Local, at: dict[str, Any]) -> Any:
        """Positions with chances: where uniform numbers lie among the sums of them."""
        sums = p.cumsum()
        sums /= sums[-1]
        stream, first = self._seeds.take("uniform", 1 if shape is None else math.prod(shape))

        def fill(position: int, row: Local) -> None:
            numbers = np.empty(len(row))
            randomness.fill(stream, first + position, numbers, "uniform")
            row[...] = sorting.search(sums, numbers, right=True)

        made = self._filled(shape, np.int64, fill, at, f"choice {digest(p)}")
        return int(made) if shape is None else made

    def _lottery(self, p: Local, count: int, at: dict[str, Any]) -> Array:
        """Different positions with chances: those whose waiting times are the shortest."""
        if count > np.count_nonzero(p):
            raise ValueError(f"{count} entries where fewer have a chance; use fewer")
        stream, first = self._seeds.take("exponential", len(p))
        times = np.empty(len(p))
        randomness.fill(stream, first, times, "exponential")
        with np.errstate(divide="ignore"):
            times /= p
        order = sorting.positions(times)

        def fill(position: int, row: Local) -> None:
            row[...] = order[position : position + len(row)]

        made: Array = self._filled((count,), np.int64, fill, at, f"lottery {digest(p)}")
        return made


def _chances(p: Any, n: int) -> Local | None:
    if p is None:
        return None
    found = np.asarray(few(p, "choice") if isinstance(p, Array) else p, np.float64)
    if found.shape != (n,):
        raise ValueError(f"chances of shape {found.shape} for {n} entries; give one for each")
    if not (found >= 0).all() or abs(found.sum() - 1) > _SUM_TOLERANCE:
        raise ValueError(f"chances whose sum is {found.sum()}; use numbers from 0 on of sum 1")
    return found
