"""Halo exchange, and what kernels need: halos of any width, corners included.

>>> import numpy as np, partita as pt
>>> from partita.distdl import Partition
>>> def job(team):
...     halo = HaloExchange(Partition(team), [1])
...     x = np.full(4 - (team.rank in (0, 2)), 10.0 * team.rank)  # two own, and the halo
...     return halo(x).tolist()
>>> pt.spmd(job, ranks=3)
[[0.0, 0.0, 10.0], [0.0, 10.0, 10.0, 20.0], [10.0, 20.0, 20.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita._args import integers
from partita._errors import LayoutError
from partita._memory.bfloat import as_bits
from partita._partita import Plan, plan
from partita.distdl import layouts
from partita.distdl.agree import (
    Agreement,
    Structure,
    Terms,
    any_flag,
    block_sizes,
    brief,
    common_dtype,
    described,
    in_world_order,
    places,
    structure,
)
from partita.distdl.halo_back import HaloMovement, HaloReturn, check_shape
from partita.distdl.movement import Movement
from partita.distdl.partition import Partition, a_partition
from partita.distdl.primitive import Primitive
from partita.distdl.windows import Need, Range, Window, ranges_of, stack_extents, stack_needs

Local = np.ndarray[Any, Any]


class _OnGrid(Primitive):
    """A movement between the workers of one grid, which may be any ranks in any order."""

    def _begin(self, P_x: Partition, settings: str) -> None:
        if P_x.team is None or not P_x.active:
            super().__init__(None)
            return
        team = in_world_order(P_x.team)
        terms = Terms(type(self).__name__, brief(f"{settings} on {described(P_x)}"))
        super().__init__(team, Agreement(P_x.team, terms))
        self._places = places(team, P_x.ranks)


class HaloExchange(_OnGrid):
    """Fill the halo of each worker's array with the owners' elements.

    `halo` has one entry per dimension: a width, a pair (left, right), or a list of pairs, one per
    coordinate of the grid. The arrays include their halos; there is no halo beyond the ends of a
    dimension. If a halo would reach past an end from further inside, give the `shape` of the whole
    array (divided evenly) or its `sizes` (per dimension and coordinate).
    """

    def __init__(
        self,
        P_x: Partition,
        halo: Sequence[Any],
        *,
        shape: Sequence[int] | None = None,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self._grid = a_partition(P_x).grid_shape
        self._halos = per_coordinate(halo, self._grid)
        if shape is not None:
            even = layouts.even_blocks(integers(shape, "shape"), self._grid, range(len(P_x.ranks)))
            sizes = block_sizes([even.local_shape(r) for r in range(even.n_ranks)], self._grid)
        self._sizes = None if sizes is None else layouts.checked_sizes(sizes, self._grid)
        known = "" if self._sizes is None else f", sizes {self._sizes}"
        self._begin(P_x, f"halo {self._halos}{known}")
        self._plans: dict[Any, Plan] = {}
        self._returns: dict[Plan, HaloReturn] = {}

    def _forget(self) -> None:
        super()._forget()
        self._plans, self._returns = {}, {}

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        sizes = self._sizes or self._owned_sizes([one.shape for one in structures])
        layout = layouts.blocks(sizes, self._places, self._halos)
        for rank, one in zip(self._places, structures, strict=True):
            check_shape(layout, rank, one.shape)
        exchange = plan(layout, layout, common_dtype(structures, "P_x"))
        return HaloMovement(self.team, (exchange,), is_tracked=any_flag(structures))

    def _owned_sizes(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Sizes without the halos, where no halo reaches past an end."""
        held = block_sizes(shapes, self._grid)
        return [
            _without_halos(axis, own, halo)
            for axis, (own, halo) in enumerate(zip(held, self._halos, strict=True))
        ]

    def _exchange(self, buffer: Local, bits_of: str | None) -> Plan:
        """The plan for this buffer; shapes are asked for only where they are not known."""
        if not isinstance(buffer, np.ndarray) and self.team is not None:
            with self.team:
                structure(buffer)
        # Halos are small, every microsecond counts: names of types are slow.
        kind = bits_of or buffer.dtype
        exchange = self._plans.get(kind)
        if exchange is None:
            assert self.team is not None
            with self.team:
                own = structure(buffer)
            movement = self.bind(replace(own, dtype=bits_of or own.dtype))
            assert movement is not None
            exchange = movement.plans[0]
            if self._sizes is not None:
                self._plans[kind] = exchange
        return exchange

    def adjoint_in_place(self, buffer: Local, *, bits_of: str | None = None) -> Local:
        """Run the adjoint in the caller's own memory; only halos travel. Collective.

        `bits_of` names the type whose bits the buffer holds as integers, as for bfloat16.
        """
        if self.team is None:
            return buffer
        exchange = self._exchange(buffer, bits_of)
        if exchange not in self._returns:
            self._returns[exchange] = HaloReturn(exchange, self.team)
        return self._returns[exchange].run(buffer)

    def fill(self, buffer: Local, *, bits_of: str | None = None) -> Local:
        """Run the exchange in the caller's own memory; only halos are written. Collective."""
        if self.team is None:
            return buffer
        self.team.native.run_in_place(self._exchange(buffer, bits_of), [as_bits(buffer)])
        return buffer


def _without_halos(axis: int, held: Sequence[int], halo: Sequence[Range]) -> tuple[int, ...]:
    found = []
    for at, (size, (left, right)) in enumerate(zip(held, halo, strict=True)):
        width = (left if at else 0) + (right if at < len(held) - 1 else 0)
        if width > size:
            message = (
                f"a halo of {width} in the {size} elements that worker {at} holds of dimension "
                f"{axis}; use arrays that include their halo, or say shape= or sizes= where halos "
                "reach past an end"
            )
            raise LayoutError(message, "halo-too-wide")
        found.append(size - width)
    return tuple(found)


def per_coordinate(halo: Sequence[Any], grid: tuple[int, ...]) -> list[list[Range]]:
    """Widths per dimension and coordinate."""
    if isinstance(halo, str) or not hasattr(halo, "__len__"):
        message = f"halo {halo!r}; use a list with a width or (left, right) per dimension"
        raise LayoutError(message, "halo-widths")
    if len(halo) != len(grid):
        message = f"halos of {len(halo)} dimensions on a grid of {len(grid)}; use one each"
        raise LayoutError(message, "halo-ndim")
    return [_widths(one, length) for one, length in zip(halo, grid, strict=True)]


def _widths(one: Any, length: int) -> list[Range]:
    message = f"halo {one!r} for {length} workers; use a width, (left, right) or one pair each"
    try:
        array = np.asarray(one)
    except ValueError:
        raise LayoutError(message, "halo-widths") from None
    if array.ndim == 0:
        array = np.stack([array, array])
    if array.ndim == 1:
        array = np.broadcast_to(array, (length, len(array)))
    if array.shape != (length, 2) or array.dtype.kind not in "iu" or (array < 0).any():
        raise LayoutError(message, "halo-widths")
    return [(int(left), int(right)) for left, right in array]


@dataclass(frozen=True)
class WindowMovement(Movement):
    """Brings inputs for sliding kernels; `stages` is what each layer needs per dimension."""

    stages: tuple[tuple[Need, ...], ...] = ()


def kept(sizes: Sequence[int], n_layers: int) -> list[list[Need]]:
    """Per coordinate, that it keeps what it has in every layer."""
    return [[Need(a, b, 0, 0, b - a)] * n_layers for a, b in ranges_of(sizes)]


def _checked_windows(windows: Any) -> list[tuple[Window, ...]]:
    try:
        found = [tuple(one) for one in windows]
    except TypeError:
        found = [(windows,)]
    for one in (window for column in found for window in column):
        if not isinstance(one, Window):
            message = f"windows {windows!r}; use a list of Window objects per dimension"
            raise LayoutError(message, "window-type")
    return found


def _check_outputs(axis: int, windows: Sequence[Window], extent: int) -> None:
    """Whether every layer has outputs at all; a single worker may have none."""
    for window, before in zip(windows, stack_extents(windows, extent), strict=False):
        if window.n_outputs(before) == 0:
            padded = f"{before} + 2 * {window.padding}"
            message = f"a kernel that reaches over {window.reach} in the {padded} elements of"
            cure = "use a smaller kernel or more padding"
            raise LayoutError(f"{message} dimension {axis}; {cure}", "window-outputs")


class WindowExchange(_OnGrid):
    """Bring each worker the inputs that its share of a kernel stack's outputs needs.

    There is one list of windows per dimension of the array, with one window per layer; an empty
    list is for a dimension that every worker keeps as it is. The outputs of the last layer are
    divided evenly, whatever the sizes of the inputs. Unlike a halo exchange, it leaves out what no
    output sees, and works for kernels of any stride and for workers without outputs.
    """

    def __init__(self, P_x: Partition, windows: Sequence[Sequence[Window]]) -> None:
        self._grid = a_partition(P_x).grid_shape
        self._windows = _checked_windows(windows)
        if len(self._windows) != len(self._grid) and P_x.team is not None:
            message = f"windows of {len(self._windows)} dimensions on a grid of {len(self._grid)}"
            raise LayoutError(f"{message}; use one list each", "window-ndim")
        self._begin(P_x, f"windows {self._windows}")

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        sizes = block_sizes([one.shape for one in structures], self._grid)
        for axis, (windows, own) in enumerate(zip(self._windows, sizes, strict=True)):
            _check_outputs(axis, windows, sum(own))
        n_layers = max(len(windows) for windows in self._windows)
        wanted = [
            stack_needs(windows, sum(own), len(own)) if windows else kept(own, n_layers)
            for windows, own in zip(self._windows, sizes, strict=True)
        ]
        source = layouts.blocks(sizes, self._places)
        first = [[one[0] for one in dim] for dim in wanted]
        target = layouts.needed(source.shape, first, self._places)
        moved = plan(source, target, common_dtype(structures, "P_x"))
        place = np.unravel_index(self._places.index(self.team.rank), self._grid)
        mine = [dim[at] for dim, at in zip(wanted, place, strict=True)]
        return WindowMovement(
            self.team,
            (moved,),
            is_tracked=any_flag(structures),
            stages=tuple(zip(*mine, strict=True)),
        )

    def windowed(self, own: Structure, terms: Terms | None = None) -> WindowMovement:
        """Return the movement for arrays like this worker's own, with its needs. Collective."""
        movement = self.bind(own, terms)
        assert isinstance(movement, WindowMovement)
        return movement
