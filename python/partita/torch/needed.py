"""Torch itself; without it, importing this says what to install. Imported before all others."""

from partita._missing import without_extra

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise without_extra(error, "partita.torch", "torch") from None
