"""Taking over what has `__partitioned__`: each rank its own partitions, without a copy."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._errors import PartitaError, ProtocolError, ProtocolWarning, words_of
from partita._findings import Problem, problem_of, share
from partita._memory.views import as_numpy, is_frame
from partita._protocol.across_ranks import read_parts
from partita._protocol.taking_over import common_dtype, dtype_words, taker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Layout, Partitions
    from partita._team.team import Team

# What `get` is asked for at once.
Handles = list[Any]


def from_partitioned(obj: Any, *, team: Team | None = None, copy: bool | None = None) -> Array:
    """Return an array from an object with `__partitioned__`, or from the dictionary. Collective.

    Every rank of the team passes its own dictionary. The metadata is checked first, on all ranks.
    Then `get` is called once, with a list of the `data` entries that this rank needs, whether these
    are handles or arrays; what it returns is the data.
    Nothing is copied unless `copy` is true or there is no other way; `a.copies()` says which.
    """
    team, copy = taker(team, copy)
    dictionary, parts, holders = read_parts(obj, team)
    if holders is None:
        holders = _spread(parts, team)
    else:
        _warn_of_places(parts, team)
    own = holders[team.rank] if team.active else []
    layout = parts.layout(holders)
    raw, problems = _fetched(dict.get(dictionary, "get"), parts, own)
    kinds = share(team, problems, _kind(raw), "__partitioned__", "data")
    if "table" in kinds:
        _check_kinds(kinds)
        from partita._tables.frame import from_tables

        array: Array = from_tables(raw, parts, own, layout, team, copy=copy)
    else:
        array = _from_raw(raw, layout, team, copy, parts, own)
    array._held.keep = (obj, parts)
    array._held.imported = (parts, holders, _extras(dictionary))
    return array


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


def _fetched(get: Any, parts: Partitions, own: Sequence[int]) -> tuple[list[Any], list[Problem]]:
    """The data of this rank's partitions, and what went wrong on the way."""
    data = parts.data(list(own))
    if not own:
        return [], []
    try:
        return _call(get, data, parts, own), []
    except ProtocolError as error:
        return [], problem_of(error)
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
    problems: list[Problem] = []
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
    dtypes = share(team, problems, dtype_words(buffers), "__partitioned__", "elements")
    dtype = common_dtype(dtypes, parts.dtype)
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
