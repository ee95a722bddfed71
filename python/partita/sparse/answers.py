"""Operands that a sparse tensor does not know: they answer themselves, or all ranks are told.

Python would ask them, too, but an error that it raises would be known on this rank only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.elements import is_number

if TYPE_CHECKING:
    from partita.sparse.base import Base


# NumPy's scalars would ask the tensor again, and texts be repeated as often as it says.
_HAVE_NO_ANSWER = (str, bytes, bytearray, np.generic, np.ndarray)


def answered(tensor: Base, found: Any, other: Any, sign: str, reflected: str = "") -> Any:
    """Return what was found, or what an operand makes of the tensor by its own method.

    Without such a method, or where that has no answer either, the operand is refused.
    """
    if found is not NotImplemented:
        return found
    with tensor.team:
        made = _asked(tensor, other, reflected)
        if made is NotImplemented:
            message = f"a {type(other).__name__} is no operand of a sparse tensor for {sign}"
            raise TypeError(f"{message}; {_cure(sign, other)}")
        return made


def _cure(sign: str, other: Any) -> str:
    if sign != "@":
        return "use a number, a sparse tensor or a dense array"
    return "use * for numbers" if is_number(other) else "use a sparse tensor or a dense array"


def equal_or_not(tensor: Base, found: Any, other: Any, reflected: str) -> Any:
    """Return what was found, or what an operand says; else nothing but the tensor equals it."""
    if found is not NotImplemented:
        return found
    with tensor.team:
        made = _asked(tensor, other, reflected)
        return reflected == "__ne__" if made is NotImplemented else made


def _asked(tensor: Base, other: Any, reflected: str) -> Any:
    if isinstance(other, _HAVE_NO_ANSWER):
        return NotImplemented
    # As Python does, which looks at the class.
    method = getattr(type(other), reflected, None) if reflected else None
    return NotImplemented if method is None else method(other, tensor)
