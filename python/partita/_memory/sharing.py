"""Whether processes of one machine may touch each other's memory."""

from __future__ import annotations

import os

VARIABLE = "PARTITA_SHARED_MEMORY"


def is_wanted() -> bool:
    """Whether the user lets them: they do unless told otherwise."""
    return os.environ.get(VARIABLE) != "0"
