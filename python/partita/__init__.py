"""Arrays that live in many address spaces at once.

A layout says which rank holds which elements; a plan says what moves where:

>>> import partita as pt
>>> rows = pt.Layout((8, 8), "block, * @ 2x1")
>>> columns = pt.Layout((8, 8), [pt.Whole(), pt.Block()], grid=(1, 2))
>>> plan = pt.plan(rows, columns, dtype="float64")
>>> plan.n_messages, plan.bytes_moved
(2, 256)
"""

from partita._errors import LayoutError, PartitaError
from partita._partita import (
    Block,
    Cyclic,
    Layout,
    Move,
    Piece,
    Pieces,
    Plan,
    Run,
    Unstructured,
    Whole,
    __version__,
    plan,
)

__all__ = [
    "Block",
    "Cyclic",
    "Layout",
    "LayoutError",
    "Move",
    "PartitaError",
    "Piece",
    "Pieces",
    "Plan",
    "Run",
    "Unstructured",
    "Whole",
    "__version__",
    "plan",
]
