"""The bytes of elements as elements of another type, and bytes as bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.rows import from_here
from partita._functions.creation import an_array
from partita._functions.locally import each_line
from partita._functions.manipulation import moveaxis, reshape
from partita._functions.padding import pad

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._team.team import Team


def seen_as(array: Array, dtype: Any) -> Array:
    """The bytes of an array as elements of another type, in memory of their own.

    Only the last dimension changes: it has more entries of a smaller type, fewer of a larger one.
    """
    wanted = np.dtype(dtype)
    *others, n_last = array.shape or (1,)
    old, new = array.dtype.itemsize, wanted.itemsize
    if old != new and array.ndim == 0:
        message = f"one element of {array.dtype} seen as {wanted} of another size; use reshape(1)"
        raise ValueError(message)
    if (n_last * old) % new:
        message = f"{n_last} elements of {array.dtype} are no whole number of {wanted}; use others"
        raise ValueError(message)
    # Bytes that belong together lie in a dimension of their own, which is never divided.
    n_together = max(new // old, 1)
    groups = reshape(array, [*others, n_last // n_together, n_together])
    made = each_line(
        lambda own: np.ascontiguousarray(own).view(wanted).copy(), groups, groups.ndim - 1, "view"
    )
    return reshape(made, [*others, n_last * old // new] if array.ndim else [])


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Return the bits of bytes along an axis, zeros and ones, the largest of each byte first.

    >>> import partita as pt
    >>> print(pt.unpackbits(pt.asarray([5], dtype=pt.uint8)))
    [0 0 0 0 0 1 0 1]
    """
    array = an_array(a)
    if array.dtype != np.uint8:
        raise TypeError(f"bits of elements of {array.dtype}; use uint8")
    shifts = _shifts(bitorder, array.team)
    lines = array.reshape(-1) if axis is None else moveaxis(array, axis, -1)
    if lines.ndim == 0:
        lines = reshape(lines, 1)
    bits = reshape((lines[..., None] >> shifts) & 1, (*lines.shape[:-1], 8 * lines.shape[-1]))
    if count is not None:
        bits = _of_length(bits, count if count >= 0 else max(bits.shape[-1] + count, 0))
    return bits if axis is None else moveaxis(bits, -1, axis)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Return bytes of eight truth values each along an axis; what is missing is false."""
    array = an_array(a)
    if array.dtype.kind not in "biu":
        raise TypeError(f"bits of elements of {array.dtype}; use truth values or integers")
    shifts = _shifts(bitorder, array.team)
    lines = array.reshape(-1) if axis is None else moveaxis(array, axis, -1)
    n_bytes = -(-lines.shape[-1] // 8)
    bits = _of_length((lines != 0).astype(np.uint8), 8 * n_bytes)
    eights = reshape(bits, (*lines.shape[:-1], n_bytes, 8))
    made = (eights << shifts)._reduce("sum", -1, False, np.uint8)
    return made if axis is None else moveaxis(made, -1, axis)


def _shifts(bitorder: str, team: Team) -> Array:
    """How far each bit of a byte stands from its end: in one of two orders, which ranks compare."""
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder {bitorder!r} is not known; use 'big' or 'little'")
    shifts = from_here(np.arange(8, dtype=np.uint8), team)
    return shifts[::-1] if bitorder == "big" else shifts


def _of_length(lines: Array, length: int) -> Array:
    """Lines cut, or filled up with zeros."""
    n_more = length - lines.shape[-1]
    if n_more <= 0:
        return lines[..., :length]
    return pad(lines, [(0, 0)] * (lines.ndim - 1) + [(0, n_more)])


__all__ = ["packbits", "unpackbits"]
