"""The index arithmetic of the Dist dialect, one dimension at a time.

Intervals are (offset, size); slices are (offset, size, stride).

>>> default_partition(3, 1, (8, 5))
[(2, 3), (0, 5)]
>>> local_target_of_slice(16, (5, 5), (3, 10, 1))
(2, 5)
"""

from partita._partita import (
    default_partition,
    local_bounding_box,
    local_core,
    local_target_of_slice,
)

__all__ = ["default_partition", "local_bounding_box", "local_core", "local_target_of_slice"]
