"""Element types by name, as the native module knows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._errors import ElementTypeError
from partita._memory import bfloat


def of_name(name: str) -> Any:
    """NumPy's object for a type; bfloat16 is named where no library has taught NumPy that type."""
    if name != bfloat.NAME:
        return np.dtype(name)
    try:
        return bfloat.taught()
    except TypeError:
        return name


def name_of(given: Any) -> str:
    """The name of what somebody gives as an element type: NumPy's, Python's, a name."""
    if isinstance(given, str) and given == bfloat.NAME:
        return given
    try:
        return str(np.dtype(given).name)
    except TypeError:
        message = f"{given!r} is no element type; use one such as float64"
        raise ElementTypeError(message, "dtype") from None
