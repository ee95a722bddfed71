"""MPI: the world of a job, found and started when it is first asked for."""

from __future__ import annotations

import atexit
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError, words_of
from partita._partita import MpiWorld

if TYPE_CHECKING:
    from types import TracebackType

    from partita._team import Team

_world: MpiWorld | None = None


def world(comm: Any = None) -> Team:
    """The team of all processes, or of those of a communicator of mpi4py."""
    global _world
    from partita._team import Team

    if comm is not None:
        return Team(_of(comm).team())
    if _world is None:
        _world = _open(None)
    return Team(_world.team())


def _of(comm: Any) -> MpiWorld:
    """The world of a communicator; the same again as long as that lives."""
    MPI = _mpi4py(comm)
    key = _attribute(MPI)
    found = comm.Get_attr(key)
    if found is None:
        found = _open(comm)
        comm.Set_attr(key, found)
    opened: MpiWorld = found
    return opened


@cache
def _attribute(MPI: Any) -> int:
    """By which communicators keep their worlds: MPI forgets it when one is freed."""
    key: int = MPI.Comm.Create_keyval()
    return key


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
    shared = os.environ.get("PARTITA_SHARED_MEMORY", "1") != "0"
    opened = MpiWorld(
        mpi4py=module,
        prefix=sys.prefix,
        packages=[one for one in sys.path if isinstance(one, str)],
        comm=handle,
        shared=shared,
    )
    _tell_when_leaving(opened)
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


def _tell_when_leaving(opened: MpiWorld) -> None:
    """Let the other processes know that this one ends, and why."""
    reason = ["its program has ended"]
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        reason[0] = words_of(error)
        before(kind, error, trace)

    def leave() -> None:
        opened.leave(reason[0])
        opened.finish()

    sys.excepthook = hook
    atexit.register(leave)
