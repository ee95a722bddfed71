"""Running plans on a team: from this rank's source buffers to its target buffers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from partita._memory.bfloat import as_bits, as_numbers
from partita._memory.warm import empty
from partita._team.team import Team, a_team

if TYPE_CHECKING:
    from partita._partita import Layout, Plan


# One array, several where a rank has several buffers, or none.
Buffers: TypeAlias = np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]] | None


def local_shapes(layout: Layout, rank: int) -> list[tuple[int, ...]]:
    """Shapes of a rank's buffers; none if it is not part of the layout."""
    if rank not in layout.ranks:
        return []
    return [layout.local_shape(rank, buffer=number) for number in range(layout.n_buffers(rank))]


def _listed(buffers: Buffers) -> list[Any]:
    if buffers is None:
        return []
    listed = list(buffers) if isinstance(buffers, list | tuple) else [buffers]
    return [as_bits(one) for one in listed]


def _prepare(plan: Plan, local: Buffers, team: Team, out: Buffers) -> tuple[list[Any], list[Any]]:
    shapes = local_shapes(plan.target, team.rank)
    targets = _listed(out) if out is not None else [empty(shape, plan.dtype) for shape in shapes]
    return _listed(local), targets


def _ready(plan: Plan, local: Buffers, team: Team, out: Buffers) -> tuple[list[Any], list[Any]]:
    """The buffers of both sides; the other ranks hear of it if there are none."""
    try:
        return _prepare(plan, local, team, out)
    except Exception as error:
        raise team.told(error) from None


def _result(plan: Plan, targets: list[Any], out: Buffers) -> Any:
    if out is not None:
        return out
    targets = [as_numbers(one, plan.dtype) for one in targets]
    return targets[0] if len(targets) == 1 else targets or None


def apply(plan: Plan, local: Buffers, team: Team, out: Buffers) -> Any:
    """Run a plan; give this rank's target buffer."""
    a_team(team)
    sources, targets = _ready(plan, local, team, out)
    team.native.run(plan, sources, targets)
    return _result(plan, targets, out)


class Running:
    """A plan under way; `wait()` ends it."""

    def __init__(self, plan: Plan, local: Buffers, team: Team, out: Buffers) -> None:
        a_team(team)
        self._plan, self._team, self._out = plan, team, out
        sources, self._targets = _ready(plan, local, team, out)
        self._error: BaseException | None = None
        self._is_done = False
        # It has the team from here on: calls of this rank before `wait` are refused.
        self._started = team.native.start(plan, sources, self._targets)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._started.run()
            self._is_done = True
        except BaseException as error:
            self._error = error

    def wait(self) -> Any:
        """This rank's target buffer, once all ranks are done."""
        self._started.await_run()
        self._thread.join()
        if self._error is not None:
            raise self._error
        if not self._is_done:
            # The thread is gone: it is the parent's of a forked child.
            self._team.native.check()
        return _result(self._plan, self._targets, self._out)


def start(plan: Plan, local: Buffers, team: Team, out: Buffers) -> Running:
    """Begin to run a plan."""
    return Running(plan, local, team, out)
