"""Where a rank's part lies in a file of elements in C order, read and written.

>>> list(runs((4, 6), (1, 0), (2, 6)))
[(6, 12)]
>>> list(runs((4, 6), (1, 2), (2, 3)))
[(8, 3), (14, 3)]
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Local = np.ndarray[Any, Any]

# The system takes less than 2 GiB at a time.
_MOST_BYTES = 1 << 30


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


def _bytes(row: Local) -> memoryview:
    return memoryview(row.view(np.uint8))


def write(file: int, offset: int, row: Local) -> None:
    """Write a row of elements at a byte of a file."""
    data = _bytes(row)
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done : done + _MOST_BYTES], offset + done)


def read(file: int, offset: int, row: Local) -> None:
    """Fill a row of elements from a byte of a file on."""
    data = _bytes(row)
    done = 0
    while done < len(data):
        n_read = os.preadv(file, [data[done : done + _MOST_BYTES]], offset + done)
        if n_read == 0:
            missing = len(data) - done
            raise ValueError(f"the file ends {missing} bytes too early; it is not complete")
        done += n_read


def read_passing(stream: Any, offset: int, row: Local) -> None:
    """Fill a row of elements from a byte of a stream on, which passes what comes before."""
    stream.seek(offset)
    data = _bytes(row)
    if stream.readinto(data) < len(data):
        raise ValueError("the file ends too early; it is not complete")
