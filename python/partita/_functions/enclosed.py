"""Arrays that a user's function uses by name, brought to every rank.

Ranks call such a function for their own elements, one more often than another: inside, nothing of
all ranks can be computed. So it is given whole arrays of NumPy, which it may only read, for those
that its closure, its defaults and its global names have. What it reaches in other ways, in lists or
attributes, stays what it is, and is refused when it is used.
"""

from __future__ import annotations

import dis
import functools
import types
from typing import TYPE_CHECKING, Any

from partita._array.array import Array
from partita._functions.gathered import few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def with_whole_arrays(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same function, with whole arrays for spread ones. Collective."""
    bare: Any = function
    while isinstance(bare, functools.partial):
        bare = bare.func
    made: Callable[..., Any] = _Bringing(name, getattr(bare, "__globals__", {})).brought(function)
    return made


class _Bringing:
    """What has been brought for one call; each array and function once."""

    def __init__(self, name: str, home: dict[str, Any]) -> None:
        self._name = name
        # The names of the module of the function: others' modules have no arrays of this one.
        self._home = home
        self._done: dict[int, Any] = {}

    def brought(self, value: Any) -> Any:
        """What stands for a value inside: itself, unless it is an array or leads to one."""
        if id(value) in self._done or not self._leads_to_arrays(value):
            return self._done.get(id(value), value)
        if isinstance(value, Array):
            made = self._done[id(value)] = self._whole(value)
            return made
        if isinstance(value, functools.partial):
            args, named = map(self.brought, value.args), self._named(value.keywords)
            return functools.partial(self.brought(value.func), *args, **named)
        return self._function(value)

    def _whole(self, array: Array) -> Any:
        made = few(array, self._name).view()
        # What is written here would be lost.
        made.flags.writeable = False
        return made if made.ndim else made[()]

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        return {name: self.brought(one) for name, one in given.items()}

    def _function(self, given: types.FunctionType) -> Any:
        """The same function; names that lead to no arrays are still shared with the old one."""
        old = given.__closure__ or ()
        cells = tuple(
            types.CellType() if self._leads_to_arrays(_content(one)) else one for one in old
        )
        known = self._globals_of(given)
        is_shared = not any(map(self._leads_to_arrays, known.values()))
        names = given.__globals__ if is_shared else dict(given.__globals__)
        made = types.FunctionType(given.__code__, names, given.__name__, None, cells)
        # Functions that call themselves, or each other, find the new ones.
        self._done[id(given)] = made
        for before, cell in zip(old, cells, strict=True):
            if cell is not before:
                cell.cell_contents = self.brought(_content(before))
        if not is_shared:
            names.update(self._named(known))
        made.__defaults__ = tuple(map(self.brought, given.__defaults__ or ())) or None
        made.__kwdefaults__ = self._named(given.__kwdefaults__ or {}) or None
        return made

    def _leads_to_arrays(self, value: Any, seen: set[int] | None = None) -> bool:
        """Whether a value is a spread array, or a function that uses one by name."""
        seen = set() if seen is None else seen
        if id(value) in seen:
            return False
        seen.add(id(value))
        if isinstance(value, Array):
            return value.team.size > 1
        if isinstance(value, functools.partial):
            inside: list[Any] = [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, types.FunctionType):
            inside = [*map(_content, value.__closure__ or ()), *(value.__defaults__ or ())]
            inside += [*(value.__kwdefaults__ or {}).values(), *self._globals_of(value).values()]
        else:
            return False
        return any(self._leads_to_arrays(one, seen) for one in inside)

    def _globals_of(self, function: types.FunctionType) -> dict[str, Any]:
        known = function.__globals__
        if known is not self._home or _is_ours(function):
            return {}
        return {name: known[name] for name in _global_names(function.__code__) if name in known}


def _is_ours(function: types.FunctionType) -> bool:
    """Whether it is one of partita's, which use no arrays by name and call many others."""
    return (function.__module__ or "").partition(".")[0] == "partita"


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # Not bound yet.
        return None


@functools.lru_cache(maxsize=256)
def _global_names(code: types.CodeType) -> list[str]:
    """The global names that a function reads; none where it sets some, which must stay shared."""
    found = list(_instructions(code))
    if any(one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for one in found):
        return []
    return [one.argval for one in found if one.opname == "LOAD_GLOBAL"]


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Those of a function, and of functions that it makes."""
    yield from dis.get_instructions(code)
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _instructions(one)


__all__ = ["with_whole_arrays"]
