"""A new file under another name, which gets its own when all ranks are done."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from partita._team.together import by_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partita._team.team import Team


@contextmanager
def written_beside(team: Team, target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """The path to write to, which rank 0 has made; renamed at the end, removed after an error.

    Errors inside must be raised on every rank (see `together`). Collective.
    """

    def begin() -> str:
        try:
            make(beside)
            _keep_mode(target, beside)
        except OSError as error:
            if error.filename == str(beside):
                # The user knows the file by its own name.
                error.filename = str(given)
            raise
        return str(beside)

    def end() -> None:
        try:
            if path.is_dir() and target.is_dir():
                shutil.rmtree(target)
            os.replace(path, target)
        except BaseException:
            _remove(path)
            raise

    # What a link names is written, not the link.
    given, target = target, Path(os.path.realpath(target))
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}")
    path = beside
    try:
        path = Path(by_first(team, begin, given))
        yield path
    except BaseException:
        # Whoever fails alone, by Ctrl-C for instance, leaves nothing behind either.
        _remove(path)
        raise
    by_first(team, end)


def _keep_mode(target: Path, path: Path) -> None:
    """Let a new file be read and written by whom the old one is."""
    with contextlib.suppress(OSError):
        if target.is_file() and path.is_file():
            path.chmod(stat.S_IMODE(target.stat().st_mode))


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
