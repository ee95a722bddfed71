"""What a kernel that slides over a divided dimension needs: halos, padding, outputs.

Outputs are divided evenly over the workers (the first get one more), inputs may be divided in any
way. All positions are global; ranges are half-open.

>>> halo_widths(10, 4, 2, stride=2)
[(0, 1), (0, 0), (0, 0), (0, 0)]
>>> halo_widths(12, 4, 9, padding=4)  # wider than the neighbour's share of 3
[(0, 4), (3, 4), (4, 3), (4, 0)]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita._args import integer, integers, is_listed, natural
from partita._errors import LayoutError

Range = tuple[int, int]


def _at_least(least: int, value: object, name: str) -> int:
    try:
        number = integer(value, name)
    except LayoutError:
        number = least - 1
    if number < least:
        message = f"{name} {value!r}; use a whole number of at least {least}"
        raise LayoutError(message, f"window-{name}")
    return number


@dataclass(frozen=True)
class Window:
    """A kernel along one dimension.

    `extra` is padding at the end only. A kernel that `overhangs` has one last output for the inputs
    that are left over, although it reaches past the padding.
    """

    kernel: int = 1
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    extra: int = field(default=0, kw_only=True)
    overhangs: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        ones = ("kernel", "stride", "dilation")
        for name in (*ones, "padding", "extra"):
            least = 1 if name in ones else 0
            object.__setattr__(self, name, _at_least(least, getattr(self, name), name))

    @property
    def reach(self) -> int:
        """Number of inputs from the first to the last that one output sees."""
        return self.dilation * (self.kernel - 1) + 1

    def n_outputs(self, extent: int) -> int:
        """Return the number of outputs for an extent of inputs."""
        free = extent + 2 * self.padding + self.extra - self.reach
        if not self.overhangs:
            return free // self.stride + 1 if free >= 0 else 0
        count = -(-free // self.stride) + 1
        # The last output must begin before the padding at the end.
        is_outside = (count - 1) * self.stride >= extent + self.padding
        return max(0, count - 1 if is_outside else count)

    def sees(self, outputs: Range) -> Range:
        """Return the inputs that these outputs see, possibly in the padding; empty for none."""
        first, stop = outputs
        start = first * self.stride - self.padding
        if stop <= first:
            return (start, start)
        return (start, start + (stop - first - 1) * self.stride + self.reach)


def split(extent: int, workers: int) -> list[Range]:
    """An even division: the first `extent % workers` workers get one more.

    >>> split(10, 4)
    [(0, 3), (3, 6), (6, 8), (8, 10)]
    """
    extent, workers = natural(extent, "extent"), integer(workers, "workers")
    if workers < 1:
        raise LayoutError(f"{workers} workers; use at least 1", "workers-zero")
    share, extra = divmod(extent, workers)
    starts = [k * share + min(k, extra) for k in range(workers + 1)]
    return list(itertools.pairwise(starts))


def ranges_of(sizes: Iterable[int]) -> list[Range]:
    """Consecutive ranges of these sizes."""
    found, start = [], 0
    for size in sizes:
        found.append((start, start + size))
        start += size
    return found


@dataclass(frozen=True)
class Need:
    """What one worker needs of one dimension: a range of inputs, and padding around it."""

    start: int
    stop: int
    before: int
    after: int
    n_outputs: int


def need(window: Window, extent: int, outputs: Range) -> Need:
    """What these outputs need of an extent: inside it, and how much padding on both sides."""
    start, stop = window.sees(outputs)
    inside = (min(max(start, 0), extent), min(max(stop, 0), extent))
    inside = (inside[0], max(inside))
    before = min(max(0, -start), stop - start)
    after = stop - start - before - (inside[1] - inside[0])
    return Need(inside[0], inside[1], before, after, outputs[1] - outputs[0])


def needs(window: Window, extent: int, workers: int) -> list[Need]:
    """What each worker needs, its outputs divided evenly."""
    outputs = split(window.n_outputs(extent), workers)
    return [need(window, extent, one) for one in outputs]


def halo_widths(
    extent: int,
    workers: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    *,
    sizes: Sequence[int] | None = None,
) -> list[Range]:
    """Return the (left, right) widths per worker that a kernel needs beyond its own inputs.

    Lists of equal lengths describe a stack of kernels, first to last; the widths are then what one
    exchange must bring for all of them. `sizes` are the workers' inputs if they are uneven.
    """
    windows = stacked(kernel, stride, padding, dilation)
    owned = split(extent, workers)
    if sizes is not None:
        owned = ranges_of(natural(size, "sizes") for size in integers(sizes, "sizes"))
    if len(owned) != workers or sum(stop - start for start, stop in owned) != extent:
        message = f"sizes {sizes} for extent {extent} over {workers}; use that many, of that sum"
        raise LayoutError(message, "sizes-sum")
    wanted = [stages[0] for stages in stack_needs(windows, extent, workers)]
    return [
        (max(0, own[0] - one.start), max(0, one.stop - own[1])) if one.stop > one.start else (0, 0)
        for own, one in zip(owned, wanted, strict=True)
    ]


def send_widths(widths: Sequence[Range]) -> list[Range]:
    """Return the (left, right) widths that each worker sends, if no halo exceeds a neighbour.

    >>> send_widths([(0, 1), (0, 0), (0, 0), (0, 0)])
    [(0, 0), (1, 0), (0, 0), (0, 0)]
    """
    pairs = [_pair(one) for one in _listed(widths)]
    before = [0, *(right for _, right in pairs[:-1])][: len(pairs)]
    after = [*(left for left, _ in pairs[1:]), 0][: len(pairs)]
    return list(zip(before, after, strict=True))


def _listed(widths: Any) -> list[object]:
    if not is_listed(widths):
        message = f"widths {widths!r}; use a list with a pair (left, right) per worker"
        raise LayoutError(message, "halo-widths")
    return list(widths)


def _pair(one: object) -> Range:
    pair = tuple(natural(width, "halo") for width in integers(one, "halo"))
    if len(pair) != 2:
        raise LayoutError(f"widths {one!r} of a worker; use (left, right)", "halo-widths")
    return pair


def stacked(
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
) -> list[Window]:
    """Windows of a stack; a number stands for all layers."""
    given = [kernel, stride, padding, dilation]
    lengths = {len(one) for one in given if isinstance(one, Sequence)}
    if len(lengths) > 1:
        message = f"a stack of {' and '.join(map(str, sorted(lengths)))} layers; use one length"
        raise LayoutError(message, "stack-length")
    n_layers = lengths.pop() if lengths else 1
    if n_layers == 0:
        raise LayoutError("a stack of 0 layers; use at least one kernel", "stack-empty")
    columns = [list(one) if isinstance(one, Sequence) else [one] * n_layers for one in given]
    return [Window(*numbers) for numbers in zip(*columns, strict=True)]


def stack_extents(windows: Iterable[Window], extent: int) -> list[int]:
    """The extent before each layer of a stack, and after the last."""
    extents = [extent]
    for window in windows:
        extents.append(window.n_outputs(extents[-1]))
    return extents


def stack_needs(windows: Sequence[Window], extent: int, workers: int) -> list[list[Need]]:
    """Per worker, what each layer of a stack needs, so that the last output is divided evenly.

    The needs overlap: values near a boundary are computed on both sides instead of exchanged.
    """
    extents = stack_extents(windows, extent)
    found = []
    for outputs in split(extents[-1], workers):
        stages: list[Need] = []
        for window, before in zip(reversed(windows), reversed(extents[:-1]), strict=True):
            stages.append(need(window, before, outputs))
            outputs = (stages[-1].start, stages[-1].stop)
        found.append(stages[::-1])
    return found
