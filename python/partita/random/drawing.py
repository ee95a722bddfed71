"""Arrays of random numbers, of which each rank fills its part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import Box, box_of, is_one_box_each
from partita._array.held import default_layout, is_everywhere
from partita._array.limits import hold, refuse_too_much
from partita._array.runs import run_length, runs
from partita._functions.creation import sizes_of
from partita._functions.elementwise import fitted_to
from partita._functions.manipulation import broadcast_to
from partita._functions.placing import layout_of_new
from partita._functions.statistics import all as all_of
from partita._local import randomness
from partita._team.spmd import own_team
from partita.random.seeds import Seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Of a box with shorter stretches, what lies between them is drawn too and left out.
_SHORT = 4096
# Unless that is so many times as much.
_WIDE = 64
# Elements of lines that are drawn at a time.
_LINES = 1 << 16
_REAL = (np.dtype(np.float64), np.dtype(np.float32))


class Drawing:
    """What all distributions use: state, team, and how an array is filled."""

    def __init__(self, seeds: Any, team: Team | None = None) -> None:
        self._seeds = Seeds.of(seeds, own_team(team))
        self._given_team = team

    def _team(self, team: Team | None) -> Team:
        return own_team(self._given_team if team is None else team)

    def _standard(
        self, kind: str, shape: Sequence[int] | None, where: dict[str, Any], *numbers: float
    ) -> Any:
        """Numbers of a distribution in its standard form: an array, or one if there is no shape."""
        stream, first = self._seeds.take(kind, 1 if shape is None else math.prod(shape))

        def fill(at: int, row: Local) -> None:
            randomness.fill(stream, first + at, row, kind, *numbers)

        return self._filled(shape, np.float64, fill, where, kind)

    def _filled(
        self,
        shape: Sequence[int] | None,
        dtype: Any,
        fill: Callable[[int, Local], None],
        where: dict[str, Any],
        kind: str,
    ) -> Any:
        """An array that `fill(position, row)` fills; one number, the same on all ranks, alone."""
        if shape is None:
            one = np.empty(1, dtype)
            fill(0, one)
            return one[0]

        def fill_own(local: Local, layout: Layout, box: Box) -> None:
            if local.size:
                _fill_box(local, shape, *box, fill)

        return self._made(shape, dtype, where, fill_own, kind)

    def _by_element(
        self,
        kind: str,
        shape: Sequence[int],
        numbers: Sequence[tuple[Any, Any]],
        where: dict[str, Any],
        fill: Callable[..., None],
        dtype: Any = np.float64,
    ) -> Array:
        """Numbers whose parameters, each with its type, differ from element to element."""
        stream, first = self._seeds.take(kind, math.prod(shape))

        def fill_own(local: Local, layout: Layout, box: Box) -> None:
            own = [
                _own_part(one, shape, layout, box).astype(of, copy=False).reshape(-1)
                for one, of in numbers
            ]
            row, done = local.reshape(-1), 0
            for at, length in runs(shape, *box):
                part = slice(done, done + length)
                fill(stream, first + at, row[part], kind, *(one[part] for one in own))
                done += length

        return self._made(shape, dtype, where, fill_own, kind)

    def _made(
        self,
        shape: Sequence[int],
        dtype: Any,
        where: dict[str, Any],
        fill: Callable[[Local, Layout, Box], None],
        kind: str,
    ) -> Array:
        """An array where it shall be, of which `fill` fills a rank's box. Collective."""
        if unknown := sorted(set(where) - {"layout", "team"}):
            raise TypeError(f"no argument {unknown[0]!r} here; those about places are layout, team")
        team = self._team(where.get("team"))
        wanted = layout_of_new(shape, where.get("layout"), team)
        # What is no box for each rank is moved there; where it is made, each has one.
        is_simple = is_one_box_each(wanted, team.size)
        layout = wanted if is_simple else default_layout(shape, team)
        if not is_everywhere(layout, team.size):
            team.say(f"random numbers: {kind}")
        box = box_of(layout, team.rank)
        n_bytes = math.prod(box[1]) * np.dtype(dtype).itemsize
        refuse_too_much(team, n_bytes, "an array of random numbers")
        local = team.empty(box[1], dtype)
        hold(team, local)
        fill(local, layout, box)
        made = Array([local], layout, team, local.dtype)
        return made if is_simple else made.redistribute(wanted)


def _fill_box(
    local: Local,
    shape: Sequence[int],
    start: Sequence[int],
    sizes: Sequence[int],
    fill: Callable[[int, Local], None],
) -> None:
    """Fill a box of an array, stretch by stretch."""
    length = run_length(shape, sizes)
    cut = max((dim for dim in range(len(shape)) if sizes[dim] != shape[dim]), default=0)
    width = math.prod(shape[cut:])
    if length == local.size or length >= _SHORT or width > _WIDE * length:
        row, done = local.reshape(-1), 0
        for first, n in runs(shape, start, sizes):
            fill(first, row[done : done + n])
            done += n
        return
    # Short stretches of lines that lie together: the lines are drawn whole, some at a time.
    before = start[cut] * math.prod(shape[cut + 1 :])
    lines, done = local.reshape(-1, length), 0
    step = max(_LINES // width, 1)
    for first, n_lines in runs(shape[:cut], start[:cut], sizes[:cut]):
        for at in range(0, n_lines, step):
            n = min(step, n_lines - at)
            whole = np.empty((n, width), local.dtype)
            fill((first + at) * width, whole.reshape(-1))
            lines[done : done + n] = whole[:, before : before + length]
            done += n


def _own_part(given: Any, shape: Sequence[int], layout: Layout, box: Any) -> Local:
    """This rank's part of a parameter that broadcasts to a shape."""
    if isinstance(given, Array):
        return np.ascontiguousarray(broadcast_to(given, shape).redistribute(layout).local)
    cut = tuple(slice(at, at + size) for at, size in zip(*box, strict=True))
    return np.ascontiguousarray(np.broadcast_to(np.asarray(given), shape)[cut])


def is_number(given: Any) -> bool:
    """Whether a parameter is one number for all elements."""
    return not isinstance(given, Array) and np.ndim(given) == 0


def shape_of(size: Any, *parameters: Any, out: Any = None) -> tuple[int, ...] | None:
    """The shape of a result: what is asked for, or that of the parameters; none for a number."""
    own = [one.shape if isinstance(one, Array) else np.shape(one) for one in parameters]
    together = np.broadcast_shapes(*own)
    if size is None and out is not None:
        return tuple(out.shape)
    if size is None:
        return together if any(not is_number(one) for one in parameters) else None
    shape = sizes_of(size)
    if any(n < 0 for n in shape):
        raise ValueError(f"size {shape} has a negative number; use numbers from 0 on")
    if np.broadcast_shapes(shape, together) != shape:
        raise ValueError(f"size {shape} for parameters of shape {together}; use one that has them")
    if out is not None and tuple(out.shape) != shape:
        raise ValueError(f"size {shape} for an array of {tuple(out.shape)}; use its shape")
    return shape


def checked(name: str, is_right: Any, wanted: str) -> None:
    """Refuse a parameter that is out of range anywhere, on every rank."""
    if not holds(is_right):
        raise ValueError(f"{name} is out of range; use {wanted}")


def holds(is_right: Any) -> bool:
    """Whether something is so everywhere. Collective, if it is an array."""
    return bool(all_of(is_right) if isinstance(is_right, Array) else np.all(is_right))


def in_type(made: Any, dtype: Any, out: Any = None) -> Any:
    """Real numbers in the type that is asked for, in the array that is given."""
    kind = np.dtype(dtype)
    if kind not in _REAL:
        raise TypeError(f"real numbers of {kind}; use float64 or float32")
    if not isinstance(made, Array):
        return float(made) if kind == np.float64 else kind.type(made)
    made = made if made.dtype == kind else made._cast(kind)
    return made if out is None else fitted_to(made, out)
