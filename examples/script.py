"""What the example scripts share: options, NumPy or partita, time, one picture.

A script's computation is a function of an array namespace and knows nothing of this. Here it is
called with partita, on as many ranks as there are, or with `--numpy` by NumPy on one; the first
rank speaks and draws.
"""

import argparse
import time
from pathlib import Path

import numpy
import picture

import partita


class Script:
    """One run of an example."""

    def __init__(self, about: str, name: str, **options: int | Path | None) -> None:
        """Read the command line: `--numpy`, `--picture`, and an option for each number or file."""
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument("--numpy", action="store_true", help="run with NumPy, not partita")
        parser.add_argument("--picture", type=Path, default=Path(f"{name}.png"), metavar="FILE")
        for option, default in options.items():
            kind, shown = (int, "N") if isinstance(default, int) else (Path, "FILE")
            parser.add_argument(f"--{option}", type=kind, default=default, metavar=shown)
        given = vars(parser.parse_args())
        self.np = numpy if given.pop("numpy") else partita
        self.file = given.pop("picture")
        self.options = given
        team = partita.world()
        self.is_first = team.rank == 0
        self.place = "NumPy" if self.np is numpy else f"partita on {ranks(team.size)}"

    def run(self, function):
        """What the function gives for the options, computed to the end; the time is told."""
        start = time.perf_counter()
        results = function(self.np, **self.options)
        for one in results:
            if isinstance(one, partita.Array):
                one.sync()
        self.say(f"{self.place}: {time.perf_counter() - start:.2f} s")
        return results

    def say(self, text: str) -> None:
        """Print on the first rank."""
        if self.is_first:
            print(text)

    def draw(self, values, palette, low=None, high=None) -> None:
        """Draw an array on the first rank; all ranks take part, because each has a piece."""
        whole = values.gather(root=0) if isinstance(values, partita.Array) else values
        if self.is_first:
            picture.save(self.file, picture.colored(whole, palette, low, high))
            print(f"drawn in {self.file}")


def ranks(number: int) -> str:
    return "1 rank" if number == 1 else f"{number} ranks"
