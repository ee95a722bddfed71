"""What is wrong with a file: one error for all of it, which names the file, and the line if known.

Which line of a Matrix Market file is damaged is looked for when something is wrong, not before.
"""

from __future__ import annotations

import contextlib
import errno
import lzma
import struct
import zipfile
import zlib
from gzip import BadGzipFile
from typing import TYPE_CHECKING

import numpy as np

from partita._args import shown
from partita._errors import LayoutError, PartitaError, text_of
from partita.sparse.files.header import FIELDS, damaged, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from partita.sparse.files.header import Head


# What libraries raise for what they cannot read.
_RAISED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError)
_RAISED_OF_BYTES = (zipfile.BadZipFile, BadGzipFile, zlib.error, lzma.LZMAError, struct.error)
# What an archive asks for that `zipfile` does not have: a version, a password, a way of packing.
_RAISED_OF_WISHES = (NotImplementedError, RuntimeError)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Name the file in whatever is raised because its content is wrong."""
    try:
        yield
    except LayoutError as error:
        if error.reason.startswith("file-") or error.reason == "sparse-dtype":
            raise
        raise damaged(path, text_of(error)) from None
    except PartitaError:
        raise
    except (*_RAISED, *_RAISED_OF_BYTES, *_RAISED_OF_WISHES) as error:
        raise damaged(path, text_of(error)) from error
    except OSError as error:
        if not _is_of_content(error):
            raise
        raise damaged(path, text_of(error)) from error


def _is_of_content(error: OSError) -> bool:
    """Whether the system is not to blame: a place before the file's begin, or bytes of bzip2."""
    return error.filename is None and error.errno in (None, errno.EINVAL)


class DamagedLine(ValueError):
    """A line that is none of the matrix: its number among the lines looked at, and why."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at

    def in_file(self, path: Path, begin: int) -> LayoutError:
        """The error for a user: lines were looked at from a byte of a file on."""
        n_before = 0
        with opened(path) as file:
            while begin > 0 and (piece := file.read(min(begin, 1 << 20))):
                begin -= len(piece)
                n_before += piece.count(b"\n")
        number = n_before + self.at + 1
        return damaged(f"{path}, line {number}", str(self))


def refuse_damaged(text: bytes, head: Head) -> None:
    """Raise for the first line that has not the numbers that it should have."""
    kind, per_value, _ = FIELDS[head.field]
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
            numbers = [_number(one, kind) for one in words[n_places:]]
        except ValueError:
            raise DamagedLine(at, f"{what} has not only numbers of '{head.field}'") from None
        for one in numbers:
            if one is None:
                raise DamagedLine(at, f"{what} has a number outside of {kind}")
        for place, n in zip(places, head.shape, strict=False):
            if not 1 <= place <= n:
                raise DamagedLine(at, f"index {place} where 1 to {n} are")


def _number(word: bytes, kind: str) -> float | None:
    """A number of a type, None if the type does not have it."""
    if not kind.endswith("int64"):
        return float(word)
    found, range_ = int(word), np.iinfo(kind)
    return found if range_.min <= found <= range_.max else None
