"""`partita check MODULE:OBJECT`: an object of a Python module, judged."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import Any

from partita._errors import words_of
from partita._protocol.check import check


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partita check", description="Judge a protocol object.")
    parser.add_argument("target", metavar="MODULE:OBJECT", help="an attribute of a module")
    parser.add_argument("--strict", action="store_true", help="forgive nothing")
    return parser


def _found(target: str) -> Any:
    module, _, name = target.partition(":")
    # The module may lie where the command is called, as with `python -m`.
    sys.path.insert(0, os.getcwd())
    value = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def main(args: list[str]) -> int:
    """Judge the object; give the exit status."""
    options = _parser().parse_args(args)
    try:
        value = _found(options.target)
    except Exception as error:
        words = f"cannot load {options.target}: {words_of(error)}"
        print(f"error[object-missing]: {words}; give MODULE:OBJECT", file=sys.stderr)
        return 2
    findings = check(value, strict=options.strict)
    for finding in findings:
        print(finding)
    if findings:
        print(f"{len(findings)} problem{'' if len(findings) == 1 else 's'}")
        return 1
    print(f"{options.target}: no problem found")
    return 0
