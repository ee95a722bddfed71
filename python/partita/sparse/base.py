"""What every distributed sparse tensor has: its slices, its team, this rank's slice."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._keeper import Keeper
from partita._team.window import Window
from partita.sparse.block import read_only
from partita.sparse.fixed import fixed
from partita.sparse.kinds import VALUES, check_result

if TYPE_CHECKING:
    from typing import Self

    from partita._partita import Layout
    from partita._team.team import Team
    from partita._team.window import Sight
    from partita.sparse.access import Access
    from partita.sparse.block import Block
    from partita.sparse.slices import Slices

Local = np.ndarray[Any, Any]

# More entries than this are not listed by `print`.
_SHOWN = 20


class Base:
    """A sparse tensor over the ranks of a team. It is never changed but by `set_slice`.

    The rows of a CSR slice, and the columns of a CSC slice, are in order; a COO slice may be in
    any order. Each place comes at most once. Coordinates have one type on all ranks.
    """

    # Attributes of other names, which would do nothing, are refused.
    __slots__ = (
        *("__weakref__", "_block", "_slices", "_team", "_window", "_access", "_sights"),
        *("_known_plans", "_number", "_steps", "_known_words"),
    )

    def __init__(
        self, block: Block, slices: Slices | None = None, team: Team | None = None
    ) -> None:
        if slices is None or team is None:
            name = type(self).__name__
            message = f"{name}(..) of a {type(block).__name__}; use {name}.from_scipy"
            raise LayoutError(f"{message}, from_blocks, from_coo or from_dense", "sparse-type")
        self._block = block
        self._slices = slices
        self._team = team
        # What lets others read this rank's slice; made when ranks meet.
        self._window: Window | None = None
        # How rows come to other ranks, and the rows of those that were looked at.
        self._access: Access | None = None
        self._sights: dict[int, Sight] = {}
        self._known_plans: Keeper | None = None
        # Of the shared tensor that this one was made of, and what was done to it since; 0 and
        # nothing if there was none.
        self._number, self._steps = 0, ""
        self._known_words: str | None = None

    @property
    def _words(self) -> str:
        """What ranks compare to see that they speak of one tensor."""
        if self._known_words is None:
            facts = f"{self.shape} {self.dtype} {self.format}, {self.layout.notation}"
            self._known_words = f"tensor {self._number}{self._steps}: {facts}"
        return self._known_words

    def _met(self, call: str, own: Any, argument: str = "") -> list[Any]:
        """What every rank tells; those that make another call, or name another tensor, are told.

        Collective.
        """
        if self._team.size == 1:
            return [own]
        words = f"{self._words}; {argument}" if argument else self._words
        return self._team.gather_alike(f"DistTensor.{call}", words, own)

    @property
    def _plans(self) -> Keeper:
        """What was planned for this pattern in this layout; on every rank alike."""
        if self._known_plans is None:
            key = ("plans", self._slices.layout, self._team)
            self._known_plans = self._block.pattern.kept(key, Keeper)
        return self._known_plans

    def _revalued(self, data: Local, by: str) -> Self:
        """Return a tensor of the same pattern, whose plans it shares, with other values."""
        return self._made(self._block.with_data(data), by)

    def _made(self, block: Block, by: str, slices: Slices | None = None) -> Self:
        """Return a tensor of the same team; of the same slices unless others are given.

        `by` is what was done, its operands too: no rank asks another, but those that meet later
        with tensors of different origin are told. Nothing if it is this tensor in another form.
        """
        if block.dtype not in VALUES:
            # Types are the same on every rank; where operands are not, the others are told.
            with self._team:
                check_result(block.dtype, by.partition(" ")[0].strip("_"))
        found = type(self)(block, self._slices if slices is None else slices, self._team)
        found._number = self._number
        found._steps = _with_step(self._steps, by) if by else self._steps
        return found

    def _same(self) -> Self:
        """Return the same over the same memory; `set_slice` of one leaves the other as it is."""
        return self._made(self._block, "")

    def share(self) -> Self:
        """Let the other ranks read this rank's slice with `get_slice`, and return the tensor.

        Tensors that were made by `from_*`, files or `redistribute` are shared already; results of
        arithmetic are when somebody asks for it, because ranks have to meet for it. Collective.
        """
        if self._window is None:
            self._window = Window(self._team, self._block.arrays, name=f"DistTensor {self._words}")
            self._number, self._steps = self._window.number, ""
            self._known_words = None
        return self

    def _replace(self, block: Block) -> None:
        """Take over another slice; whatever was kept of the old one goes. No communication."""
        slices, team, window, number = self._slices, self._team, self._window, self._number
        steps = self._steps
        Base.__init__(self, block, slices, team)
        self._window, self._number, self._steps = window, number, steps
        if window is not None:
            window.replace(block.arrays)

    @fixed
    def shape(self) -> tuple[int, ...]:
        """Size of each dimension."""
        return self._slices.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @fixed
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._block.dtype

    @fixed
    def index_dtype(self) -> np.dtype[Any]:
        """Element type of the coordinates, int32 or int64."""
        return self._block.index_dtype

    @fixed
    def format(self) -> str:
        """How each slice lies in memory: csr, csc or coo."""
        return self._block.format

    @property
    def dist(self) -> tuple[str, ...]:
        """For each dimension, whether it is distributed or replicated."""
        return self._slices.dist

    @fixed
    def layout(self) -> Layout:
        """Who holds which element."""
        return self._slices.layout

    @property
    def team(self) -> Team:
        """The ranks it lies on."""
        return self._team

    @property
    def slice_id(self) -> tuple[int, ...]:
        """The slice that this rank holds."""
        return self._slices.slice_of(self._team.rank)

    @fixed
    def values(self) -> Local:
        """The values that this rank holds, in the order of its slice: a view, to be read only."""
        return read_only(self._block.data)

    @property
    def nnz_local(self) -> int:
        """Number of entries that this rank holds."""
        return self._block.nnz

    @property
    def nnz(self) -> int:
        """Number of entries of the whole tensor, copies of a slice counted once.

        Collective when it is first asked for; then it is known, for all tensors of this pattern.
        """

        def counted() -> int:
            own = self._block.nnz if self._slices.is_owner(self._team.rank) else 0
            return sum(self._met("nnz", own))

        return self._block.pattern.kept("nnz", counted)

    @property
    def size(self) -> int:
        """Number of entries of the whole tensor, as SciPy has it: `nnz`."""
        return self.nnz

    @property
    def slice_counts(self) -> tuple[int, ...]:
        """Into how many slices each dimension is cut: 1 for replicated ones."""
        return self._slices.counts

    def grid_size(self) -> tuple[int, ...]:
        """Return the extents of the grid of ranks, one per dimension.

        Along a replicated dimension ranks hold the same slice: see `slice_counts`.
        """
        return self._slices.sides

    def to_scipy(self) -> Any:
        """Return this rank's slice as a SciPy array over the same memory, to be read only.

        Its `copy()` can be changed.
        """
        return self._block.locked().to_scipy()

    def __repr__(self) -> str:
        sides = "x".join(map(str, self.shape))
        return (
            f"<DistTensor {sides} {self.dtype} {self.format}, {self.layout.notation}, "
            f"{self.nnz_local} here>"
        )

    def __str__(self) -> str:
        coords = self._slices.globalized(
            self.slice_id, [one[:_SHOWN] for one in self._block.all_coords()]
        )
        lines = [repr(self)]
        for *place, value in zip(*coords, self.values[:_SHOWN], strict=True):
            lines.append(f"  ({', '.join(str(int(at)) for at in place)})\t{value}")
        if self.nnz_local > _SHOWN:
            lines.append(f"  ... {self.nnz_local - _SHOWN} more on this rank")
        return "\n".join(lines)


def _with_step(before: str, by: str) -> str:
    """What was done to a tensor in a few words, however much it is: ranks compare them."""
    number = zlib.crc32(f"{before}; {by}".encode())
    return f" after {by.partition(' ')[0]} ({number:08x})"
