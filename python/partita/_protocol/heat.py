"""What Heat's dictionaries do not say themselves.

Heat keeps its dictionary when an array is cut anew in place, and then hands on the old pieces. The
array itself knows better. Heat is never imported here: its arrays bring it with them.
"""

from __future__ import annotations

from typing import Any


def stale(obj: Any, dictionary: Any) -> list[tuple[str, str, str]]:
    """The problem that an array of Heat has other local data than its dictionary."""
    if type(obj).__module__.partition(".")[0] != "heat" or not isinstance(dictionary, dict):
        return []
    try:
        held = obj.larray
        (position,) = dictionary["locals"]
        told = dictionary["partitions"][position]["data"]
        if told.data_ptr() == held.data_ptr() and told.shape == held.shape:
            return []
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    message = (
        f"Heat's dictionary is older than its array: data of {tuple(told.shape)} where the array "
        f"now has {tuple(held.shape)}; use resplit_, or make a new array with array.copy()"
    )
    return [(f"partitions[{position}].data", "dictionary-stale", message)]
