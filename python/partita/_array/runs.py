"""The stretches of a box whose elements lie behind each other in the whole array, in C order.

>>> list(runs((4, 6), (1, 0), (2, 6)))
[(6, 12)]
>>> list(runs((4, 6), (1, 2), (2, 3)))
[(8, 3), (14, 3)]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def run_length(shape: Sequence[int], sizes: Sequence[int]) -> int:
    """How many elements of a box of an array lie behind each other."""
    length = 1
    for extent, size in zip(reversed(shape), reversed(sizes), strict=True):
        length *= size
        if size != extent:
            break
    return length


def runs(
    shape: Sequence[int], start: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The stretches of a box, in its own C order: the first element of each and its length."""
    length = run_length(shape, sizes)
    n_runs = math.prod(sizes) // length if length else 0
    strides = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
    first = sum(at * stride for at, stride in zip(start, strides, strict=True))
    for number in range(n_runs):
        rest, offset = number * length, 0
        for dim in reversed(range(len(sizes))):
            rest, at = divmod(rest, sizes[dim])
            offset += at * strides[dim]
        yield first + offset, length
