"""`get` of `__partitioned__`: the data of references that Ray has carried here."""

from __future__ import annotations

from typing import Any

from partita._errors import TeamError
from partita.ray.cluster import one_clear_error

# How long `get` waits for pieces that are still being made.
GET_SECONDS = 60.0

# What to do with references that another process shall read.
LET_RAY_CARRY = (
    "let Ray carry the dictionary, as a task's argument or by ray.put, or use partita.ray.share: "
    "a reference that pickle carries loses its owner"
)


def get(handles: Any) -> Any:
    """Data of a reference, or of a list of them: `get` of `__partitioned__`.

    Ray knows the owner of references that it has carried itself: as a task's argument, or in an
    object that was put. Those that pickle has carried are refused.
    """
    import ray

    if not ray.is_initialized():
        # Asked for an object, Ray would start a new cluster, which has it not.
        message = "this process is in no Ray cluster; call ray.init(address=...), and "
        raise TeamError(message + LET_RAY_CARRY, "ray-missing")
    listed = list(handles) if isinstance(handles, tuple) else handles
    try:
        with one_clear_error():
            return ray.get(listed, timeout=GET_SECONDS)
    except ray.exceptions.GetTimeoutError:
        message = f"pieces are not there after {GET_SECONDS:.0f} s; look at the tasks that make "
        raise TeamError(f"{message}them, and {LET_RAY_CARRY}", "data-late") from None
    except ValueError as error:
        if "owner" not in str(error):
            raise
        message = f"Ray does not know who owns the pieces; {LET_RAY_CARRY}"
        raise TeamError(message, "source-lost") from error
