"""Packed parts that stay where they are: tasks of one machine read each other's memory.

A lent part is pickled as a note of a few numbers, and whoever unpickles it maps the lender's
memory. The lender may have dropped it by then (a scheduler moves data around, a worker dies): such
a part is `Gone`, and the plan runs once more with parts that travel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import TeamError
from partita._memory import sharing
from partita._partita import LentBytes, machine_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Local

# Smaller parts are sent as soon as they are lent.
SMALLEST_LOAN_BYTES = 1 << 18

ENDED = "loan-ended"


class LentPart:
    """Packed bytes that this process lends, or that it has borrowed."""

    def __init__(self, memory: LentBytes) -> None:
        self._memory = memory

    @property
    def array(self) -> Local:
        """The bytes."""
        return np.frombuffer(self._memory, np.uint8)  # type: ignore[call-overload,no-any-return]

    def __sizeof__(self) -> int:
        # Schedulers count what their workers hold.
        return len(self._memory)

    def __reduce__(self) -> tuple[Any, tuple[Sequence[int]]]:
        return borrow, (self._memory.note,)


class Gone:
    """A part that could not be borrowed, because it is lent no more or its note is wrong."""

    def __init__(self, note: Sequence[int], error: TeamError | None = None) -> None:
        self._note, self._error = note, error

    @property
    def array(self) -> Local:
        """The bytes, which are not there."""
        if self._error is not None:
            raise self._error
        message = f"process {self._note[0]} lends this part no more; run the plan again"
        raise TeamError(message, ENDED)

    def __reduce__(self) -> tuple[Any, tuple[Sequence[int]]]:
        return borrow, (self._note,)


def lend(n_bytes: int) -> LentPart | None:
    """Room for a part that others of this machine can read; none where that does not pay."""
    loan = LentBytes.lend(n_bytes) if n_bytes >= SMALLEST_LOAN_BYTES else None
    return None if loan is None else LentPart(loan)


def borrow(note: Sequence[int]) -> LentPart | Gone:
    """The part that a note tells of."""
    try:
        found = LentBytes.borrow(note)
    except TeamError as error:
        # Schedulers unpickle where nobody sees an error: whoever wants the bytes gets it.
        return Gone(note, error)
    return Gone(note) if found is None else LentPart(found)


def machine() -> str:
    """Names the processes that can borrow from each other; empty where this one does not lend."""
    return (machine_name() or "") if sharing.is_wanted() else ""
