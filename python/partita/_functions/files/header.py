"""The head of a `.npy` file: shape, element type, order, and where the elements begin."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._team.together import by_first

if TYPE_CHECKING:
    from pathlib import Path

    from partita._array.array import Array
    from partita._team.team import Team

_READERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    # As 2.0, but for names of fields, which numbers have none of.
    (3, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True)
class Header:
    """What a file says of its elements."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    is_fortran: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether memory may be what the file is."""
        return self.dtype.isnative and not self.is_fortran and 0 not in self.shape


def header_bytes(array: Array) -> bytes:
    """The head of an array's file."""
    stream = io.BytesIO()
    described = np.lib.format.dtype_to_descr(array.dtype)
    about = {"descr": described, "fortran_order": False, "shape": tuple(array.shape)}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()


def parsed(stream: Any, begin: int = 0) -> Header:
    """The head that a stream begins with; elements that only pickle knows are refused."""
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"format {version} of NumPy's files; use 1.0, 2.0 or 3.0")
    shape, is_fortran, dtype = _READERS[version](stream)
    if any(n < 0 for n in shape):
        raise ValueError(f"the file says that its shape is {shape}; it is no file of NumPy's")
    if dtype.hasobject:
        raise ValueError("the file has objects of Python, which are not loaded; use numpy.load")
    if dtype.kind not in "biufcmM":
        raise TypeError(f"elements of {dtype} are no numbers; use numpy.load")
    return Header(shape, dtype, begin + stream.tell(), is_fortran and len(shape) > 1)


def read_header(path: Path, team: Team) -> Header:
    """The head of a file, read by one rank. Collective."""

    def read() -> tuple[Any, ...]:
        with path.open("rb") as stream:
            found = parsed(stream)
        return found.shape, found.dtype.str, found.offset, found.is_fortran

    shape, dtype, offset, is_fortran = by_first(team, read)
    return Header(tuple(shape), np.dtype(dtype), offset, is_fortran)
