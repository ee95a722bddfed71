"""Where in the user's program something happens."""

from __future__ import annotations

import sys
from pathlib import Path

OWN_FOLDER = str(Path(__file__).parent.parent)


def here() -> str:
    """File and line of the innermost code that is not partita's own."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN_FOLDER):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def levels_to_user() -> int:
    """How many calls above the caller that code is, as `warnings.warn` counts them."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN_FOLDER):
        frame, level = frame.f_back, level + 1
    return level
