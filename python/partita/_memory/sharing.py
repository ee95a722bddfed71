"""Which processes of one machine may touch each other's memory."""

from __future__ import annotations

import os
import sys
from functools import cache

VARIABLE = "PARTITA_SHARED_MEMORY"


def is_wanted() -> bool:
    """Whether the user lets any of them: they may unless told otherwise."""
    return n_ranks() != 0


def n_ranks() -> int | None:
    """How many ranks that follow each other may; all of a machine if none, nobody if 0."""
    return _read(os.environ.get(VARIABLE, ""))


@cache
def _read(told: str) -> int | None:
    """What a value means.

    >>> _read("0"), _read("4"), _read("1"), _read("")
    (0, 4, None, None)
    """
    if told in ("", "1"):
        return None
    # More ranks than there can be are all of them.
    if told.isascii() and told.isdigit() and int(told) < 2**63:
        return int(told)
    print(
        f"partita ignores {VARIABLE}={told}: 1 lets processes of one machine share memory, 0 none, "
        "and a number such as 4 so many ranks that follow each other",
        file=sys.stderr,
    )
    return None
