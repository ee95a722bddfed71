"""Measure everything and write the page of tables.

`make bench` builds what is measured, lets Rust take its own figures, and then runs

    python benches/run.py --planning FIGURES --write docs/benchmarks.md

Nothing here can fail because the machine is slow: bars are reported, not asserted.
"""

import argparse
import sys
from pathlib import Path

import command
import machine
import movement
import planning
import protocols
import report
import startup
import tasks
import translation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--planning", type=Path, required=True, help="figures of the Rust bench")
    parser.add_argument("--write", type=Path, required=True, help="the page to write")
    args = parser.parse_args()
    facts = machine.facts()
    figures = planning.read(args.planning)
    _say("the command")
    runs = command.measure()
    _say("import, words and pictures")
    shown = startup.imports(), startup.looks()
    _say("protocol dictionaries")
    handed = protocols.measure()
    _say("index translation")
    results = translation.measure()
    _say("movement")
    moves = movement.measure()
    _say("Dask")
    moved = tasks.measure()
    sections = [movement.page(moves), tasks.section(moved)]
    page = "\n".join([report.page(facts, results, figures, runs, shown, handed), *sections])
    args.write.parent.mkdir(parents=True, exist_ok=True)
    args.write.write_text(page)
    print(page)


def _say(what: str) -> None:
    print(f"measuring {what}", file=sys.stderr, flush=True)


main()
