"""Which line of a Matrix Market file is damaged: looked for when something is wrong, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._args import shown
from partita.sparse.files.header import FIELDS, opened

if TYPE_CHECKING:
    from pathlib import Path

    from partita.sparse.files.header import Head


class DamagedLine(ValueError):
    """A line that is none of the matrix: its number among the lines looked at, and why."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at

    def in_file(self, path: Path, begin: int) -> ValueError:
        """The error for a user: lines were looked at from a byte of a file on."""
        n_before = 0
        with opened(path) as file:
            while begin > 0 and (piece := file.read(min(begin, 1 << 20))):
                begin -= len(piece)
                n_before += piece.count(b"\n")
        number = n_before + self.at + 1
        return ValueError(f"{path}, line {number}: {self}; the file is damaged")


def refuse_damaged(text: bytes, head: Head) -> None:
    """Raise for the first line that has not the numbers that it should have."""
    kind, per_value, _ = FIELDS[head.field]
    number = int if kind.endswith("int64") else float
    n_places = 0 if head.is_dense else 2
    for at, line in enumerate(text.split(b"\n")):
        words = line.split()
        if not words:
            continue
        what = shown(line.decode("latin-1"))
        # The numbers of a dense matrix may stand on lines in any way.
        if not head.is_dense and len(words) != n_places + per_value:
            raise DamagedLine(at, f"{what} has not {n_places + per_value} numbers")
        try:
            places = [int(one) for one in words[:n_places]]
            for one in words[n_places:]:
                number(one)
        except ValueError:
            raise DamagedLine(at, f"{what} has not only numbers of '{head.field}'") from None
        for place, n in zip(places, head.shape, strict=False):
            if not 1 <= place <= n:
                raise DamagedLine(at, f"index {place} where 1 to {n} are")
