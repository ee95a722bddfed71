"""Array programs: read, change and run them.

>>> import partita as pt
>>> text = "func.func @f(%x: index) -> index { %y = arith.addi %x, %x : index return %y : index }"
>>> module = pt.ir.parse(text)
>>> module.run("f", 21)
42
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._errors import ProgramError
from partita._partita import ProgramCore, default_passes, program_passes
from partita._team.spmd import own_team

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

    def explain(self, n_ranks: int, *args: Any) -> str:
        """What each function costs on so many ranks: exchanges, bytes, before and after passes.

        Of `args` only numbers count; None stands for anything else.
        """
        plain = [_plain(arg) for arg in args]
        numbers = [arg if isinstance(arg, bool | int | float | complex) else None for arg in plain]
        return self._core.explain(n_ranks, numbers)

    def text(self, form: str = "generic") -> str:
        """The program as text: `generic`, `rfc` or `builtin`."""
        return self._core.text(form)

    def run(self, function: str, *args: Any, team: Team | None = None) -> Any:
        """Run a function on all ranks of a team; whole arrays in, whole arrays out.

        Collective: all ranks call it with equal arguments. Several results come as a tuple.
        Arguments are copied: what the program writes is seen in its results alone. No passes are
        applied; `apply("default")` gives the program that `partita run` would run. Sums of
        floating-point numbers may differ by rounding between numbers of ranks.

        An array of partita is gathered first, a `DistTensor` too.

        A sparse tensor may also be a SciPy matrix, or a dictionary with the names that SciPy uses:
        `shape`, `data`, and `indptr` with `indices` and `format`, or `coords` (a list of
        coordinates per dimension). It comes back as such a dictionary.
        """
        team = own_team(team)
        try:
            given = [_given(arg) for arg in args]
        except Exception as error:
            # The other ranks are in the run already, and wait.
            self._core.refuse(str(error), team.native)
            raise
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


def _plain(arg: Any) -> Any:
    """The numbers of NumPy as those of Python."""
    return arg.item() if isinstance(arg, np.generic) else arg


def _given(arg: Any) -> Any:
    arg = _plain(arg)
    if isinstance(arg, bool | int | float | complex):
        return arg
    if isinstance(arg, Mapping):
        return _sparse(arg)
    if hasattr(arg, "nnz_local"):
        # Asked first: whoever looks at `nnz` of a distributed tensor meets the other ranks.
        arg = arg.gather()
    if hasattr(arg, "format") and hasattr(arg, "data") and hasattr(arg, "nnz"):
        of_coo = ["coords"] if hasattr(arg, "coords") else ["row", "col"]
        names = of_coo if arg.format == "coo" else ["indptr", "indices"]
        lists = {name: getattr(arg, name) for name in names if hasattr(arg, name)}
        return _sparse({"format": arg.format, "shape": arg.shape, "data": arg.data, **lists})
    if isinstance(arg, Array):
        arg = arg.gather()
    array = _native(np.ascontiguousarray(arg).reshape(np.shape(arg)))
    return array.shape, array.dtype.name, array.tobytes()


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with the byte order of this machine."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _sparse(arg: Mapping[str, Any]) -> Any:
    """Format, shape, element type, positions, coordinates and elements of a sparse tensor."""
    missing = [name for name in ("shape", "data") if name not in arg]
    compressed = "indptr" in arg
    if compressed:
        missing += [name for name in ("indices",) if name not in arg]
    elif "coords" not in arg and not ("row" in arg and "col" in arg):
        missing += ["coords"]
    if missing:
        raise ProgramError(
            f"a sparse tensor without {' and '.join(missing)}; give shape, data, and indptr with "
            "indices, or coords",
            reason="argument",
        )
    data = _native(np.ascontiguousarray(arg["data"]))
    if compressed:
        positions, lists = _integers(arg["indptr"]), [_integers(arg["indices"])]
    else:
        coords = arg["coords"] if "coords" in arg else [arg["row"], arg["col"]]
        positions, lists = [], [_integers(one) for one in coords]
    form = str(arg.get("format", "csr" if compressed else "coo"))
    shape = [int(size) for size in arg["shape"]]
    return form, shape, data.dtype.name, positions, lists, data.tobytes()


def _integers(numbers: Any) -> list[int]:
    array = np.asarray(numbers).reshape(-1)
    if array.size and array.dtype.kind not in "iu":
        raise ProgramError(
            f"coordinates of a sparse tensor of type {array.dtype}; give integers",
            reason="argument",
        )
    listed: list[int] = array.astype(np.int64).tolist()
    return listed


def _result(one: Any) -> Any:
    if not isinstance(one, tuple):
        return one
    if len(one) > 3:
        return _sparse_result(*one)
    shape, dtype, data = one
    return _array(dtype, data).reshape(shape)


def _array(dtype: str, data: bytes) -> np.ndarray[Any, Any]:
    # NumPy has no bfloat16: its bits.
    name = "uint16" if dtype == "bfloat16" else dtype
    return np.frombuffer(data, name).copy()


def _sparse_result(
    form: str,
    shape: tuple[int, ...],
    dtype: str,
    positions: list[int],
    coordinates: list[list[int]],
    data: bytes,
) -> dict[str, Any]:
    lists: dict[str, Any] = {"coords": [np.array(one, np.int64) for one in coordinates]}
    if form != "coo":
        indptr, indices = np.array(positions, np.int64), lists["coords"][0]
        lists = {"indptr": indptr, "indices": indices}
    return {"format": form, "shape": shape, **lists, "data": _array(dtype, data)}
