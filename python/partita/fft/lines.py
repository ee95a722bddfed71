"""One axis of an array after the other, each brought together on the ranks before its turn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import is_whole_along, resized, slabs
from partita._array.held import default_layout
from partita._local import fourier
from partita.fft import row

if TYPE_CHECKING:
    from collections.abc import Sequence

Block = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Step:
    """A transform along one axis; `n` is the number of entries of its longer side."""

    axis: int
    n: int
    how: str = "complex"
    """Or "from real", of which half the entries are kept, or "to real", its inverse."""
    is_inverse: bool = False

    @property
    def n_in(self) -> int:
        """Entries that are transformed: what is there is cut or filled with zeros."""
        return self.n // 2 + 1 if self.how == "to real" else self.n

    @property
    def n_out(self) -> int:
        """Entries that come out."""
        return self.n // 2 + 1 if self.how == "from real" else self.n


def transformed(array: Array, steps: Sequence[Step], factor: float) -> Array:
    """An array after transforms along axes, in memory of its own, times a number. Collective.

    A step from real numbers is the first, one to real numbers the last. The others are done in the
    order that moves least: first those whose axes are whole.
    """
    if steps and array.size == 0:
        return _of_nothing(array, steps)
    waiting, is_own = list(steps), False
    while waiting:
        step = _next(array, waiting)
        waiting.remove(step)
        array = _taken(array, step, [one.axis for one in waiting], is_own=is_own)
        # What a step has made nobody else has seen: the next may work in its memory.
        is_own = True
    if factor != 1:
        buffer = array.local
        with np.errstate(all="ignore"):
            buffer *= factor
    return array


def _of_nothing(array: Array, steps: Sequence[Step]) -> Array:
    """Zeros: what is transformed is filled with nothing else. No part says where they shall lie."""
    shape, dtype = list(array.shape), np.result_type(array.dtype, np.complex64)
    for step in steps:
        shape[step.axis] = step.n_out
    if steps[-1].how == "to real":
        dtype = np.empty(0, dtype).real.dtype
    layout = default_layout(shape, array.team)
    made = np.zeros(layout.local_shape(array.team.rank), dtype)
    return Array([made], layout, array.team, made.dtype)


def _next(array: Array, waiting: Sequence[Step]) -> Step:
    """The step that comes next; of repeated axes, each in its turn."""
    if waiting[0].how == "from real" or len(waiting) == 1:
        return waiting[0]
    free = [step for step in waiting if step.how == "complex"]
    here = [step for step in free if is_whole_along(array.layout, step.axis, array.team.size)]
    return (here or free)[0]


def _taken(array: Array, step: Step, later: Sequence[int], *, is_own: bool) -> Array:
    """An array after one step; the axes of later ones are made whole on the way, if that can be."""
    axis = step.axis
    if array.shape[axis] > step.n_in:
        array, is_own = array[(slice(None),) * axis + (slice(step.n_in),)], False
    if not is_whole_along(array.layout, axis, array.team.size):
        if math.prod(array.shape[:axis] + array.shape[axis + 1 :]) == 1:
            return _row_taken(array, step)
        array, is_own = _brought(array, axis, later), True
    part = array.local
    layout = resized(array.layout, axis, step.n_out)
    if part.size == 0:
        kind = _local(np.zeros((1,), part.dtype), Step(0, 1, step.how, step.is_inverse)).dtype
        made = np.zeros(layout.local_shape(array.team.rank), kind)
    else:
        made = _local(part, step, is_own=is_own)
    return Array([made], layout, array.team, made.dtype)


def _brought(array: Array, axis: int, later: Sequence[int]) -> Array:
    """The same array with an axis whole on every rank, and those of later steps if that can be."""
    shape, n_ranks = array.shape, array.team.size
    together = {axis, *later}
    rest = [dim for dim in range(len(shape)) if dim not in together]
    whole = together if any(shape[dim] >= n_ranks for dim in rest) else {axis}
    return array.redistribute(slabs(shape, sorted(whole), n_ranks))


def _row_taken(array: Array, step: Step) -> Array:
    """A step of an array that is one row, which stays cut among the ranks."""
    line = array.reshape(array.size)
    work = {"complex": row.of_complex, "from real": row.from_real, "to real": row.to_real}
    made = work[step.how](line, step.n, is_inverse=step.is_inverse)
    return made.reshape((*array.shape[: step.axis], step.n_out, *array.shape[step.axis + 1 :]))


def _local(part: Block, step: Step, *, is_own: bool = False) -> Block:
    """The transform of memory that has all entries along the axis; in place of what is our own."""
    axis = step.axis
    if part.shape[axis] < step.n_in:
        wide = np.zeros((*part.shape[:axis], step.n_in, *part.shape[axis + 1 :]), part.dtype)
        wide[(slice(None),) * axis + (slice(part.shape[axis]),)] = part
        part, is_own = wide, True
    if step.how == "from real":
        return fourier.rfft(part, axis)
    numbers = part if part.dtype.kind == "c" else part.astype(np.result_type(part, np.complex64))
    is_own = is_own or numbers is not part
    if step.how == "to real":
        return fourier.irfft(numbers, step.n, axis)
    return fourier.fft(numbers, axis, inverse=step.is_inverse, out=numbers if is_own else None)
