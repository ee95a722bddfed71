"""What is not there, and what is: errors for names that NumPy has and partita has not.

A module of partita asks from its `__getattr__`, with the name of NumPy's module beside it:

>>> raise no_attribute("partita", "isnat", ["isnan", "isinf"])
Traceback (most recent call last):
AttributeError: numpy.isnat has no counterpart in partita yet; the nearest is isnan
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

# What to write instead of well-known names, by NumPy's module.
_INSTEAD = {
    "numpy": {
        "alltrue": "all",
        "asfarray": "asarray(a, dtype=float)",
        "asmatrix": "asarray, and @ for products",
        "busday_count": "numpy's own function, on whole arrays",
        "bool8": "bool",
        "complex_": "complex128",
        "cumproduct": "cumprod",
        "datetime64": "integers: days or seconds since a day of your own",
        "bmat": "block",
        "clongdouble": "complex128",
        "complex256": "complex128",
        "float128": "float64",
        "float_": "float64",
        "fromstring": "asarray(numpy.fromstring(...))",
        "in1d": "isin",
        "Inf": "inf",
        "infty": "inf",
        "ma": "where, and the functions that begin with nan",
        "longdouble": "float64",
        "mat": "asarray, and @ for products",
        "NaN": "nan",
        "matrix": "asarray, and @ for products",
        "memmap": "asarray(numpy.memmap(...), layout=...)",
        "nditer": "whole-array expressions, or a loop over .local",
        "ndindex": "numpy.ndindex, or indices",
        "object_": "arrays of numbers",
        "polynomial": "poly1d, polyval, polyfit and the functions that begin with poly",
        "product": "prod",
        "recarray": "one array for each field, or pt.Frame",
        "round_": "round",
        "sometrue": "any",
        "str_": "arrays of numbers, or pt.Frame",
        "timedelta64": "integers: days or seconds since a day of your own",
        "trapz": "trapezoid",
        "void": "one array for each field, or pt.Frame",
    },
    "numpy.lib.stride_tricks": {
        "as_strided": "sliding_window_view, slices or broadcast_to",
    },
}


# Names that are less alike than this mislead: `zeros` says nothing about `roots`.
_ALIKE = 0.75


class Absent:
    """An attribute that NumPy's class has and ours has not: it is not there, and says why."""

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead
        self.__doc__ = f"Not here; use {instead}."

    def __get__(self, owner: object, kind: type) -> NoReturn:
        said = f"{kind.__name__} has no {self.name!r} here; use {self.instead}"
        raise AttributeError(said, name=self.name, obj=owner)


def no_attribute(module: str, name: str, ours: Iterable[str]) -> AttributeError:
    """The error for a name that a module of partita does not have, of those that it has.

    It says whether NumPy has the name, and what stands nearest to it here.
    """
    theirs = "numpy" + module.removeprefix("partita")
    if name.startswith("_") or not is_in(theirs, name):
        return AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
    return AttributeError(words(theirs, name, ours), name=name)


def words(theirs: str, name: str, ours: Iterable[str]) -> str:
    """What to say of a name that NumPy has and partita has not."""
    said = f"{theirs}.{name} has no counterpart in partita yet"
    if instead := _INSTEAD.get(theirs, {}).get(name):
        return f"{said}; use {instead}"
    near = difflib.get_close_matches(
        name, [one for one in ours if one[0] != "_"], n=1, cutoff=_ALIKE
    )
    if near:
        return f"{said}; the nearest is {near[0]}"
    return f"{said}; use {theirs}.{name} of a.gather(), if the array fits into one memory"


def is_in(module: str, name: str) -> bool:
    """Whether a module of NumPy has a name; only whoever asks this waits for NumPy."""
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    return name in dir(found) or name in _INSTEAD.get(module, {})
