"""What partitions refuse, each the same on every worker that asks.

>>> issubclass(BroadcastRuleError, ValueError)
True
"""

from __future__ import annotations

from partita._errors import LayoutError, TeamError


class RankError(LayoutError):
    """A rank is outside the partition, or is named twice."""


class BroadcastRuleError(LayoutError):
    """Nothing can be broadcast or reduced between two partition shapes."""


class InactivePartition(TeamError):
    """Only the members of a partition can answer this."""

    def __init__(self, what: str) -> None:
        message = f"{what} on a partition this worker is no member of; ask where `active` is true"
        super().__init__(message, "partition-inactive")

    def __reduce__(self) -> tuple[type[InactivePartition], tuple[str]]:  # type: ignore[override]
        return type(self), (str(self).split(" on a partition")[0],)
