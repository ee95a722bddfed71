"""Which errors all ranks know already, while these leave one call after the other.

A program may raise one and the same object again, later: then it is another error. So a note on it
holds only until this rank begins another call that tells errors.
"""

from __future__ import annotations

import contextlib
import itertools
import threading


class _Turn(threading.local):
    number = 0


_turn = _Turn()
# No two are the same in a process: ranks that are threads may raise one object, too.
_numbers = itertools.count(1)


def begin() -> None:
    """Begin a call: what was known before is not known of what is raised in it."""
    _turn.number = next(_numbers)


def note(error: BaseException, ranks: tuple[int, ...]) -> None:
    """Note that ranks know an error."""
    # Not every exception takes a note; then they are told twice.
    with contextlib.suppress(Exception):
        error.known = (_turn.number, [*_knowing(error), ranks])  # type: ignore[attr-defined]


def is_noted(error: BaseException, ranks: tuple[int, ...]) -> bool:
    """Whether ranks know an error."""
    return ranks in _knowing(error)


def _knowing(error: BaseException) -> list[tuple[int, ...]]:
    try:
        number, known = getattr(error, "known", (0, []))
        return known if number == _turn.number else []
    except Exception:  # the exception's own code
        return []
