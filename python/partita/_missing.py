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
        "bmat": "block",
        "bool8": "bool",
        "busday_count": "numpy's own function, on whole arrays",
        "bytes_": "arrays of numbers, or pt.Frame",
        "char": "numpy.char itself, on texts that one rank has",
        "character": "arrays of numbers, or pt.Frame",
        "clongdouble": "complex128",
        "complex256": "complex128",
        "complex_": "complex128",
        "core": "the names of partita itself",
        "ctypeslib": "numpy.ctypeslib of a.local, this rank's part",
        "cumproduct": "cumprod",
        "datetime64": "integers: days or seconds since a day of your own",
        "datetime_as_string": "numbers, and your own text of them",
        "datetime_data": "integers: days or seconds since a day of your own",
        "flatiter": "a.flat",
        "flexible": "arrays of numbers, or pt.Frame",
        "float128": "float64",
        "float_": "float64",
        "fromregex": "asarray(numpy.fromregex(...))",
        "fromstring": "asarray(numpy.fromstring(...))",
        "get_include": "numpy.get_include itself",
        "getbufsize": "nothing: there are no buffers to set",
        "in1d": "isin",
        "Inf": "inf",
        "info": "help",
        "infty": "inf",
        "longdouble": "float64",
        "ma": "where, and the functions that begin with nan",
        "mat": "asarray, and @ for products",
        "matrix": "asarray, and @ for products",
        "memmap": "asarray(numpy.memmap(...), layout=...)",
        "NaN": "nan",
        "ndindex": "numpy.ndindex, or indices",
        "nditer": "whole-array expressions, or a loop over .local",
        "nested_iters": "whole-array expressions, or a loop over .local",
        "object_": "arrays of numbers",
        "polynomial": "poly1d, polyval, polyfit and the functions that begin with poly",
        "product": "prod",
        "rec": "one array for each field, or pt.Frame",
        "recarray": "one array for each field, or pt.Frame",
        "record": "one array for each field, or pt.Frame",
        "round_": "round",
        "setbufsize": "nothing: there are no buffers to set",
        "show_config": "the command `partita doctor`",
        "show_runtime": "the command `partita doctor`",
        "sometrue": "any",
        "str_": "arrays of numbers, or pt.Frame",
        "strings": "numpy.strings itself, on texts that one rank has",
        "test": "numpy.test itself",
        "timedelta64": "integers: days or seconds since a day of your own",
        "trapz": "trapezoid",
        "void": "one array for each field, or pt.Frame",
    },
    "numpy.lib": {
        "Arrayterator": "pieces of .local",
        "format": "save and load",
        "npyio": "save and load",
        "scimath": "partita.emath",
    },
    "numpy.random": {
        "get_bit_generator": "get_state",
        "mtrand": "partita.random",
        "random_integers": "randint, whose end is left out",
        "set_bit_generator": "seed or set_state",
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
    if not _is_about_arrays(theirs, name):
        return f"{said}; use {theirs}.{name} itself"
    return f"{said}; use {theirs}.{name} of a.gather(), if the array fits into one memory"


def _is_about_arrays(module: str, name: str) -> bool:
    """Whether something of NumPy's can be given an array: a function or a class of the kind."""
    found = getattr(importlib.import_module(module), name, None)
    return callable(found) and module not in ("numpy.lib", "numpy.testing")


def is_in(module: str, name: str) -> bool:
    """Whether a module of NumPy has a name; only whoever asks this waits for NumPy."""
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    return name in dir(found) or name in _INSTEAD.get(module, {})


def without_extra(error: ModuleNotFoundError, module: str, extra: str) -> ImportError:
    """The error for a module of partita whose package is not there; another one stays as it is."""
    if error.name is None or error.name.partition(".")[0] != extra:
        return error
    message = f"{module} needs {extra}; install it with 'pip install partita[{extra}]'"
    return ImportError(message, name=error.name)
