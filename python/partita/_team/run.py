"""Plans under way: what `plan.start` gives. `plan.apply` needs nothing of this."""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from partita._team.team import Team, a_team

if TYPE_CHECKING:
    from partita._partita import Plan


# One array, several where a rank has several buffers, or none.
Buffers: TypeAlias = np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]] | None


# Ends of plans under way: MPI must not end under their hands.
_under_way: set[threading.Event] = set()


def await_all() -> None:
    """Wait until no plan runs any more: for those that nobody has waited for."""
    for ended in list(_under_way):
        ended.wait()


class Running:
    """A plan in progress; `wait()` completes it."""

    def __init__(self, plan: Plan, local: Buffers, team: Team, out: Buffers) -> None:
        self._team = a_team(team)
        self._error: BaseException | None = None
        self._process = os.getpid()
        # Waiting for it can be broken off and begun again, which joining a thread cannot.
        self._ended = threading.Event()
        # It has the team from here on: calls of this rank before `wait` are refused.
        self._started = team.native.start(plan, local, out)
        try:
            _under_way.add(self._ended)
            # Unlike those of `threading` it waits for nothing that an interrupt could break off.
            _thread.start_new_thread(self._run, ())
        except BaseException:
            _under_way.discard(self._ended)
            raise

    def _run(self) -> None:
        _under_way.add(self._ended)
        try:
            self._started.run()
        except BaseException as error:
            # Without the frames of this thread, which would keep the object alive.
            self._error = error.with_traceback(None)
        finally:
            self._ended.set()
            _under_way.discard(self._ended)

    def wait(self) -> Any:
        """Wait for all ranks and return this rank's target buffer."""
        if os.getpid() != self._process:
            # The thread is gone: it is the parent's of a forked child.
            self._team.native.check()
        self._started.await_run()
        self._ended.wait()
        self._started.release()
        if self._error is not None:
            raise self._error
        return self._started.result

    def __del__(self) -> None:
        # Where nobody waits for it any more, the team is free when the run is over.
        if (started := getattr(self, "_started", None)) is not None:
            started.release()
