"""Names for what arguments may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita._partita import Block, Cyclic, Unstructured, Whole

Extents: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Pair: TypeAlias = tuple[int, int]
Halo: TypeAlias = Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]]
Box: TypeAlias = Sequence[Extents]
Map: TypeAlias = Block | Cyclic | Whole | Unstructured
IndexArray: TypeAlias = NDArray[np.int64]
