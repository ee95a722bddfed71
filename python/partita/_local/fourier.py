"""Fourier transforms in this rank's memory.

Sums are not scaled, those of the inverse neither: the caller multiplies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._local.even import even
from partita._local.threads import n_threads
from partita._partita import local_fft, local_irfft, local_rfft

Block = np.ndarray[Any, Any]


def fft(block: Block, axis: int, *, inverse: bool = False, out: Block | None = None) -> Block:
    """Return the transform of complex numbers along one axis, in the same precision.

    `out` may be the block itself.
    """
    if out is None:
        out = np.empty(block.shape, block.dtype)
    if out.size:
        local_fft(even(block), out, axis % block.ndim, inverse, n_threads())
    return out


def rfft(block: Block, axis: int) -> Block:
    """Return the transform of real numbers: n // 2 + 1 complex ones along the axis."""
    axis %= block.ndim
    shape = list(block.shape)
    shape[axis] = shape[axis] // 2 + 1
    out = np.empty(shape, np.result_type(block.dtype, np.complex64))
    if out.size:
        local_rfft(even(block), out, axis, n_threads())
    return out


def irfft(block: Block, n: int, axis: int) -> Block:
    """Return `n` real numbers along the axis: the inverse of `rfft` but for the factor n."""
    axis %= block.ndim
    shape = list(block.shape)
    shape[axis] = n
    out = np.empty(shape, block.real.dtype)
    if out.size:
        local_irfft(even(block), out, axis, n_threads())
    return out
