"""An array's elements in a row, to be read, gone through and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.creation import an_array
from partita._functions.joining import resize
from partita._functions.manipulation import ravel
from partita._functions.picking import set_in_a_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partita._array.array import Array

# So many elements come to every rank at once when they are gone through.
_AT_ONCE = 4096


class Flat:
    """What `a.flat` is: the elements of an array in a row, written through to it."""

    def __init__(self, array: Array) -> None:
        self.base = array

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        row = ravel(self.base)
        for start in range(0, len(row), _AT_ONCE):
            yield from row[start : start + _AT_ONCE]._whole()

    def __getitem__(self, index: Any) -> Any:
        """Return some of the elements, as a copy."""
        return +ravel(self.base)[index]

    def __setitem__(self, index: Any, values: Any) -> None:
        """Set some of the elements, values again from the first if they do not suffice."""
        given = values if isinstance(values, bool | int | float | complex) else an_array(values)
        if not isinstance(given, bool | int | float | complex) and given.ndim:
            wanted = ravel(self.base)[index]
            given = ravel(given)
            if wanted.ndim and given.size and wanted.size != given.size:
                given = resize(given, wanted.size)
        set_in_a_row(self.base, index, given)

    def copy(self) -> Array:
        """Return the elements in a row, in memory of their own."""
        return self.base.flatten()


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Go through all positions and elements in C order, some elements at a time. Collective.

    >>> import partita as pt
    >>> [(at, float(x)) for at, x in pt.ndenumerate([[1.0, 2.0]])]
    [((0, 0), 1.0), ((0, 1), 2.0)]
    """
    array = an_array(arr)
    return zip(np.ndindex(array.shape), Flat(array), strict=True)


__all__ = ["Flat", "ndenumerate"]
