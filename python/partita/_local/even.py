"""Elements at addresses that native loops take."""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]


def even(block: Block) -> Block:
    """The block, or a copy where its elements lie at odd addresses, as in packed records."""
    item = block.itemsize
    is_even = block.flags.aligned and not any(stride % item for stride in block.strides)
    return block if is_even else block.copy()
