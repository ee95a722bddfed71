"""How arrays and other objects come into the engine that computes.

The native module calls these by name: for an operand that is none of its own, for an index, for an
array that Python holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array import export
from partita._array.held import Rows, default_layout, is_everywhere
from partita._array.limits import hold
from partita._memory import bfloat
from partita._partita import Array as NativeArray
from partita._team import alike
from partita._team.spmd import own_team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array
    from partita._partita import Layout, Rank
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

__all__ = [
    "adopt",
    "assigned",
    "elements",
    "enter",
    "from_numpy",
    "index",
    "is_everywhere",
    "operand",
    "own_rank",
]


def own_rank(team: Team | None = None) -> Rank:
    """The engine of a team on this rank; of this thread's if none is given."""
    return own_team(team).arrays


def enter(array: Array) -> None:
    """Let an array that Python holds be computed with; its memory stays its own."""
    held = array._held
    if held.is_everywhere:
        array._enter(held.team.arrays, *_place(export.whole(array)))
    elif held.layout.partial or not _enter_part(array, held.layout, held.buffers):
        # Parts that are no boxes are computed with as rows, and brought back when somebody looks.
        # Summands cannot be: which of them would change?
        moved = array.redistribute(default_layout(array.shape, held.team))
        held.rows = Rows(moved.layout, moved._buffers)
        is_writable = not held.layout.partial
        _enter_part(array, moved.layout, moved._buffers, is_writable=is_writable)


def _enter_part(
    array: Array, layout: Layout, buffers: Sequence[Local], *, is_writable: bool = True
) -> bool:
    """Enter with this rank's part; false if the layout is no box for each rank."""
    own = buffers[0] if len(buffers) else np.empty(0, array.dtype)
    is_plain = own.flags.c_contiguous and own.flags.aligned and own.dtype.isnative
    plain = own if is_plain else np.array(own, own.dtype.newbyteorder("="), order="C")
    is_writable = is_writable and own.flags.writeable
    if not is_plain and buffers is array._held.buffers:
        # From now on the array is what is computed with.
        array._held.buffers, array._held.keep = [plain], None
        array._held.reasons = ["memory that is not in C order is computed with in a copy"]
    address = plain.__array_interface__["data"][0]
    rank = array._held.team.arrays
    return array._enter_part(rank, layout, array.dtype, (address, plain, is_writable))


def from_numpy(local: Local, rank: Rank) -> Array:
    """An array in the memory of one of NumPy's, which was made for it."""
    hold(rank.team, local)
    array: Any = NativeArray.__new__(NativeArray)
    array._enter(rank, *_place(local))
    made: Array = array
    return made


def _place(local: Local) -> tuple[tuple[int, Any, int, Any, Any], Any, Any, bool]:
    """A block and the elements in it; element type; owner; whether it may be written."""
    local = np.asarray(local)
    size = local.dtype.itemsize
    is_crooked = any(stride % size for stride in local.strides) or not local.flags.aligned
    if is_crooked or not local.dtype.isnative:
        local = np.array(local, dtype=local.dtype.newbyteorder("="), order="C")
    strides = [stride // size for stride in local.strides]
    block, block_shape, owner = _block(local)
    elements = (_address(local), local.shape, strides)
    return (block, block_shape, *elements), local.dtype, owner, local.flags.writeable


def _address(local: Local) -> int:
    address: int = local.__array_interface__["data"][0]
    return address


def _block(local: Local) -> tuple[int, tuple[int, ...], Local]:
    """The memory that an array is a view of: where it begins, its shape in C order, its owner.

    Views of one block are windows of one base, so that they see each other's writes.
    """
    root = local
    while isinstance(root.base, np.ndarray):
        root = root.base
    alike = root.dtype == local.dtype and root.flags.writeable == local.flags.writeable
    for whole in (root, root.T) if alike and local.size else ():
        if whole.flags.c_contiguous:
            return _address(whole), whole.shape, root
    if local.flags.c_contiguous:
        return _address(local), local.shape, local
    first, end = np.lib.array_utils.byte_bounds(local)
    return first, ((end - first) // local.dtype.itemsize,), local


def operand(given: Any, rank: Rank) -> Any:
    """What an object is beside arrays; `NotImplemented` where it is nothing."""
    if isinstance(given, bool | int | float | complex) and not isinstance(given, np.generic):
        return given
    # What serves our functions itself has operators of its own, too.
    shows_elements = hasattr(type(given), "__array__") and not hasattr(
        type(given), "__partita_function__"
    )
    if not isinstance(given, list | tuple | range | np.ndarray | np.generic) and (
        not shows_elements or getattr(given, "__array_ufunc__", 0) is None
    ):
        return NotImplemented
    # A copy: the operation may be computed when its producer has changed it.
    local = _numbers(np.array(given))
    alike.check(rank.team, local, "operands")
    return from_numpy(local, rank)


def assigned(given: Any, rank: Rank, dtype: Any) -> Any:
    """What an object is where it is assigned to elements of a type."""
    return operand(elements(given, dtype), rank)


def _numbers(local: Local) -> Local:
    """The array, if its elements are numbers."""
    if local.dtype.kind in "biufc" or local.dtype.name == bfloat.NAME:
        return local
    message = f"elements of {local.dtype} are no numbers; convert them first"
    raise TypeError(message)


def adopt(array: Array, rank: Rank) -> Array:
    """An array of another engine, as one of this."""
    return from_numpy(np.array(array.gather()), rank)


def elements(given: Any, dtype: Any) -> Any:
    """What is written to elements of a type: NumPy makes lists for it, which arrays are cut to.

    So numbers of Python that the type does not have are refused.
    """
    if given is None and is_of_numbers(dtype) and dtype.kind in "fc":
        # In NumPy it is what is not a number.
        return np.asarray(None, dtype)
    is_listed = isinstance(given, list | tuple | range)
    return np.asarray(given, dtype) if is_listed and is_of_numbers(dtype) else given


def is_of_numbers(dtype: Any) -> bool:
    """Whether NumPy itself makes elements of a type of numbers; bfloat16 may be a mere name."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biufc"


def index(given: Any, rank: Rank) -> Array:
    """An index that is no integer and no slice, as an array."""
    if isinstance(given, NativeArray):
        _refuse_fractions(given, given.dtype)
        return given if given._rank is rank else adopt(given, rank)  # type: ignore[arg-type, return-value]
    local = np.asarray(given)
    if local.size == 0 and not isinstance(given, np.ndarray):
        local = local.astype(np.int64)
    _refuse_fractions(given, local.dtype)
    alike.check(rank.team, local, "index arrays")
    return from_numpy(np.array(local), rank)


def _refuse_fractions(given: Any, dtype: Any) -> None:
    """Refuse what is no position: elements of another type would be cut to positions."""
    if dtype.kind not in "biu":
        message = (
            f"index {given!r} is no integer, slice or mask; arrays used as indices must be of "
            "integer (or boolean) type: use astype"
        )
        raise IndexError(message)
