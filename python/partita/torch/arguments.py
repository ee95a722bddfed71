"""Arguments of layers: what torch would refuse is refused by partita, alike on every worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from partita._errors import LayoutError


def checked_dtype(dtype: Any) -> torch.dtype | None:
    """An element type of parameters, or None for torch's own choice."""
    if dtype is None or (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        return dtype
    if isinstance(dtype, torch.dtype) and dtype.is_complex:
        return dtype
    message = f"dtype {dtype!r} of parameters; use a type of torch, such as torch.float64"
    raise LayoutError(message, "dtype-unknown")


def serial_layer(kind: Callable[..., Any], *numbers: Any, **options: Any) -> Any:
    """The serial layer: it checks the numbers and draws the parameters that it would draw alone."""
    try:
        return kind(*numbers, **options)
    except (TypeError, ValueError, RuntimeError, ZeroDivisionError) as error:
        name = getattr(kind, "__name__", "torch")
        message = f"{name} refuses {numbers} with {options}: {error}; use what it takes"
        raise LayoutError(message, "layer-arguments") from None
