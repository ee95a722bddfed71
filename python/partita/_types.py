"""Names for what arguments may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita._partita import Block, Cyclic, Unstructured, WarmMemory, Whole

Numbers: TypeAlias = Sequence[SupportsIndex] | NDArray[np.integer[Any]]
Extents: TypeAlias = SupportsIndex | Numbers
Pair: TypeAlias = tuple[int, int]
Halo: TypeAlias = Numbers | Sequence[Numbers]
Box: TypeAlias = Sequence[Extents]
Map: TypeAlias = Block | Cyclic | Whole | Unstructured
IndexArray: TypeAlias = NDArray[np.int64]
Local: TypeAlias = NDArray[Any]
# Sparse matrices by rows: pointers, columns, values; fresh ones as memory, with their entries.
LocalCsr: TypeAlias = tuple[Local, Local, Local]
MadeCsr: TypeAlias = tuple[WarmMemory, WarmMemory, WarmMemory, int]

# Of the protocols: path, reason and message; rank, address, process id and device; a position.
Found: TypeAlias = tuple[str, str, str]
Place: TypeAlias = tuple[int | None, str | None, int | None, tuple[int, int] | None]
Position: TypeAlias = tuple[int, ...]
