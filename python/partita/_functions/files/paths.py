"""What is given as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def path_of(file: Any) -> Path:
    """A path, which every rank can open for itself."""
    try:
        return Path(os.fspath(file))
    except TypeError:
        kind = type(file).__name__
        raise TypeError(f"a {kind} as file; use a path, which every rank can open") from None
