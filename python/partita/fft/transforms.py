"""The transforms, by their names in NumPy."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.held import is_everywhere
from partita._functions.creation import an_array, axis_of, sizes_of
from partita._functions.elementwise import conj, fitted_to
from partita.fft.lines import Step, transformed

if TYPE_CHECKING:
    from collections.abc import Sequence

_TURNED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the transform along an axis, cut or filled with zeros to `n` entries.

    A spread vector of at most 4,096 entries whose length is a prime, or nearly one, is brought to
    every rank, with a warning.
    """
    return _one("fft", a, n, axis, norm, out)


def ifft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse transform along an axis."""
    return _one("ifft", a, n, axis, norm, out)


def rfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the first n // 2 + 1 entries of the transform of real numbers along an axis."""
    return _one("rfft", a, n, axis, norm, out)


def irfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the `n` real numbers whose transform along an axis begins with these."""
    return _one("irfft", a, n, axis, norm, out)


def hfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the real transform of numbers of which those from the other end are conjugate."""
    return irfft(conj(an_array(a)), n, axis, _turned(norm), out)


def ihfft(
    a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse of `hfft`."""
    made: Array = fitted_to(conj(rfft(a, n, axis, _turned(norm))), out)
    return made


def fftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> Array:
    """Return the transform along several axes, all of them if none are given."""
    return _several("fft", a, s, axes, norm, out)


def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse transform along several axes."""
    return _several("ifft", a, s, axes, norm, out)


def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> Array:
    """Return the transform of real numbers along several axes, half of it along the last."""
    return _several("rfft", a, s, axes, norm, out)


def irfftn(
    a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse of `rfftn`."""
    return _several("irfft", a, s, axes, norm, out)


def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> Array:
    """Return the transform along two axes."""
    return fftn(a, s, axes, norm, out)


def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse transform along two axes."""
    return ifftn(a, s, axes, norm, out)


def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> Array:
    """Return the transform of real numbers along two axes, half of it along the last."""
    return rfftn(a, s, axes, norm, out)


def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None
) -> Array:
    """Return the inverse of `rfft2`."""
    return irfftn(a, s, axes, norm, out)


def _turned(norm: Any) -> str:
    _check_norm(norm)
    return _TURNED[norm]


def _check_norm(norm: Any) -> None:
    if norm not in _TURNED:
        raise ValueError(f"norm {norm!r}; use 'backward', 'ortho' or 'forward'")


def _one(name: str, x: Any, n: Any, axis: Any, norm: Any, out: Any) -> Array:
    array = an_array(x)
    return _made(name, array, [axis_of(axis, array.ndim)], [n], norm, out)


def _several(name: str, x: Any, s: Any, axes: Any, norm: Any, out: Any) -> Array:
    array = an_array(x)
    sizes: list[Any]
    if s is None:
        given = range(array.ndim) if axes is None else axes
        sizes = [None] * len(given)
    else:
        sizes = [None if n == -1 else n for n in sizes_of(s)]
        given = range(-len(sizes), 0) if axes is None else axes
    if len(given) != len(sizes):
        raise ValueError(f"{len(sizes)} sizes for {len(given)} axes; give as many")
    if not len(given) and name in ("rfft", "irfft"):
        raise IndexError(f"{name}n along no axes; give one at least")
    return _made(name, array, [axis_of(one, array.ndim) for one in given], sizes, norm, out)


def _made(
    name: str, array: Array, axes: Sequence[int], sizes: Sequence[Any], norm: Any, out: Any
) -> Array:
    _check_norm(norm)
    is_inverse = name in ("ifft", "irfft")
    counts = _counts(name, array, axes, sizes)
    steps = [Step(axis, n, is_inverse=is_inverse) for axis, n in zip(axes, counts, strict=True)]
    if name in ("rfft", "irfft"):
        how = "from real" if name == "rfft" else "to real"
        steps[-1] = Step(axes[-1], counts[-1], how, is_inverse)
    # The last axis comes first, as in NumPy; numbers become real at the very end.
    steps.reverse()
    if name == "irfft":
        steps.append(steps.pop(0))
    if not is_everywhere(array.layout, array.team.size):
        array.team.say(f"fft.{name}({counts}, axes={list(axes)}, norm={norm or 'backward'!r})")
    made = transformed(_numbers(array, name), steps, _factor(math.prod(counts), norm, is_inverse))
    if name == "irfft" and len(axes) == 1 and array.dtype == np.float16:
        # As in NumPy: a step before this one would have made them complex64.
        made = made._cast(np.float16)
    result: Array = fitted_to(made if steps else made.copy(), out)
    return result


def _counts(name: str, array: Array, axes: Sequence[int], sizes: Sequence[Any]) -> list[int]:
    counts = []
    for number, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        n = array.shape[axis] if size is None else operator.index(size)
        if size is None and name == "irfft" and number == len(axes) - 1:
            n = 2 * (n - 1)
        if n < 1:
            raise ValueError(f"a transform of {n} numbers along axis {axis}; use 1 or more")
        counts.append(n)
    return counts


def _numbers(array: Array, name: str) -> Array:
    """An array of a type that can be transformed: integers become float64."""
    if array.dtype.kind == "c":
        if name == "rfft":
            raise TypeError(f"a real transform of {array.dtype}; use fft, or take the real parts")
        return array
    wide = np.dtype(np.float32) if array.dtype == np.float16 else np.dtype(np.float64)
    return array if array.dtype in (np.float32, np.float64) else array._cast(wide)


def _factor(n: int, norm: str | None, is_inverse: bool) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if is_inverse == (norm != "forward") else 1.0
