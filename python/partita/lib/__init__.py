"""What NumPy has under the same name: windows that slide over arrays.

- `stride_tricks`: the windows.
"""

from typing import NoReturn as _NoReturn

from partita._missing import no_attribute as _no_attribute
from partita.lib import stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name: str) -> _NoReturn:
    raise _no_attribute("partita.lib", name, __all__)
