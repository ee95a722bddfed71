"""Whether ranks were given the same arrays: what each has whole of its own is to be equal.

A short digest travels with an exchange that is made anyway. `PARTITA_CHECK=1` compares all arrays
of NumPy that come in, with an exchange for each: to be asked when results are strange.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import MismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Shape, element type and a number for the elements.
Digest = tuple[str, str, int]

# Of more elements than this, so many are looked at.
_MOST_LOOKED_AT = 1024

IS_CHECKED = os.environ.get("PARTITA_CHECK", "0") not in ("", "0")


def digest(local: Local) -> Digest:
    """A few words for an array; equal ones have equal words."""
    if local.size > _MOST_LOOKED_AT and not IS_CHECKED:
        flat = local.reshape(-1) if local.flags.c_contiguous else local.flat
        local_few = np.asarray(flat[:: local.size // _MOST_LOOKED_AT])
    else:
        local_few = np.ascontiguousarray(local)
    number = zlib.crc32(local_few.tobytes())
    return (str(local.shape), str(local.dtype), number)


def refuse_different(
    told: Sequence[Sequence[Digest]], what: str, lines: Callable[[], Sequence[str]] | None = None
) -> None:
    """Refuse arrays that differ between ranks, on all of them, given every rank's digests.

    Only then all ranks ask for each other's lines.
    """
    for rank, own in enumerate(told):
        if own == told[0]:
            continue
        pairs = zip(told[0], own, strict=False)
        first, other = next(pair for pair in pairs if pair[0] != pair[1])
        facts = zip(first[:2], other[:2], strict=True)
        apart = [f"{a} on rank 0, {b} on rank {rank}" for a, b in facts if a != b]
        words = ", ".join(apart) or f"other elements on rank {rank} than on rank 0"
        message = f"{what} differ between ranks: {words}"
        if lines is not None:
            where = lines()
            message += f" (rank 0 at {where[0]}, rank {rank} at {where[rank]})"
        raise MismatchError(f"{message}; give the same on all ranks", "ranks-differ", rank)


def check(team: Team, local: Local, what: str) -> None:
    """Compare what ranks were given, if the user asks for it by PARTITA_CHECK. Collective then."""
    if IS_CHECKED and team.size > 1 and team.active:
        told = team.gather_alike("check", what, [list(digest(local))])
        refuse_different([[(a, b, c) for a, b, c in one] for one in told], what)
