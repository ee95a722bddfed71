"""The lines of a text that one rank reads: those that begin in its part of the bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.sparse.files.header import is_packed, opened

if TYPE_CHECKING:
    from pathlib import Path


def own_lines(path: Path, begin: int, rank: int, n_ranks: int) -> tuple[bytes, int]:
    """Return a rank's lines of what follows a byte, and where they begin.

    Of a packed file rank 0 has all.
    """
    with opened(path) as file:
        if is_packed(path):
            if rank > 0:
                return b"", begin
            file.seek(begin)
            whole: bytes = file.read()
            return whole, begin
        n_bytes = path.stat().st_size - begin
        first, end = (
            _line_start(file, begin, begin + n_bytes * at // n_ranks) for at in (rank, rank + 1)
        )
        file.seek(first)
        found: bytes = file.read(end - first)
        return found, first


def _line_start(file: Any, begin: int, at: int) -> int:
    """Where the first line begins that does not begin before a byte."""
    if at <= begin:
        return begin
    file.seek(at - 1)
    file.readline()
    return int(file.tell())
