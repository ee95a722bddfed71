"""Taking arrays over from others: `from_partitioned`, `from_distarray`, `asarray`."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from partita import _joint
from partita._args import a_layout, a_team
from partita._array import Array
from partita._bfloat import NAME as BFLOAT
from partita._bfloat import taught
from partita._check import DISTARRAY, PARTITIONED
from partita._errors import LayoutError, PartitaError, ProtocolError, ProtocolWarning, words_of
from partita._foreign import as_numpy, checked_copy, is_frame
from partita._partita import Layout, Whole
from partita._team import Team, world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Partitions

# What `get` is asked for at once.
Handles = list[Any]

_PLAIN = (bool, int, float, complex, list, tuple)


def from_partitioned(obj: Any, *, team: Team | None = None, copy: bool | None = None) -> Array:
    """An array from an object with `__partitioned__`, or from the dictionary. Collective.

    Every rank of the team hands over its own dictionary. The metadata is checked first, on all
    ranks; `get` is called afterwards, once, with a list of the data that this rank needs, be it
    handles or arrays: what it gives is the data.
    Nothing is copied unless `copy` is true or there is no other way; `a.copies()` says which.
    """
    team, copy = _taker(team, copy)
    dictionary, parts, holders = _joint.read_parts(obj, team)
    if holders is None:
        holders = _spread(parts, team)
    else:
        _warn_of_places(parts, team)
    own = holders[team.rank] if team.active else []
    layout = parts.layout(holders)
    raw, problems = _fetched(dict.get(dictionary, "get"), parts, own)
    kinds = _joint.share(team, problems, _kind(raw), "__partitioned__", "data")
    if "table" in kinds:
        _check_kinds(kinds)
        from partita._frame import from_tables

        array: Array = from_tables(raw, parts, own, layout, team, copy=copy)
    else:
        array = _from_raw(raw, layout, team, copy, parts, own)
    array._keep = (obj, parts)
    array._imported = (parts, holders, _extras(dictionary))
    return array


def _taker(team: Team | None, copy: Any) -> tuple[Team, bool | None]:
    """Who takes an array over, and whether by a copy; the others hear of a wrong flag."""
    team = world() if team is None else a_team(team)
    with team:
        return team, checked_copy(copy)


def _kind(raw: list[Any]) -> str | None:
    """What this rank's pieces are; nothing is known of none."""
    if not raw:
        return None
    return "table" if is_frame(raw[0]) else "array"


def _check_kinds(kinds: list[str | None]) -> None:
    if "array" in kinds:
        message = (
            f"tables on rank {kinds.index('table')}, arrays on rank {kinds.index('array')}; "
            "hand over one kind"
        )
        raise ProtocolError(message, "data-types-differ")


def _spread(parts: Partitions, team: Team) -> list[list[int]]:
    """Who takes which partition where any rank can read all of them."""
    n_parts = len(parts)
    if team.size == 1:
        return [list(range(n_parts))]
    ranks = [None if place is None else place[0] for place in parts.first_places()]
    if any(rank is None or rank >= team.size for rank in ranks):
        cuts = np.linspace(0, n_parts, team.size + 1).astype(int)
        return [list(range(cuts[at], cuts[at + 1])) for at in range(team.size)]
    holders: list[list[int]] = [[] for _ in range(team.size)]
    for number, rank in enumerate(ranks):
        holders[rank or 0].append(number)
    return holders


def _warn_of_places(parts: Partitions, team: Team) -> None:
    """Heat names only the last rank of a replicated array."""
    if team.size == 1:
        return
    for number in parts.locals or ():
        ranks = [place[0] for place in parts.locations(number)]
        if ranks and None not in ranks and team.rank not in ranks:
            message = (
                f"partition {parts.position(number)} is local on rank {team.rank}, but its "
                f"location does not list this rank: {ranks}; the local data is used"
            )
            warnings.warn(message, ProtocolWarning, stacklevel=4)
            return


def _fetched(
    get: Any, parts: Partitions, own: Sequence[int]
) -> tuple[list[Any], list[_joint.Problem]]:
    """The data of this rank's partitions, and what went wrong on the way."""
    data = parts.data(list(own))
    if not own:
        return [], []
    try:
        return _call(get, data, parts, own), []
    except ProtocolError as error:
        return [], _joint.problem_of(error)
    except Exception as error:
        message = f"get raised {words_of(error)}"
        return [], [("get", "get-raised", message)]


def _call(get: Any, handles: Handles, parts: Partitions, own: Sequence[int]) -> list[Any]:
    """Ask for all handles at once; one by one where `get` takes only one."""
    try:
        got = get(list(handles))
        found = _one_each(got, len(handles))
        if found is None:
            found = _rows(got, parts, own)
        if found is not None:
            return found
        words = f"{len(got)} of them" if isinstance(got, list | tuple) else type(got).__name__
        message = f"get of {len(handles)} handles gave {words}; give one object per handle"
        refusal: Exception = ProtocolError(message, "get-result")
        # An array for a list of handles: it may take one at a time, and index by them.
        if not hasattr(got, "shape"):
            raise refusal
    except PartitaError:
        raise
    except Exception as error:
        refusal = error
    try:
        return [get(handle) for handle in handles]
    except Exception:
        raise refusal from None


def _one_each(got: Any, n_handles: int) -> list[Any] | None:
    """What `get` gave, as a list, if it is a list of as many objects in any form."""
    is_list = isinstance(got, list | tuple | deque | Iterator)
    if isinstance(got, np.ndarray) and got.dtype.hasobject and got.ndim == 1:
        is_list = True
    if not is_list:
        return None
    found = list(got)
    return found if len(found) == n_handles else None


def _rows(got: Any, parts: Partitions, own: Sequence[int]) -> list[Any] | None:
    """The rows of one array that has one for each partition: they need not be asked for again."""
    shape = tuple(getattr(got, "shape", ()))
    if shape[:1] != (len(own),) or any(parts.part_shape(at) != shape[1:] for at in own):
        return None
    return list(got)


def _from_raw(
    raw: list[Any],
    layout: Layout,
    team: Team,
    copy: bool | None,
    parts: Partitions,
    own: Sequence[int],
) -> Array:
    """An array of arrays, once all ranks agree on what its elements are."""
    buffers: list[np.ndarray[Any, Any]] = []
    reasons: list[str] = []
    problems: list[_joint.Problem] = []
    if not copy and _are_plain(raw) and parts.fit(own, raw):
        # The usual case, and possibly a hundred thousand pieces.
        buffers, reasons = raw, [""] * len(raw)
    else:
        for number, one in zip(own, raw, strict=True):
            try:
                _check_piece(one, raw[0], number, parts)
                array, why = as_numpy(one, copy)
                _check_array(array, buffers, number, parts)
                buffers.append(array)
                reasons.append(why)
            except ProtocolError as error:
                path = f"partitions[{parts.position(number)}].data"
                problems.append((path, error.reason, str(error)))
    dtypes = _joint.share(team, problems, _dtype_words(buffers), "__partitioned__", "elements")
    dtype = _common(dtypes, parts.dtype)
    return Array(buffers, layout, team, dtype, reasons=reasons)


def _are_plain(raw: list[Any]) -> bool:
    """Whether these are arrays of NumPy whose elements are numbers as we have them."""
    if not all(type(one) is np.ndarray for one in raw):
        return False
    return not raw or (raw[0].dtype.isnative and not raw[0].dtype.hasobject)


def _check_piece(one: Any, first: Any, number: int, parts: Partitions) -> None:
    if one is None:
        message = f"get gave None for partition {parts.position(number)}; give its data"
        raise ProtocolError(message, "get-result")
    if type(one) is not type(first):
        message = f"a {type(one).__name__} here, a {type(first).__name__} before; use one type"
        raise ProtocolError(message, "data-types-differ")


def _check_array(array: Any, before: list[Any], number: int, parts: Partitions) -> None:
    wanted = parts.part_shape(number)
    if array.shape != wanted:
        message = f"data of shape {array.shape} in a partition of shape {wanted}; make them equal"
        raise ProtocolError(message, "data-shape")
    if before and array.dtype != before[0].dtype:
        message = f"elements of {array.dtype} here, of {before[0].dtype} before; use one dtype"
        raise ProtocolError(message, "data-dtypes-differ")


def _dtype_words(buffers: list[Any]) -> Any:
    if not buffers:
        return None
    dtype = buffers[0].dtype
    if dtype.name == BFLOAT:
        return BFLOAT
    # Text of a structured dtype is the list of its fields.
    return str(dtype.descr) if dtype.names else dtype.str


def _common(told: list[Any], named: str | None) -> np.dtype[Any]:
    """The element type of all ranks; a rank without data has none."""
    words = sorted({word for word in told if word is not None})
    if len(words) > 1:
        ranks = {word: told.index(word) for word in words}
        listed = ", ".join(f"{word} on rank {rank}" for word, rank in ranks.items())
        raise ProtocolError(f"the ranks' elements differ: {listed}; use one dtype", "ranks-differ")
    if words == [BFLOAT]:
        return taught()
    if words:
        from ast import literal_eval

        found: np.dtype[Any] = np.dtype(
            literal_eval(words[0]) if words[0].startswith("[") else words[0]
        )
        return found
    try:
        return np.dtype(named or "float64")
    except TypeError:
        return np.dtype("float64")


def _extras(dictionary: dict[str, Any]) -> tuple[dict[str, Any], dict[Any, dict[str, Any]]]:
    """Fields that the protocol does not know, of the dictionary and of its partitions."""
    known = {"shape", "partition_tiling", "partitions", "locals", "local", "get"}
    own = {"start", "shape", "data", "location"}
    top = {key: value for key, value in dict.items(dictionary) if key not in known}
    parts = {
        tuple(int(at) for at in key): {
            name: value for name, value in dict.items(entry) if name not in own
        }
        for key, entry in dict.items(dict.get(dictionary, "partitions", {}))
        if len(entry) > 4
    }
    return top, parts


def from_distarray(obj: Any, *, team: Team | None = None, copy: bool | None = None) -> Array:
    """An array from an object with `__distarray__`, or from the dictionary. Collective.

    Every rank of the team hands over its own dictionary, in the order of the process grid. The
    buffer is shared unless `copy` is true or there is no other way.
    """
    team, copy = _taker(team, copy)
    read, layout, halo = _joint.read_dims(obj, team)
    problems: list[_joint.Problem] = []
    buffers: list[np.ndarray[Any, Any]] = []
    reasons: list[str] = []
    try:
        buffer, why = as_numpy(read.buffer, copy)
        buffers, reasons = [buffer], [why]
    except ProtocolError as error:
        problems = [("buffer", error.reason, str(error))]
    dtypes = _joint.share(team, problems, _dtype_words(buffers), "__distarray__", "elements")
    array = Array(buffers, layout, team, _common(dtypes, None), reasons=reasons)
    array._keep = obj
    array._halo_layout = halo
    array._boundary = read.boundary
    return array


def asarray(
    obj: Any,
    layout: Layout | None = None,
    team: Team | None = None,
    *,
    copy: bool | None = None,
) -> Array:
    """An array from whatever is there, without a copy where that is possible.

    Objects with `__partitioned__` or `__distarray__` are taken over as they are distributed;
    others are whole arrays that every rank has, of which each rank keeps its part of `layout`, or
    all of it. Collective: all ranks bring the same kind of object, and are told if they do not.
    """
    if team is None and isinstance(obj, Array):
        team = obj.team
    team, copy = _taker(team, copy)
    if layout is not None:
        with team:
            a_layout(layout)
    kind = _kind_brought(obj, team)
    if kind == "__partitioned__":
        array = from_partitioned(obj, team=team, copy=copy)
    elif kind == "__distarray__":
        array = from_distarray(obj, team=team, copy=copy)
    elif kind == "a whole array":
        return _brought_whole(obj, layout, team, copy)
    else:
        _joint.bring(team, kind, [], None)
        array = obj if isinstance(obj, Array) else import_module("partita.dask").from_dask(obj)
    if layout is None or layout == array.layout:
        return array.copy() if copy and array is obj else array
    return array.redistribute(layout)


def _kind_brought(obj: Any, team: Team) -> str:
    """What an object is, in the words in which the ranks compare what they bring."""
    if isinstance(obj, Array):
        return "an array of partita"
    # An object's own code may raise when it is asked.
    with team:
        if _offers(obj, PARTITIONED) or (isinstance(obj, dict) and "dim_data" not in obj):
            return "__partitioned__"
        if _offers(obj, DISTARRAY) or isinstance(obj, dict):
            return "__distarray__"
    return "a dask.array" if type(obj).__module__.startswith("dask.array") else "a whole array"


def _brought_whole(obj: Any, layout: Layout | None, team: Team, copy: bool | None) -> Array:
    """This rank's part of a whole array, once all ranks have brought one."""
    problems: list[_joint.Problem] = []
    failed: Exception | None = None
    try:
        array = _from_whole(obj, layout, team, copy)
    except Exception as error:
        failed, problems = error, _joint.problem_of(error)
    try:
        _joint.bring(team, "a whole array", problems, None)
    except ProtocolError:
        if failed is None:
            raise
    if failed is not None:
        raise failed
    return array


def _offers(obj: Any, names: tuple[str, ...]) -> bool:
    kind, own = type(obj), getattr(obj, "__dict__", ())
    # Asking the object itself may compute the whole dictionary.
    if any(hasattr(kind, name) or name in own for name in names):
        return True
    return hasattr(kind, "__getattr__") and any(hasattr(obj, name) for name in names)


def _from_whole(obj: Any, layout: Layout | None, team: Team, copy: bool | None) -> Array:
    if is_frame(obj):
        from partita._frame import from_whole_table

        return from_whole_table(obj, layout, team, copy=copy)
    whole, why = _listed(obj, copy) if isinstance(obj, _PLAIN) else as_numpy(obj, copy)
    if layout is None:
        grid = (*(1 for _ in whole.shape), team.size)
        layout = Layout(whole.shape, [Whole() for _ in whole.shape], grid=grid)
    if layout.shape != whole.shape:
        message = f"an array of shape {whole.shape} for a layout of {layout.shape}; use one shape"
        raise LayoutError(message, "shapes-differ")
    if team.rank not in layout.ranks:
        return Array([], layout, team, whole.dtype)
    buffers, reasons = [], []
    for number in range(layout.n_buffers(team.rank)):
        part, reason = _part(whole, layout, team.rank, number)
        if reason and copy is False:
            raise ProtocolError(f"a copy is needed: {reason}; use copy=None", "copy-needed")
        buffers.append(part)
        reasons.append(why or reason)
    array = Array(buffers, layout, team, whole.dtype, reasons=reasons)
    array._keep = obj
    return array


def _listed(obj: Any, copy: bool | None) -> tuple[np.ndarray[Any, Any], str]:
    """An array of numbers and lists of them."""
    message = f"{type(obj).__name__} {str(obj)[:60]} is no array of numbers; use rows of one length"
    if copy is False:
        raise ProtocolError("a list has no memory to share; use copy=None", "copy-needed")
    try:
        array = np.asarray(obj)
    except ValueError:
        raise LayoutError(message, "data-type") from None
    if array.dtype.hasobject:
        raise LayoutError(message, "data-type")
    return array, "it was no array"


def _part(whole: Any, layout: Layout, rank: int, number: int) -> tuple[Any, str]:
    """A rank's buffer: a view where it is one box, else a copy."""
    pieces = layout.pieces(rank)
    shape = layout.local_shape(rank, buffer=number)
    if layout.maps is None or len(pieces) == 1:
        piece = pieces[number]
        if piece.shape == shape:
            box = zip(piece.start, shape, strict=True)
            return whole[tuple(slice(start, start + length) for start, length in box)], ""
    local = np.indices(shape).reshape(len(shape), -1).T
    index = layout.globalize(rank, local, buffer=number)
    return whole[tuple(index.T)].reshape(shape), "its part is no box of the array"
