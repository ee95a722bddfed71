"""What array programs will cost, what they did, and how much they may take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita import ir
from partita._args import natural
from partita._array import enter
from partita._array.limits import taken
from partita._array.place import here
from partita._errors import LayoutError, MismatchError
from partita._functions.gathered import gathers
from partita._partita import Array as NativeArray
from partita._partita import draw_activity

if TYPE_CHECKING:
    from types import TracebackType

    from partita._array.array import Array
    from partita._partita import Rank
    from partita._team.team import Team

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Explanation:
    """What computing an array comes to on this rank."""

    def __init__(self, rank: Rank) -> None:
        (
            self.n_operations,
            self.n_kernels,
            self.n_exchanges,
            self.bytes_moved,
            self.peak_bytes,
            self.steps,
        ) = rank.outline()
        # What functions without a distributed algorithm have brought to every rank so far.
        self.gathers = gathers()
        # What gather, redistribute and copies that asarray made have taken on this rank so far.
        self.taken = taken(rank.team)

    def __str__(self) -> str:
        operations = _counted(self.n_operations, "operation")
        kernels = _counted(self.n_kernels, "kernel")
        exchanges = _counted(self.n_exchanges, "exchange")
        verb = "becomes" if self.n_operations == 1 else "become"
        head = (
            f"{operations} {verb} {kernels} and {exchanges} of {self.bytes_moved:,} bytes; arrays"
            f" take at most {self.peak_bytes:,} bytes on this rank"
        )
        whole = [
            f"so far {name} has brought whole arrays to every rank {_counted(count, 'time')}"
            for name, count in sorted(self.gathers.items())
        ]
        copies = [
            f"so far {name} has taken {n_bytes:,} bytes in {_counted(n_times, 'call')}"
            for name, (n_times, n_bytes) in sorted(self.taken.items())
        ]
        return "\n".join([head, *(f"  {step}" for step in self.steps), *whole, *copies])

    __repr__ = __str__


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def explain(*arrays: Array) -> Explanation:
    """Say what computing arrays takes: kernels, exchanges, bytes, memory, the lines it is from.

    Whatever else was recorded before is computed with them and counted. Nothing is computed now,
    and no other rank is asked.
    """
    for one in arrays:
        if not isinstance(one, NativeArray):
            kind = type(one).__name__
            raise TypeError(f"a {kind} is no array of partita; use explain(a) or explain(a, b)")
    if not arrays:
        raise TypeError("no array to explain; use explain(a) or explain(a, b)")
    ranks = [one._rank for one in arrays]
    if any(rank is not ranks[0] for rank in ranks):
        raise TypeError("arrays of several teams; explain those of one team at a time")
    return Explanation(ranks[0])


class Program:
    """Pending work as a program: as it was recorded, and after the passes that `partita run` makes.

    Both are modules of `partita.ir`, whose function `program` can be run.
    """

    def __init__(self, text: str, n_ranks: int) -> None:
        self.before = ir.parse(text)
        self.after = self.before.apply("default", n_ranks=n_ranks)

    def __str__(self) -> str:
        before, after = self.before.text("rfc"), self.after.text("rfc")
        return f"// as recorded\n{before}\n// after the passes\n{after}"

    __repr__ = __str__


def program_of(array: Array) -> Program:
    """Return the program that computes an array, before and after the passes; nothing is computed.

    Whatever else was recorded before is part of it.
    """
    return Program(array._program(), array._rank.team.size)


class memory_limit:
    """Refuse from now on, or inside `with`, programs whose arrays would take more on this rank.

    A number of bytes, or text such as "2 GiB"; None takes the limit away.
    """

    def __init__(self, limit: int | str | None, *, team: Team | None = None) -> None:
        self._rank = enter.own_rank(team)
        self._before = self._rank.memory_limit
        self._rank.set_memory_limit(None if limit is None else _bytes(limit))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._rank.set_memory_limit(self._before)


def _bytes(limit: Any) -> int:
    if not isinstance(limit, str):
        return natural(limit, "limit")
    found = re.fullmatch(r"([0-9.]+)\s*([kmgt]?i?)b?", limit.strip().lower())
    if found is None or found[2] not in _UNITS:
        message = f"{limit!r} is no amount of memory; use bytes or text such as '2 GiB'"
        raise LayoutError(message, "memory-amount")
    return int(float(found[1]) * _UNITS[found[2]])


class progress:
    """Show a bar on the first rank while loops of a long computation run.

    Sorting, products of matrices and Fourier transforms have none.
    """

    def __init__(self, *, team: Team | None = None) -> None:
        self._rank = enter.own_rank(team)

    def __enter__(self) -> None:
        self._rank.show_progress(self._rank.team.rank == 0)

    def __exit__(self, *_: object) -> None:
        self._rank.show_progress(False)


class profile:
    """Note what every rank does inside `with`: kernels, exchanges, waiting. Collective.

    What is pending when it begins is computed inside, and noted. Afterwards `svg` is a picture and
    `trace` a text that Perfetto opens, on every rank; given a file name that ends in .svg or .json,
    the first rank writes one.
    """

    def __init__(self, file: str | Path | None = None, *, team: Team | None = None) -> None:
        if file is not None:
            _is_picture(file)
        self._file = file
        self._rank = enter.own_rank(team)
        self._lines: list[str] = []

    def __enter__(self) -> profile:
        try:
            self._rank.team.gather_alike("profile", "", None)
        except MismatchError as error:
            error.add_note(f"(this rank begins a profile at {here()})")
            raise
        self._rank.record_activity(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._rank.record_activity(False)
            return
        try:
            self._rank.sync()
        finally:
            # Also where that is refused: what comes later is not part of it.
            own = self._rank.record_activity(False)
        self._lines = [
            str(one) for one in self._rank.team.gather_inside("what ranks have done", own)
        ]
        if self._file is not None:
            self._write(self._file)

    def _write(self, file: str | Path) -> None:
        """Let the first rank write the file; the others return when it is there."""
        team = self._rank.team
        if team.rank == 0:
            try:
                self.save(file)
            except OSError as error:
                raise team.told(error) from None
        team.barrier()

    @property
    def svg(self) -> str:
        """The picture."""
        return draw_activity("what the ranks did", self._lines, True)

    @property
    def trace(self) -> str:
        """The trace."""
        return draw_activity("", self._lines, False)

    def save(self, file: str | Path) -> None:
        """Write the picture or the trace, as the name says."""
        text = self.svg if _is_picture(file) else self.trace
        Path(file).write_text(text, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


def _is_picture(file: str | Path) -> bool:
    """Whether a file is to have the picture or the trace, as its name says."""
    suffix = Path(file).suffix.lower()
    if suffix not in (".svg", ".json"):
        message = f"{str(file)!r} is neither a picture nor a trace; use FILE.svg or FILE.json"
        raise LayoutError(message, "timeline")
    return suffix == ".svg"


__all__ = ["explain", "memory_limit", "profile", "progress"]
