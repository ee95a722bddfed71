"""Exceptions that do not behave: they cannot be sent as text, or raise when they are looked at."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn


def fails(*_: Any) -> NoReturn:
    raise OSError("asked too much")


def interrupts(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


class OddText(str):
    """Text of a class of its own, which has its own ideas."""

    __str__ = __repr__ = __format__ = encode = fails  # type: ignore[assignment]


class OddName(type):
    """Classes that do not tell their name."""

    __name__ = property(fails)


class NoText(Exception):
    __str__ = fails


class NoRepr(Exception):
    __repr__ = fails


class TextInterrupts(Exception):
    __str__ = interrupts


class TextIsNumber(Exception):
    __str__ = lambda _: 3  # type: ignore[assignment,return-value]  # noqa: E731


class TextIsOdd(Exception):
    def __str__(self) -> str:
        return OddText("odd text")


class NoClass(Exception):
    __class__ = property(fails)


class NoArgs(Exception):
    args = property(fails)


class NoNotes(Exception):
    __notes__ = property(fails)


class NotesAreNumber(Exception):
    __notes__ = 3  # type: ignore[assignment]


class NoAttributes(Exception):
    __getattribute__ = __setattr__ = fails


class NoName(Exception, metaclass=OddName):
    pass


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def body() -> NoReturn:
        raise error

    return body


def deeper() -> None:
    deeper()


# What raises it, its class, and words that the other ranks are told.
ODD: dict[str, tuple[Callable[[], None], type[BaseException], tuple[str, ...]]] = {
    "half a character": (
        raising(ValueError("x" + os.fsdecode(b"\xff"))),
        ValueError,
        ("ValueError: x\\udcff",),
    ),
    "no text": (raising(NoText()), NoText, ("NoText",)),
    "no repr": (raising(NoRepr("boom")), NoRepr, ("NoRepr: boom",)),
    "text interrupts": (raising(TextInterrupts()), TextInterrupts, ("TextInterrupts",)),
    "text is a number": (raising(TextIsNumber()), TextIsNumber, ("TextIsNumber",)),
    "text is odd": (raising(TextIsOdd()), TextIsOdd, ("TextIsOdd: odd text",)),
    "no class": (raising(NoClass("boom")), NoClass, ("NoClass: boom",)),
    "no args": (raising(NoArgs("boom")), NoArgs, ("NoArgs: boom",)),
    "no notes": (raising(NoNotes("boom")), NoNotes, ("NoNotes: boom",)),
    "notes are a number": (
        raising(NotesAreNumber("boom")),
        NotesAreNumber,
        ("NotesAreNumber: boom",),
    ),
    "no attributes": (raising(NoAttributes("boom")), NoAttributes, ("NoAttributes: boom",)),
    "no name": (raising(NoName("boom")), NoName, ("NoName: boom",)),
    "a group": (
        raising(ExceptionGroup("several", [NoText(), ValueError("\udcff")])),
        ExceptionGroup,
        ("ExceptionGroup: several",),
    ),
    "too deep": (deeper, RecursionError, ("RecursionError: maximum",)),
    "no memory": (raising(MemoryError()), MemoryError, ("MemoryError",)),
    "a generator's end": (raising(GeneratorExit("boom")), GeneratorExit, ("GeneratorExit: boom",)),
    "an exit": (raising(SystemExit("\udcff")), SystemExit, ("SystemExit: \\udcff",)),
    "an interrupt": (raising(KeyboardInterrupt()), KeyboardInterrupt, ("KeyboardInterrupt",)),
}
