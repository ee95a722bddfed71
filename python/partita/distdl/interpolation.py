"""What interpolation along a divided dimension needs: halos for nearest and linear.

>>> interpolation_widths(10, 20, 2, mode="linear")
[(0, 1), (1, 0)]
"""

from __future__ import annotations

from math import floor
from typing import Any

from partita._args import flag, integer, natural, real
from partita._errors import LayoutError
from partita.distdl.windows import Range, split


def _first_input(
    output: int, extent: int, n_outputs: int, mode: str, align_corners: bool, scale: float | None
) -> int:
    """The first input that an output is made of."""
    if mode == "nearest":
        return output * extent // n_outputs
    if align_corners:
        return output * (extent - 1) // (n_outputs - 1) if n_outputs > 1 else 0
    if scale is not None:
        return floor(max(0.0, (output + 0.5) / scale - 0.5))
    return max(0, ((2 * output + 1) * extent - n_outputs) // (2 * n_outputs))


def interpolation_needs(
    extent: int,
    n_outputs: int,
    workers: int,
    *,
    mode: str = "nearest",
    align_corners: bool = False,
    scale: float | None = None,
) -> list[Range]:
    """Return the inputs that each worker's share of the outputs is computed from."""
    if mode not in ("nearest", "linear"):
        raise LayoutError(f"mode {mode!r}; use 'nearest' or 'linear'", "interpolation-mode")
    extent, align_corners = natural(extent, "extent"), flag(align_corners, "align_corners")
    n_outputs, scale = _checked_outputs(n_outputs), _checked_scale(scale)
    n_taps = 1 if mode == "nearest" else 2
    found = []
    for first, stop in split(n_outputs, workers):
        ends = [
            _first_input(output, extent, n_outputs, mode, align_corners, scale)
            for output in (first, stop - 1)
        ]
        empty = stop <= first or extent == 0
        found.append((0, 0) if empty else (ends[0], min(extent, ends[1] + n_taps)))
    return found


def _checked_outputs(n_outputs: Any) -> int:
    number = integer(n_outputs, "n_outputs")
    if number < 1:
        raise LayoutError(f"{number} outputs of an interpolation; use at least 1", "outputs-zero")
    return number


def _checked_scale(scale: Any) -> float | None:
    if scale is None:
        return None
    number = real(scale, "scale")
    if number <= 0:
        raise LayoutError(f"scale {number}; use a number above 0, or None", "scale-not-positive")
    return number


def interpolation_widths(
    extent: int,
    n_outputs: int,
    workers: int,
    *,
    mode: str = "nearest",
    align_corners: bool = False,
    scale: float | None = None,
) -> list[Range]:
    """Return the (left, right) widths per worker needed beyond its own inputs."""
    wanted = interpolation_needs(
        extent, n_outputs, workers, mode=mode, align_corners=align_corners, scale=scale
    )
    return [
        (max(0, own[0] - start), max(0, stop - own[1])) if stop > start else (0, 0)
        for own, (start, stop) in zip(split(extent, workers), wanted, strict=True)
    ]
