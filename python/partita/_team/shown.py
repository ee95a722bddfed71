"""Arrays that ranks show each other: what can be shown, in words that travel, and within a process.

Ranks of one process read each other's arrays where they are. A reader holds what it reads, so that
the memory lives as long as it looks, whatever the owner does meanwhile.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

import numpy as np

from partita._args import is_listed
from partita._errors import LayoutError
from partita._memory.bfloat import NAME, taught
from partita._memory.warm import empty
from partita._team.wire import decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

Local = np.ndarray[Any, Any]
Described = list[tuple[np.dtype[Any], tuple[int, ...]]]

# What an owner may be at instead of showing something.
State = Literal["writing", "closed", "ended"]
# Why an owner out of reach could not be asked.
Unheard = Literal["ended", "apart", "late"]


def checked(arrays: Any) -> tuple[Local, ...]:
    """What is given as arrays, if all of them can be shown."""
    if not is_listed(arrays):
        message = f"a {type(arrays).__name__} instead of a list of arrays; use one, such as [a]"
        raise LayoutError(message, "window-arrays")
    return tuple(_checked(number, array) for number, array in enumerate(arrays))


def _checked(number: int, array: Any) -> Local:
    if not isinstance(array, np.ndarray):
        message = f"array {number} is a {type(array).__name__}; use NumPy arrays"
        raise LayoutError(message, "window-arrays")
    plain = array.view(np.ndarray)
    if not plain.flags.c_contiguous:
        message = f"array {number} is not contiguous in C order; use numpy.ascontiguousarray"
        raise LayoutError(message, "window-strides")
    if plain.dtype.hasobject or (_is_foreign(plain.dtype) and plain.dtype.name != NAME):
        message = f"array {number} has dtype {plain.dtype}; use numbers, text, times or records"
        raise LayoutError(message, "window-dtype")
    return plain


def _is_foreign(dtype: np.dtype[Any]) -> bool:
    """Whether some library has taught NumPy the type: its code says nothing of it."""
    return dtype.kind == "V" and dtype.names is None and not dtype.name.startswith("void")


def words_of(arrays: Sequence[Local]) -> bytes:
    """Types and shapes of arrays as bytes."""
    kinds = [
        NAME if _is_foreign(array.dtype) else np.lib.format.dtype_to_descr(array.dtype)
        for array in arrays
    ]
    return encode([(kind, array.shape) for kind, array in zip(kinds, arrays, strict=True)])


def described(words: bytes) -> Described:
    """Types and shapes again."""
    return [
        (taught() if kind == NAME else np.lib.format.descr_to_dtype(kind), tuple(shape))
        for kind, shape in decode(words)
    ]


def bytes_of(array: Local) -> Local:
    """An array's memory as bytes."""
    if array.nbytes == 0:
        return np.empty(0, np.uint8)
    return array.reshape(-1).view(np.uint8)


def read_only(array: Local) -> Local:
    """A view that nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view


class Listing:
    """Arrays as a rank of this process shows them from some moment on."""

    def __init__(self, version: int, arrays: tuple[Local, ...]) -> None:
        self.version, self.arrays = version, arrays
        # Whether the owner has begun to write to them since.
        self.is_written = False

    @property
    def described(self) -> Described:
        """Types and shapes."""
        return [(array.dtype, array.shape) for array in self.arrays]


class Shown:
    """What a rank of this process shows: its own side, and that of the others."""

    def __init__(self) -> None:
        # Replaced as a whole: readers take what is here at one moment.
        self._now: Listing | State = "writing"
        self._last = Listing(0, ())

    def show(self, arrays: tuple[Local, ...]) -> None:
        """Show arrays from now on."""
        self._last = Listing(self._last.version + 1, arrays)
        self._now = self._last

    def begin_writing(self) -> None:
        """Show nothing until arrays are shown again, because they are being written."""
        self._now = "writing"
        self._last.is_written = True

    def close(self) -> None:
        """Show nothing any more."""
        self._now, self._last = "closed", Listing(self._last.version, ())

    @property
    def arrays(self) -> tuple[Local, ...]:
        """What was shown last."""
        return self._last.arrays

    @property
    def version(self) -> int:
        """How often arrays were shown."""
        return self._last.version

    def look(self) -> Listing | State:
        """What is shown now."""
        return self._now

    def still_shows(self, listing: Listing) -> bool:
        """Whether the arrays are as they were when somebody looked; readers hold them."""
        return not listing.is_written

    def is_now(self, listing: Listing) -> bool:
        """Whether these are the arrays that are shown, and no others since."""
        return self._now is listing

    def fetch(self, listing: Listing, number: int) -> Local:
        """A copy of an array."""
        source = listing.arrays[number]
        copy = empty((source.nbytes,), np.uint8)
        copy[...] = bytes_of(source)
        return typed(copy, source.dtype, source.shape)

    def view(self, listing: Listing, number: int) -> Local:
        """An array where it is."""
        return read_only(listing.arrays[number])

    def is_mapped(self, _listing: Listing) -> bool:
        """Whether all arrays can be looked at where they are: those of this process can."""
        return True


def typed(memory: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Local:
    """Memory as an array of this type and shape."""
    return np.ndarray(shape, dtype, memory)


_numbers = itertools.count()
_shown: WeakValueDictionary[int, Shown] = WeakValueDictionary()


def register(shown: Shown) -> int:
    """A number by which other ranks of this process find what one shows."""
    number = next(_numbers)
    _shown[number] = shown
    return number


def registered(number: int) -> Shown:
    """What a rank shows; closed if it has let go of it."""
    found = _shown.get(number)
    if found is None:
        found = Shown()
        found.close()
    return found
