"""Puts this back-end in the place of the only one that DistDL knows."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from partita._errors import LayoutError
from partita.torch.backend import functional

_PLACE = "distdl.backends.mpi"
_OURS = "partita.torch.backend"


class _Finder(MetaPathFinder, Loader):
    """Answers imports of DistDL's back-end and its parts with ours."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _PLACE and not fullname.startswith(_PLACE + "."):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module with everything that ours of this place has."""
        found: Any = importlib.import_module(_OURS)
        for part in spec.name.removeprefix(_PLACE).split(".")[1:]:
            found = getattr(found, part, None)
            if found is None:
                raise ImportError(f"this back-end has no {spec.name}", name=spec.name)
        made = ModuleType(spec.name)
        vars(made).update({name: one for name, one in vars(found).items() if name[:2] != "__"})
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""


_finder = _Finder()


def install(*, in_place_halos: bool = True) -> None:
    """Make DistDL use this back-end; call this before distdl is first imported.

    Halos are exchanged in place, as DistDL does and its tests check, or in new tensors.
    """
    functional.HaloExchangeFunction.in_place = in_place_halos
    if _finder in sys.meta_path:
        return
    if "distdl" in sys.modules:
        message = "distdl is imported already, with its own back-end; call install() before"
        raise LayoutError(message, "backend-late")
    sys.meta_path.insert(0, _finder)
