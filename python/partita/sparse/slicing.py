"""Slices of other ranks: read by one rank alone, brought to many at once, replaced, added to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from partita._args import is_listed, shown
from partita._errors import LayoutError, MismatchError, TeamError
from partita._team.together import together_telling
from partita.sparse.base import Base
from partita.sparse.bringing import brought
from partita.sparse.content import Offer, added, offered, taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partita.sparse.block import Block
    from partita.sparse.slices import SliceId

# Why an owner's memory cannot be read, now or ever; a silent one is a matter of time.
_OUT_OF_REACH = ("window-reach", "window-closed", "rank-left")


class Slicing(Base):
    """Access to slices by their numbers."""

    __slots__ = ()

    def get_slice(self, slice_id: Any) -> Any:
        """Return a slice as a SciPy array, with coordinates that begin at 0 in it.

        One that this rank holds is not copied, and is read only. One of another rank is a copy,
        made without its help: from its memory or, where that is out of reach, over a connection.
        Not collective.
        """
        wanted = self._slices.checked(slice_id)
        if wanted == self.slice_id:
            return self.to_scipy()
        return self._read(wanted).to_scipy()

    def _read(self, slice_id: SliceId) -> Block:
        """A slice of another rank, by one-sided access."""
        owner = self._slices.owner(slice_id)
        if self._window is None:
            message = f"slice {slice_id} is on rank {owner}, and this tensor is not shared"
            message += "; call share() on all ranks before, or get_slices on all ranks"
            raise TeamError(message, "slice-not-shared", owner)
        try:
            arrays = self._window.read(owner)
        except TeamError as error:
            if error.reason not in _OUT_OF_REACH:
                raise
            # It has its own cure; get_slices helps where memory is apart, and nowhere else.
            message = f"slice {slice_id} cannot be read: {error}"
            raise TeamError(message, "slice-reach", owner) from error
        return type(self._block).from_arrays(
            self._slices.slice_shape(slice_id), self.format, arrays
        )

    def get_slices(self, ids: Iterable[Any]) -> list[Any]:
        """Return slices as SciPy arrays; each rank names its own, in any order. Collective.

        A slice that is named twice is brought once; both share its memory. The one that this rank
        holds is not copied, and is read only.
        """

        def look() -> tuple[list[SliceId], tuple[list[SliceId], list[int]]]:
            if not is_listed(ids):
                message = f"slices {shown(ids)}; give a list of them"
                raise LayoutError(message, "slice-id")
            wanted = [self._slices.checked(one) for one in ids]
            return wanted, (wanted, [len(one) for one in self._block.arrays])

        wanted, told = together_telling(self.team, look, "DistTensor.get_slices", self._words)
        asked = [{tuple(one) for one in names} for names, _ in told]
        found = brought(self.team, self._slices, self._block, asked, [n for _, n in told])
        found[self.slice_id] = self._block.locked()
        return [found[one].to_scipy() for one in wanted]

    def set_slice(self, slice_id: Any = None, m: Any = None) -> None:
        """Replace slices: each rank names one and its content, or nothing. Collective.

        The content is a sparse matrix of the slice's shape, which is copied; its element type must
        be one that the tensor's can hold. Several ranks may name one slice if they give the same.
        Whoever reads the tensor afterwards sees the new content, with entries where it has them.
        """

        def look() -> tuple[Offer | None, Any]:
            offer = offered(self._slices, self._block, slice_id, m)
            return offer, None if offer is None else offer.told()

        own, told = together_telling(self.team, look, "DistTensor.set_slice", self._words)
        first: dict[SliceId, int] = {}
        for rank, one in enumerate(told):
            if one is None:
                continue
            name = tuple(one[0])
            giver = first.setdefault(name, rank)
            if told[giver][1] != one[1]:
                message = f"ranks {giver} and {rank} give different content for slice {name}"
                raise MismatchError(f"{message}; give the same", "slice-differs", rank)
        if not first:
            return
        block = taken(self.team, self._slices, self._block, own, told, first)
        self._replace(block)
        # Nobody reads on before all have replaced theirs.
        self.team.barrier()

    def add_slices(self, contents: Mapping[Any, Any]) -> None:
        """Add to slices: each rank gives contents by slices, whoever holds these. Collective.

        The adjoint of `get_slices`: what several ranks give for one slice is added, in the order of
        ranks. Contents are as those of `set_slice`; this changes the tensor as that does.
        """

        def look() -> tuple[list[Offer], int]:
            if not isinstance(contents, Mapping):
                message = f"slices {shown(contents)}; give a dictionary of contents by slices"
                raise LayoutError(message, "slice-id")
            pairs = contents.items()
            offers = [offered(self._slices, self._block, one, m) for one, m in pairs]
            found = [one for one in offers if one is not None]
            return found, sum(one.block.nnz for one in found)

        offers, told = together_telling(self.team, look, "DistTensor.add_slices", self._words)
        if sum(told):
            block = added(self.team, self._slices, self._block, offers)
            self._replace(block)
        # Nobody reads on before all have replaced theirs.
        self.team.barrier()
