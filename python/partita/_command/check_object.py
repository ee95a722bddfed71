"""`partita check MODULE:OBJECT`: an object of a Python module, judged."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from partita._errors import words_of
from partita._partita import problems
from partita._protocol.check import check


def _found(target: str) -> Any:
    module, _, name = target.partition(":")
    # The module may lie where the command is called, as with `python -m`.
    sys.path.insert(0, os.getcwd())
    value = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def main(target: str, strict: bool) -> int:
    """Judge the object; give the exit status."""
    try:
        value = _found(target)
    except Exception as error:
        words = f"cannot load {target}: {words_of(error)}"
        print(f"error[object-missing]: {words}; give MODULE:OBJECT", file=sys.stderr)
        return 2
    findings = check(value, strict=strict)
    for finding in findings:
        print(finding)
    if findings:
        print(problems(len(findings)))
        return 1
    print(f"{target}: no problem found")
    return 0
