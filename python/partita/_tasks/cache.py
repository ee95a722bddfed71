"""A cache that type checkers see through."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """The function with its latest results remembered."""
    return lru_cache(maxsize=64)(function)  # type: ignore[return-value]
