"""The dictionaries that objects offer, and whether they can be sent."""

from __future__ import annotations

import pickle
from typing import Any

from partita._errors import ProtocolError, words_of
from partita._findings import Finding

# Attributes that hold a dictionary, newest first; the last is that of the first drafts.
PARTITIONED = ("__partitioned__", "__partitioned_interface__")
DISTARRAY = ("__distarray__",)


def dictionary_of(obj: Any, names: tuple[str, ...] = PARTITIONED + DISTARRAY) -> Any:
    """The dictionary that an object offers as property, attribute or method, or is."""
    if isinstance(obj, dict):
        return obj
    for name in names:
        try:
            value = getattr(obj, name)
            return value() if callable(value) else value
        except AttributeError:
            if hasattr(type(obj), name):
                raise
    message = (
        f"a {type(obj).__name__} has none of {', '.join(names)}; "
        "hand over an object that does, or the dictionary itself"
    )
    raise ProtocolError(message, "not-a-dict")


def unpicklable(dictionary: Any) -> list[Finding]:
    """The problem that `get` cannot be pickled, and so the dictionary cannot."""
    get = dict.get(dictionary, "get") if isinstance(dictionary, dict) else None
    if not callable(get):
        return []
    try:
        pickle.Pickler(_Nowhere(), pickle.HIGHEST_PROTOCOL).dump(get)
    except Exception as error:
        name = getattr(get, "__qualname__", type(get).__qualname__)
        words = f"{str(name)[-60:]} ({words_of(error)})"
        message = f"field 'get' is not picklable: {words}; use a function of a module"
        return [Finding("get", "get-not-picklable", message)]
    return []


class _Nowhere:
    """A file that keeps nothing: a method's object may be large."""

    def write(self, data: Any) -> int:
        return len(data)
