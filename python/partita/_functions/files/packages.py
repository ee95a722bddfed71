"""Packages that only some files need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def package(name: str, what: str) -> Any:
    """A package, for files of a kind; it may be missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{what} needs {name}; install it with 'pip install {name}'"
        raise ImportError(message, name=name) from None
