"""What partita raises. Match `reason`, a stable code; the text may change."""

from typing import TypeGuard, TypeVar

E = TypeVar("E", bound=BaseException)


class PartitaError(Exception):
    """Anything that partita refuses, with a stable `reason`."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[type["PartitaError"], tuple[str, str]]:
        return type(self), (str(self), self.reason)


class LayoutError(PartitaError, ValueError):
    """A wrong shape, map, grid, notation, index or rank."""


class TeamError(PartitaError, RuntimeError):
    """A call on a team that failed; `rank` is where it began, if one rank is to blame."""

    def __init__(self, message: str, reason: str, rank: int | None = None) -> None:
        super().__init__(message, reason)
        self.rank = rank

    def __reduce__(self) -> tuple[type["TeamError"], tuple[str, str, int | None]]:  # type: ignore[override]
        return type(self), (str(self), self.reason, self.rank)


class RemoteError(TeamError):
    """Another rank failed, has left, or came too late."""


class MismatchError(TeamError):
    """Ranks made different calls, or the same with different arguments or on different teams."""


class DeadlineError(TeamError):
    """A rank did not come in time."""


class ProtocolError(PartitaError, ValueError):
    """A dictionary that breaks its protocol, or an array that a protocol cannot express.

    `findings` has every problem that was found, with path, reason and message.
    """

    def __init__(self, message: str, reason: str, findings: tuple[object, ...] = ()) -> None:
        super().__init__(message, reason)
        self.findings = findings


class ProtocolWarning(UserWarning):
    """A dictionary that can be understood and yet contradicts itself."""


def is_a(error: BaseException, kind: type[E]) -> TypeGuard[E]:
    """Whether an exception is of a class; `isinstance` asks the exception, which may raise."""
    return issubclass(type(error), kind)


def text_of(error: BaseException) -> str:
    r"""What an exception says, as text that can be sent; an exception's own code may raise.

    >>> text_of(ValueError("x\udcff"))
    'x\\udcff'
    """
    try:
        return str.encode(str(error), "utf-8", "backslashreplace").decode()
    except BaseException:
        # Whoever asks has others to tell, who wait: even Ctrl-C comes second.
        return "(it raises when asked for its text)"


def words_of(error: BaseException) -> str:
    """An exception's class and what it says."""
    # The class itself is not asked: a metaclass may raise as well.
    name = type.__dict__["__name__"].__get__(type(error))
    return f"{name}: {text_of(error)}"
