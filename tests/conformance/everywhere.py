"""Arrays on ranks that are threads, for one program that is no rank: every call is made on all.

The program sees a module with partita's functions and stand-ins for arrays. What it calls is posted
to each rank; results that are arrays stay there, and others must be equal on all ranks, as must the
kinds of errors. So a test-suite runs once, on one thread, and still every array is split.
"""

from __future__ import annotations

import functools
import itertools
import os
import queue
import threading
from typing import Any

import partita

_METHODS = """abs add and bool complex dlpack eq float floordiv ge getitem gt index int invert
    le len lshift lt matmul mod mul ne neg or pos pow radd rand rfloordiv rlshift rmatmul rmod
    rmul ror rpow rrshift rshift rsub rtruediv rxor setitem sub truediv xor iadd iand
    ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor dlpack_device"""
_numbers = itertools.count()


class Ranks:
    """Threads that wait for calls, each with its parts of all arrays."""

    def __init__(self, n_ranks: int) -> None:
        self.n_ranks = n_ranks
        self.calls: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(n_ranks)]
        self.answers: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(n_ranks)]
        # Arrays that the program has dropped: they go everywhere before the next call.
        self.dropped: list[int] = []
        run = functools.partial(partita.spmd, self._rank, n_ranks)
        threading.Thread(target=run, daemon=True).start()

    def _rank(self, team: partita.Team) -> None:
        arrays: dict[int, Any] = {}
        while True:
            function, given, options, dropped, number = self.calls[team.rank].get()
            for one in dropped:
                del arrays[one]
            try:
                made = function(*_here(given, arrays), **_here(options, arrays))
                answer = (True, _kept(made, arrays, itertools.count(number, 1)))
            except Exception as error:
                answer = (False, error)
            # No other name may keep an array alive until the next call.
            function = given = options = made = None
            self.answers[team.rank].put(answer)

    def call(self, function: Any, *given: Any, **options: Any) -> Any:
        """Call a function on every rank; return what all of them say."""
        dropped, self.dropped = self.dropped, []
        # Room for the numbers of several results.
        number = next(_numbers) * 1000
        for calls in self.calls:
            calls.put((function, given, options, dropped, number))
        answers = [one.get() for one in self.answers]
        kinds = {type(error) for is_made, error in answers if not is_made}
        if not kinds:
            return _agreed([made for _, made in answers])
        if len(kinds) > 1 or any(is_made for is_made, _ in answers):
            raise AssertionError(f"the ranks do not end alike: {answers}")
        raise answers[0][1]


class _Kept:
    """An array that a rank keeps, by its number."""

    def __init__(self, number: int) -> None:
        self.number = number


def _here(given: Any, arrays: dict[int, Any]) -> Any:
    """Arguments with a rank's own arrays in place of stand-ins."""
    if isinstance(given, Everywhere):
        return arrays[given.number]
    if isinstance(given, slice):
        return slice(*(_here(one, arrays) for one in (given.start, given.stop, given.step)))
    if type(given) in (list, tuple):
        return type(given)(_here(one, arrays) for one in given)
    if type(given) is dict:
        return {name: _here(one, arrays) for name, one in given.items()}
    return given


def _kept(made: Any, arrays: dict[int, Any], numbers: Any) -> Any:
    """A result for the program: arrays stay on the rank."""
    if isinstance(made, partita.Array):
        number = next(numbers)
        arrays[number] = made
        return _Kept(number)
    if isinstance(made, tuple | list):
        parts = [_kept(one, arrays, numbers) for one in made]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    return made


def _agreed(said: list[Any]) -> Any:
    """What all ranks say, if it is one thing."""
    first = said[0]
    if isinstance(first, _Kept):
        return Everywhere(first.number)
    if isinstance(first, tuple | list):
        parts = [_agreed(list(ones)) for ones in zip(*said, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if type(first).__name__ != "PyCapsule" and len({repr(one) for one in said}) > 1:
        raise AssertionError(f"the ranks have different results: {said}")
    return first


RANKS = Ranks(int(os.environ["PARTITA_CONFORMANCE_RANKS"]))


class Everywhere:
    """Stands for an array that every rank has its part of."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        RANKS.dropped.append(self.number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if callable(getattr(partita.Array, name)):
            return functools.partial(RANKS.call, getattr(partita.Array, name), self)
        return RANKS.call(getattr, self, name)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        RANKS.call(partita.Array.__array_namespace__, self, api_version=api_version)
        return __import__(__name__)

    def __repr__(self) -> str:
        return f"<on {RANKS.n_ranks} ranks: {RANKS.call(repr, self)}>"


def _method(name: str) -> Any:
    native = getattr(partita.Array, name)

    # With the signature of partita's own, where that can be seen.
    @functools.wraps(native)
    def method(self: Everywhere, *given: Any, **options: Any) -> Any:
        return RANKS.call(native, self, *given, **options)

    return method


for _name in ("to_device", *(f"__{word}__" for word in _METHODS.split())):
    if hasattr(partita.Array, _name):
        setattr(Everywhere, _name, _method(_name))


class _Extension:
    """The functions of an extension."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _everywhere(getattr(self._module, name))


def _everywhere(found: Any) -> Any:
    """What the program sees of something of partita."""
    module = getattr(found, "__module__", "") or ""
    if not callable(found) or not module.startswith("partita"):
        return found

    @functools.wraps(found)
    def function(*given: Any, **options: Any) -> Any:
        return RANKS.call(found, *given, **options)

    return function


# Knows no arrays, so there is nothing to ask the ranks.
__array_namespace_info__ = partita.__array_namespace_info__


def __getattr__(name: str) -> Any:
    if name in ("linalg", "fft"):
        return _Extension(getattr(partita, name))
    return _everywhere(getattr(partita, name))
