"""The errors that partita raises. Match `reason`, a stable code; the text may change."""

from typing import TypeGuard, TypeVar

E = TypeVar("E", bound=BaseException)


class PartitaError(Exception):
    """Base class of all errors that partita raises; `reason` is a stable code."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[type["PartitaError"], tuple[str, str]]:
        return type(self), (str(self), self.reason)


class LayoutError(PartitaError, ValueError):
    """An invalid shape, map, grid, notation, index or rank."""


class ElementTypeError(LayoutError, TypeError):
    """What is given as an element type is none."""


class ProgramError(PartitaError, ValueError):
    """An array program that cannot be read, breaks its dialects' rules, or cannot be run."""


class TeamError(PartitaError, RuntimeError):
    """A call on a team failed; `rank` is where it began, if one rank is to blame."""

    def __init__(self, message: str, reason: str, rank: int | None = None) -> None:
        super().__init__(message, reason)
        self.rank = rank

    def __reduce__(self) -> tuple[type["TeamError"], tuple[str, str, int | None]]:  # type: ignore[override]
        return type(self), (str(self), self.reason, self.rank)


class RemoteError(TeamError):
    """Another rank failed, left, or arrived too late."""


class MismatchError(TeamError):
    """Ranks made different calls, or used different arguments or different teams."""


class DeadlineError(TeamError):
    """A rank did not arrive in time."""


class ProtocolError(PartitaError, ValueError):
    """A dictionary breaks its protocol, or a protocol cannot express an array.

    `findings` lists every problem found, with path, reason and message.
    """

    def __init__(self, message: str, reason: str, findings: tuple[object, ...] = ()) -> None:
        super().__init__(message, reason)
        self.findings = findings


class ProtocolWarning(UserWarning):
    """A dictionary contradicts itself but can still be understood."""


class GatherWarning(UserWarning):
    """A function without a distributed algorithm brought a whole array to every rank."""


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
