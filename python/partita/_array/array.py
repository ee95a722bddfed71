"""Arrays spread over a team: this rank's buffers, a layout, and what moves them.

The class is native, so that recording an operation costs no call of Python. What is written in
Python is put into it here, once, when this module is loaded.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from partita import _engines
from partita._array import export, html
from partita._array.described import Described
from partita._array.held import Held
from partita._array.limits import hold, note, refuse_too_much, take
from partita._array.notation import layout_for
from partita._array.place import here
from partita._errors import LayoutError, MismatchError, ProtocolError
from partita._memory.bfloat import as_bits
from partita._memory.views import Copied, carrier_of
from partita._partita import Array as NativeArray
from partita._partita import Layout, Whole, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._partita import Piece
    from partita._team.team import Team

    _Base = NativeArray
else:
    _Base = object

Local = np.ndarray[Any, Any]


class Methods(Described, _Base):  # type: ignore[override]
    """What Python adds to the native class: memory, layouts, movement, handing on."""

    if TYPE_CHECKING:
        # Those of the native class.
        @property
        def shape(self) -> tuple[int, ...]: ...
        @shape.setter
        def shape(self, shape: Any) -> None: ...

    def __init__(
        self,
        buffers: Sequence[Local],
        layout: Layout | Callable[[], Layout],
        team: Team,
        dtype: Any,
        *,
        reasons: Sequence[str] | None = None,
    ) -> None:
        _engines.load_methods()
        if reasons is None:
            # Made here, and nobody else's.
            for one in buffers:
                hold(team, one)
        self._hold(Held(buffers, layout, team, dtype, reasons))

    @property
    def _team(self) -> Team:
        # Whoever asks for the team only must not start what is recorded.
        return self._held.team if self._is_held else self._rank.team

    @property
    def _buffers(self) -> list[Local]:
        # What is recorded may still have to be written to them, also through another array of the
        # same memory.
        self._settle()
        held = self._held
        if not self._is_lazy and (held.team.size == 1 or _is_written(held)):
            held.team.arrays.sync()
        if held.rows is not None and self._is_ahead(held):
            carrier = carrier_of(self.dtype)
            home = plan(held.rows.layout, held.layout, carrier.name)
            rows, own = _seen_as(carrier, held.rows.buffers), _seen_as(carrier, held.buffers)
            home.apply(rows, held.team, own)
        return held.buffers

    def _is_ahead(self, held: Held) -> bool:
        """Whether its rows may have been written since its buffers were looked at."""
        n_writes = (self._n_writes, self._rank.team.n_direct_writes)
        is_ahead = n_writes != held.n_seen_writes
        held.n_seen_writes = n_writes
        return is_ahead

    @property
    def layout(self) -> Layout:
        """The layout: which rank holds which elements."""
        return self._held.layout

    @property
    def team(self) -> Team:
        """The team whose ranks hold the array."""
        return self._team

    @property
    def local(self) -> Local:
        """This rank's buffer, including its halo; not a copy.

        Of a reshaped array on several ranks it is a read-only copy, which follows what is written
        to the array; `a = a.copy()` has memory of its own.
        """
        buffers = self._buffers
        if not buffers and self._team.rank not in self.layout.ranks:
            # As others that own nothing have it.
            return np.empty((0,) * len(self.shape), self.dtype)
        if len(buffers) != 1:
            message = f"this rank has {len(buffers)} buffers; use .pieces"
            raise LayoutError(message, "buffer-count")
        return buffers[0]

    @property
    def owned(self) -> Local:
        """This rank's buffer without its halo; not a copy."""
        buffer = self.local
        pieces = self.layout.pieces(self._team.rank)
        if len(pieces) != 1 and self.layout.n_owned(self._team.rank) == buffer.size:
            return buffer
        own = [piece for piece in pieces if all(piece.owned_shape)]
        if len(own) > 1:
            message = "what this rank owns is no single box of its buffer; use .pieces"
            raise LayoutError(message, "owned-not-a-box")
        if not own:
            return buffer[tuple(slice(0, 0) for _ in buffer.shape)] if buffer.ndim else buffer
        (piece,) = own
        starts = [
            at + first - start
            for at, first, start in zip(
                piece.local_start, piece.owned_start, piece.start, strict=True
            )
        ]
        cut = zip(starts, piece.owned_shape, strict=True)
        box = tuple(slice(start, start + length) for start, length in cut)
        view: Local = self._view(buffer, box)
        return view

    @property
    def pieces(self) -> list[tuple[Piece, Local]]:
        """One (piece, buffer) pair per piece that this rank holds."""
        pairs: list[tuple[Piece, Local]] = []
        # Once, and on every rank: some have more pieces than others, or none.
        buffers = self._buffers
        if self._team.rank not in self.layout.ranks:
            return pairs
        for piece in self.layout.pieces(self._team.rank):
            cut = zip(piece.local_start, piece.shape, strict=True)
            box = tuple(slice(start, start + length) for start, length in cut)
            pairs.append((piece, self._view(buffers[piece.buffer], box)))
        return pairs

    def redistribute(self, layout: Layout | str, *, out: Local | None = None) -> Array:
        """Return the same array in another layout, given as one or by notation. Collective."""
        if isinstance(layout, str):
            layout = layout_for(self.shape, layout, self._team.size)
        moved = self._moved(layout, "redistribute", out)
        return Array(moved, layout, self._team, self.dtype)

    def _moved(
        self, layout: Layout, what: str, out: Local | None = None, words: str = ""
    ) -> list[Local]:
        carrier = carrier_of(self.dtype)
        made = plan(self.layout, layout, carrier.name)
        if out is None and self._team.rank in layout.ranks:
            n_bytes = layout.n_held(self._team.rank) * self.dtype.itemsize
            take(self._team, n_bytes, what)
        into = out if out is None else _seen_as(carrier, _listed(out))
        if words:
            # Plans are compared by numbers, which tell nobody what differs.
            self._team.say(words)
        try:
            moved = made.apply(_seen_as(carrier, self._buffers), self._team, into)
        except MismatchError as error:
            # Plans are compared by numbers that say nothing; what this rank does says more.
            way = f"{self.layout.notation} to {layout.notation}"
            error.add_note(
                f"(this rank moves an array of shape {self.shape} from {way} at {here()})"
            )
            raise
        return _seen_as(self.dtype, _listed(moved))

    def exchange_halo(self) -> Array:
        """Fill what this rank holds but does not own with the owners' values. Collective."""
        buffers, held = self._buffers, self._held
        if held.exchange is None:
            layout, carrier = held.halo_layout or held.layout, carrier_of(self.dtype)
            carried = [as_bits(one) for one in _seen_as(carrier, buffers)]
            held.exchange = plan(layout, layout, carrier.name).bind(carried, held.team, carried)
        held.exchange.run()
        return _seen(self)

    def gather(self, root: int | None = None) -> Local | None:
        """Return the whole array on every rank, or on `root` with None elsewhere. Collective."""
        if root is None and self._is_lazy:
            if self._team.size > 1:
                # A copy for all leaves the array's own memory to the engine alone.
                everywhere = self._as_whole()
                own = everywhere._held.buffers[0]
                if not everywhere._is_of(self):
                    # The engine has refused it already if it was too much.
                    note(self._team, own.nbytes, "gather")
                    return own
                take(self._team, own.nbytes, "gather")
                return own.copy()
            if self._rank.memory_limit is not None:
                refuse_too_much(self._team, self.nbytes, "gather")
            alone = self._copied_alone()
            if alone is not None:
                note(self._rank.team, alone.nbytes, "gather")
                return alone
        elif root is None and self._held.is_everywhere:
            take(self._team, self.nbytes, "gather")
            return self._buffers[0].copy()
        whole = [Whole() for _ in self.shape]
        if root is None:
            target = Layout(self.shape, whole, grid=(self._team.size,))
        else:
            target = Layout(self.shape, whole, ranks=[self._team._root(root, None)])
        listed = self._moved(target, "gather", words="" if root is None else f"gather(root={root})")
        return listed[0] if listed else None

    def to_dask(self, client: Any = None, *, root: int | None = None) -> Any:
        """Return a `dask.array` of the chunks, on every rank or on one. Collective."""
        return _engines.hand_over("dask").from_team(self, client, root=root)

    def to_ray(self, *, root: int | None = None) -> list[Any] | None:
        """Return references to the buffers in Ray's stores, in rank order. Collective."""
        refs: list[Any] | None = _engines.hand_over("ray").from_team(self, root=root)
        return refs

    def _view(self, buffer: Any, box: tuple[slice, ...]) -> Any:
        """A box of one of the buffers, as it is handed on."""
        # The dots keep a view of an array without dimensions a view.
        return buffer[(*box, ...)]

    def copy(self, order: str = "C") -> Array:
        """Return the same array in new memory, in C order."""
        if order not in ("C", "A", "K"):
            raise LayoutError(f"order {order!r}; use 'C', or transpose first", "order-unknown")
        if self._is_lazy:
            return _seen(+self)
        own = self._buffers
        held = copy(self._held)
        held.buffers = [buffer.copy() for buffer in own]
        held.reasons = ["copy=True"] * len(held.buffers)
        held.keep, held.exchange = None, None
        twin: Array = type(self).__new__(type(self))  # type: ignore[assignment]
        twin._hold(held)
        for name, value in getattr(self, "__dict__", {}).items():
            setattr(twin, name, value)
        return twin

    def copies(self) -> list[Copied]:
        """Say for each buffer of this rank whether it shares its producer's memory; if not, why."""
        reasons = enumerate(self._held.reasons)
        return [Copied(number, not reason, reason) for number, reason in reasons]

    def partition(self, position: Sequence[int]) -> Any:
        """Return the data of one partition of `__partitioned__`, given its position."""
        return export.partition(_seen(self), position)

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """The array for others: its partitions, where they are, and this rank's without a copy.

        On processes the first use is collective: the ranks tell each other where they are.
        """
        return self.partitioned()

    def partitioned(self, dialect: str = "spec") -> dict[str, Any]:
        """Return the `__partitioned__` dictionary in the dialect that a consumer reads.

        Locations are tuples (ip, pid) in "spec", ranks in "heat", and addresses in "ip". Heat
        itself reads blocks along one axis, one per rank in order; redistribute others first.
        """
        return export.partitioned(_seen(self), dialect)

    def __distarray__(self) -> dict[str, Any]:
        """This rank's buffer with a rule per dimension, for the Distributed Array Protocol."""
        return export.distarray(_seen(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Local:
        """For NumPy: this rank's memory, where it is the whole array; refused where it is not."""
        # Many are looked at once only: those need no more than their memory.
        shown = self._shown_alone() if self._is_lazy and not self._is_held else None
        whole = export.whole(_seen(self)) if shown is None else shown
        found: Local = np.array(whole, dtype=dtype, copy=copy)
        return found

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """For DLPack: this rank's memory, where it is the whole array; else a BufferError.

        A consumer asks on its own rank only, so the other ranks cannot be asked for their parts.
        """
        try:
            buffer = export.whole(_seen(self))
        except ProtocolError as error:
            # What the standard says consumers shall expect.
            raise BufferError(str(error)) from None
        options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        return buffer.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The processor's memory."""
        return (1, 0)

    def __repr__(self) -> str:
        if not self._is_held and self._rank.team.size > 1:
            # Asking where it is would compute it, which all ranks do together.
            return f"<{type(self).__name__} {self.shape} {self.dtype}, not computed yet>"
        words = f"<{type(self).__name__} {self.shape} {self.dtype}, {self.layout.notation}"
        return f"{words[:78]}…>" if len(words) > 79 else f"{words}>"

    def _repr_html_(self) -> str:
        return html.page(_seen(self))


if TYPE_CHECKING:
    from partita._functions.methods import NumPyMethods

    class Array(NumPyMethods):
        """A distributed array: every rank of a team holds its part."""

else:
    Array = NativeArray


def put_into_array(part: type, *, kept: Sequence[str] = ()) -> None:
    """Give the native class what a class of Python has, but what it keeps of its own."""
    bare = {*vars(type("Bare", (), {})), "__annotations__", "__firstlineno__"}
    for name, member in vars(part).items():
        if name not in bare and name not in kept:
            setattr(Array, name, member)


# What every array answers in loops is native.
put_into_array(Described, kept=("shape", "ndim", "dtype"))
put_into_array(Methods)


def _seen(array: NativeArray) -> Array:
    """The native class as what it is once Python's part is in it."""
    return cast("Array", array)


def _is_written(held: Held) -> bool:
    """Whether something is pending that writes these buffers, through another array of them."""
    rank = held.team.arrays
    if rank.n_pending == 0:
        return False
    bounds = np.lib.array_utils.byte_bounds
    return any(rank.is_written(*bounds(one)) for one in held.buffers)


def _seen_as(dtype: np.dtype[Any], buffers: Sequence[Local]) -> list[Local]:
    return [one if one.dtype == dtype else one.view(dtype) for one in buffers]


def _listed(moved: Any) -> list[Local]:
    if moved is None:
        return []
    return moved if isinstance(moved, list) else [moved]
