"""Plans under way: what `plan.start` gives. `plan.apply` needs nothing of this."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from partita._team.team import Team, a_team

if TYPE_CHECKING:
    from partita._partita import Plan


# One array, several where a rank has several buffers, or none.
Buffers: TypeAlias = np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]] | None


# Threads that run plans: MPI must not end under their hands.
_under_way: set[threading.Thread] = set()


def await_all() -> None:
    """Wait until no plan runs any more: for those that nobody has waited for."""
    for thread in list(_under_way):
        thread.join()


class Running:
    """A plan in progress; `wait()` completes it."""

    def __init__(self, plan: Plan, local: Buffers, team: Team, out: Buffers) -> None:
        self._team = a_team(team)
        self._error: BaseException | None = None
        self._is_done = False
        # It has the team from here on: calls of this rank before `wait` are refused.
        self._started = team.native.start(plan, local, out)
        self._thread = threading.Thread(target=self._run, daemon=True)
        _under_way.add(self._thread)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._started.run()
            self._is_done = True
        except BaseException as error:
            self._error = error
        finally:
            _under_way.discard(threading.current_thread())

    def wait(self) -> Any:
        """Wait for all ranks and return this rank's target buffer."""
        self._started.await_run()
        self._thread.join()
        self._started.release()
        if self._error is not None:
            raise self._error
        if not self._is_done:
            # The thread is gone: it is the parent's of a forked child.
            self._team.native.check()
        return self._started.result
