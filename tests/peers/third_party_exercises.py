"""Runs the answers of "100 NumPy exercises" (N. Rougier), from a checkout, with partita.

    python tests/peers/third_party_exercises.py PATH_TO_CHECKOUT [-r 1 2 4] [-k NUMBER ...]

Only the name `np` is another: partita, with NumPy's random numbers. What each answer leaves in its
variables, and what it prints, is compared with NumPy's. Answers that NumPy 2 refuses itself are
left out, and so are those that only print what NumPy is.
"""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from third_party import IMPORT, _gathered, _words, difference
from third_party_book import Library

import partita as pt

# Imports of some answers that later ones use.
BEFORE = """
from numpy.lib import stride_tricks
from numpy.lib.stride_tricks import sliding_window_view
"""
# What they ask about is NumPy itself: its version, its manual, its warnings.
ABOUT_NUMPY = {1, 2, 5, 31, 33}


def answers(checkout: Path) -> dict[int, str]:
    """The answers by number."""
    text = (checkout / "source" / "exercises100.ktx").read_text()
    found = re.findall(r"^< a(\d+)\n(.*?)(?=^< q|\Z)", text, re.MULTILINE | re.DOTALL)
    return {int(number): source for number, source in found if int(number) not in ABOUT_NUMPY}


def outcome(source: str, library: Any) -> tuple[dict[str, Any], list[str]]:
    """The variables that an answer leaves, and what it prints."""
    printed: list[str] = []

    def note(*words: Any, **_options: Any) -> None:
        printed.append(" ".join(map(str, words)))

    names: dict[str, Any] = {"np": library, "print": note, "__name__": "exercise"}
    library_name = "numpy" if library is np else "partita"
    changed = IMPORT.sub(rf"\g<1>{library_name}", BEFORE + source)
    exec(compile(changed, "exercise", "exec"), names)
    own = set(re.findall(r"\w+", source))
    results = {name: one for name, one in names.items() if name in own and _is_result(one)}
    return {name: _plain(one) for name, one in results.items()}, printed


def _is_result(one: Any) -> bool:
    return isinstance(one, np.ndarray | pt.Array | np.generic | int | float | complex | tuple)


def _plain(one: Any) -> Any:
    """Whole arrays in place of spread ones."""
    if isinstance(one, list | tuple):
        return [_plain(each) for each in one]
    return _gathered(one)


def compared(found: Any, wanted: Any) -> str:
    """What differs between two results, in a few words."""
    if isinstance(wanted, list):
        reasons = [compared(a, b) for a, b in zip(found, wanted, strict=True)]
        return next((reason for reason in reasons if reason), "")
    mine, theirs = np.asarray(found), np.asarray(wanted)
    return "" if theirs.dtype.kind not in "biufc" else difference([mine], [theirs])


def tried(source: str, n_ranks: int) -> str:
    """How an answer goes on so many ranks."""
    try:
        np.random.seed(7)
        wanted, text = outcome(source, np)
    except Exception as error:
        return f"left out, NumPy says {_words(error)}"
    try:
        found = pt.spmd(lambda _team: outcome(source, Library()), ranks=n_ranks, deadline=20.0)
    except Exception as error:
        return f"fails: {_words(error)}"
    for variables, words in found:
        for name, value in wanted.items():
            if name not in variables:
                return f"differs: no {name}"
            if reason := compared(variables[name], value):
                return f"differs: {name}: {reason}"
        if words != text:
            pairs = zip(words, text, strict=False)
            return next((f"equal, but prints {a!r}, not {b!r}" for a, b in pairs if a != b), "")
    return "equal"


def main() -> None:
    """Run what was asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-r", "--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("-k", "--only", type=int, nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sources = answers(given.checkout)
    n_equal, n_run = dict.fromkeys(given.ranks, 0), 0
    for number in given.only or sorted(sources):
        outcomes = {n_ranks: tried(sources[number], n_ranks) for n_ranks in given.ranks}
        n_run += not any(one.startswith("left out") for one in outcomes.values())
        for n_ranks, one in outcomes.items():
            n_equal[n_ranks] += one.startswith("equal")
            if one != "equal":
                print(f"{number:3} on {n_ranks}: {one}", flush=True)
    counted = ", ".join(f"{n} on {ranks}" for ranks, n in n_equal.items())
    print(f"equal of {n_run}: {counted} ranks")


if __name__ == "__main__":
    main()
