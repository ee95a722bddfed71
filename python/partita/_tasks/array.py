"""Arrays whose pieces are handles of a task scheduler: futures of Dask, references of Ray.

The layout's ranks are slots, each with its buffers on some worker. Plans run as tasks where the
data lies (`schedule` says which); the process that asks holds handles, never data, unless it
gathers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from partita._array.array import Array
from partita._array.described import Described
from partita._errors import LayoutError, ProtocolError, TeamError
from partita._memory.warm import empty
from partita._partita import Layout, Whole, join_parts, local_shapes, plan
from partita._tasks.chunks import ChunkGrid, chunk_grid, chunk_layout
from partita._tasks.html import page
from partita._tasks.loans import ENDED
from partita._tasks.schedule import choose_fetches, choose_places, schedule
from partita._team.team import a_team

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Local
    from partita._partita import Piece, Plan
    from partita._tasks.handles import Handle
    from partita._tasks.schedule import Cut, Place, Schedule
    from partita._team.team import Team


class TaskArray(Described, ABC):
    """An array whose slots live on the workers of a task scheduler."""

    engine = ""

    def __init__(
        self,
        handles: Mapping[int, Sequence[Handle]],
        layout: Layout,
        dtype: Any,
        places: Mapping[int, Place] | None = None,
    ) -> None:
        self._handles = {rank: list(handles[rank]) for rank in layout.ranks}
        self._layout = layout
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        # Where the tasks that made it were sent; true until the scheduler moves data.
        self._places = dict(places or {})

    @property
    def handles(self) -> list[Handle]:
        """One handle per buffer, in the order of the layout's ranks."""
        return [handle for handles in self._handles.values() for handle in handles]

    @property
    def pieces(self) -> list[tuple[Piece, Handle]]:
        """One (piece, handle) pair per piece of every slot; the piece lies in that buffer."""
        return [
            (piece, handles[piece.buffer])
            for rank, handles in self._handles.items()
            for piece in self._layout.pieces(rank)
        ]

    @property
    def locations(self) -> list[list[tuple[str, int]]]:
        """The (ip, pid) of each process that holds each handle now; queries the scheduler."""
        return self._locations(self.handles)

    def redistribute(self, layout: Layout, *, places: Mapping[int, Place] | None = None) -> Self:
        """Return the same array in another layout, moved by tasks where the data is.

        Waits for the tasks. `places` says where each slot goes; by default, slots go where most of
        their data is, spread evenly.
        """
        made = plan(self._layout, layout, self._dtype.name)
        homes = self._homes()
        if places is None:
            places = choose_places(made, homes, self._all_places())
        else:
            self._check_places(layout, places)
        try:
            return self._moved(made, schedule(made, homes, places, self._machines()), places)
        except TeamError as error:
            if error.reason != ENDED:
                raise
        return self._moved(made, schedule(made, homes, places, {}), places)

    def _check_places(self, layout: Layout, places: Mapping[int, Place]) -> None:
        known = set(self._all_places())
        if not isinstance(places, Mapping):
            message = f"places {places!r}; use a dictionary from ranks to places"
            raise LayoutError(message, "place-unknown")
        for rank, place in places.items():
            if rank not in layout.ranks:
                message = f"a place for rank {rank!r}, which the layout has not; use its ranks"
                raise LayoutError(message, "rank-unknown")
            if not isinstance(place, str) or place not in known:
                message = f"place {place!r} for rank {rank}; use one of {sorted(known)[:8]}"
                raise LayoutError(message, "place-unknown")

    def _moved(self, made: Plan, tasks: Schedule, places: Mapping[int, Place]) -> Self:
        result = type(self)(self._run(made, tasks), made.target, self._dtype, places)
        return result.sync()

    def sync(self) -> Self:
        """Wait until every piece has been computed."""
        self._wait(self.handles)
        return self

    def gather(self) -> Local:
        """Return the whole array in this process."""
        target = Layout(self.shape, [Whole() for _ in self.shape], ranks=[0])
        [buffer] = self._fetch_for(target, 0)
        return buffer

    def to_team(self, team: Team, layout: Layout) -> Array:
        """Return the array on the ranks of a team; every rank fetches only what it needs.

        Every rank calls this with the same array. Collective.
        """
        a_team(team)
        with team:
            buffers = self._fetch_for(layout, team.rank)
        team.barrier()
        return Array(buffers, layout, team, self._dtype)

    def _fetch_for(self, layout: Layout, rank: int) -> list[Local]:
        made = plan(self._layout, layout, self._dtype.name)
        shapes = local_shapes(layout, rank)
        if not shapes:
            return []
        whole, cuts = choose_fetches(made, rank)
        slots = [(source, self._handles[source]) for source in whole]
        parts = [(one.source, handle) for one, handle in self._cut_all(made, cuts)]
        fetched = iter(self._fetch([h for _, hs in slots for h in hs] + [h for _, h in parts]))
        given: list[tuple[int, Any]] = [
            (source, [np.asarray(next(fetched)) for _ in handles]) for source, handles in slots
        ]
        given += [(source, next(fetched)) for source, _ in parts]
        targets = [empty(shape, self._dtype) for shape in shapes]
        join_parts(made, rank, given, targets)
        return targets

    def _cut_all(self, made: Plan, cuts: list[Cut]) -> list[tuple[Cut, Handle]]:
        homes = self._homes() if cuts else {}
        for one in cuts:
            one.place = next(iter(homes[one.source]), None)
        return list(zip(cuts, self._submit_cuts(made, cuts), strict=True))

    def as_chunks(self) -> Self:
        """Return the same array in a layout that is a grid of chunks, each in one slot."""
        layout = chunk_layout(self._layout)
        return self if layout == self._layout else self.redistribute(layout)

    def _chunk_grid(self) -> tuple[ChunkGrid, list[Handle]]:
        """The chunks and their handles in C order; refused where the layout has none."""
        grid = chunk_grid(self._layout)
        if grid is None:
            message = (
                f"the layout {self._layout.notation} is no grid of chunks; use .as_chunks() first"
            )
            raise LayoutError(message, "layout-not-a-grid")
        return grid, [self._handles[rank][buffer] for rank, buffer in grid.slots]

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """The pieces with their handles and locations, for whoever knows that protocol."""
        grid, handles = self._chunk_grid()
        cells = zip(
            np.ndindex(*grid.shape), grid.boxes(), handles, self._locations(handles), strict=True
        )
        partitions = {
            position: {
                "start": start,
                "shape": shape,
                "data": handle,
                "location": location,
                "dtype": self._dtype,
            }
            for position, (start, shape), handle, location in cells
        }
        return {
            "shape": self.shape,
            "partition_tiling": grid.shape,
            "partitions": partitions,
            "get": self._get(),
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Local:
        """Refused: the pieces lie elsewhere."""
        message = "the pieces lie on workers; use .gather() for the whole array here"
        raise ProtocolError(message, "array-divided")

    def __repr__(self) -> str:
        name = type(self).__name__
        where = f"{len(self.handles)} pieces"
        if self._places:
            where += f" in {len(set(self._places.values()))} places"
        head, tail = f"<{name} {self.shape} {self._dtype}, ", f", {where}>"
        notation = self._layout.notation
        room = 80 - len(head) - len(tail)
        if len(notation) > room:
            notation = notation[: max(room - 3, 0)] + "..."
        return head + notation + tail

    def _repr_html_(self) -> str:
        return page(self, self.engine, self._places)

    @abstractmethod
    def _homes(self) -> dict[int, Sequence[Place]]:
        """Places that have all buffers of each slot; none where it does not matter."""

    @abstractmethod
    def _all_places(self) -> Sequence[Place]:
        """Places where tasks may run."""

    def _machines(self) -> Mapping[Place, str]:
        """Names of places; tasks in places of one name read each other's memory."""
        return {}

    @abstractmethod
    def _locations(self, handles: list[Handle]) -> list[list[tuple[str, int]]]: ...

    @abstractmethod
    def _submit_cuts(self, made: Plan, cuts: list[Cut]) -> list[Handle]: ...

    @abstractmethod
    def _run(self, made: Plan, tasks: Schedule) -> dict[int, list[Handle]]: ...

    @abstractmethod
    def _fetch(self, handles: list[Handle]) -> list[Any]: ...

    @abstractmethod
    def _wait(self, handles: list[Handle]) -> None: ...

    @abstractmethod
    def _get(self) -> Callable[[Any], Any]: ...
