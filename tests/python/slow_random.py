"""Random numbers of a position, slowly: what the native kernels do, by NumPy's own Philox.

Every element has a generator of its own. Tests use this only where the kernels are not there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._local import randomness

Stream = tuple[int, int]
_NAMES = {"uniform": "random", "cauchy": "standard_cauchy", "normal": "standard_normal"}
_NAMES |= {"exponential": "standard_exponential", "gamma": "standard_gamma"}


def at(stream: Stream, element: int) -> np.random.Generator:
    key = np.array(stream, np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, element, 0, 0]))


def words(stream: Stream, first: int, out: Any) -> None:
    out[...] = [at(stream, first + i).bit_generator.random_raw() for i in range(len(out))]


def fill(stream: Stream, first: int, out: Any, kind: str, *numbers: float) -> None:
    name = _NAMES.get(kind, kind)
    out[...] = [getattr(at(stream, first + i), name)(*numbers) for i in range(len(out))]


def fill_integers(stream: Stream, first: int, out: Any, kind: str, *numbers: Any) -> None:
    if kind != "uniform":
        fill(stream, first, out, kind, *numbers)
        return
    low, span = numbers
    for i in range(len(out)):
        word = at(stream, first + i).bit_generator.random_raw()
        above = int(word) * (span or 1 << 64) >> 64
        out[i] = (low + above + (1 << 63)) % (1 << 64) - (1 << 63)


def fill_single(stream: Stream, first: int, out: Any) -> None:
    out[...] = [at(stream, first + i).random(dtype=np.float32) for i in range(len(out))]


def permutation(stream: Stream, n: int, first: int, out: Any) -> None:
    out[...] = at(stream, 0).permutation(n)[first : first + len(out)]


def install() -> None:
    """Put these in the place of kernels that are not there."""
    try:
        randomness.words((0, 0), 0, np.empty(1, np.uint64))
    except NotImplementedError:
        for one in (words, fill, fill_integers, fill_single, permutation):
            setattr(randomness, one.__name__, one)
