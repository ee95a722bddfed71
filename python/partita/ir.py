"""Array programs: read, change and run them.

>>> import partita as pt
>>> text = "func.func @f(%x: index) -> index { %y = arith.addi %x, %x : index return %y : index }"
>>> module = pt.ir.parse(text)
>>> module.run("f", 21)
42
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._partita import ProgramCore, default_passes, program_passes
from partita._team.spmd import world
from partita._team.team import a_team

if TYPE_CHECKING:
    from partita._team.team import Team

__all__ = ["Module", "parse", "passes"]


def parse(text: str) -> Module:
    """Read a program; all problems of the text are raised together, each with its line."""
    return Module(ProgramCore(text))


def passes() -> dict[str, str]:
    """Names of the passes, and what each does."""
    return dict(program_passes())


class Module:
    """A program: functions on numbers and arrays, local and distributed."""

    def __init__(self, core: ProgramCore) -> None:
        self._core = core
        #: Exchanges, bytes and kernels of the last run on this rank.
        self.last_run: dict[str, int] | None = None

    @property
    def functions(self) -> list[str]:
        """Names of the functions that can be run."""
        return self._core.functions

    def apply(self, *names: str, n_ranks: int | None = None) -> Module:
        """The program after passes, in order; `"default"` is what `partita run` applies."""
        listed: list[str] = []
        for name in names:
            listed += default_passes() if name == "default" else [name]
        return Module(self._core.apply(listed, n_ranks))

    def verify(self) -> None:
        """Raise `ProgramError` with every rule of the dialects that the program breaks."""
        self._core.verify()

    def explain(self, n_ranks: int) -> str:
        """What each function costs on so many ranks: exchanges, bytes, before and after passes."""
        return self._core.explain(n_ranks)

    def text(self, form: str = "generic") -> str:
        """The program as text: `generic`, `rfc` or `builtin`."""
        return self._core.text(form)

    def run(self, function: str, *args: Any, team: Team | None = None) -> Any:
        """Run a function on all ranks of a team; whole arrays in, whole arrays out.

        Collective: all ranks call it with equal arguments. Several results come as a tuple.
        """
        team = world() if team is None else a_team(team)
        given = [_given(arg) for arg in args]
        results, exchanges, n_bytes, kernels = self._core.run(function, given, team.native)
        self.last_run = {"exchanges": exchanges, "bytes": n_bytes, "kernels": kernels}
        found = tuple(_result(one) for one in results)
        return found[0] if len(found) == 1 else found or None

    def __str__(self) -> str:
        return self._core.text("generic")

    def __repr__(self) -> str:
        return f"<partita.ir.Module of {', '.join(self.functions) or 'no function'}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._core.text('rfc'))}</pre>"


def _given(arg: Any) -> Any:
    if isinstance(arg, bool | int | float | complex):
        return arg
    array = np.ascontiguousarray(arg).reshape(np.shape(arg))
    return array.shape, array.dtype.name, array.tobytes()


def _result(one: Any) -> Any:
    if not isinstance(one, tuple):
        return one
    shape, dtype, data = one
    # NumPy has no bfloat16: its bits.
    name = "uint16" if dtype == "bfloat16" else dtype
    return np.frombuffer(data, name).reshape(shape).copy()
