"""Why this process ends: an error that nobody catches, or `sys.exit` with a status.

Python tells its exit hooks neither, so both ways are watched from the moment a job is joined.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from partita._errors import words_of

if TYPE_CHECKING:
    from types import TracebackType

_why: str | None = None


def reason() -> str | None:
    """Why this process ends; none if it has come to its end."""
    return _why


@cache
def watch() -> None:
    """Remember from now on how this process ends."""
    hook, leave = sys.excepthook, sys.exit

    def note_error(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _note(words_of(error))
        hook(kind, error, trace)

    def note_exit(status: Any = None, /) -> NoReturn:
        # In another thread it ends that thread alone.
        if status in (None, 0) or threading.current_thread() is not threading.main_thread():
            leave(status)
        _note(words_of(SystemExit(status)))
        raise _Exit(status)

    sys.excepthook = note_error
    sys.exit = note_exit


class _Exit(SystemExit):
    """Knows whether it was caught: then it goes while some function still runs."""

    def __del__(self) -> None:
        if sys._getframe().f_back is not None:
            _note(None)


def _note(why: str | None) -> None:
    global _why
    _why = why
