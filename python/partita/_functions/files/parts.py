"""What a rank reads from a file of elements in C order, and what it writes to it."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import Box, box_of, is_one_box_each
from partita._array.runs import run_length, runs
from partita._functions.files import bytes_of
from partita._functions.placing import layout_of_new
from partita._partita import Block, Layout, Whole
from partita._team.together import together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from partita._functions.files.header import Header
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Shorter stretches are not worth a call: elements are moved so that ranks have rows.
_SHORT_BYTES = 1 << 16


@dataclass
class Part:
    """What one rank writes of an array: a box in memory, and which of its elements."""

    local: Local
    shape: Sequence[int]
    box: Box

    def rows(self) -> Iterator[tuple[int, Local]]:
        """Stretches with the position of their first element, in C order."""
        flat, done = self.local.reshape(-1), 0
        for first, length in runs(self.shape, *self.box):
            yield first, flat[done : done + length]
            done += length


def part_of(array: Array) -> Part:
    """What this rank writes of an array, which may have to move for that. Collective."""
    team, shape = array.team, array.shape
    layout = array.layout
    n_held = sum(layout.n_held(rank) for rank in range(team.size) if rank in layout.ranks)
    if is_one_box_each(layout, team.size) and n_held == team.size * array.size:
        return _share(array)
    if n_held != array.size or not _has_long_runs(layout, team, array.dtype.itemsize):
        array = array.redistribute(rows_of(shape, team.size))
    return Part(np.ascontiguousarray(array.local), shape, box_of(array.layout, team.rank))


def _share(array: Array) -> Part:
    """Of what every rank has whole, each writes a stretch."""
    team, n = array.team, array.size
    first, end = (n * rank // team.size for rank in (team.rank, team.rank + 1))
    local = np.ascontiguousarray(array.local).reshape(-1)[first:end]
    return Part(local, (n,), ((first,), (end - first,)))


def rows_of(shape: Sequence[int], n_ranks: int) -> Layout:
    """Blocks of the first dimension, whose bytes lie behind each other."""
    maps = [Block(rule="last") if dim == 0 else Whole() for dim in range(len(shape))]
    return Layout(shape, maps, grid=(n_ranks, *(1 for _ in shape[1:])))


def _has_long_runs(layout: Layout, team: Team, itemsize: int) -> bool:
    """Whether every rank has a box of few stretches; all ranks find the same."""
    if not is_one_box_each(layout, team.size):
        return False
    for rank in range(team.size):
        sizes = box_of(layout, rank)[1]
        length = run_length(layout.shape, sizes)
        if length < math.prod(sizes) and length * itemsize < _SHORT_BYTES:
            return False
    return True


def read_array(
    path: Path, header: Header, layout: Layout | str | None, team: Team, *, stream: Any = None
) -> Array:
    """The array of a file, of which every rank reads its part. Collective.

    From a `stream`, a function that opens one, each rank takes its part as it passes.
    """
    if header.is_fortran:
        turned = _read(path, header, rows_of(header.shape[::-1], team.size), team, stream)
        wanted = layout_of_new(header.shape, layout, team)
        return turned.transpose().redistribute(wanted)
    wanted = layout_of_new(header.shape, layout, team)
    if _has_long_runs(wanted, team, header.dtype.itemsize):
        return _read(path, header, wanted, team, stream)
    return _read(path, header, rows_of(header.shape, team.size), team, stream).redistribute(wanted)


@contextmanager
def _opened(path: Path, stream: Any) -> Iterator[Callable[[int, Local], None]]:
    """What fills a row from a byte of a file on, or of a stream."""
    if stream is not None:
        with stream() as source:
            yield partial(bytes_of.read_passing, source)
        return
    file = os.open(path, os.O_RDONLY)
    try:
        yield partial(bytes_of.read, file)
    finally:
        os.close(file)


def _read(path: Path, header: Header, layout: Layout, team: Team, stream: Any) -> Array:
    """An array of boxes in the order of the file."""
    start, sizes = box_of(layout, team.rank)
    local = team.empty(sizes, header.dtype)

    def read_own() -> None:
        part = Part(local, layout.shape, (start, sizes))
        with _opened(path, stream) as read:
            for first, row in part.rows():
                read(header.offset + first * header.dtype.itemsize, row)

    together(team, read_own)
    native = header.dtype.newbyteorder("=")
    if not header.dtype.isnative:
        local = local.byteswap(inplace=True).view(native)
    return Array([local], layout, team, native)
