"""How a rank gets its team: `world`, and `spmd` for ranks that are threads.

>>> def greet(team):
...     return team.allgather_data(team.rank * 10)
>>> spmd(greet, ranks=3)
[[0, 10, 20], [0, 10, 20], [0, 10, 20]]
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from partita._args import natural
from partita._errors import LayoutError, RemoteError, TeamError, is_a, words_of
from partita._partita import ThreadWorld, is_launched
from partita._team import mpi
from partita._team.team import Team, a_deadline, a_team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")


_current: contextvars.ContextVar[Team] = contextvars.ContextVar("partita_team")


def world(comm: Any = None) -> Team:
    """Return this rank's team: of the running `spmd`, else of the MPI job, else a team of one.

    `comm` is an mpi4py communicator to make a team from; every process in it must do so.
    """
    if comm is not None:
        return Team(mpi.world(comm))
    team = _current.get(None)
    if team is None or _is_left_behind(team):
        team = Team(mpi.world() if is_launched() else ThreadWorld(1).team(0))
        _current.set(team)
    return team


def own_team(team: Team | None) -> Team:
    """The team that is given, if it is one; this rank's if none is."""
    return world() if team is None else a_team(team)


@contextlib.contextmanager
def alone(team: Team) -> Iterator[None]:
    """Inside, this rank is a team of one: for users' functions that ranks call unequally often.

    Calls on `team` and operations on its arrays are refused with the reason `team-busy`: other
    ranks would not make the same.
    """
    token = _current.set(Team(ThreadWorld(1).team(0)))
    kept = team.native.keep()
    team.arrays.set_apart(True)
    try:
        yield
    finally:
        team.arrays.set_apart(False)
        kept.release()
        _current.reset(token)


def _is_left_behind(team: Team) -> bool:
    """Whether this process was forked and makes a team of one anew; a child of a rank cannot."""
    try:
        team.native.check()
    except TeamError:
        if not team.native.is_one_process or len(team.ranks) > 1:
            raise
        return True
    return False


def spmd(
    fn: Callable[..., T],
    ranks: int = 4,
    args: Sequence[Any] = (),
    *,
    deadline: float | None = 60.0,
) -> list[T]:
    """Run `fn(team, *args)` on ranks that are threads of this process; return results by rank.

    If ranks fail, the error of the first that failed by itself is raised, with a note of its rank.
    """
    n_ranks = a_number_of_ranks(ranks)
    deadline = a_deadline(deadline)
    thread_world = ThreadWorld(n_ranks)
    results: list[Any] = [None] * n_ranks
    errors: dict[int, BaseException] = {}

    def run(rank: int) -> None:
        try:
            team = Team(thread_world.team(rank)).with_deadline(deadline)
            _current.set(team)
            results[rank] = fn(team, *args)
            thread_world.leave(rank, None)
        except BaseException as error:
            errors[rank] = error
            thread_world.leave(rank, None if _is_end(error) else words_of(error))

    # Each rank has the settings of whoever starts it, and may change its own.
    threads = [
        threading.Thread(
            target=copy_context().run, args=(run, rank), name=f"partita-{rank}", daemon=True
        )
        for rank in range(n_ranks)
    ]
    _start(threads, thread_world)
    _join(threads, thread_world)
    if errors:
        raise _first(errors, n_ranks)
    return results


def a_number_of_ranks(given: Any) -> int:
    """What is given as a number of ranks, if it is one."""
    n_ranks = natural(given, "ranks")
    if n_ranks == 0:
        raise LayoutError("0 ranks; use at least 1", "ranks-zero")
    return n_ranks


def _start(threads: list[threading.Thread], thread_world: ThreadWorld) -> None:
    """Start all ranks, or end those that have started: they would wait for the others."""
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        for rank in range(len(threads)):
            thread_world.leave(rank, "not all ranks could be started")
        message = f"{len(threads)} ranks are more threads than the system gives; use fewer"
        raise LayoutError(message, "ranks-threads") from None


def _join(threads: list[threading.Thread], thread_world: ThreadWorld) -> None:
    """Wait for all ranks; on Ctrl-C end them first."""
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.05)
    except KeyboardInterrupt:
        for rank in range(len(threads)):
            thread_world.leave(rank, "interrupted")
        # Waiting ranks notice by themselves; those in Python code get the exception there.
        for thread in threads:
            thread.join(0.2)
            if thread.is_alive() and thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
                )
        for thread in threads:
            thread.join(1.0)
        raise


def _is_end(error: BaseException) -> bool:
    """Whether a rank has come to its end by `sys.exit()`, as a process does."""
    if not is_a(error, SystemExit):
        return False
    try:
        code = error.code
    except Exception:  # the exception's own code
        return False
    # A status may be anything, and have its own idea of what it equals.
    return code is None or (type(code) is int and code == 0)


def _first(errors: dict[int, BaseException], n_ranks: int) -> BaseException:
    """The error to raise: one that a rank had by itself before one it was told of."""
    failed = [rank for rank, error in errors.items() if not _is_end(error)]
    own = [rank for rank in failed if not is_a(errors[rank], RemoteError)]
    rank = min(own or failed or errors)
    # An exception may have spoilt its notes; it is raised all the same.
    with contextlib.suppress(Exception):
        errors[rank].add_note(f"(on rank {rank} of {n_ranks})")
    return errors[rank]
