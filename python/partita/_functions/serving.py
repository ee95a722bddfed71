"""Operands that serve functions themselves: sparse tensors, of which arrays know nothing.

Whatever has `__partita_function__(name, args, options)` is asked in place of the function, as NumPy
asks for `__array_function__`. Functions of each element are native, and do not ask.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def serves(given: Any) -> bool:
    """Whether an operand serves functions itself."""
    return hasattr(type(given), "__partita_function__")


def served(function: F) -> F:
    """Let operands serve a function of partita, by its own name."""
    return served_as(function.__name__)(function)


def served_as(name: str) -> Callable[[F], F]:
    """Let operands serve a function by its name below `partita`."""

    def decorated(function: F) -> F:
        @wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            # Operands come first: behind them are axes and the like.
            for one in args[:2] or options.values():
                if serves(one):
                    return one.__partita_function__(name, args, options)
            return function(*args, **options)

        made: Any = called
        found: F = made
        return found

    return decorated
