"""How references to objects in Ray's stores come to other processes, those of Dask among them.

They travel through a small actor of Ray (`KeptReferences`), because Ray counts only those
that it carries itself: a reference that is pickled elsewhere would keep its object for ever.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any
from uuid import uuid4

from partita._errors import TeamError
from partita._tasks.cache import remembered

NAMESPACE = "partita"
# By which Ray says whether who joins must show a token.
AUTH = "RAY_AUTH_MODE"

# Workers of Dask run tasks in several threads, and a process joins a cluster once.
_joining = threading.Lock()


class KeptReferences:
    """Keeps references until they are fetched."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Any]] = {}

    def give(self, name: str, refs: list[Any]) -> None:
        """Keep references under a name."""
        self._kept[name] = refs

    def show(self, name: str) -> list[Any]:
        """References under a name; none if there are none."""
        return self._kept.get(name, [])

    def drop(self, prefix: str) -> None:
        """Keep what has this prefix no longer."""
        for name in [name for name in self._kept if name.startswith(f"{prefix}/")]:
            del self._kept[name]


def connect(address: str, auth: str = "") -> Any:
    """Ray, joined to the cluster at an address if this process is in none."""
    import ray

    with _joining:
        if not ray.is_initialized():
            _adopt(auth)
            try:
                ray.init(address=address, namespace=NAMESPACE, log_to_driver=False)
            except ConnectionError as error:
                message = (
                    f"cannot join the Ray cluster at {address} ({error}); it must be reachable, "
                    f"and {AUTH} and RAY_AUTH_TOKEN as where it was started"
                )
                raise TeamError(message, "ray-unreachable") from error
    return ray


def _adopt(auth: str) -> None:
    """Speak to the cluster as the process that started it does.

    `ray.init` of a new cluster switches authentication on in its own process only.
    """
    if not auth or AUTH in os.environ:
        return
    os.environ[AUTH] = auth
    with suppress(ImportError, AttributeError):
        # Ray has read the environment when it was imported; it does so itself in `ray.init`.
        from ray._raylet import Config

        Config.initialize("")


def cluster_address() -> str:
    """The address of the cluster that this process is in."""
    import ray

    if not ray.is_initialized():
        raise TeamError("this process is in no Ray cluster; call ray.init() first", "ray-missing")
    address: str = ray.get_runtime_context().gcs_address
    return address


@remembered
def _actor_class() -> Any:
    import ray

    return ray.remote(KeptReferences)


@remembered
def _own_actor(address: str, job: str) -> tuple[str, Any]:
    """The name and the handle of this process's actor.

    It must outlive every reference that was fetched from it: Ray asks it who has them.
    """
    name = f"actor-{job}-{uuid4().hex}"
    options = {"name": name, "namespace": NAMESPACE, "num_cpus": 0}
    return name, _actor_class().options(**options).remote()


class Exchange:
    """An actor and a prefix of names there; may be sent to other processes."""

    def __init__(self, address: str, actor: str, prefix: str, auth: str = "") -> None:
        self.address, self._actor, self._prefix, self.auth = address, actor, prefix, auth

    @classmethod
    def open(cls) -> Exchange:
        """A new one, with the actor of this process."""
        import ray

        address = cluster_address()
        actor, _ = _own_actor(address, ray.get_runtime_context().get_job_id())
        return cls(address, actor, uuid4().hex, os.environ.get(AUTH, ""))

    def plain(self) -> list[str]:
        """Plain data that make it again: `Exchange(*plain)`."""
        return [self.address, self._actor, self._prefix, self.auth]

    def _call(self, method: str, *args: Any) -> Any:
        ray = connect(self.address, self.auth)
        actor = ray.get_actor(self._actor, namespace=NAMESPACE)
        return ray.get(getattr(actor, method).remote(*args))

    def put(self, name: str, values: list[Any]) -> None:
        """Put values into the store of this node and their references with the actor."""
        ray = connect(self.address, self.auth)
        self.hand_out(name, [ray.put(value) for value in values])

    def hand_out(self, name: str, refs: list[Any]) -> None:
        """Give references to the actor."""
        self._call("give", f"{self._prefix}/{name}", refs)

    def take(self, name: str) -> list[Any]:
        """References with the actor."""
        refs: list[Any] = self._call("show", f"{self._prefix}/{name}")
        return refs

    def close(self) -> None:
        """Keep nothing with the actor."""
        self._call("drop", self._prefix)
