"""A user's function of numbers, or of small arrays, for arrays that are spread."""

from __future__ import annotations

import re
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.array import Array
from partita._functions.applying import agreed, as_set_by_user, known, plain
from partita._functions.creation import an_array
from partita._functions.enclosed import with_whole_arrays
from partita._functions.locally import each_element, each_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME = r"\s*\w+\s*"
_ENTRY = rf"\s*\(({_NAME}(?:,{_NAME})*|\s*)\)\s*"
_SIGNATURE = re.compile(rf"{_ENTRY}(?:,{_ENTRY})*->{_ENTRY}(?:,{_ENTRY})*")


class _Signature(NamedTuple):
    """The names of the dimensions of each operand, and of each result."""

    operands: list[list[str]]
    results: list[list[str]]


def _signature(text: str) -> _Signature:
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"{text!r} is no signature; write one like '(m,n),(n)->(m)'")
    sides = [re.findall(r"\(([^)]*)\)", side) for side in text.split("->")]
    names = [[[n.strip() for n in one.split(",") if n.strip()] for one in side] for side in sides]
    return _Signature(*names)


class vectorize:
    """A function of numbers, for arrays: each rank calls it for the elements that it owns.

    It is a loop of Python. A function made of partita's own functions takes arrays as it is and is
    many times as fast. Results have the types of `otypes`, or those of the first element's results.
    Operands named in `excluded`, by place or name, are given to every call as they are; arrays
    among them come to every rank, as do those that the function uses by name. With a `signature`
    such as `(n),(n)->()` the function gets whole rows or matrices, as NumPy's arrays.

    >>> import partita as pt
    >>> print(pt.vectorize(lambda a, b: a if a > b else b)(pt.arange(4), 2))
    [2 2 2 3]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any] | None = None,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.pyfunc = pyfunc
        self.excluded = set(excluded or ())
        self.signature = signature
        self._form = None if signature is None else _signature(signature)
        self._options = {"otypes": otypes, "doc": doc, "cache": cache}
        # NumPy knows which types there are.
        np.vectorize(len, otypes=otypes)
        if pyfunc is not None:
            update_wrapper(self, pyfunc)
        if doc is not None:
            self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function makes of each element."""
        if self.pyfunc is None:
            # As a decorator with options: what it is called with is the function.
            (function,) = args
            otypes, doc, cache = (self._options[name] for name in ("otypes", "doc", "cache"))
            return vectorize(function, otypes, doc, self.excluded, cache, self.signature)
        places = [at for at in range(len(args)) if at not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        given = [args[at] for at in places] + [kwargs[name] for name in names]
        if not given:
            raise ValueError("a function of no operands; give one at least")
        rest = [None if at in places else known(one, "vectorize") for at, one in enumerate(args)]
        more = {name: known(one, "vectorize") for name, one in kwargs.items() if name not in names}

        function = with_whole_arrays(self.pyfunc, "vectorize")

        def called(*numbers: Any) -> Any:
            here = list(rest)
            for at, number in zip(places, numbers, strict=False):
                here[at] = number
            named = dict(zip(names, numbers[len(places) :], strict=True))
            return function(*here, **named, **more)

        if self._form is None:
            return self._of_elements(called, given)
        return self._of_entries(called, given, self._form)

    def _of_elements(self, called: Callable[..., Any], given: list[Any]) -> Any:
        team = next(an_array(one) for one in given).team

        def parts(*own: Any) -> Any:
            shape = np.broadcast_shapes(*map(np.shape, own))

            def work() -> Any:
                return None if 0 in shape else _listed(self._local(called)(*own))

            made = agreed(team, work, lambda kind: np.empty(shape, kind[1]))
            return tuple(made) if len(made) > 1 else made[0]

        return each_element(as_set_by_user(parts), *given)

    def _of_entries(self, called: Callable[..., Any], given: list[Any], form: _Signature) -> Any:
        arrays = [an_array(one) for one in given]
        _refuse_other_shapes(arrays, form.operands, self.signature)
        n_inner = [len(names) for names in form.operands]
        sizes = {
            name: size
            for one, names in zip(arrays, form.operands, strict=True)
            for name, size in zip(names, one.shape[one.ndim - len(names) :], strict=True)
        }
        lead = np.broadcast_shapes(
            *(one.shape[: one.ndim - n] for one, n in zip(arrays, n_inner, strict=True))
        )

        def parts(*own: Any) -> Any:
            here = own[0].shape[: len(lead)]

            def work() -> Any:
                return None if 0 in here else _listed(self._local(called, self.signature)(*own))

            def empty(kind: Any) -> Any:
                return np.empty((*here, *kind[0][len(lead) :]), kind[1])

            if 0 in lead:
                return [
                    np.empty((*here, *(sizes[name] for name in names)), type_)
                    for names, type_ in zip(form.results, self._types(form), strict=True)
                ]
            return agreed(arrays[0].team, work, empty)

        made = each_entry(as_set_by_user(parts), arrays, n_inner, "vectorize")
        return tuple(made) if len(made) > 1 else made[0]

    def _types(self, form: _Signature) -> list[Any]:
        """The types of results that nobody computes."""
        types = list(self._options["otypes"] or [np.float64] * len(form.results))
        unknown = {name for names in form.results for name in names}
        unknown -= {name for names in form.operands for name in names}
        if unknown:
            message = f"nothing says how many {', '.join(sorted(unknown))} there are"
            raise ValueError(f"{message} for an array without entries; give one with an entry")
        return types

    def _local(self, called: Callable[..., Any], signature: str | None = None) -> Any:
        otypes, cache = self._options["otypes"], self._options["cache"]
        return np.vectorize(plain(called), otypes, cache=cache, signature=signature)


def _listed(made: Any) -> list[Any]:
    """One or several results as a list of arrays."""
    return [np.asarray(one) for one in (made if isinstance(made, tuple) else (made,))]


def _refuse_other_shapes(
    arrays: list[Array], operands: list[list[str]], signature: str | None
) -> None:
    if len(arrays) != len(operands):
        message = f"{len(arrays)} operands for the signature {signature!r}"
        raise TypeError(f"{message}; give {len(operands)}")
    sizes: dict[str, int] = {}
    for one, names in zip(arrays, operands, strict=True):
        if one.ndim < len(names):
            message = f"an operand of shape {one.shape} for ({','.join(names)}) of {signature!r}"
            raise ValueError(f"{message}; give it {len(names)} dimensions or more")
        for name, size in zip(names, one.shape[one.ndim - len(names) :], strict=True):
            if sizes.setdefault(name, size) != size:
                message = f"dimension {name} of {signature!r} is {sizes[name]} and {size}"
                raise ValueError(f"{message}; give operands that agree")


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **options: Any) -> vectorize:
    """Return a function of numbers for arrays; results are numbers here, never objects."""
    if nout < 1 or nin < 1:
        raise ValueError(f"{nin} operands and {nout} results; use 1 or more")
    return vectorize(func)


__all__ = ["frompyfunc", "vectorize"]
