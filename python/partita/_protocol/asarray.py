"""Taking over whatever is there, for `asarray`."""

from __future__ import annotations

import math
import pickle
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.held import everywhere
from partita._array.limits import hold, refuse_too_much, take
from partita._errors import LayoutError, ProtocolError
from partita._findings import Problem, bring, problem_of
from partita._memory.views import as_numpy, is_frame
from partita._partita import Layout, a_layout
from partita._protocol.dictionary import DISTARRAY, PARTITIONED
from partita._protocol.distarray import from_distarray
from partita._protocol.partitioned import from_partitioned
from partita._protocol.taking_over import taker
from partita._team import alike
from partita._team.team import Team

if TYPE_CHECKING:
    pass


# What the dictionaries of the protocols must have.
_FIELDS = frozenset({"shape", "partitions", "partition_tiling", "get", "buffer", "dim_data"})
_PLAIN = (bool, int, float, complex, list, tuple, range)


def taken_over(
    obj: Any,
    layout: Layout | None = None,
    team: Team | None = None,
    *,
    copy: bool | None = None,
    dtype: Any = None,
) -> Array:
    """Return an array from any supported object, without a copy if possible.

    Objects with `__partitioned__` or `__distarray__` keep their distribution. Any other object is
    a whole array that every rank has; each rank keeps its part of `layout`, or all of it.
    Collective but for arrays of NumPy and lists without a layout: all ranks must pass the same
    kind of object, and get an error if they do not. Numbers of Python and lists of them are made
    in an element type, if one is given; others keep their own.
    """
    if team is None and isinstance(obj, Array):
        team = obj.team
    team, copy = taker(team, copy)
    if layout is None and (isinstance(obj, (*_PLAIN, np.generic)) or type(obj) is np.ndarray):
        # Every rank has it whole: nobody else is needed. Ranks that differ find out when they next
        # compute.
        with team:
            made = _from_whole(obj, None, team, copy, dtype)
        alike.check(team, made._held.buffers[0], "arrays")
        return made
    if layout is not None:
        with team:
            a_layout(layout)
    kind = _kind_brought(obj, team)
    if kind == "__partitioned__":
        array = from_partitioned(obj, team=team, copy=copy)
    elif kind == "__distarray__":
        array = from_distarray(obj, team=team, copy=copy)
    elif kind == "a whole array":
        return _brought_whole(obj, layout, team, copy, dtype)
    else:
        bring(team, kind, [], None)
        array = obj if isinstance(obj, Array) else _from_dask(obj)
    if layout is None or layout == array.layout:
        return array.copy() if copy and array is obj else array
    if copy is False:
        ways = f"'{array.layout.notation}' to '{layout.notation}'"
        raise ProtocolError(f"a copy is needed from {ways}; use copy=None", "copy-needed")
    return array.redistribute(layout)


def _from_dask(obj: Any) -> Any:
    from partita.dask import from_dask

    return from_dask(obj)


def _kind_brought(obj: Any, team: Team) -> str:
    """What an object is, in the words in which the ranks compare what they bring."""
    if isinstance(obj, Array):
        return "an array of partita"
    # An object's own code may raise when it is asked.
    with team:
        # A dictionary without any field of a protocol is none of one.
        fields = dict.keys(obj) & _FIELDS if isinstance(obj, dict) else frozenset()
        if _offers(obj, PARTITIONED) or (fields and "dim_data" not in fields):
            return "__partitioned__"
        if _offers(obj, DISTARRAY) or fields:
            return "__distarray__"
    return "a dask.array" if type(obj).__module__.startswith("dask.array") else "a whole array"


def _brought_whole(
    obj: Any, layout: Layout | None, team: Team, copy: bool | None, dtype: Any
) -> Array:
    """This rank's part of a whole array, once all ranks have brought one."""
    problems: list[Problem] = []
    failed: Exception | None = None
    try:
        array = _from_whole(obj, layout, team, copy, dtype)
    except Exception as error:
        failed, problems = error, problem_of(error)
    told: list[Any] = []
    try:
        told = bring(team, "a whole array", problems, None if problems else _description(array))
    except ProtocolError:
        if failed is None:
            raise
    if failed is not None:
        raise failed
    _refuse_different(told)
    return array


def _description(array: Any) -> list[str]:
    """What all ranks must say alike of a whole array; tables compare their columns themselves."""
    if not isinstance(array, Array):
        return []
    layout = array.layout
    notation = layout.notation
    if "unstructured" in notation or "boxes" in notation:
        # Lists and boxes are not in the notation: a number stands for them.
        notation += f" ({zlib.crc32(pickle.dumps(layout)):08x})"
    return [f"shape {layout.shape}", f"dtype {array.dtype}", f"layout {notation}"]


def _refuse_different(told: list[list[str]]) -> None:
    """Refuse whole arrays that differ between ranks, on all of them."""
    for rank, words in enumerate(told):
        if words != told[0]:
            first, other = next((a, b) for a, b in zip(told[0], words, strict=True) if a != b)
            message = (
                f"the ranks bring different arrays: {first} on rank 0, {other} on rank {rank}; "
                "bring the same on all of them"
            )
            raise ProtocolError(message, "ranks-differ")


def _offers(obj: Any, names: tuple[str, ...]) -> bool:
    kind, own = type(obj), getattr(obj, "__dict__", ())
    # Asking the object itself may compute the whole dictionary.
    if any(hasattr(kind, name) or name in own for name in names):
        return True
    return hasattr(kind, "__getattr__") and any(hasattr(obj, name) for name in names)


def _from_whole(
    obj: Any, layout: Layout | None, team: Team, copy: bool | None, dtype: Any
) -> Array:
    if is_frame(obj):
        from partita._tables.frame import from_whole_table

        return from_whole_table(obj, layout, team, copy=copy)
    if isinstance(obj, bytes):
        message = f"{obj[:20]!r} is a text; use frombuffer for numbers in bytes"
        raise ProtocolError(message, "data-type")
    if copy and hasattr(obj, "nbytes"):
        take(team, int(obj.nbytes), "asarray")
    if isinstance(obj, _PLAIN):
        if team.arrays.memory_limit is not None:
            refuse_too_much(team, _listed_bytes(obj), "asarray")
        whole, why = _listed(obj, copy, dtype)
    else:
        whole, why = as_numpy(obj, copy)
    if why and whole.ndim:
        hold(team, whole)
    if whole.dtype.kind in "US":
        message = f"elements of {whole.dtype} are texts; use numbers"
        raise LayoutError(message, "data-type")
    if layout is None:
        made = lambda: everywhere(whole.shape, team.size)  # noqa: E731 (few ask for it)
        array = Array([whole], made, team, whole.dtype, reasons=[why])
        array._held.keep = obj
        return array
    if layout.shape != whole.shape:
        message = f"an array of shape {whole.shape} for a layout of {layout.shape}; use one shape"
        raise LayoutError(message, "shapes-differ")
    if team.rank not in layout.ranks:
        return Array([], layout, team, whole.dtype)
    buffers, reasons = [], []
    for number in range(layout.n_buffers(team.rank)):
        part, reason = _part(whole, layout, team, number)
        if reason and copy is False:
            raise ProtocolError(f"a copy is needed: {reason}; use copy=None", "copy-needed")
        buffers.append(part)
        reasons.append(why or reason)
    array = Array(buffers, layout, team, whole.dtype, reasons=reasons)
    array._held.keep = obj
    return array


def _listed(obj: Any, copy: bool | None, dtype: Any) -> tuple[np.ndarray[Any, Any], str]:
    """An array of numbers and lists of them, in a type that must have them all."""
    if copy is False:
        raise ProtocolError("a list has no memory to share; use copy=None", "copy-needed")
    try:
        array = np.asarray(obj, dtype)
    except ValueError:
        _refuse_uneven(obj)
        raise
    if array.dtype.hasobject:
        for one in array.flat:
            if isinstance(one, int) and not -(2**63) <= one < 2**64:
                raise OverflowError(f"{one} has more than 64 bits; use a float")
        kinds = sorted({type(one).__name__ for one in array.flat} - {"int", "float", "complex"})
        message = f"elements of type {', '.join(kinds)} are no numbers, and there are no arrays of "
        raise LayoutError(f"{message}objects; use numbers, such as nan for None", "data-type")
    return array, "it was no array"


def _refuse_uneven(obj: Any) -> None:
    """Refuse lists that are no array in any type."""
    try:
        np.asarray(obj)
    except ValueError:
        message = f"{type(obj).__name__} {str(obj)[:60]} is no array of numbers"
        raise LayoutError(f"{message}; use rows of one length", "data-type") from None


def _listed_bytes(obj: Any) -> int:
    """The bytes of an array of lists whose rows are as long as the first, if numbers have eight."""
    n_bytes, inner = 8, obj
    while isinstance(inner, list | tuple | range):
        n_bytes *= len(inner)
        inner = inner[0] if len(inner) else None
    return n_bytes


def _part(whole: Any, layout: Layout, team: Team, number: int) -> tuple[Any, str]:
    """A rank's buffer: a view where it is one box, else a copy."""
    rank = team.rank
    pieces = layout.pieces(rank)
    shape = layout.local_shape(rank, buffer=number)
    if layout.maps is None or len(pieces) == 1:
        piece = pieces[number]
        if piece.shape == shape:
            box = zip(piece.start, shape, strict=True)
            # The dots keep what has no dimensions a view.
            return whole[(*(slice(start, start + length) for start, length in box), ...)], ""
    refuse_too_much(team, math.prod(shape) * whole.itemsize, "asarray")
    local = np.indices(shape).reshape(len(shape), -1).T
    index = layout.globalize(rank, local, buffer=number)
    part = whole[tuple(index.T)].reshape(shape)
    hold(team, part)
    return part, "its part is no box of the array"
