"""A plan as tasks of Dask, each on the worker that has the data or shall have it."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from partita._tasks import worker
from partita.dask import spilling
from partita.dask.cluster import restricted, same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partita._partita import Plan
    from partita._tasks.handles import Handle
    from partita._tasks.schedule import Cut, Place


# Plans above this size (they carry lists of indices) travel once, not with every task.
LARGE_PLAN_BYTES = 1 << 16


class Submission:
    """Tasks of one run of a plan."""

    def __init__(self, client: Any, made: Plan) -> None:
        self._client = client
        self._name = f"{made.fingerprint}-{uuid4().hex[:8]}"
        self._made = made
        pickled = pickle.dumps(made)
        self._plan: Any = pickled
        if len(pickled) > LARGE_PLAN_BYTES:
            self._plan = client.submit(same, pickled, key=f"partita-plan-{self._name}")

    def cuts(self, cuts: list[Cut], handles: Mapping[int, list[Handle]]) -> list[Handle]:
        """Futures of what is cut from the slots."""
        return [
            self._submit(
                f"cut-{one.source}-{number}",
                one.place,
                spilling.cut,
                (self._plan, one, handles[one.source]),
            )
            for number, one in enumerate(cuts)
        ]

    def join(self, target: int, place: Place | None, takes: Any, parts: list[Any]) -> list[Handle]:
        """Futures of one slot's buffers, joined from its parts."""
        n_buffers = self._made.target.n_buffers(target)
        args = (self._plan, target, takes, parts)
        if n_buffers == 1:
            return [self._submit(f"join-{target}", place, worker.join_one, args)]
        joined = self._submit(f"join-{target}", place, worker.join, args)
        return [
            self._submit(f"pick-{target}-{number}", place, _pick, (joined, number))
            for number in range(n_buffers)
        ]

    def _submit(self, what: str, place: Place | None, task: Any, args: tuple[Any, ...]) -> Handle:
        where = restricted([] if place is None else [place])
        return self._client.submit(task, *args, key=f"partita-{what}-{self._name}", **where)


def _pick(buffers: Sequence[Any], number: int) -> Any:
    return buffers[number]
