"""One array in a file: `.npy`, or its elements alone.

Every rank reads and writes its own bytes, all at once.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import box_of, is_one_box_each
from partita._functions.creation import an_array
from partita._functions.files import bytes_of, npz
from partita._functions.files.beside import written_beside
from partita._functions.files.header import Header, header_bytes, read_header
from partita._functions.files.parts import part_of, read_array
from partita._functions.files.paths import path_of
from partita._functions.placing import layout_of_new
from partita._team.spmd import own_team
from partita._team.together import by_first, together

if TYPE_CHECKING:
    from pathlib import Path

    from partita._partita import Layout
    from partita._team.team import Team


def save(file: Any, arr: Any, allow_pickle: bool = False) -> None:
    """Write an array to a file of NumPy's format, named `.npy`; all ranks their parts. Collective.

    The file has its name only when it is complete.
    """
    path = path_of(file)
    path = path if path.name.endswith(".npy") else path.with_name(path.name + ".npy")
    array = an_array(arr)
    _write(path, array, header_bytes(array))


def tofile(a: Array, file: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements alone, in C order; all ranks their parts. Collective.

    `format` is for text, which `savetxt` writes.
    """
    if sep:
        raise ValueError(f"elements with {sep!r} between them; use savetxt")
    _write(path_of(file), a, b"")


def _write(path: Path, array: Array, head: bytes) -> None:
    team = array.team
    part = part_of(array)
    n_bytes = len(head) + array.size * array.dtype.itemsize

    def make(beside: Path) -> None:
        with beside.open("xb") as made:
            made.write(head)
            made.flush()
            bytes_of.reserve(made.fileno(), n_bytes)

    def write_own() -> None:
        own = os.open(beside, os.O_WRONLY)
        try:
            for first, row in part.rows():
                bytes_of.write(own, len(head) + first * row.itemsize, row)
        finally:
            os.close(own)

    with written_beside(team, path, make) as beside:
        together(team, write_own)


def load(
    file: Any,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10_000,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Any:
    """Return the array of a `.npy` file, or the arrays of a `.npz` by name. Collective.

    Each rank reads its part of `layout` only. With `mmap_mode` it maps the file where it can.
    Objects of Python are refused, so that NumPy's options for reading them mean nothing here.
    """
    if mmap_mode not in (None, "r", "r+", "c"):
        raise ValueError(f"mmap_mode {mmap_mode!r}; use 'r', 'r+', 'c' or None")
    own, path = own_team(team), path_of(file)
    if by_first(own, lambda: npz.is_zip(path), path):
        return npz.Npz(path, own, layout)
    header = read_header(path, own)
    if mmap_mode is not None and header.is_plain:
        wanted = layout_of_new(header.shape, layout, own)
        if is_one_box_each(wanted, own.size):
            return _mapped(path, header, wanted, own, mmap_mode)
    return read_array(path, header, layout, own)


def _mapped(path: Path, header: Header, layout: Layout, team: Team, mode: str) -> Array:
    def map_own() -> Any:
        start, sizes = box_of(layout, team.rank)
        box = tuple(slice(at, at + size) for at, size in zip(start, sizes, strict=True))
        shape = header.shape
        whole = np.memmap(path, header.dtype, mode, header.offset, shape)  # type: ignore[call-overload]
        return np.asarray(whole)[box] if shape else np.asarray(whole)

    made = together(team, map_own)
    return Array([made], layout, team, header.dtype)


def fromfile(
    file: Any,
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return the elements that a file has from a byte on, in a row. Collective."""
    if sep:
        raise ValueError(f"elements with {sep!r} between them; use loadtxt")
    own, path, kind = own_team(team), path_of(file), np.dtype(dtype)

    def counted() -> int:
        there = max(path.stat().st_size - offset, 0) // kind.itemsize
        return int(there if count < 0 else min(count, there))

    n = by_first(own, counted, path)
    return read_array(path, Header((n,), kind, offset), layout, own)


__all__ = ["fromfile", "load", "save"]
