"""The subscripts of `einsum`, read: one letter for each dimension of each operand."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def parsed(operands: Sequence[Any]) -> tuple[list[str], str, list[Any]]:
    """Letters of each operand and of the result, all dimensions named, and the operands."""
    if not operands:
        raise ValueError("einsum of nothing; give subscripts and operands")
    if isinstance(operands[0], str):
        text, given = operands[0], list(operands[1:])
    else:
        text, given = _written(operands)
    text = text.replace(" ", "")
    before, arrow, output = text.partition("->")
    inputs = before.split(",")
    if len(inputs) != len(given):
        raise ValueError(f"subscripts {text!r} of {len(inputs)} operands, {len(given)} given")
    for one in (*inputs, output):
        _check(one, text)
    ndims = [_ndim(one) for one in given]
    n_more = [ndim - len(one.replace("...", "")) for one, ndim in zip(inputs, ndims, strict=True)]
    for one, ndim, more in zip(inputs, ndims, n_more, strict=True):
        if more < 0 or (more > 0 and "..." not in one):
            message = f"subscripts {one!r} for an operand of {ndim} dimensions"
            raise ValueError(f"{message}; use a letter for each, or '...'")
    free = [one for one in string.ascii_letters if one not in text]
    most = max((more for one, more in zip(inputs, n_more, strict=True) if "..." in one), default=0)
    dots = "".join(free[:most])
    if len(dots) < most:
        raise ValueError(f"{most} dimensions for '...'; there are not enough letters")
    # What the dots stand for is matched from the last dimension on.
    named = [
        one.replace("...", dots[most - more :] if more > 0 else "")
        for one, more in zip(inputs, n_more, strict=True)
    ]
    if arrow:
        return named, _output(output, dots, named, text), given
    return named, dots + _implied("".join(named), dots), given


def _implied(letters: str, dots: str) -> str:
    """Without an arrow the letters that stand once, in the alphabet's order."""
    return "".join(
        one for one in sorted(set(letters)) if letters.count(one) == 1 and one not in dots
    )


def _output(output: str, dots: str, named: Sequence[str], text: str) -> str:
    if dots and "..." not in output:
        message = f"subscripts {text!r} leave out '...' in the result"
        raise ValueError(f"{message}; name it there, or sum first")
    made = output.replace("...", dots)
    for one in made:
        if made.count(one) > 1 or not any(one in letters for letters in named):
            message = f"{one!r} in the result of {text!r}"
            raise ValueError(f"{message}; use each letter once, and those of operands")
    return made


def _check(subscripts: str, text: str) -> None:
    letters = subscripts.replace("...", "", 1)
    for one in letters:
        if one not in string.ascii_letters:
            raise ValueError(f"{one!r} in subscripts {text!r}; use letters and one '...'")


def _ndim(operand: Any) -> int:
    found = getattr(operand, "ndim", None)
    return int(np.ndim(operand) if found is None else found)


def _written(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts as text of the other form: operands and lists of numbers in turn."""
    given, lists = list(operands[0:-1:2]), list(operands[1::2])
    text = ",".join(_letters(one) for one in lists)
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, given


def _letters(numbers: Sequence[Any]) -> str:
    found = ""
    for one in numbers:
        if one is not Ellipsis and not 0 <= one < len(string.ascii_letters):
            raise ValueError(f"subscript {one!r}; use numbers from 0 to 51 and '...'")
        found += "..." if one is Ellipsis else string.ascii_letters[one]
    return found
