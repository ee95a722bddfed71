"""What partita raises. Match `reason`, a stable code; the text may change."""


class PartitaError(Exception):
    """Anything that partita refuses, with a stable `reason`."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[type["PartitaError"], tuple[str, str]]:
        return type(self), (str(self), self.reason)


class LayoutError(PartitaError, ValueError):
    """A wrong shape, map, grid, notation, index or rank."""
