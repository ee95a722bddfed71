"""Fourier transforms in this rank's memory.

Sums are not scaled, those of the inverse neither: the caller multiplies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]


def fft(block: Block, axis: int, *, inverse: bool = False, out: Block | None = None) -> Block:
    """Return the transform of complex numbers along one axis, in the same precision.

    `out` may be the block itself.
    """
    whole = np.fft.ifft if inverse else np.fft.fft
    return whole(block, axis=axis, norm="forward" if inverse else "backward", out=out)


def rfft(block: Block, axis: int) -> Block:
    """Return the transform of real numbers: n // 2 + 1 complex ones along the axis."""
    return np.fft.rfft(block, axis=axis).astype(np.result_type(block, np.complex64), copy=False)


def irfft(block: Block, n: int, axis: int) -> Block:
    """Return `n` real numbers along the axis: the inverse of `rfft` but for the factor n."""
    return np.fft.irfft(block, n, axis=axis, norm="forward").astype(block.real.dtype, copy=False)
