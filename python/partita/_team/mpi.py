"""MPI: the world of a job, found and started when it is first asked for."""

from __future__ import annotations

import atexit
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from partita._errors import LayoutError
from partita._memory import sharing
from partita._partita import MpiWorld
from partita._team import exits, place, run

if TYPE_CHECKING:
    from partita._partita import TeamCore

_world: MpiWorld | None = None

# Those that live: one goes with its communicator.
_opened: WeakSet[MpiWorld] = WeakSet()


def world(comm: Any = None) -> TeamCore:
    """The team of all processes, or of those of a communicator of mpi4py."""
    global _world
    place.check_fork()
    if comm is not None and not _is_whole(comm):
        return _of(comm).team()
    if _world is None:
        _world = _open(None)
    team = _world.team()
    team.check()
    return team


def _is_whole(comm: Any) -> bool:
    """Whether a communicator is that of all processes, which have one world."""
    return bool(comm == _mpi4py(comm).COMM_WORLD)


def _of(comm: Any) -> MpiWorld:
    """The world of a communicator; the same again as long as that lives."""
    MPI = _mpi4py(comm)
    key = _attribute(MPI)
    found = comm.Get_attr(key)
    if found is None:
        _meet_before(comm)
        found = _open(comm)
        comm.Set_attr(key, found)
    opened: MpiWorld = found
    return opened


def _meet_before(comm: Any) -> None:
    """Meet those that join on the team of all, if there is one: it knows who has left.

    Joining itself is MPI's, which waits for whoever never comes.
    """
    MPI = _mpi4py(comm)
    if _world is None:
        return
    every = MPI.COMM_WORLD.Get_group()
    ranks = [int(rank) for rank in comm.Get_group().Translate_ranks(None, every)]
    # Processes that were spawned later are not of that team.
    if MPI.UNDEFINED not in ranks:
        _world.team().subteam(ranks).allgather("world", f"of ranks {ranks[:64]}", b"")


@cache
def _attribute(MPI: Any) -> int:
    """By which communicators keep their worlds: MPI forgets it when one is freed."""
    key: int = MPI.Comm.Create_keyval(delete_fn=_freed)
    return key


def _freed(comm: Any, key: int, opened: MpiWorld) -> None:
    """Free what belongs to a communicator: all its processes are here, freeing it themselves."""
    opened.free()


def version() -> str:
    """What the MPI of this process says of itself."""
    return "" if _world is None else _world.version


def _open(comm: Any) -> MpiWorld:
    mpi4py = sys.modules.get("mpi4py.MPI")
    module = None if mpi4py is None else mpi4py.__file__
    handle = None
    if comm is not None:
        MPI = _mpi4py(comm)
        module, handle = MPI.__file__, MPI._handleof(comm)
    if not _opened and not place.mpi4py_runs():
        place.check()
    mark = place.mark()
    opened = MpiWorld(
        mpi4py=module,
        prefix=sys.prefix,
        packages=[one for one in sys.path if isinstance(one, str)],
        comm=handle,
        shared=sharing.n_ranks(),
    )
    os.environ.update(mark)
    _opened.add(opened)
    _tell_when_leaving()
    return opened


def _mpi4py(comm: Any) -> Any:
    """mpi4py's module, if this is a communicator of it."""
    kind = type(comm).__name__
    message = f"a {kind} is no communicator; use one of mpi4py, or partita.world() without any"
    try:
        from mpi4py import MPI
    except ImportError:
        raise LayoutError(message, "not-a-communicator") from None
    if not isinstance(comm, MPI.Comm):
        raise LayoutError(message, "not-a-communicator")
    if comm == MPI.COMM_NULL:
        raise LayoutError("COMM_NULL has no members; use another communicator", "comm-null")
    return MPI


@cache
def _tell_when_leaving() -> None:
    """Let the other processes know that this one ends, and why."""
    joined = os.getpid()
    exits.watch()

    def leave() -> None:
        # A forked child inherits this, and is no rank.
        if os.getpid() != joined:
            return
        run.await_all()
        # The world itself comes last: MPI ends with it.
        opened = [one for one in _opened if one is not _world] + ([_world] if _world else [])
        for one in opened:
            one.leave(exits.reason())
        for one in opened:
            one.finish()

    atexit.register(leave)
