"""What partitions refuse, each the same on every worker that asks.

>>> issubclass(BroadcastRuleError, ValueError)
True
"""

from __future__ import annotations

from partita._errors import LayoutError, TeamError


class RankError(LayoutError):
    """A rank outside the partition, or one named twice."""


class BroadcastRuleError(LayoutError):
    """Two partition shapes between which nothing can be broadcast or reduced."""


class InactivePartition(TeamError):
    """A question that only the members of a partition can answer."""

    def __init__(self, what: str) -> None:
        message = f"{what} on a partition this worker is no member of; ask where `active` is true"
        super().__init__(message, "partition-inactive")

    def __reduce__(self) -> tuple[type[InactivePartition], tuple[str]]:  # type: ignore[override]
        return type(self), (str(self).split(" on a partition")[0],)
